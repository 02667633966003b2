"""Members of a stack, as the user lists them: ``estimators``, or ``levels`` of such lists."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from committee.data import InputError
from committee.data.errors import describe, listing
from committee.ensembles.levels import Leveled
from committee.ensembles.panel import Seat

Pairs = list[tuple[str, Any]]
FIX = "levels=[[('a', one), ('b', other)], [('c', third)]]"


class Listed(Leveled):
    """A panel whose members may stand on several levels; all names are parameters."""

    levels: Any
    final_estimator: Any

    @property
    def _listed(self) -> Pairs:
        """All members in order, those of the first level first."""
        if self.levels is None or not _are_lists(self.levels):
            return self.estimators  # type: ignore[no-any-return]
        return [pair for level in self.levels for pair in level]

    @_listed.setter
    def _listed(self, pairs: Pairs) -> None:
        if self.levels is None:
            self.estimators = pairs
            return
        ends = np.cumsum([len(level) for level in self.levels])
        begins = [0, *ends[:-1]]
        self.levels = [list(pairs[b:e]) for b, e in zip(begins, ends, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, those of members by their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include members and their parameters.

        Returns
        -------
        dict
            By name.
        """
        found: dict[str, Any] = self._get_params("_listed", deep=deep)
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a member by its name, its parameters by ``name__parameter``.

        Parameters
        ----------
        **params : dict
            Parameters and members by name.

        Returns
        -------
        estimator
            The estimator itself.
        """
        for whole in ("estimators", "levels"):  # before their members are looked up
            if whole in params:
                setattr(self, whole, params.pop(whole))
        self._set_params("_listed", **params)
        return self

    @property
    def named_estimators(self) -> Any:
        """The members as given, by name."""
        return Bunch(**dict(self._listed))

    def _sk_visual_block_(self) -> Any:
        """Draw level above level in notebooks, and the meta-model last."""
        from sklearn.utils._repr_html.estimator import _VisualBlock  # for notebooks alone

        levels = [self.estimators] if self.levels is None else self.levels
        blocks = []
        for level in levels:
            names, members = zip(*level, strict=True)
            blocks.append(_VisualBlock("parallel", members, names=names, dash_wrapped=False))
        final = [repr(self.final_estimator)]
        if hasattr(self.final_estimator, "get_params"):
            final = [self.final_estimator]
        blocks.append(_VisualBlock("parallel", final, names=["final_estimator"]))
        return _VisualBlock("serial", blocks, dash_wrapped=False)

    def _flat(self) -> Any:
        """Copy the stack with all members on one list, as panels know them."""
        if self.levels is None:
            return self
        if self.estimators is not None:
            found = "both estimators and levels are given"
            raise InputError(describe("P-PANEL", "levels", found, allowed="one of them", fix=FIX))
        if not _are_lists(self.levels) or not len(self.levels):
            found = f"got {self.levels!r}"
            allowed = "a list of levels, each a list of (name, estimator)"
            raise InputError(describe("P-PANEL", "levels", found, allowed=allowed, fix=FIX))
        flat = copy.copy(self)
        flat.levels, flat.estimators = None, self._listed
        flat._listed_in = "levels"
        return flat

    def _check_level_names(self) -> None:
        """Refuse a name that two members share, and say on which levels they are."""
        if self.levels is None or not _are_lists(self.levels):  # which others look at
            return
        places: dict[str, list[str]] = {}
        for number, level in enumerate(self.levels):
            for name, _ in level:
                places.setdefault(str(name), []).append(f"level {number}")
        twice = {name: on for name, on in places.items() if len(on) > 1}
        if twice:
            shared = [f"{name!r} on {' and '.join(on)}" for name, on in twice.items()]
            found = f"Names provided are not unique: {listing(shared)}"
            fix = "give each member of all levels a name of its own"
            raise InputError(describe("P-PANEL", "levels", found, fix=fix))

    def _by_level(self, seats: Sequence[Seat]) -> tuple[tuple[Seat, ...], ...]:
        """Sort seats by level."""
        if self.levels is None:
            return (tuple(seats),)
        ends = np.cumsum([len(level) for level in self.levels])
        sorted_seats = tuple(
            tuple(seat for seat in seats if end - len(level) <= seat.index < end)
            for end, level in zip(ends, self.levels, strict=True)
        )
        for number, level in enumerate(sorted_seats):
            if not level:
                found = f"level {number} has no member, or all are dropped"
                raise InputError(describe("P-PANEL", "levels", found, fix="take the level away"))
        return sorted_seats


def _are_lists(levels: Any) -> bool:
    """Tell whether levels are lists of pairs; what the pairs hold is said by others."""
    return isinstance(levels, Sequence) and all(
        isinstance(level, Sequence)
        and not isinstance(level, str)
        and all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in level)
        for level in levels
    )
