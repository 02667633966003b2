"""The descriptions that the active learners share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with

SECTIONS = {
    "measures": """\
"vote_margin", "weighted_vote_margin", "vote_entropy", "kl_to_mean", "jensen_shannon" or
"margin"; see :func:`measure_disagreement`.""",
    "asking": """\
batch : {"top", "diverse"}, default="top"
    How several rows are chosen at a time: the most disputed, or rows that lie far apart among the
    ``shortlist`` times as many most disputed ones (farthest first, by Gower's distance).
shortlist : int, default=10
    How many times the size of a diverse batch it is chosen from.
n_candidates : int or None, default=None
    How many rows of the pool are compared, drawn at random by their content, and at least as many
    as are asked for; None compares all.
classes : array-like or None, default=None
    The labels that may come, where not all are among the first ones. None: those given to
    ``fit``; others are refused by ``teach`` unless ``new_classes=True``.
n_jobs : int or None, default=None
    Threads or jobs, for fitting and asking.
    {job_count}
{random_state}""",
    "attributes": """\
estimator_ : estimator
    The committee, fitted to all labelled rows.
classes_ : ndarray
    The classes seen so far; ``labelled_.known`` also holds those that were declared.
labelled_ : Labelled
    Rows and labels, in the order in which they came.
seed_ : int
    From ``random_state``; the committee of every refit, and every draw, comes from it.
n_features_in_, feature_names_in_
    As in scikit-learn.""",
}

active_documented = documented_with(SECTIONS)
