"""scikit-learn's metadata routing for committees of one estimator's copies.

A method of the committee asks a method of the members, which depends on what these have; the
router says which, as that of scikit-learn's own bagging.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _raise_for_params as refuse_params
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

ASKED = ("predict", "predict_proba", "predict_log_proba")


def router_of(owner: Any, base: Any) -> MetadataRouter:
    """Route ``fit`` and ``decision_function`` as they are, the others to what the members have."""
    mapping = MethodMapping()
    mapping.add(caller="fit", callee="fit")
    mapping.add(caller="decision_function", callee="decision_function")
    callee = "predict_proba" if hasattr(base, "predict_proba") else "predict"
    for caller in ASKED:
        mapping.add(caller=caller, callee=callee)
    return MetadataRouter(owner=owner).add(estimator=base, method_mapping=mapping)


def routed(owner: Any, method: str, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Sort the metadata given to a method by the methods of the members."""
    refuse_params(params, owner, method)
    if not params or not routing_enabled():
        return {}
    return dict(process_routing(owner, method, **params).estimator)


class Routed:
    """An estimator whose methods are given metadata besides the rows."""

    def __init__(self, estimator: Any, metadata: dict[str, dict[str, Any]]) -> None:
        self._estimator = estimator
        self._metadata = metadata

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._estimator, name)
        extra = self._metadata.get(name)
        return (lambda X: method(X, **extra)) if extra else method
