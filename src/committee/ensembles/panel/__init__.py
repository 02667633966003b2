"""Named, different members: what voting, stacking, cascades and selection share."""

from committee.ensembles.panel.folds import Folds, folds_of, read_folds
from committee.ensembles.panel.held_out import fold_jobs, out_of_fold
from committee.ensembles.panel.panel import Panel
from committee.ensembles.panel.seats import Seat, check_prefit, read_seats
from committee.ensembles.panel.task import Done, Job, PanelTask, Progress

__all__ = [
    "Done",
    "Folds",
    "Job",
    "Panel",
    "PanelTask",
    "Progress",
    "Seat",
    "check_prefit",
    "fold_jobs",
    "folds_of",
    "out_of_fold",
    "read_folds",
    "read_seats",
]
