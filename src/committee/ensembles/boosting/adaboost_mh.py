"""AdaBoost.MH with one-word rules, BoosTexter: boosting for text with one or with many labels.

Schapire and Singer, "BoosTexter: a boosting-based system for text categorization" (2000), and
"Improved boosting algorithms using confidence-rated predictions" (1999). Weights sit on pairs of
row i and label l, with Y(i, l) = +1 where the row has the label and -1 where it has not. A rule
parts the rows into cells j, a word's absence and presence, and says in each

    c(j, l) = 1/2 ln((W+(j, l) + s) / (W-(j, l) + s)),    s = 1 / (m K),

where W+ and W- weigh the pairs of that cell with Y = +1 and -1. Of all words the one is taken that
leaves least of Z = 2 sum sqrt(W+ W-). With h(x, l) = c(j(x), l)

    D(i, l) <- D(i, l) exp(-Y(i, l) h(x_i, l)) / Z,    F = sum h,

and the share of pairs with Y F <= 0, the Hamming loss, is at most the product of all Z.

An abstaining rule says nothing, 0, of a row without the word, so that Z = W0 + 2 sum sqrt(W+ W-)
with the weight W0 of these rows. A discrete rule votes with the sign of c, and its weight is
1/2 ln((1 + r) / (1 - r)), r = sum D Y h, which takes account of the rows it says nothing about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.core.margins import log_margin_bound
from committee.core.members import Floats, Members
from committee.core.params import choice, real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.cell_rules import (
    TIE,
    RuleHypothesis,
    RuleLearner,
    RuleRows,
    by_sign,
)
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import Hypothesis
from committee.ensembles.boosting.label_booster import LabelBooster
from committee.ensembles.boosting.label_sets import LabelSet
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    NO_BETTER,
    PERFECT,
    THETAS,
    distribution,
    facts,
)
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.continuing import Origin

NOTHING = 1e-12  # a Z that is closer to 1 gains nothing


@boosting_documented
class AdaBoostMHClassifier(LabelBooster):
    """AdaBoost.MH over rules of one word or one number: BoosTexter.

    A sparse X holds counts of words, and a rule looks whether a word is there at all; a stored NaN
    is no zero. A round costs a pass over the non-zeros, and X is never made dense. The columns of
    a dense X are numbers, and a rule holds one against a cut of at most 254, missing ones apart;
    a categorical column is asked for one level. ``make_pipeline(CountVectorizer(ngram_range=(1, 2),
    binary=True), AdaBoostMHClassifier())`` boosts words and pairs of words of raw texts.

    Parameters
    ----------
    n_estimators : int, default=50
        The most rounds.
    variant : {"real", "abstaining", "discrete"}, default="real"
        Whether a rule says how sure it is in each cell; or that, and nothing of a row without the
        word (of a number: on one side of the cut); or votes with -1 or +1 per label.
    smoothing : float or None, default=None
        What is added to W+ and W-, so that no rule is infinitely sure; None is 1 / (m K) for m
        rows and K labels, the weight of one pair in the first round. Discrete rules have none.
    {stopping}

    Attributes
    ----------
    classes_ : ndarray
        The labels; for a matrix y the numbers of its columns.
    several_ : bool
        Whether y was a matrix, so that ``predict`` gives one, too.
    committee_ : Committee
        The rules and their weights.
    estimators_ : list of CellRule
        The rules, with ``feature``, ``cut`` and ``values``.
    estimator_weights_ : ndarray
        The rules' weights: 1, for discrete ones 1/2 ln((1 + r) / (1 - r)).
    rounds_ : dict of ndarray
        The numbers of the rounds; ``alpha`` is the largest number that the rule says.
    stop_reason_ : str
        Why there are no more rounds.
    feature_importances_ : ndarray
        The share of ln(1 / Z) that the rules of each column brought.
    validation_losses_ : ndarray
        With early stopping: the error on held-out rows after each round; the Hamming loss where
        y is a matrix.
    train_margins_ : ndarray of shape (n_samples * n_columns,)
        The margins of all pairs of training row and label, row by row.
    train_one_error_ : float
        The share of training rows of which no right label leads.
    n_features_in_, feature_names_in_, n_classes_, schema_
        As in scikit-learn and in :class:`DecisionTreeClassifier`.

    Examples
    --------
    >>> from committee import AdaBoostMHClassifier
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["win a free prize", "free cash now", "see you at noon", "noon is fine"]
    >>> model = make_pipeline(CountVectorizer(), AdaBoostMHClassifier(n_estimators=5))
    >>> model.fit(texts, ["spam", "spam", "ham", "ham"]).predict(["a free lunch", "until noon"])
    array(['spam', 'ham'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: allowed
            for name, allowed in LabelBooster._parameter_constraints.items()
            if name not in ("estimator", "resample")
        },
        "variant": [choice("real", "abstaining", "discrete")],
        "smoothing": [None, real(0, None, "neither")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 50,
        variant: str = "real",
        smoothing: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.variant = variant
        self.smoothing = smoothing
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _task(self, train: TrainingSet, origin: Origin, **recalled: Any) -> Task:
        assert isinstance(train, LabelSet)
        assert train.classes is not None
        return Task(
            train.rows,
            train.signs,
            len(train.classes),
            train.distribution,
            RuleLearner(self.variant),
            origin.seed,
            train.size,
            origin.keys,
            **recalled,
        )

    def _rounds(self, task: Task) -> Rounds:
        Y, s = task.y, self._smoothing(task)
        K = Y.shape[1]
        log_d = np.log(np.repeat(task.weight[:, None] / K, K, axis=1))
        weights = np.empty(0)
        while True:
            d = distribution(log_d)
            h = self._speaking(task.fit(d), d, Y, s)
            u = Y * h.said
            right, wrong, silent = (float(np.sum(d * are)) for are in (u > 0, u < 0, u == 0))
            weight = 1.0
            if self.variant == "discrete":
                if wrong + silent == 0:
                    yield Round(h.seat(), np.append(0 * weights, 1.0), facts(0.0, np.inf, 1.0, 0.0))
                    return PERFECT
                weight = np.log((right + silent / 2) / (wrong + silent / 2)) / 2
            u *= weight
            z = float(np.sum(d * np.exp(-u)))
            if z >= 1 - NOTHING:
                return NO_BETTER
            weights = np.append(weights, weight)
            most = float(np.abs(u).max())
            yield Round(h.seat(), weights, facts(wrong + silent / 2, most, right - wrong, z))
            log_d -= u

    def _speaking(self, h: Hypothesis, d: Floats, Y: Floats, s: float) -> Hypothesis:
        """Let a rule say c in each cell, or vote by it; one that is seated says what it said."""
        if not isinstance(h, RuleHypothesis):
            return h
        cells, n_cells = h.cells.astype(np.intp), len(h.speaks)
        sums = np.array([np.bincount(cells, side, minlength=n_cells) for side in by_sign(d, Y)])
        plus, minus = np.hsplit(sums.T.astype(np.float64), 2)
        return h.valued(self._said(plus, minus, s))

    def _said(self, plus: Floats, minus: Floats, s: float) -> Floats:
        if self.variant == "discrete":
            return np.sign(np.where(np.abs(plus - minus) > TIE, plus - minus, 0.0))
        return np.asarray(np.log((plus + s) / (minus + s)) / 2)

    def _smoothing(self, task: Task) -> float:
        """Smooth by what one pair of row and label weighs in the first round."""
        if self.smoothing is not None:
            return float(self.smoothing)
        return 1 / float(task.size * task.y.shape[1])

    def _prior(self, task: Task) -> Members:
        """Say of every row what the labels' shares say."""
        assert isinstance(task.rows, RuleRows)
        plus = np.sum(task.weight[:, None] * (task.y > 0), axis=0)
        return task.rows.constant(self._said(plus, 1 - plus, self._smoothing(task)))

    def _own_certificate(self) -> Certificate:
        return replace(super()._own_certificate(), unit="pairs of training row and label")

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds, loss = certificate.rounds, certificate.training_error
        if np.isinf(rounds["alpha"]).any():
            yield Claim("Hamming loss of a rule without error", loss, 0.0)
            return
        log_z, most = np.log(rounds["z"]), rounds["alpha"]
        product = float(np.exp(log_z.sum()))
        yield Claim("Hamming loss <= product of Z", loss, product)
        mean = float(np.sum(certificate.distribution * np.exp(-certificate.margins * most.sum())))
        yield Claim("mean of exp(-Y F) and product of Z", mean, product, "=")
        n_columns = self._rules.values.shape[2]
        if n_columns > 1:
            # With F(l) >= F(y) of a wrong l and a right y, exp(-F(y)) + exp(F(l)) is at least 2.
            text = f"one-error <= {n_columns / 2:g} times product of Z"
            yield Claim(text, self.train_one_error_, n_columns / 2 * product)
        if self.variant == "discrete":
            bound = float(np.exp(np.log1p(-(rounds["edge"] ** 2)).sum() / 2))
            yield Claim("product of Z <= product of sqrt(1 - r^2)", product, bound)
        for theta in THETAS:
            log_bound = float(log_margin_bound(theta, most, log_z))
            if log_bound < 0:  # else it says nothing
                share = float(certificate.margin_distribution(theta))
                yield Claim(f"share of margins <= {theta:g}", share, float(np.exp(log_bound)))

    @property
    def feature_importances_(self) -> Floats:
        """The share of ln(1 / Z) that the rules of each column brought."""
        check_is_fitted(self)
        if not self.rounds_:
            return np.zeros(self.n_features_in_)
        brought = -np.log(np.maximum(self.rounds_["z"], np.finfo(float).tiny))
        total = np.bincount(self._rules.features, brought, minlength=self.n_features_in_)
        return np.asarray(total / total.sum())
