"""Labelled rows as they grow: rows, labels and weights, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.active.content import Keys, row_keys
from committee.core.members import Floats
from committee.data import InputError, InputTypeError, read_classes, read_weights
from committee.data.errors import describe, listing, rows_text
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.joining import join_rows
from committee.ensembles.member_fitting import takes_weights


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with their labels.

    Attributes
    ----------
    X : ndarray, csr matrix or frame
        The rows, in the container they came in.
    y : ndarray
        Their labels.
    weight : ndarray or None
        Their weights, where any were given.
    keys : ndarray of uint64
        What the rows hold.
    known : ndarray
        The classes that labels may have, sorted: those declared, and those seen.
    """

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None
    keys: Keys
    known: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The classes that were seen, sorted."""
        return np.unique(self.y)

    def weights_for(self, estimator: Any) -> dict[str, Any]:
        """Give what ``fit`` of an estimator is given besides rows and labels."""
        if self.weight is None:
            return {}
        if not takes_weights(estimator):
            found = f"{type(estimator).__name__} takes no sample_weight"
            raise InputTypeError(describe("W-FIT", "sample_weight", found, fix="fit without"))
        return {"sample_weight": self.weight}

    @classmethod
    def read(
        cls, X: Any, y: Any, weight: Any, declared: Any, owner: str, *, n_threads: int = 1
    ) -> Labelled:
        """Read the first labelled rows."""
        rows = AnyRows.read(X)
        labels = read_classes(y, rows.n_rows, estimator_name=owner)
        classes, codes = labels.classes[0], labels.codes[:, 0]
        known = classes if declared is None else declared_classes(declared, owner)
        check_known(classes[codes], known, declared=declared is not None)
        return cls(
            rows.X,
            classes[codes],
            read_weights(weight, rows.n_rows),
            row_keys(rows, n_threads),
            known,
        )

    def taught(
        self, X: Any, y: Any, weight: Any, owner: str, *, new_classes: bool, n_threads: int = 1
    ) -> Labelled:
        """Put further rows behind these."""
        rows = AnyRows.read(X)
        labels = read_classes(y, rows.n_rows, estimator_name=owner, remark=False)
        more = labels.classes[0][labels.codes[:, 0]]
        known = self.known
        if not new_classes:
            check_known(more, known, declared=True)
        together = np.array([*self.y.tolist(), *more.tolist()], dtype=object)
        both = read_classes(together, len(together), estimator_name=owner, remark=False)
        if new_classes:
            every = np.array([*known.tolist(), *more.tolist()], dtype=object)
            known = read_classes(every, len(every), estimator_name=owner, remark=False).classes[0]
        fresh = read_weights(weight, rows.n_rows)
        weights = None
        if fresh is not None or self.weight is not None:
            before = np.ones(len(self)) if self.weight is None else self.weight
            weights = np.append(before, np.ones(rows.n_rows) if fresh is None else fresh)
        return Labelled(
            join_rows(self.X, rows.X),
            both.classes[0][both.codes[:, 0]],
            weights,
            np.append(self.keys, row_keys(rows, n_threads)),
            known,
        )


def declared_classes(classes: Any, owner: str) -> npt.NDArray[Any]:
    """Read the classes that a user declares: at least two, sorted."""
    listed = np.asarray(classes, dtype=object).ravel()
    known: npt.NDArray[Any] = np.array([], dtype=object)
    if len(listed):
        known = read_classes(listed, len(listed), estimator_name=owner, remark=False).classes[0]
    if len(known) < 2:
        found = f"got {listed.tolist()}"
        allowed = "two or more different labels, or None"
        raise InputError(describe("Q-CLASS", "classes", found, allowed=allowed))
    return known


def check_known(labels: npt.NDArray[Any], known: npt.NDArray[Any], *, declared: bool) -> None:
    """Refuse labels outside the known classes."""
    if not declared:
        return
    names = set(known.tolist())
    strange = [row for row, label in enumerate(labels.tolist()) if label not in names]
    if strange:
        found = f"{labels.tolist()[strange[0]]!r} in {rows_text(strange, len(strange))} is no class"
        raise InputError(
            describe(
                "Q-CLASS",
                "y",
                f"{found} that is known",
                allowed=f"the known classes {listing(known.tolist())}",
                fix="correct the label; or new_classes=True, or declare it in classes",
            )
        )
