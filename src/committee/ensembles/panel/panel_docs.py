"""The descriptions that ensembles of named members share, each written once.

A class docstring holds ``{estimators}`` on a line of its own where the description belongs.
"""

from __future__ import annotations

SECTIONS = {
    "estimators": """\
estimators : list of (str, estimator)
    The members under their names, as in scikit-learn; ``set_params(name="drop")`` leaves one
    out. They are cloned.""",
    "n_jobs": """\
n_jobs : int or None, default=None
    Models that are fitted at once, by joblib.
    {job_count}""",
    "random_state": """\
random_state : int, RandomState instance, Generator or None, default=None
    Seeds what the ensemble draws, and each ``random_state`` of a member that is None, by the
    member's place in the list; seeds that members were given stay.""",
    "verbose": """\
verbose : int, default=0
    Above 0, a line is printed for each model that is fitted.""",
    "panel_parameters": """\
{n_jobs}
{random_state}
{verbose}""",
    "prefit": """\
prefit : bool, default=False
    Whether the members are fitted already: they are taken as they are, after a check that they
    know the classes of y and the features of X.""",
    "folds": """\
How rows are divided, as in scikit-learn; None is 5 folds, stratified for classifiers. With
``groups`` a number of folds keeps groups together.""",
    "panel_attributes": """\
estimators_ : list of estimators
    The members, fitted on all rows, without those dropped or not chosen. Classifiers are fitted
    on labels as they are.
named_estimators_ : Bunch
    The same by name, and "drop" for all others.
seats_ : tuple of str
    The names in the order of ``estimators_``.
n_features_in_, feature_names_in_, schema_
    Width, names and kinds of the columns of X.""",
}
