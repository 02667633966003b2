"""Boosters for two classes, and what they do with more: one committee per class against the rest.

Each part is a fitted two-class booster of its own, with its rounds, its stop reason and its
certificate; the class whose committee is most in favour wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Any, Self

import numpy as np
from scipy import special
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.fitted import replace_fitted, schema_attributes
from committee.core.members import Floats
from committee.core.randomness import member_seed
from committee.core.watching import Watch
from committee.ensembles.boosting.boosted_classifier import BoostedClassifier
from committee.ensembles.boosting.certificate import Certificate, CertificateSet
from committee.ensembles.boosting.reweighting import PERFECT
from committee.ensembles.boosting.training import HeldOut, TrainingSet

OF_PARTS = ("committee_", "rounds_", "questions_", "train_margins_", "train_distribution_")


class TwoClassBooster(BoostedClassifier):
    """A booster whose algorithm is for two classes; with K > 2 classes it has K ``parts_``."""

    parts_: list[Self]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "committee_") or hasattr(self, "parts_")

    def _width(self, n_classes: int) -> int:
        return 1 if n_classes <= 2 else n_classes

    def _fit_rows(
        self, train: TrainingSet, held_out: HeldOut | None, seed: int, watched: dict[str, Any]
    ) -> None:
        assert train.classes is not None
        if len(train.classes) <= 2:
            self._boost(train, held_out, seed, watched)
            return
        parts = self._begun(len(train.classes))
        with Watch(self, len(parts), **watched) as watch:
            for code, part in enumerate(parts):
                watch.before_member(code)
                judged = None
                if held_out is not None:
                    label = np.asarray(held_out.y) == train.classes[code]
                    judged = HeldOut(held_out.X, label.astype(np.intp), held_out.weight)
                part._boost(train.against_rest(code), judged, member_seed(seed, code), {})
                watch.after_member(code, {"n_members": len(part)}, partial(_committee, part))
            replace_fitted(self, self._of_parts(train, seed, parts))

    def _begun(self, n_classes: int) -> list[Self]:
        """Copy the model for each class; a warm start goes on with the copies there are."""
        parts = getattr(self, "parts_", None) if self.warm_start else None
        if parts is None or len(parts) != n_classes:
            return [_unwatched(self) for _ in range(n_classes)]
        return [_continued(part, self) for part in parts]

    def _of_parts(self, train: TrainingSet, seed: int, parts: list[Self]) -> dict[str, Any]:
        return {
            "parts_": parts,
            "classes_": train.classes,
            "n_classes_": len(parts),
            "estimator_": clone(self._base()),
            "origin_": train.origin(seed, train.n_threads),
            **schema_attributes(train.rows.schema),
            "stop_reason_": "; ".join(
                f"{label}: {part.stop_reason_}"
                for label, part in zip(train.classes.tolist(), parts, strict=True)  # type: ignore[union-attr]
            ),
        }

    @property
    def _several(self) -> bool:
        check_is_fitted(self)
        return hasattr(self, "parts_")

    def __getattr__(self, name: str) -> Any:
        if name in OF_PARTS and "parts_" in vars(self):
            text = f"{type(self).__name__} has one {name} per class: parts_[k].{name}"
            raise AttributeError(text)
        return object.__getattribute__(self, name)  # raises what was raised before

    def __len__(self) -> int:
        return sum(map(len, self.parts_)) if self._several else super().__len__()

    def _decision(self, X: Any) -> Floats:
        if not self._several:
            return super()._decision(X)
        rows, n_threads = self._rows(X), self._threads_for(X)
        each = [part.committee_.decision(rows, n_threads=n_threads) for part in self.parts_]
        scaled = [part._comparable(d) for part, d in zip(self.parts_, each, strict=True)]
        return np.asarray(np.hstack(scaled))

    def _comparable(self, decision: Floats) -> Floats:
        """Bring the decision of a part to a scale on which parts can be compared.

        A member without error has no finite weight and decides alone, with 1; it counts as much
        as one that errs on half a row.
        """
        if self.stop_reason_ == PERFECT:
            return np.asarray(decision * np.log(2 * self.train_size_ - 1) / 2)
        return decision

    def _staged_decisions(self, X: Any) -> Iterator[Floats]:
        if not self._several:
            yield from super()._staged_decisions(X)
            return
        rows, n_threads = self._rows(X), self._threads_for(X)
        stages = [part.committee_.staged(rows, n_threads=n_threads) for part in self.parts_]
        last: list[Any] = [None] * len(stages)
        for stage in zip_longest(*stages):
            last = [old if new is None else new for new, old in zip(stage, last, strict=True)]
            scaled = [part._comparable(d) for part, d in zip(self.parts_, last, strict=True)]
            yield np.hstack(scaled)

    def _shares(self, decision: Floats) -> Floats:
        if decision.shape[1] == 1:
            return super()._shares(decision)
        each = special.expit(2 * decision)
        total = each.sum(axis=1, keepdims=True)
        even = np.full_like(each, 1 / each.shape[1])
        return np.asarray(np.divide(each, total, out=even, where=total > 0))

    def certificate(self) -> Certificate | CertificateSet:
        """Certify the fit: the numbers of all rounds, the margins, and what the theory claims.

        Returns
        -------
        Certificate, or CertificateSet for more than two classes
            Prints itself; ``verify(X, y)`` recomputes everything from the members.
        """
        if not self._several:
            return self._own_certificate()
        parts = zip(self.classes_.tolist(), self.parts_, strict=True)
        return CertificateSet({label: part._own_certificate() for label, part in parts}, self)

    @property
    def estimators_(self) -> Any:
        """The members; for more than two classes a list of them per class."""
        if self._several:
            return [part.estimators_ for part in self.parts_]
        return super().estimators_

    @property
    def feature_importances_(self) -> Floats:
        """Mean share of impurity decrease by feature over the trees, by the trees' weights."""
        if self._several:
            return np.asarray(np.mean([part.feature_importances_ for part in self.parts_], axis=0))
        return super().feature_importances_

    def staged_sample_weight(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Floats]:
        """Give the weights of the training rows in each round, and those after the last.

        Parameters
        ----------
        X, y, sample_weight
            What ``fit`` was given.

        Yields
        ------
        ndarray of shape (n_samples,), or (n_classes, n_samples) for more than two classes
            A distribution, or one per class.
        """
        if not self._several:
            yield from super().staged_sample_weight(X, y, sample_weight)
            return
        train = self._known(X, y, sample_weight)
        runs = [
            part._distributions(train.against_rest(code)) for code, part in enumerate(self.parts_)
        ]
        last: list[Any] = [None] * len(runs)
        for stage in zip_longest(*runs):
            last = [old if new is None else new for new, old in zip(stage, last, strict=True)]
            yield np.stack(last)


def _committee(part: Any) -> Committee:
    return part.committee_  # type: ignore[no-any-return]


def _unwatched(model: Any) -> Any:
    """Copy a model without its callbacks: the whole tells them about its parts."""
    copy = clone(model)
    vars(copy).pop("_skl_callbacks", None)
    return copy


def _continued(part: Any, model: Any) -> Any:
    """Copy a part with its fit, and let it go on with the parameters of the model."""
    copy = _unwatched(model)
    copy.__dict__.update({name: kept for name, kept in vars(part).items() if name.endswith("_")})
    return copy
