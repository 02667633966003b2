"""The loop of active learning: ask, hear, learn, and keep account of it.

Every question stands in the log with its reason and how disputed the row was, every answer with
its annotator. Beside the learner that asks runs a twin that is taught random rows, as many: what
questions are worth differs from task to task, and only the twin can tell. All that happens is a
function of pool, log and seed, so that a loop that is given a log goes on where the log ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from committee.active.annotators import Annotator
from committee.active.content import Pool, empty_pool
from committee.active.course import (
    Course,
    check_labels,
    check_loop,
    check_test_labels,
    check_test_rows,
    classes_told,
    read_answers,
    read_ids,
    round_ends,
)
from committee.active.curve import RANDOM, QueryCurve
from committee.active.events import LabelLog, RowId
from committee.active.labelled import check_known
from committee.active.left_out import check_leaves_out
from committee.active.query import Query
from committee.active.stopping import GROWTH, WIDTH, StopAdvice, advise_stop
from committee.active.twin import Twin, check_apart, check_taught
from committee.core.params import resolve_seed
from committee.core.randomness import member_seed
from committee.data import InputError
from committee.data.errors import describe

QUERIES = "queries"


class ActiveLoop:
    """Questions to an annotator, logged, with the learning curve beside that of random rows.

    Parameters
    ----------
    model : ActiveClassifier
        The learner that asks, such as :class:`QueryByBagging`; it is copied.
    pool : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        Rows that can be asked about.
    annotator : callable or None, default=None
        Called with row ids and rows, gives their labels; it may have a ``name``, and ``classes``,
        without which it may name any. None: answers are given to :meth:`tell`.
    X_test, y_test : array-like, optional
        Rows to measure the error on. They never have a part in questions, fits or stop advice.
    n_initial : int, default=10
        How many rows are asked about at first, at random.
    k : int, default=1
        How many rows are asked about in each later round.
    ids : sequence of int or str, optional
        The ids of the rows of the pool; by default their positions.
    log : LabelLog, optional
        Where answers are kept, such as a :class:`LabelJournal`; what it holds already is replayed.
    baseline : bool, default=True
        Whether a twin is taught random rows for comparison, which costs as many answers again;
        it needs an annotator and test rows, and is left out without.
    baseline_log : LabelLog, optional
        Where answers about the twin's rows are kept, such as another :class:`LabelJournal`; what
        it holds already is replayed beside ``log``. Without it, a loop that is given a ``log``
        asks about the twin's rows again.
    random_state : None, int or generator, default=None
        The seed of the first questions, of the random rows, and of a model without one.

    Attributes
    ----------
    model : ActiveClassifier
        The learner, fitted to the labels that were settled at the last round; where there were
        none, not fitted.
    log, baseline_log : LabelLog
        Questions and answers of the learner, and of its twin.

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import ActiveLoop, QueryByBagging, SimulatedAnnotator
    >>> X, y = load_heart(as_frame=True)
    >>> loop = ActiveLoop(
    ...     QueryByBagging(), X[:200], SimulatedAnnotator(y[:200]), X_test=X[200:],
    ...     y_test=y[200:], k=5, random_state=0,
    ... ).run(n_rounds=4)
    >>> len(loop.log), sorted(loop.curve().errors)
    (30, ['queries', 'random'])
    >>> print(loop.log.events[0].reason)
    random: no row has a label yet, and a committee needs two classes to disagree
    """

    def __init__(
        self,
        model: Any,
        pool: Any,
        annotator: Annotator | Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        n_initial: int = 10,
        k: int = 1,
        ids: Sequence[Any] | None = None,
        log: LabelLog | None = None,
        baseline: bool = True,
        baseline_log: LabelLog | None = None,
        random_state: Any = None,
    ) -> None:
        check_loop(model, n_initial, k, X_test, y_test)
        check_apart(log, baseline_log)
        self.pool = Pool.read(pool)
        if X_test is not None:
            check_test_rows(X_test, self.pool)
        self.ids = read_ids(ids, len(self.pool))
        self._place = {row: place for place, row in enumerate(self.ids)}
        self.annotator = annotator
        self.test = None if X_test is None else (X_test, np.asarray(y_test))
        self.n_initial, self.k = n_initial, k
        self.seed = resolve_seed(random_state)
        self._model = clone(model)
        if self._model.random_state is None:
            self._model.set_params(random_state=member_seed(self.seed, 0))
        known = model.classes
        if known is None:
            known = getattr(annotator, "classes", None)
        if self.test is not None:
            check_test_labels(self.test[1], known)
        self.log = LabelLog(known) if log is None else log
        self._courses = {QUERIES: Course(self._model)}
        self._twin: Twin | None = None
        self.baseline_log = LabelLog(known) if baseline_log is None else baseline_log
        if baseline and annotator is not None and self.test is not None:
            lot = member_seed(self.seed, 1)
            self._twin = Twin(self._model, self.baseline_log, self.pool.keys, lot)
            self._courses[RANDOM] = self._twin.course
        else:
            check_taught(baseline_log)
        self.asked: Query | None = None
        self._round = 0
        self._replay()

    @property
    def model(self) -> Any:
        """The learner that asks."""
        return self._courses[QUERIES].model

    @property
    def baseline_model(self) -> Any:
        """The twin that is taught random rows, None without a baseline."""
        return None if self._twin is None else self._twin.course.model

    @property
    def n_rounds(self) -> int:
        """How many rounds were answered, the first rows included."""
        return self._round

    def ask(self, k: int | None = None) -> Query:
        """Choose rows to ask about; asked again before an answer, the same.

        Parameters
        ----------
        k : int, optional
            How many; by default ``n_initial`` where no label is settled yet, else ``k``.

        Returns
        -------
        Query
            Positions in the pool, disagreement and reasons; ``loop.ids`` has the ids. Rows with a
            label, or in the queue of conflicts, are not asked about.
        """
        size = k
        if size is None:
            size = self.k if self._courses[QUERIES].fitted else self.n_initial
        places = self._untouched()
        if not len(places):
            raise empty_pool(f"all {len(self.pool)} rows of it were asked about")
        self.asked = self.model.choose(self.pool, size, places)
        return self.asked

    def tell(
        self, rows: Any, labels: Any, *, annotator: str = "annotator", new_classes: bool = False
    ) -> Self:
        """Record answers, and fit the learner anew to all settled labels.

        The twin is taught as many labels of random rows, by the annotator of the loop. Where there
        is no answer there is no round either: a log has nothing to replay it from, and what was
        asked stays open.

        Parameters
        ----------
        rows : sequence of int or str
            Ids of rows; those of the last question are logged with its reason.
        labels : sequence
            A label for each.
        annotator : str, default="annotator"
            Who answers.
        new_classes : bool, default=False
            Whether labels outside the known classes are accepted. Where none were declared, by
            ``classes`` of the model or the annotator, those that were told are known once they
            are two.

        Returns
        -------
        ActiveLoop
            The loop itself.
        """
        if not new_classes and self.log.classes is None:
            known = np.array(classes_told(self.log), dtype=object)
            check_known(np.array([*labels], dtype=object), known, declared=len(known) > 1)
        return self._told(rows, labels, annotator, new_classes)

    def _told(self, rows: Any, labels: Any, annotator: str, new_classes: bool) -> Self:
        labels = list(labels)
        known = classes_told(self.log, labels)
        if self.test is not None and len(known) > 1:
            check_test_labels(self.test[1], known)
        if not self._record(self.log, rows, labels, annotator, new_classes, self._round):
            return self
        self._learn(QUERIES, self.log, len(self.log))
        self._round += 1
        self.asked = None
        self._teach_twin()
        return self

    def step(self) -> Self:
        """Ask the annotator one batch of questions, and its twin as many random ones."""
        if self.annotator is None:
            found = "there is none to ask"
            raise InputError(describe("E-EVENT", "annotator", found, fix="ask() and tell()"))
        places = self.ask().indices
        answers = self._answers(places)
        return self._told(self._ids(places), answers, self._name, self.log.classes is None)

    def run(self, n_rounds: int, *, until_advised: bool = False) -> Self:
        """Ask the annotator round after round.

        Parameters
        ----------
        n_rounds : int
            How many rounds; the first rows, where there are none yet, are one more.
        until_advised : bool, default=False
            Whether to end as soon as :meth:`stop_advice` says so.

        Returns
        -------
        ActiveLoop
            The loop itself. It ends early where the pool has no rows left.
        """
        if until_advised:
            check_leaves_out(self._model)
        for _ in range(n_rounds + (self._round == 0)):
            if not self._any_left():
                break
            self.step()
            if until_advised and self.stop_advice():
                break
        return self

    def curve(self) -> QueryCurve:
        """Return the error by the number of labels, with that of random rows where there is one."""
        if self.test is None or not self._courses[QUERIES].n_labels:
            found = "no error was measured"
            fix = "X_test and y_test, and a round at least"
            raise InputError(describe("P-VALUE", "X_test", found, fix=fix))
        length = min(len(run.errors) for run in self._courses.values())
        errors = {name: np.array([run.errors[:length]]) for name, run in self._courses.items()}
        labels = self._courses[QUERIES].n_labels[:length]
        return QueryCurve(np.array(labels), errors, len(self.test[1]))

    def stop_advice(self, *, growth: float = GROWTH, width: float = WIDTH) -> StopAdvice:
        """Advise on stopping by the out-of-bag error of the rounds so far.

        Parameters
        ----------
        growth, width : float
            As in :func:`advise_stop`.

        Returns
        -------
        StopAdvice
            The advice and its reason. It is never to stop before two classes are known. A
            committee that leaves no rows out can give none.
        """
        check_leaves_out(self._model)
        run = self._courses[QUERIES]
        wrong, judged = [w for w, _ in run.judged], [n for _, n in run.judged]
        advice = advise_stop(wrong, judged, growth=growth, width=width)
        if run.fitted and len(run.model.classes_) > 1:
            return advice
        so_far = "one class" if run.fitted else "no label"
        return StopAdvice(False, f"{so_far} so far, and a committee needs two classes to disagree")

    # From here on: the account of what happens.

    def _untouched(self) -> npt.NDArray[np.intp]:
        """Find the rows that nobody has said anything about."""
        untouched = np.ones(len(self.pool), dtype=bool)
        untouched[[self._place[event.row] for event in self.log.events]] = False
        return np.flatnonzero(untouched)

    def _any_left(self) -> bool:
        """Tell whether there is a row to ask about that equals none with a label."""
        keys = self.pool.keys[self._untouched()]
        known = self.model.labelled_.keys if self._courses[QUERIES].fitted else keys[:0]
        return bool((~np.isin(keys, known)).any())

    @property
    def _name(self) -> str:
        return str(getattr(self.annotator, "name", type(self.annotator).__name__))

    @property
    def _first(self) -> list[int]:
        """The rows whose labels were settled when the learner was first fitted, if it was."""
        states = (self.log.replay(end).labels for end in round_ends(self.log.events))
        return [self._place[row] for row in next(filter(None, states), ())]

    @property
    def counts(self) -> list[int]:
        """How many labels the learner had after each round in which any were settled."""
        return list(self._courses[QUERIES].n_labels)

    def _ids(self, places: Any) -> list[RowId]:
        return [self.ids[place] for place in places]

    def _answers(self, places: Any) -> list[Any]:
        assert self.annotator is not None
        return list(self.annotator(self._ids(places), _safe_indexing(self.pool.X, places)))

    def _record(
        self, log: LabelLog, rows: Any, labels: Any, annotator: str, new_classes: bool, round: int
    ) -> int:
        """Write answers into a log, all or none; say how many there are."""
        ids, labels = read_answers(rows, labels, self._place)
        trial = LabelLog(log.classes)  # all answers are recorded, or none
        for row, label in zip(ids, labels, strict=True):
            trial.append(row, label, annotator=annotator, new_classes=new_classes)
        check_labels({**log.labels, **trial.labels})
        why = self._reasons(log)
        for row, label in zip(ids, labels, strict=True):
            reason, disputed = why.get(self._place[row], ("not asked about", None))
            why_asked: dict[str, Any] = {"reason": reason, "disagreement": disputed}
            log.append(
                row, label, annotator=annotator, round=round, new_classes=new_classes, **why_asked
            )
        return len(ids)

    def _reasons(self, log: LabelLog) -> dict[int, tuple[str, float | None]]:
        if log is self.baseline_log:
            return dict.fromkeys(range(len(self.ids)), ("random: for comparison", None))
        if self.asked is None:
            return {}
        asked = zip(self.asked.indices, self.asked.reasons, self.asked.disagreement, strict=True)
        return {int(place): (reason, float(d)) for place, reason, d in asked}

    def _learn(self, name: str, log: LabelLog, until: int) -> None:
        labels, course = log.replay(until).labels, self._courses[name]
        if not labels:
            course.forget()
            return
        places = np.array([self._place[row] for row in labels], dtype=np.intp)
        y = np.array(list(labels.values()), dtype=object)
        course.learn(_safe_indexing(self.pool.X, places), y, log.classes, self.test)

    def _teach_twin(self) -> None:
        """Teach the twin as many labels as the learner had in each round it has not been in."""
        twin = self._twin
        if twin is None:
            return
        if not twin.begun:
            twin.begin(self._first, self._place)
        for count in self.counts[len(twin.course.n_labels) :]:
            places = twin.lacks(count)
            answers = self._answers(np.array(places, dtype=np.intp)) if places else []
            number = len(twin.course.n_labels)
            self._record(twin.log, self._ids(places), answers, self._name, True, number)
            self._learn(RANDOM, twin.log, count)

    def _replay(self) -> None:
        """Go through the rounds of a log that is there already."""
        events = self.log.events
        missing = [event.row for event in events if event.row not in self._place]
        if missing:
            found = f"the log has row {missing[0]!r}, which is not in the pool"
            raise InputError(describe("E-EVENT", "log", found, fix="the pool of the log"))
        if self._twin is not None:
            self._twin.begin(self._first, self._place)
        for end in round_ends(events):
            self._learn(QUERIES, self.log, end)
            self._round += 1
        self._teach_twin()
