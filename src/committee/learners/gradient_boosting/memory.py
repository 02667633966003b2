"""What a fit will take beside the rows that it is given, from shapes alone.

Four things count: copies of rows when some are held out, bins (by row and by column), numbers for
each row (scores, derivatives, their word, places in the tree) and histograms of nodes that wait to
be split. The constants were measured; tests hold the sum against the peak of a process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.core.params import resolve_max_features
from committee.data import Table
from committee.data.memory import available_memory, refuse_beyond
from committee.losses.loss import Loss
from committee.losses.native import native_loss

SMALL = 64 << 20  # bytes that a fit may take without a look at what there is
ROW = 60  # bytes for each row, without scores
WORD = 8  # more, where statistics do not stand behind bins: of more features, or of fewer rows than
BESIDE_FEATURES, BESIDE_ROWS = 60, 1 << 15
DRAWN = 24  # more, where rows are sampled
ASKED = 16  # more, where a loss in Python is asked
APART = 16  # more, where rows are parted: targets, weights
NODE = 56  # bytes of a node of a finished tree
AHEAD = 1.3  # histograms for each leaf: growth splits ahead
ROWS_OF_HISTOGRAM = 350  # nodes of fewer rows than that, or so, are split without
CUT = 24  # bytes of a cut while it is chosen
ENTRY = 12  # bytes of an element that is not zero: its place and its bin, by rows and by columns
BYTE_BINS = 256


def fit_parts(booster: Any, table: Table, loss: Loss, held_out: bool) -> dict[str, int]:
    """Estimate the bytes that a fit takes, by what for.

    Parameters
    ----------
    booster : GradientBooster
        With its parameters.
    table : Table
        The rows as read; they are not counted, as they are there already.
    loss : Loss
        What is minimised.
    held_out : bool
        Whether rows will be parted, and so be copied.

    Returns
    -------
    dict of str to int
        "copies", "bins", "rows", "histograms", "trees".
    """
    n, p = table.n_rows, table.n_features
    bins = np.full(p, min(int(booster.max_bins), n) + 1)
    for feature, levels in table.levels.items():
        bins[feature] = len(levels) + 1
    wide = bool(bins.max(initial=0) > BYTE_BINS)
    cells = table.values.size
    item = table.values.itemsize
    places = 4 if table.sparse else 0  # where an element stands
    own = ROW + 8 * loss.n_outputs + (8 if loss.n_outputs > 1 else 0)
    own += WORD * (table.sparse or wide or p > BESIDE_FEATURES or n < BESIDE_ROWS)
    own += DRAWN * (booster.subsample < 1)
    own += ASKED * (native_loss(loss) is None or loss.renews_leaves)
    leaves = n // max(1, int(booster.min_samples_leaf)) + 1
    if booster.max_leaf_nodes is not None:
        leaves = min(leaves, int(booster.max_leaf_nodes))
    if booster.max_depth is not None and booster.max_depth < 31:
        leaves = min(leaves, 2 ** int(booster.max_depth))
    waiting = 2 + 1 / (1 / (AHEAD * leaves) + ROWS_OF_HISTOGRAM / n)
    tried = resolve_max_features(booster.max_features, p, type(booster).__name__)
    if 2 * tried <= p and not table.sparse:  # the few that are drawn are summed for each node
        waiting = 2
    encoded = 0
    if booster.categorical_encoding == "ordered_target" and table.levels:
        encoded = n * 8 * (p + len(table.levels) * loss.n_outputs)
    trees = int(booster.n_estimators) * loss.n_outputs
    return {
        "copies": (cells * (item + places) + n * APART) * held_out + encoded,
        "bins": cells * (ENTRY if table.sparse else 2) + int(bins.sum()) * CUT,
        "rows": n * own,
        "histograms": int(waiting * bins.sum() * 8),
        "trees": trees * 2 * leaves * NODE,
    }


FIXES = {
    "copies": "early_stopping=False, or X_val and y_val: then no rows are copied",
    "bins": "max_bins up to 255, whose bins take one byte",
    "rows": "fewer rows, or fewer outputs",
    "histograms": "a smaller max_leaf_nodes or max_bins",
    "trees": "a smaller n_estimators or max_leaf_nodes",
}


def check_memory(booster: Any, table: Table, loss: Loss, held_out: bool) -> None:
    """Refuse a fit that needs more memory than there is; name the two largest parts' knobs."""
    parts = fit_parts(booster, table, loss, held_out)
    need = sum(parts.values())
    if need > SMALL:
        largest = sorted(parts, key=lambda part: -parts[part])[:2]
        fix = "; ".join(FIXES[part] for part in largest)
        refuse_beyond(need, "X", fix, available_memory())
