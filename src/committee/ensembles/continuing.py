"""Warm starts: which members a fit has to add, and what it takes over from the one before.

A member is a function of the rows, the parameters, the seed and its index. So a fit that keeps
the first members and adds others gives, bit for bit, what one fit would have given, provided the
rows are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.committee import Committee
from committee.data import InputError
from committee.data.errors import describe, warn


@dataclass(frozen=True, eq=False)
class Origin:
    """What the members of a committee are a function of, besides parameters and index.

    Attributes
    ----------
    keys : ndarray of uint64
        The content of the rows.
    seed : int
        The seed of the committee.
    weights : str
        A hash of the rows' weights, where members use them.
    """

    keys: npt.NDArray[np.uint64]
    seed: int
    weights: str = ""


@dataclass(frozen=True, eq=False)
class Addition:
    """What a fit has to do.

    Attributes
    ----------
    members : range
        Indices of the members, or of the rounds of members, to make.
    seed : int
        Of the whole committee: that of the first fit.
    committee : Committee or None
        The members there are.
    """

    members: range
    seed: int
    committee: Committee | None = None


def members_to_add(
    estimator: Any, here: Origin, before: Origin | None, per_round: int = 1
) -> Addition:
    """Tell which members a fit has to add.

    Parameters
    ----------
    estimator : estimator
        With ``n_estimators`` and ``warm_start``, and after a fit with ``committee_``.
    here : Origin
        Rows and seed of this fit.
    before : Origin or None
        Those of the last fit, None where there was none.
    per_round : int
        Members that are made together; ``n_estimators`` counts rounds.

    Returns
    -------
    Addition
        All rounds, or with a warm start those that are missing.
    """
    wanted = estimator.n_estimators
    if before is None or not estimator.warm_start:
        return Addition(range(wanted), here.seed)
    if not np.array_equal(before.keys, here.keys):
        found = "the rows are not those of the fit that is continued"
        fix = "fit with the same X and y, or set warm_start=False"
        raise InputError(describe("P-WARM", "X", found, fix=fix))
    if before.weights != here.weights:
        found = "the weights are not those of the fit that is continued"
        fix = "fit with the same sample_weight, or set warm_start=False"
        raise InputError(describe("P-WARM", "sample_weight", found, fix=fix))
    have = len(estimator.committee_) // per_round
    if wanted < have:
        found = f"n_estimators={wanted} must be larger or equal to the {have} members there are"
        fix = "set warm_start=False to begin anew"
        raise InputError(describe("P-WARM", "n_estimators", found, fix=fix))
    if wanted == have:
        found = "Warm-start fitting without increasing n_estimators does not fit new members"
        warn(describe("P-WARM", "n_estimators", found, fix="raise n_estimators"))
    return Addition(range(have, wanted), before.seed, estimator.committee_)
