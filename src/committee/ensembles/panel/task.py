"""The work of a panel: fit named members on rows or on parts of them, and ask them, in parallel.

A :class:`Job` is one member on one set of rows. Jobs run in any order on any number of workers and
come back in the order they were given; a job knows nothing of the others, so that the results are
the same bits for any ``n_jobs``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib.parallel import get_active_backend
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from committee.core.members import ClassifierMember, Floats, Member, RegressorMember
from committee.core.watching import Watch
from committee.data import DataWarning, InputError, Schema
from committee.data.errors import describe
from committee.ensembles.member_fitting import of_kind
from committee.ensembles.panel.remarks import Remark, heard, tell
from committee.ensembles.panel.seats import Seat

Ints = npt.NDArray[np.intp]
Ask = Callable[[Any], Member]
NAMED_ROWS = re.compile(r"\brows? \d+(?:, \d+)*")  # as our own messages name them


@dataclass(frozen=True, eq=False)
class Job:
    """One member on one set of rows.

    Attributes
    ----------
    seat : Seat
        The member.
    train : ndarray of int, optional
        The rows to fit on; by default all.
    test : ndarray of int, optional
        The rows to ask about; by default none.
    prefit : bool
        Whether the member is asked as it is, and not fitted.
    ask : callable, optional
        Makes the fitted estimator a member, whose ``outputs`` are the answer; by default
        :meth:`PanelTask.member`. It must be picklable.
    keep : bool
        Whether the fitted member is wanted back.
    """

    seat: Seat
    train: Ints | None = None
    test: Ints | None = None
    prefit: bool = False
    ask: Ask | None = None
    keep: bool = True


@dataclass(frozen=True, eq=False)
class Done:
    """What came of a job.

    Attributes
    ----------
    estimator : estimator or None
        The fitted member, where it is kept.
    outputs : ndarray of shape (n_test, n_outputs) or None
        What it said of the rows it was asked about.
    seconds : float
        How long it took.
    remarks : tuple of Remark
        What was warned of.
    """

    estimator: Any
    outputs: Floats | None
    seconds: float
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, eq=False)
class _Failure:
    error: Exception
    n_classes: int
    rows: Ints | None  # those that the member was given when it failed; None: all


class Progress:
    """Counts the jobs of a fit and tells whoever watches.

    Parameters
    ----------
    n_jobs : int
        The jobs of the whole fit, which may be run in several calls.
    watch : Watch, optional
        Told of each job, in order.
    """

    def __init__(self, n_jobs: int, watch: Watch | None = None) -> None:
        self.n_jobs = n_jobs
        self.done = 0
        self._watch = watch

    def begin(self) -> None:
        """Tell that the next job is waited for."""
        if self._watch is not None:
            self._watch.before_member(self.done)

    def end(self, job: Job, done: Done) -> None:
        """Tell that it is done."""
        facts = {"member": float(job.seat.index), "seconds": done.seconds}
        number, self.done = self.done, self.done + 1
        if self._watch is not None and self._watch.after_member(number, facts, _no_committee):
            found = f"a callback asked to stop after {self.done} of {self.n_jobs} jobs"
            fix = "set members that are not wanted to 'drop'"
            raise RuntimeError(describe("M-STOPPED", "callbacks", found, fix=fix))


def _no_committee() -> Any:
    raise RuntimeError("a panel is fitted once all members are")  # pragma: no cover


@dataclass(frozen=True, eq=False)
class PanelTask:
    """Training rows and the members that are to learn them.

    Attributes
    ----------
    seats : tuple of Seat
        The members.
    X : ndarray, csr matrix or frame
        The rows, as members get them.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels as the user wrote them, or numbers.
    schema : Schema
        Width and names of the rows.
    classes : ndarray or None
        The sorted labels; None where y holds numbers.
    codes : ndarray of int or None
        The position of each label in ``classes``.
    weight : ndarray or None
        Weights of the rows, as given to ``fit``; members get them by ``params``.
    params : mapping of str to mapping
        By name of member what its ``fit`` takes besides X and y.
    seed : int
        Of the whole panel.
    n_jobs : int
        Workers.
    owner : str
        The class name of the ensemble, for messages.
    verbose : int
        Above 0, a line is printed for each job done.
    origin : ndarray of int or None
        The user's number of each row, for messages; None where the rows are the user's.
    """

    seats: tuple[Seat, ...]
    X: Any
    y: npt.NDArray[Any]
    schema: Schema
    classes: npt.NDArray[Any] | None
    codes: npt.NDArray[np.int32] | None
    weight: Floats | None
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int = 0
    n_jobs: int = 1
    owner: str = "Panel"
    verbose: int = 0
    origin: Ints | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def n_outputs(self) -> int:
        """Classes, or columns of numbers."""
        return self.n_targets if self.classes is None else len(self.classes)

    @property
    def n_targets(self) -> int:
        """Columns of y."""
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Mark the rows that models may learn from: those of positive weight."""
        if self.weight is None:
            return np.ones(self.n_rows, dtype=np.bool_)
        return np.asarray(self.weight > 0)

    def member(self, estimator: Any, *, votes: bool = False) -> Member:
        """Make a fitted estimator a member: outputs in the order of ``classes``, or numbers."""
        if self.classes is None:
            return RegressorMember(estimator)
        return ClassifierMember(estimator, self.classes, votes)

    def run(self, jobs: Sequence[Job], progress: Progress | None = None) -> list[Done]:
        """Run jobs, several at a time.

        Parameters
        ----------
        jobs : sequence of Job
            What is to be done.
        progress : Progress, optional
            Told of each job, in order.

        Returns
        -------
        list of Done
            One for each job, in the same order.

        Raises
        ------
        InputError, InputTypeError or RuntimeError
            When a member raised: which one, with the original error as the cause.
        """
        progress = Progress(len(jobs)) if progress is None else progress
        done: list[Done] = []
        results = self._results(jobs)
        try:
            for job in jobs:
                progress.begin()
                result = next(results)
                if isinstance(result, _Failure):
                    raise self._error(job, result) from result.error
                done.append(result)
                self._tell(job, result, progress)
                progress.end(job, result)
        finally:
            results.close()
        tell(remark for one in done for remark in one.remarks)
        return done

    def _results(self, jobs: Sequence[Job]) -> Generator[Any]:
        n_workers = min(self.n_jobs, len(jobs))
        if n_workers <= 1:
            yield from (self._do(job) for job in jobs)
            return
        backend, _ = get_active_backend()
        # Where results cannot be had one by one, progress is told at the end.
        form = "generator" if backend.supports_return_generator else "list"
        parallel = Parallel(n_jobs=n_workers, return_as=form)
        yield from parallel(delayed(self._do)(job) for job in jobs)

    def _do(self, job: Job) -> Done | _Failure:
        begin, given = time.perf_counter(), job.train
        try:
            with heard() as remarks:
                estimator = job.seat.estimator if job.prefit else self._fitted(job)
                outputs = None
                if job.test is not None:
                    given = job.test
                    rows = _safe_indexing(self.X, given)
                    outputs = (job.ask or self.member)(estimator).outputs(rows)
        except Exception as error:
            train = slice(None) if job.train is None else job.train
            return _Failure(error, len(np.unique(self.y[train])), given)
        kept = estimator if job.keep else None
        if job.train is not None:  # facts about the rows are told of all of them
            remarks = [one for one in remarks if not issubclass(one.category, DataWarning)]
        return Done(kept, outputs, time.perf_counter() - begin, tuple(remarks))

    def _fitted(self, job: Job) -> Any:
        X, y, train = self.X, self.y, job.train
        params = dict(self.params.get(job.seat.name, {}))
        if train is not None:
            params = dict(_check_method_params(X, params=params, indices=train))
            X, y = _safe_indexing(X, train), y[train]
        return job.seat.unfitted(self.seed).fit(X, y, **params)

    def _tell(self, job: Job, done: Done, progress: Progress) -> None:
        if self.verbose > 0:
            rows = "" if job.train is None else f" on {len(job.train)} rows"
            place = f"{progress.done + 1} of {progress.n_jobs}"
            print(f"[{self.owner}] {place}: {job.seat}{rows}, {done.seconds:.2f}s")

    def _error(self, job: Job, failure: _Failure) -> Exception:
        on_part = job.train is not None and not job.prefit and self.origin is None
        if on_part and isinstance(failure.error, InputError):
            # Our own learners name rows: better all that are at fault than those of the fold.
            whole = self._do(Job(job.seat))
            failure = whole if isinstance(whole, _Failure) else failure
        error, seat = failure.error, job.seat
        told = self._numbered(str(error), failure) if isinstance(error, InputError) else str(error)
        params = seat.unfitted(self.seed).get_params()
        seeded = f", seed {params['random_state']}" if "random_state" in params else ""
        found = f"member {seat.index}, {seat}{seeded}, raised {type(error).__name__}: {told}"
        fix = f"fit {type(seat.estimator).__name__} alone to see more"
        if self.classes is not None and failure.n_classes < 2 and not job.prefit:
            found += f" Its rows hold {failure.n_classes} class"
            fix = "rows of two classes or more, in every fold"
        return of_kind(error, describe("M-FIT", "estimators", found, fix=fix))

    def _numbered(self, text: str, failure: _Failure) -> str:
        """Give the rows in a message of ours the numbers that the user knows them by."""
        rows = np.arange(self.n_rows) if failure.rows is None else failure.rows
        given = dict(enumerate((rows if self.origin is None else self.origin[rows]).tolist()))

        def renumbered(found: re.Match[str]) -> str:
            # A number beyond the rows is no row of theirs.
            return re.sub(r"\d+", lambda row: str(given.get(int(row[0]), row[0])), found[0])

        return NAMED_ROWS.sub(renumbered, text)
