"""Suspect labels: training rows that boosting finds hard, and that others would label otherwise.

AdaBoost's weights gather on rows that no member gets right: noise, and outliers (Freund and
Schapire 1996; Dietterich 2000). A hard row need not be mislabelled, so that a second witness is
heard: boosters fitted on bootstrap bags say, by their vote on the rows they have not seen, what
they would have called a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from committee.core.margins import agreement
from committee.core.members import Floats


@dataclass(frozen=True, eq=False)
class SuspectLabels:
    """Training rows from the most to the least suspect.

    Attributes
    ----------
    row : ndarray of int
        The rows.
    label : ndarray
        What they are called.
    suggestion : ndarray
        What boosters that have not seen them call them.
    weight : ndarray
        Their share of the booster's final weights.
    margin : ndarray
        The share of unseeing votes for the label less that for the strongest other class: below 0
        they contradict it. NaN where every booster has seen the row.
    """

    row: npt.NDArray[np.intp]
    label: npt.NDArray[Any]
    suggestion: npt.NDArray[Any]
    weight: Floats
    margin: Floats

    def __len__(self) -> int:
        return len(self.row)

    def to_frame(self) -> Any:
        """Give the rows as a pandas DataFrame, the most suspect first."""
        import pandas as pd

        return pd.DataFrame(vars(self))

    def __str__(self) -> str:
        lines = [f"{'row':>7}  {'label':>10}  {'suggestion':>10}  {'weight':>8}  {'margin':>7}"]
        shown = zip(
            self.row[:10],
            self.label[:10],
            self.suggestion[:10],
            self.weight[:10],
            self.margin[:10],
            strict=True,
        )
        for row, label, suggestion, weight, margin in shown:
            lines.append(
                f"{row:>7}  {label!s:>10}  {suggestion!s:>10}  {weight:>8.4f}  {margin:>7.3f}"
            )
        more = f"... {len(self) - 10} more rows" if len(self) > 10 else ""
        return "\n".join([*lines, more] if more else lines)


def rank_suspects(
    weight: Floats, shares: Floats, codes: npt.NDArray[np.intp], classes: npt.NDArray[Any]
) -> SuspectLabels:
    """Order rows by the mean of two ranks: that of the weight, and that of the unseen margin.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,)
        The final weights of the rows.
    shares : ndarray of shape (n_rows, n_classes)
        Mean class shares by boosters that have not seen a row; NaN where all have.
    codes, classes : ndarray
        The labels.
    """
    known = ~np.isnan(shares).any(axis=1)
    margin = np.full(len(codes), np.nan)
    margin[known] = agreement(shares[known], codes[known])
    suggestion = codes.copy()
    suggestion[known] = shares[known].argmax(axis=1)
    # A row that all have seen has no second witness: it counts as undecided.
    score = rankdata(-weight) + rankdata(np.nan_to_num(margin, nan=0.0))
    order = np.argsort(score, kind="stable")
    return SuspectLabels(
        order, classes[codes[order]], classes[suggestion[order]], weight[order], margin[order]
    )
