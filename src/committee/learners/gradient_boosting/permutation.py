"""Permutation importance of a booster, on rows that the user holds out.

Shuffle a feature among rows and see how much worse the model becomes on them (Breiman 2001;
Fisher, Rudin and Dominici 2019). Forests have rows that members left out; all rounds of a booster
are one model, so that the rows to judge by must be others than those of the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import LeftOut
from committee.core.importance import Ints, Score, permutation_drops, summary
from committee.core.importance_methods import Training, named_columns, read_features, read_score
from committee.core.members import Floats
from committee.core.params import integer, invalid, resolve_seed, resolve_threads
from committee.data import InputError, read_weights
from committee.data.errors import describe
from committee.learners.gradient_boosting.base_margin import read_margin
from committee.learners.gradient_boosting.booster import GradientBooster
from committee.learners.gradient_boosting.given import Target
from committee.losses.answers import checked_values


class PermutedFeatures(GradientBooster):
    """A booster whose features can be shuffled one by one."""

    def _told(self, raw: Floats) -> Floats:
        """Turn scores into what scorers judge: numbers, or shares of classes, by column."""
        raise NotImplementedError

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 5,
        scoring: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> Bunch:
        """Measure how much worse the model becomes when a feature is shuffled.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the fit has not seen. On those of the fit, features that the model only
            overfits to look important.
        n_repeats : int, default=5
            How often each feature is shuffled.
        scoring : str, callable or None, default=None
            A scorer of scikit-learn. None is the loss of the model, by how much its mean grows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add; they are not shuffled.
        features : sequence or None, default=None
            Features (indices or names) to look at, and groups of them, as tuples or lists, that are
            shuffled together. None is each feature by itself.
        n_jobs : int or None, default=None
            Threads; None is the model's own ``n_jobs``. The result does not depend on it.
        random_state : int, RandomState instance, Generator or None, default=None
            The seed; an order depends on it, the repeat and the feature alone.

        Returns
        -------
        Bunch
            ``importances_mean``, ``importances_std`` and ``importances_se`` (the standard error of
            the mean over repeats), ``importances`` of shape (n_features, n_repeats), and
            ``features``.
        """
        check_is_fitted(self)
        if not integer(1).is_satisfied_by(n_repeats):
            allowed = "an int in the range [1, inf)"
            raise invalid("n_repeats", "permutation_importance", allowed, n_repeats)
        seed = resolve_seed(random_state, "permutation_importance")
        chosen = self.n_jobs if n_jobs is None else n_jobs
        n_threads = resolve_threads(chosen, _engine.available_threads(), type(self).__name__)
        judged = self._judged(X, y, sample_weight, base_margin, int(n_repeats), scoring)
        groups = read_features(features, judged)
        if scoring is None:
            score = self._loss_score(judged)
        else:
            score = finite_score(read_score(scoring, judged), scoring)
        everywhere = [np.arange(len(judged.target))] * int(n_repeats)
        drops = permutation_drops(
            judged.outputs, score, judged.rows, everywhere, groups, seed=seed, n_threads=n_threads
        )
        return summary(drops, [named_columns(columns, judged) for columns in groups])

    def _judged(
        self, X: Any, y: Any, weight: Any, base_margin: Any, n_repeats: int, scoring: Any
    ) -> Training:
        """Read the rows to judge by."""
        rows = X if sparse.issparse(X) or hasattr(X, "shape") else np.asarray(X)
        raw = self._outputs(rows)  # reads the rows, and refuses what cannot be read
        n_rows, n_outputs = raw.shape
        margin: Floats | float = 0.0
        if base_margin is not None:
            margin = read_margin(base_margin, n_rows, n_outputs)
        names = ("classes_", "n_outputs_")
        told = {name: getattr(self, name) for name in names if hasattr(self, name)}
        known = Target(np.empty(0), told)
        target = self._read_held_out(y, n_rows, known, "y").reshape(n_rows, -1)

        def outputs(member: int, rows: Any) -> Floats:
            scores = self._outputs(rows) + margin
            return scores if scoring is None else self._told(scores)

        return Training(
            rows=rows,
            target=target,
            classes=[told["classes_"]] if "classes_" in told else None,
            weight=read_weights(weight, n_rows),
            left_out=LeftOut.of_masks(np.ones((n_repeats, n_rows), dtype=np.bool_)),
            outputs=outputs,
            n_features=self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def _loss_score(self, judged: Training) -> Score:
        y = judged.target[:, 0] if judged.target.shape[1] == 1 else judged.target

        def score(raw: Floats, indices: Ints, rows: Any) -> float:
            flat = raw[:, 0] if raw.shape[1] == 1 else raw
            losses = checked_values(self.loss_, y, flat)
            return -float(np.average(losses, weights=judged.weight))

        return score


def finite_score(score: Score, scoring: Any) -> Score:
    """Refuse scores of a user's function that are no numbers."""

    def checked(outputs: Floats, indices: Ints, rows: Any) -> float:
        name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
        try:
            found = score(outputs, indices, rows)
        except TypeError as error:
            text = f"{name} does not answer with a number ({error})"
            raise InputError(describe("P-SCORE", "scoring", text)) from error
        if not np.isfinite(found):
            text = f"{name} answers with {found} for {len(indices)} row(s)"
            raise InputError(describe("P-SCORE", "scoring", text, allowed="a finite number"))
        return found

    return checked
