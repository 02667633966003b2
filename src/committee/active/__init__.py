"""Active learning, where the committee is the model: it asks about the rows that it disputes."""

from committee.active.active_decorate import ActiveDecorate
from committee.active.annotators import SimulatedAnnotator
from committee.active.ballots import committee_disagreement
from committee.active.content import Pool
from committee.active.curve import QueryCurve
from committee.active.disagreement import measure_disagreement
from committee.active.event_files import LabelJournal, load_log, save_log
from committee.active.events import LabelEvent, LabelLog
from committee.active.experiment import simulate_queries
from committee.active.loop import ActiveLoop
from committee.active.query import Query
from committee.active.query_by_bagging import QueryByBagging
from committee.active.query_by_boosting import QueryByBoosting
from committee.active.query_by_committee import QueryByCommittee
from committee.active.stopping import StopAdvice, advise_stop

__all__ = [
    "ActiveDecorate",
    "ActiveLoop",
    "LabelEvent",
    "LabelJournal",
    "LabelLog",
    "Pool",
    "Query",
    "QueryByBagging",
    "QueryByBoosting",
    "QueryByCommittee",
    "QueryCurve",
    "SimulatedAnnotator",
    "StopAdvice",
    "advise_stop",
    "committee_disagreement",
    "load_log",
    "measure_disagreement",
    "save_log",
    "simulate_queries",
]
