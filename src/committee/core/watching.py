"""Watching a fit: scikit-learn's callback protocol around the loop over members.

An estimator takes part with two lines: the mixin :class:`CallbackSupport` with the decorator
:func:`with_callbacks` on ``fit``, and ``with Watch(self, n_members, X=X, y=y) as watch`` around
:func:`~committee.core.rounds.assemble`. Where scikit-learn has no callbacks (before 1.9) both do
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:
    CallbackSupportMixin = object
    _with_callbacks = None

if TYPE_CHECKING:
    from committee.core.committee import Committee

Fit = TypeVar("Fit", bound=Callable[..., Any])


class CallbackSupport(CallbackSupportMixin):
    """Mixin: ``set_callbacks``, where scikit-learn has callbacks."""


def with_callbacks(fit: Fit) -> Fit:
    """Decorate ``fit``: callbacks are torn down when it ends, also by an error.

    Parameters
    ----------
    fit : method
        Of a :class:`CallbackSupport`.

    Returns
    -------
    method
        With the same signature.
    """
    return fit if _with_callbacks is None else cast(Fit, _with_callbacks(fit))


class Watch:
    """Tells the callbacks of an estimator about each member, and hears whether to stop.

    The fit is one task with a subtask per member. A callback finds the facts of a member in
    ``context.facts``.

    Parameters
    ----------
    estimator : estimator
        The one being fitted; nothing happens unless it is a :class:`CallbackSupport`.
    n_members : int or None
        The most members that will be made, without those made by an earlier fit; None where that
        is not known.
    X, y : array-like, optional
        The training rows as the user gave them, for callbacks that score.
    metadata : mapping, optional
        What else ``score`` takes, such as ``sample_weight``.
    attributes : callable, optional
        From the committee so far to the attributes of an estimator fitted with it. It is called
        only when a callback wants a fitted estimator, and gets none without it.

    Notes
    -----
    It is a context manager. Fitted attributes belong inside the block: where it ends without an
    error, callbacks are shown the fitted estimator.
    """

    def __init__(
        self,
        estimator: Any,
        n_members: int | None,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Mapping[str, Any] | None = None,
        attributes: Callable[[Committee], Mapping[str, Any]] | None = None,
    ) -> None:
        self._shown = {
            "estimator": estimator,
            "X": X,
            "y": y,
            "metadata": None if metadata is None else dict(metadata),
        }
        self._n_members = n_members
        self._attributes = attributes
        self._fit: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        begin_fit = getattr(self._shown["estimator"], "_init_callback_context", None)
        if begin_fit is not None:
            fit = begin_fit(max_subtasks=self._n_members)
            fit.call_on_fit_task_begin(**self._shown)
            # Where nobody listens, a hundred tasks would still take a twentieth of a small fit.
            self._fit = fit if getattr(fit, "_callbacks", True) else None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fit is not None and kind is None:
            self._fit.call_on_fit_task_end(**self._shown, reconstruction_attributes={})

    @property
    def listens(self) -> bool:
        """Whether anybody is told of members."""
        return self._fit is not None

    def before_member(self, member: int) -> None:
        """Tell that the making of a member begins.

        Parameters
        ----------
        member : int
            Its index.
        """
        if self._fit is not None:
            self._task = self._fit.subcontext(task_name=f"member {member}")
            self._task.call_on_fit_task_begin(**self._shown)

    def after_member(
        self, member: int, facts: Mapping[str, float], so_far: Callable[[], Committee]
    ) -> bool:
        """Tell that a member was made.

        Parameters
        ----------
        member : int
            Its index.
        facts : mapping of str to float
            Numbers about it.
        so_far : callable
            Gives the committee up to and including this member.

        Returns
        -------
        bool
            Whether a callback asked to stop.
        """
        if self._fit is None:
            return False
        if self._task is None:  # made by the same call as the member before
            self.before_member(member)
        task, self._task = self._task, None
        task.facts = dict(facts)
        attributes = self._attributes
        fitted = None if attributes is None else lambda: attributes(so_far())
        stop = task.call_on_fit_task_end(**self._shown, reconstruction_attributes=fitted)
        return bool(stop)
