"""The descriptions of what DECORATE tries, for it and for those who ask by it."""

from __future__ import annotations

SECTIONS = {
    "trials": """\
max_trials : int, default=50
    The most members tried (Imax); the first, trained on the rows alone, is one of them.
artificial_size : float, default=1.0
    Artificial rows of a trial, as a share of the training rows (Rsize); at least one. The papers
    recommend 0.5 to 1.
{categorical_features}
    Trees of this library are told, too, unless it is "from_dtype": then they say it themselves.
    What holds no numbers is a category for the artificial rows; whether a learner takes it is its
    own affair.""",
}
