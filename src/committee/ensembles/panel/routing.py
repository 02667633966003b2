"""scikit-learn's metadata routing for named members.

Without routing, ``sample_weight`` goes to all members and nothing else is taken. With it, each
member gets what it requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _raise_for_params as refuse_params
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe, listing
from committee.ensembles.panel.seats import Seat, check_weights


def router_of(owner: Any, asked: Mapping[str, str]) -> MetadataRouter:
    """Route ``fit`` to ``fit`` of the members, and what is asked to what they are asked for."""
    router = MetadataRouter(owner=owner)
    for name, estimator in owner.estimators:
        if isinstance(estimator, str):  # dropped
            continue
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller, callee in asked.items():
            mapping.add(caller=caller, callee=callee)
        router.add(**{name: estimator}, method_mapping=mapping)
    return router


def fit_params_of(
    owner: Any, seats: Sequence[Seat], weight: Floats | None, fit_params: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Sort what was given to ``fit`` by member; without seats there is nobody to give it to.

    Raises
    ------
    InputTypeError
        Where weights are given, no routing is enabled, and a member takes none.
    """
    params = dict(fit_params)
    refuse_params(params, owner, "fit")
    if not seats:
        if params:
            found = f"{listing(sorted(params))} given, but the members are fitted already"
            raise InputError(describe("M-PREFIT", "fit", found, fix="fit without it"))
        return {}
    if weight is not None:
        params["sample_weight"] = weight
    if not params:
        return {}
    if not routing_enabled():
        check_weights(seats)
        return {seat.name: dict(params) for seat in seats}
    sorted_params = process_routing(owner, "fit", **params)
    return {seat.name: dict(sorted_params[seat.name]["fit"]) for seat in seats}


def routed_to(
    owner: Any, method: str, params: dict[str, Any], names: Sequence[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Sort the metadata given to a method by member and by the member's method."""
    refuse_params(params, owner, method)
    if not params or not routing_enabled():
        return {}
    sorted_params = process_routing(owner, method, **params)
    return {name: {m: dict(p) for m, p in sorted_params[name].items()} for name in names}
