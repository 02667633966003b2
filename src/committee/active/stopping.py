"""When to stop asking: the error of left-out rows has reached a plateau.

The rule. After each round the labelled rows are judged by the members that left them out (out of
bag). Look back to the last round that had at most 1 / ``growth`` of the rows judged today, and take
Wilson's interval of its error. Stopping is advised when that interval is at most ``width`` wide and
the errors of all rounds since lie in it: half as many labels again have changed nothing that could
be told apart, and enough rows were judged to tell. Labelled rows were chosen because they are
disputed, so that the error is higher than that of the pool, and only its course counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from committee.active.curve import wilson_interval
from committee.core.params import real
from committee.data import InputError
from committee.data.errors import describe

GROWTH, WIDTH = 1.5, 0.1


@dataclass(frozen=True)
class StopAdvice:
    """Whether more labels seem to help; true where to stop is advised.

    Attributes
    ----------
    stop : bool
        Whether to stop.
    reason : str
        Why, with the numbers.
    """

    stop: bool
    reason: str

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return f"{'stop' if self.stop else 'go on'}: {self.reason}"


def advise_stop(
    wrong: Sequence[int],
    n_rows: Sequence[int],
    *,
    growth: float = GROWTH,
    width: float = WIDTH,
    confidence: float = 0.95,
) -> StopAdvice:
    """Advise on stopping by the out-of-bag errors of all rounds so far.

    Parameters
    ----------
    wrong : sequence of int
        Labelled rows that were wrong, after each round.
    n_rows : sequence of int
        Labelled rows that were judged, after each round.
    growth : float, default=1.5
        How many times as many rows as at its beginning a plateau must reach.
    width : float, default=0.1
        How wide the interval at the beginning of the plateau may be.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    StopAdvice
        The advice, and the reason.

    Examples
    --------
    >>> print(advise_stop([40, 44, 46], [400, 500, 600]))
    stop: the out-of-bag error has stayed in [0.0743, 0.1333] from 400 to 600 rows...
    >>> print(advise_stop([40, 34, 30], [400, 500, 600]))
    go on: the out-of-bag error 0.0680 of 500 rows has left [0.0743, 0.1333]...
    """
    _check(wrong, n_rows, growth, width, confidence)
    early = [k for k, n in enumerate(n_rows) if 0 < growth * n <= n_rows[-1]]
    if not early:
        now = n_rows[-1] if len(n_rows) else 0
        text = f"{now} rows are judged, and no round before had at most 1 / {growth:g} of them"
        return StopAdvice(False, text)
    begin = early[-1]
    low, high = (float(end) for end in wilson_interval(wrong[begin], n_rows[begin], confidence))
    known = f"[{low:.4f}, {high:.4f}]"
    if high - low > width:
        return StopAdvice(
            False, f"the interval {known} of {n_rows[begin]} rows is wider than {width:g}"
        )
    for k in range(begin + 1, len(wrong)):
        error = wrong[k] / n_rows[k] if n_rows[k] else 1.0
        if not low <= error <= high:
            text = f"the out-of-bag error {error:.4f} of {n_rows[k]} rows has left {known}, "
            return StopAdvice(False, text + f"where it was with {n_rows[begin]} rows")
    text = f"the out-of-bag error has stayed in {known} from {n_rows[begin]} to {n_rows[-1]} rows"
    return StopAdvice(True, f"{text}; it is now {wrong[-1] / n_rows[-1]:.4f}")


def _check(
    wrong: Sequence[int], n_rows: Sequence[int], growth: float, width: float, confidence: float
) -> None:
    rules = {
        "growth": (growth, real(1, None, "neither"), "a number above 1"),
        "width": (width, real(0, 1, "right"), "a number in (0, 1]"),
        "confidence": (confidence, real(0, 1, "neither"), "a number in (0, 1)"),
    }
    for name, (value, rule, allowed) in rules.items():
        if not rule.is_satisfied_by(value):
            raise InputError(describe("P-VALUE", name, f"got {value!r}", allowed=allowed))
    if len(wrong) != len(n_rows):
        found = f"{len(wrong)} rounds of wrong rows, {len(n_rows)} of judged rows"
        raise InputError(describe("P-VALUE", "wrong, n_rows", found, allowed="as many of both"))
    for k, (errors, rows) in enumerate(zip(wrong, n_rows, strict=True)):
        if not 0 <= errors <= rows:
            found = f"round {k} has {errors} wrong of {rows} rows"
            raise InputError(describe("P-VALUE", "wrong", found, allowed="0 to all of the rows"))
