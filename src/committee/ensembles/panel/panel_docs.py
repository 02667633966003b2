"""The descriptions that ensembles of named members share, each written once.

A class docstring holds ``{estimators}`` on a line of its own where the description belongs.
"""

from __future__ import annotations

from committee.core.parameter_docs import documented_with

SECTIONS = {
    "estimators": """\
estimators : list of (str, estimator)
    The members under their names, as in scikit-learn; ``set_params(name="drop")`` leaves one
    out. They are cloned.""",
    "panel_parameters": """\
n_jobs : int or None, default=None
    Members that are fitted at once, by joblib; None is 1 unless a ``joblib.parallel_config``
    says otherwise, -1 is all cores. The result does not depend on it.
random_state : int, RandomState instance, Generator or None, default=None
    Seeds what the ensemble draws, and each ``random_state`` of a member that is None, by the
    member's place in the list; seeds that members were given stay.
verbose : int, default=0
    Above 0, a line is printed for each member that was fitted.""",
    "prefit": """\
prefit : bool, default=False
    Whether the members are fitted already: they are taken as they are, after a check that they
    know the classes of y and the features of X.""",
    "panel_attributes": """\
estimators_ : list of estimators
    The fitted members, without those dropped or not chosen. Classifiers are fitted on labels as
    they are.
named_estimators_ : Bunch
    The same by name, and "drop" for all others.
seats_ : tuple of str
    The names in the order of ``estimators_``.
n_features_in_, feature_names_in_, schema_
    Width, names and kinds of the columns of X.""",
}

panel_documented = documented_with(SECTIONS)
