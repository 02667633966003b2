"""AdaBoost.R2: boosting of regressors by the median (Drucker 1997).

The loss of a row, L(i) in [0, 1], is its error over the largest error, perhaps squared or through
an exponential. With the mean loss e = sum D L,

    beta = e / (1 - e),    D(i) <- D(i) beta^(1 - L(i)) / Z,

and the committee predicts the median of its members, weighted by ln(1 / beta). It stops where e is
not below 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from committee.core.members import Floats, Member
from committee.core.params import choice, real
from committee.core.rounds import Round
from committee.data import read_numbers, read_predict
from committee.data.rows import engine_table
from committee.ensembles.boosting.booster import Booster
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.constant import constant_member
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import distribution
from committee.ensembles.boosting.stopping import Judge
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import HeldOut, TrainingSet
from committee.ensembles.boosting.views import MemberViewing
from committee.ensembles.boosting.weak_learners import grown_by_engine
from committee.learners.tree import DecisionTreeRegressor

EXACT = "a member without error: it decides alone"
TOO_FAR = "the mean loss of the next member is not below 1/2"
ROUNDING = 1e-12  # errors below this share of the range of y are none
CHUNK = 2**22  # predictions of members that are held at a time


@boosting_documented
class AdaBoostRegressor(RegressorMixin, MemberViewing, Booster):
    """AdaBoost.R2: a committee of regressors that predicts its weighted median.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner, any scikit-learn regressor; None is a :class:`DecisionTreeRegressor` of
        depth 3. Trees of this library are grown, asked and stored by the engine.
    n_estimators : int, default=50
        The most rounds.
    learning_rate : float, default=1.0
        Factor on the logarithm of every beta; below 1 more rounds are needed.
    loss : {"linear", "square", "exponential"}, default="linear"
        L: the share r of the largest error, its square, or 1 - exp(-r).
    resample : bool or "auto", default=True
        Whether the weak learner is given a sample of the rows drawn by their weights, as in the
        paper, instead of the weights; "auto" does so only where its ``fit`` takes none.
    {stopping}

    Attributes
    ----------
    committee_ : Committee
        The members and their weights, 1/2 ln(1 / beta).
    estimators_, estimator_weights_, estimator_errors_, rounds_, stop_reason_
        As in :class:`AdaBoostClassifier`; scikit-learn prints twice the weights.
    n_features_in_, feature_names_in_, feature_importances_, validation_losses_
        As in :class:`AdaBoostClassifier`; the loss is the mean squared error.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import AdaBoostRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = AdaBoostRegressor(n_estimators=50).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(1)
    array([ 1., -1.])
    """

    _predicts_classes: ClassVar[bool] = False
    _learns_classes: ClassVar[bool] = False
    _members_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Booster._parameter_constraints,
        "learning_rate": [real(0, None, "neither")],
        "loss": [choice("linear", "square", "exponential")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        resample: bool | str = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.resample = resample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _base(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def _rounds(self, task: Task) -> Rounds:
        log_d, alphas = np.log(task.weight), np.empty(0)
        while True:
            d = distribution(log_d)
            h = task.fit(d)
            apart = np.abs(h.said[:, 0] - task.y)
            largest = float(apart.max())
            if largest <= ROUNDING * np.ptp(task.y):
                yield Round(h.seat(), np.append(0 * alphas, 1.0), {"error": 0.0, "alpha": np.inf})
                return EXACT
            loss = self._losses(apart / largest)
            error = float(np.sum(d * loss))
            if error >= 1 / 2:
                if not len(alphas):  # one member is better than none
                    yield Round(h.seat(), np.ones(1), {"error": error, "alpha": 0.0})
                return TOO_FAR
            alpha = self.learning_rate * np.log((1 - error) / error) / 2
            alphas = np.append(alphas, alpha)
            log_d -= 2 * alpha * (1 - loss)
            yield Round(h.seat(), alphas, {"error": error, "alpha": alpha})

    def _losses(self, share: Floats) -> Floats:
        if self.loss == "linear":
            return share
        return share**2 if self.loss == "square" else np.asarray(1 - np.exp(-share))

    def _prior(self, task: Task) -> Member:
        """Predict the weighted mean."""
        return constant_member(task.rows, np.array([float(np.sum(task.weight * task.y))]))

    def _loss(self, train: TrainingSet, held_out: HeldOut) -> Judge:
        """Measure the mean squared error on held-out rows, by weight."""
        asked: Any = held_out.X
        if grown_by_engine(self._base()):
            name = type(self).__name__
            asked = engine_table(read_predict(asked, train.rows.schema, estimator_name=name))
        truth = read_numbers(held_out.y, _num_samples(held_out.X))[:, 0]
        weight = np.ones(len(truth)) if held_out.weight is None else held_out.weight

        def loss(predicted: Floats) -> float:
            return float(np.sum(weight * (predicted - truth) ** 2) / weight.sum())

        return MedianJudge(asked, loss, self.n_iter_no_change)

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row: the weighted median of the members' predictions.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions.
        """
        rows = self._rows(X)
        n_rows, size = _num_samples(X), len(self.committee_)
        if n_rows * size <= CHUNK:
            outputs = self.committee_.outputs(rows, n_threads=self._threads_for(X))
            return weighted_median(outputs[:, :, 0], self.committee_.weights)
        step = max(1, CHUNK // size)
        parts = (np.arange(begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))
        return np.concatenate([self.predict(_safe_indexing(X, part)) for part in parts])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            The predictions.
        """
        rows = self._rows(X)
        outputs = self.committee_.outputs(rows, n_threads=self._threads_for(X))[:, :, 0]
        for size in range(1, len(outputs) + 1):
            yield weighted_median(outputs[:size], self.committee_.weights[:size])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Score R² of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Yields
        ------
        float
            R².
        """
        from sklearn.metrics import r2_score  # slow to import

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))


class MedianJudge(Judge):
    """Judges the weighted median of the members instead of their sum."""

    def _decide(self, made: Round) -> Floats:
        self._outputs = [*getattr(self, "_outputs", []), self._say(made.member)[0][:, 0]]
        return weighted_median(np.stack(self._outputs), made.weights)


def weighted_median(outputs: Floats, weights: Floats) -> Floats:
    """Find the smallest output of a row that, with all below it, has half of the weight.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows)
        What the members say.
    weights : ndarray of shape (n_members,)
        Not negative, not all 0.

    Returns
    -------
    ndarray of shape (n_rows,)
        The medians.
    """
    order = np.argsort(outputs, axis=0, kind="stable")
    total = np.cumsum(weights[order], axis=0)
    middle = (total >= total[-1] / 2).argmax(axis=0)
    rows = np.arange(outputs.shape[1])
    return np.asarray(outputs[order[middle, rows], rows])
