"""Warnings that few labelled rows bring about in every round, kept to themselves.

They are true, and said once they would be of use; said at each of a thousand questions they are
noise. Queries say what matters of them in their reasons.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from committee.data import DataWarning

OF_MEMBERS = "Y-ONE-CLASS|Y-MANY-CLASSES|M-PERFECT|M-PRIOR|M-ALONE"
OF_ROWS = "X-UNSEEN|X-ALL-MISSING"  # a level or a column of which no labelled row has a value yet


@contextmanager
def expected_warnings(*, rows: bool = False) -> Iterator[None]:
    """Hold back what a committee says of few rows.

    Filters of warnings belong to the process, so that only its main thread may change them.

    Parameters
    ----------
    rows : bool, default=False
        Whether what is said about values that labelled rows do not have yet is held back, too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    codes = f"{OF_MEMBERS}|{OF_ROWS}" if rows else OF_MEMBERS
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", rf"\[({codes})\]", DataWarning)
        yield
