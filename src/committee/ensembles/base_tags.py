"""A committee of one estimator's copies accepts what that estimator accepts."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags


class BaseTags:
    """Mixin: sparse rows and missing values are the business of the base learner."""

    def _base(self) -> Any:
        """Return what is copied for the members."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        base = self._base()
        if not isinstance(base, type) and hasattr(base, "__sklearn_tags__"):  # else fit refuses it
            members = get_tags(base)
            tags.input_tags.sparse = members.input_tags.sparse
            tags.input_tags.allow_nan = members.input_tags.allow_nan
        tags.target_tags.required = True
        return tags
