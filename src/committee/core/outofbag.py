"""Out of bag: every row predicted by the members that have not seen it (Breiman 1996, 2001).

One matrix per committee, sums and counts, from which everything honest is read: the score, the
curve over members, importances and intervals. The sums are added in the order of the members, so a
recomputation that asks one member at a time gives the same bits, and that is how it is verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
from committee.data import InputError
from committee.data.errors import describe, rows_text, warn

Floats: TypeAlias = npt.NDArray[np.float64]
BLOCK = 16  # members whose bags or outputs are held at a time


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the members say about the rows they left out.

    Attributes
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        Sums of the outputs of those members.
    counts : ndarray of shape (n_rows,)
        How many they are.
    """

    sums: Floats
    counts: npt.NDArray[np.uint32]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows that at least one member left out."""
        return self.counts > 0

    @property
    def means(self) -> Floats:
        """Means of the outputs, NaN for rows that no member left out."""
        counts = np.where(self.known, self.counts, np.nan)
        return self.sums / counts[:, None]

    def warn_unknown(self, drawable: npt.NDArray[np.bool_]) -> None:
        """Say which rows have no out-of-bag prediction; those of weight 0 never have."""
        rows = np.flatnonzero(~self.known & drawable)
        if len(rows):
            found = (
                f"Some inputs do not have OOB scores: every member has seen "
                f"{rows_text(rows, len(rows))}; their out-of-bag predictions are NaN"
            )
            warn(describe("B-NEVER-OUT", "n_estimators", found, fix="more members"))


def predict_left_out(
    forest: _engine.Forest, table: _engine.Table, left_out: LeftOut, n_threads: int = 1
) -> OutOfBag:
    """Predict each row by the trees that left it out."""
    return OutOfBag(*forest.predict_left_out(table, left_out.bitmap, n_threads))


def accumulate(outputs: Iterable[Floats], left_out: LeftOut) -> Iterator[OutOfBag]:
    """Predict each row by the members that left it out, one member after the other.

    Parameters
    ----------
    outputs : iterable of ndarray of shape (n_rows, n_outputs)
        What each member says about all rows; only those it left out are used.
    left_out : LeftOut
        Which these are.

    Yields
    ------
    OutOfBag
        After 1, 2, .. members. The arrays are reused: copy what is to be kept.
    """
    sums: Floats | None = None
    counts = np.zeros(left_out.n_rows, dtype=np.uint32)
    for member, output in enumerate(outputs):
        if sums is None:
            sums = np.zeros(output.shape)
        mask = left_out.mask(member)
        sums[mask] += output[mask]
        counts += mask
        yield OutOfBag(sums, counts)


def outputs_one_by_one(forest: _engine.Forest, table: _engine.Table) -> Iterator[Floats]:
    """Yield the outputs of each tree, walked alone."""
    for tree in range(forest.n_trees):
        yield forest.slice(tree, tree + 1).predict(table)


@dataclass(frozen=True)
class LeakReport:
    """What was verified; printed as a sentence.

    Attributes
    ----------
    n_members, n_rows : int
        Bags that were drawn again, and rows that were compared in each.
    n_predictions : int
        Out-of-bag predictions that were computed again, one member at a time.
    """

    n_members: int
    n_rows: int
    n_predictions: int

    def __str__(self) -> str:
        return (
            f"No leak: the bags of {self.n_members} members over {self.n_rows} rows are those that "
            f"the seed and the rows give, and {self.n_predictions} out-of-bag predictions agree "
            "bit for bit with those of one member at a time."
        )


def compare_plans(known: BagPlan, found: BagPlan, code: str = "M-LEAK") -> None:
    """Refuse rows that are not those of the fit, or that were weighed or grouped otherwise."""
    if len(known.keys) != len(found.keys):
        text = f"{len(found.keys)} rows, the model was fitted on {len(known.keys)}"
        raise _leak("X", text, "pass the training rows, in their order", code)
    rows = np.flatnonzero(known.keys != found.keys)
    if len(rows):
        text = "content (bins, which hang on all rows, or target) is not that of fit: "
        text += rows_text(rows, len(rows))
        fix = "pass the training rows in their order, with the weights given to fit"
        raise _leak("X, y, sample_weight", text, fix, code)
    if known.cuts != found.cuts:
        text = "values are not those of fit, although their order within the columns is"
        raise _leak("X", text, "pass the training rows, in their order", code)
    if (known.draw, known.size) != (found.draw, found.size):
        text = f"bags of {found.size} draws ({found.draw}), in fit {known.size} ({known.draw})"
        raise _leak("sample_weight", text, "pass the weights and groups given to fit", code)
    if known.weights != found.weights:
        raise _leak("sample_weight", "other weights than in fit", "pass those given to fit", code)
    for name in ("units", "weight", "strata", "groups"):
        before, now = getattr(known, name), getattr(found, name)
        if (before is None) != (now is None) or (now is not None and (before != now).any()):
            argument = "groups" if name == "groups" else "sample_weight"
            raise _leak(
                argument, f"other {name} than in fit", f"pass the {argument} given to fit", code
            )


def compare_bags(bags: _engine.Bags, left_out: LeftOut, n_threads: int = 1) -> None:
    """Draw every bag again and name the first member and row where the bitmap says otherwise."""
    for begin in range(0, len(left_out), BLOCK):
        stored = left_out[begin : begin + BLOCK]
        drawn = LeftOut.of(bags, begin, begin + len(stored), n_threads)
        if stored.bitmap.shape != drawn.bitmap.shape:
            text = f"bitmap of shape {stored.bitmap.shape}, expected {drawn.bitmap.shape}"
            raise _leak("left_out_", text, "fit the model again")
        for k in np.flatnonzero((stored.bitmap != drawn.bitmap).any(axis=1)).tolist():
            wrong = np.unpackbits(stored.bitmap[k] ^ drawn.bitmap[k], bitorder="little")
            row = int(np.argmax(wrong))
            said, drew = "seen", "leaves it out"
            if stored.bitmap[k, row // 8] >> row % 8 & 1:
                said, drew = "left out", "holds it"
            text = f"member {begin + k}, row {row}: {said} by the bitmap, but the bag {drew}"
            raise _leak("left_out_", text, "fit the model again")


def compare_predictions(found: Floats, known: Floats, what: str) -> None:
    """Name the first row whose out-of-bag prediction is not the recomputed one; NaN equals NaN."""
    if known.shape != found.shape:
        raise _leak(what, f"of shape {known.shape}, expected {found.shape}", "fit the model again")
    same = (found == known) | (np.isnan(found) & np.isnan(known))
    if not same.all():
        rows = np.flatnonzero(~same.reshape(len(same), -1).all(axis=1))
        text = f"out-of-bag predictions differ from a recomputation: {rows_text(rows, len(rows))}"
        raise _leak(what, text, "fit the model again")


def _leak(argument: str, found: str, fix: str, code: str = "M-LEAK") -> InputError:
    return InputError(describe(code, argument, found, fix=fix))
