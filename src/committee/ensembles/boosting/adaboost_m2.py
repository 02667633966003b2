"""AdaBoost.M2: boosting by pseudo-loss.

Freund and Schapire, "Experiments with a new boosting algorithm" (1996). Weights sit on mislabels:
D(i, l) says how important it is to tell row i from the wrong class l. A hypothesis gives every
class a plausibility h(x, l) in [0, 1] and is charged

    e = 1/2 sum D(i, l) (1 - h(x_i, y_i) + h(x_i, l)),    alpha = 1/2 ln((1 - e) / e),
    D(i, l) <- D(i, l) exp(-alpha (h(x_i, y_i) - h(x_i, l))) / Z,

so that a stump, which can tell only two sides apart, still beats chance on K classes. A stump is
cut where the pseudo-loss is least; other trees split as they are told to, by the weights of the
rows, and only their leaves are set by pseudo-loss.
"""

from __future__ import annotations

import numpy as np

from committee.core.members import Floats
from committee.core.rounds import Round
from committee.ensembles.boosting.hypothesis import Hypothesis
from committee.ensembles.boosting.pseudo_loss_cut import CutSearch
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    CHANCE,
    NO_BETTER,
    PERFECT,
    SMALLEST,
    distribution,
    facts,
    warn_perfect,
)
from committee.ensembles.boosting.task import Task


def pseudo_loss_rounds(task: Task, learning_rate: float, search: CutSearch | None) -> Rounds:
    """Yield the rounds of AdaBoost.M2; a ``search`` says where stumps are cut."""
    rows, K = np.arange(task.n_rows), task.n_classes
    log_d = np.log(np.repeat(task.weight[:, None] / (K - 1), K, axis=1))
    log_d[rows, task.y] = -np.inf  # the right class is no mislabel
    alphas = np.empty(0)
    while True:
        d = distribution(log_d)
        own = d.sum(axis=1)
        gain = -d
        gain[rows, task.y] = own
        # The two sides of the best cut are learnt as two classes.
        h = plausible(task.fit(own, None if search is None else search.sides(gain)), gain)
        ahead = h.said[rows, task.y][:, None] - h.said  # h(x, y) - h(x, l)
        # A weight may be too small for a float64, and the mislabel is plausible all the same.
        error = max(float(np.sum(d * (1 - ahead)) / 2), SMALLEST)
        if np.count_nonzero(ahead == 1) == ahead.size - task.n_rows:
            warn_perfect(task, len(alphas))
            yield Round(h.seat(), np.append(0 * alphas, 1.0), facts(0.0, np.inf, 1.0, 0.0))
            return PERFECT
        if 1 - 2 * error <= CHANCE:
            return NO_BETTER
        alpha = learning_rate * np.log((1 - error) / error) / 2
        alphas = np.append(alphas, alpha)
        log_d -= alpha * ahead
        z = float(np.sum(d * np.exp(-alpha * ahead)))
        yield Round(h.seat(), alphas, facts(error, alpha, 1 - 2 * error, z))


def plausible(h: Hypothesis, gain: Floats) -> Hypothesis:
    """Let a tree's leaves say what costs least pseudo-loss; others say their probabilities.

    The pseudo-loss is linear in h, so that a class is plausible (1) in a leaf or it is not (0): it
    is where the rows of the class there weigh more than the mislabels that name it.
    """
    if h.cells is None:
        return h
    n_cells = int(h.cells.max()) + 1
    of_cells = np.stack([np.bincount(h.cells, each, minlength=n_cells) for each in gain.T], axis=1)
    return h.valued((of_cells > 0).astype(np.float64))
