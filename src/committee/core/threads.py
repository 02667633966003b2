"""How many threads ``n_jobs`` of an estimator stands for, on the cores that there are."""

from __future__ import annotations

from committee import _engine
from committee.core.params import resolve_threads


class Threaded:
    """Mixin: the threads of an estimator with ``n_jobs``."""

    n_jobs: int | None

    def _threads(self) -> int:
        return resolve_threads(self.n_jobs, _engine.available_threads(), type(self).__name__)
