"""Parameters: strict declarations, helpful constructors, and what they resolve to."""

import inspect
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import (
    check_no_attributes_set_in_init,
    check_param_validation,
    check_parameters_default_constructible,
    check_set_params,
)

from committee.core.parameter_docs import PARAMETERS, documented, documented_with
from committee.core.params import (
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    choice,
    integer,
    max_features_constraints,
    real,
    resolve_max_features,
    resolve_seed,
    resolve_threads,
)
from committee.data import DataWarning


@documented
class Toy(NamedParameters, BaseEstimator):
    """A learner of nothing.

    Parameters
    ----------
    {max_depth}
    {random_state}
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's convention
        "n_estimators": [integer(1)],
        "learning_rate": [real(0, None, "neither")],
        "max_depth": [integer(1), None],
        "max_features": max_features_constraints(),
        "criterion": [choice("gini", "entropy")],
        "random_state": SEED_CONSTRAINTS,
        "n_jobs": THREAD_CONSTRAINTS,
    }

    def __init__(
        self,
        n_estimators=10,
        *,
        learning_rate=0.1,
        max_depth=None,
        max_features=None,
        criterion="gini",
        random_state=None,
        n_jobs=None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_features = max_features
        self.criterion = criterion
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        check_params(self)
        return self


BAD = [
    ("B42", "n_estimators", 0, ["[1, inf)", "Got 0"]),
    ("B42", "n_estimators", -5, ["[1, inf)", "Got -5"]),
    ("B43", "n_estimators", "ten", ["an int", "'ten'"]),
    ("B43", "n_estimators", 3.0, ["an int", "3.0"]),
    ("B43", "n_estimators", True, ["an int", "True"]),
    ("B43", "n_estimators", np.True_, ["an int", "True"]),
    ("B44", "learning_rate", float("nan"), ["(0.0, inf)", "nan"]),
    ("B44", "learning_rate", 0, ["(0.0, inf)", "Got 0"]),
    ("B44", "learning_rate", -1, ["(0.0, inf)", "-1"]),
    ("B44", "learning_rate", np.inf, ["(0.0, inf)", "Got inf"]),
    ("B45", "max_depth", -3, ["[1, inf)", "None", "-3"]),
    ("B46", "max_features", 0, ["[1, inf)", "Got 0"]),
    ("B46", "max_features", 1.5, ["(0.0, 1.0]", "1.5"]),
    ("B47", "random_state", -1, ["[0, 4294967295]", "-1"]),
    ("B47", "random_state", "a", ["'a'"]),
    ("choice", "criterion", "gina", ["a str among {'gini', 'entropy'}", "'gina'"]),
]


@pytest.mark.parametrize(("case", "name", "value", "facts"), BAD)
def test_bad_parameter(case, name, value, facts):
    with pytest.raises(InvalidParameterError) as caught:
        Toy(**{name: value}).fit(None)
    text = str(caught.value)
    assert text.startswith(f"[P-VALUE] {name}: The '{name}' parameter of Toy must be ")
    for fact in facts:
        assert fact in text


@pytest.mark.parametrize(
    "values",
    [
        {"n_estimators": np.int64(3), "learning_rate": 1, "max_depth": 5},
        {"max_features": 1.0, "random_state": np.random.default_rng(0), "n_jobs": -1},
        {"max_features": "breiman", "random_state": np.random.RandomState(0)},
    ],
)
def test_good_parameters(values):
    Toy(**values).fit(None)


@pytest.mark.parametrize("refused", [True, 1.0])
def test_what_was_allowed_allows_no_equal_of_another_type(refused):
    for _ in range(2):
        Toy(n_estimators=1).fit(None)
        with pytest.raises(InvalidParameterError):
            Toy(n_estimators=refused).fit(None)


@pytest.mark.parametrize(
    "check",
    [
        check_param_validation,
        check_parameters_default_constructible,
        check_no_attributes_set_in_init,
        check_set_params,
    ],
)
def test_scikit_learn_accepts_the_constructor(check):
    check("Toy", Toy())


def test_b49_misspelt_parameter():
    with pytest.raises(TypeError) as caught:
        Toy(lerning_rate=1)
    text = str(caught.value)
    assert "unexpected keyword argument 'lerning_rate'" in text
    assert "did you mean 'learning_rate'?" in text
    with pytest.raises(TypeError, match=r"'xyz'\. Allowed: n_estimators, "):
        Toy(xyz=1)
    with pytest.raises(TypeError):
        Toy(1, 2)


def test_b50_set_params():
    with pytest.raises(ValueError, match="Valid parameters are"):
        Toy().set_params(lerning_rate=1)


def test_wrapping_keeps_introspection():
    class Child(Toy):
        """A subclass without a constructor of its own."""

    assert next(iter(inspect.signature(Toy).parameters)) == "n_estimators"
    assert Child(learning_rate=2).get_params()["learning_rate"] == 2
    assert repr(clone(Toy(3, max_depth=2))) == "Toy(max_depth=2, n_estimators=3)"
    assert pickle.loads(pickle.dumps(Toy(5))).n_estimators == 5
    with pytest.raises(TypeError, match="Child"):
        Child(max_deph=2)


P = [1, 4, 10, 34, 60]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, P),
        ("sqrt", [1, 2, 4, 6, 8]),
        ("log2", [1, 2, 4, 6, 6]),
        ("breiman", [1, 3, 4, 6, 6]),
        (0.5, [1, 2, 5, 17, 30]),
        (1.0, P),
        (1, [1, 1, 1, 1, 1]),
    ],
)
def test_max_features(value, expected):
    assert [resolve_max_features(value, p) for p in P] == expected


@pytest.mark.parametrize("value", [0, 1.5, 11, -1, True, "all", float("nan"), 0.0])
@pytest.mark.parametrize("p", [1, 10])
def test_b46_max_features(value, p):
    with pytest.raises(InvalidParameterError, match=f"max_features.*{p} features") as caught:
        resolve_max_features(value, p)
    assert repr(value) in str(caught.value)


def test_threads():
    assert resolve_threads(None, 8) == 1
    assert resolve_threads(3, 8) == 3
    assert resolve_threads(-1, 8) == 8
    assert resolve_threads(-2, 8) == 7
    assert resolve_threads(-100, 8) == 1
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert resolve_threads(None, 8) == 2


def test_b48_threads():
    with pytest.raises(ValueError, match=r"n_jobs.*positive int.*Got 0"):
        resolve_threads(0, 8)
    with pytest.raises(InvalidParameterError):
        resolve_threads(True, 8)
    with pytest.warns(DataWarning, match=r"P-THREADS.*1000000 threads.*32 are used"):
        assert resolve_threads(10**6, 8) == 32


def test_seeds():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert resolve_seed(None) != resolve_seed(None)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert resolve_seed(7) == resolve_seed(np.int32(7)) == 7
    for make in (np.random.default_rng, np.random.RandomState):
        source = make(1)
        first, second = resolve_seed(source), resolve_seed(source)
        assert first != second
        assert 0 <= first < 2**64
        assert resolve_seed(make(1)) == first


@pytest.mark.parametrize("value", [-1, "a", True, 1.5, 2**64])
def test_b47_seeds(value):
    with pytest.raises(InvalidParameterError, match="random_state"):
        resolve_seed(value)


def test_documentation_is_filled_in():
    lines = Toy.__doc__.splitlines()
    start = lines.index("    max_depth : int or None, default=None")
    assert lines[start + 1].startswith("        The largest")
    assert "{" not in Toy.__doc__
    assert all(text.startswith(f"{name} : ") for name, text in PARAMETERS.items())
    with pytest.raises(KeyError, match="nonesuch"):
        documented(type("Bad", (), {"__doc__": "\n{nonesuch}\n"}))


def test_documentation_of_a_family_comes_first():
    own = {"all": "{max_depth}\n{random_state}", "random_state": "random_state : int\n    Mine."}
    kind = type("Kind", (), {"__doc__": "Of a kind.\n\n    {all}\n        And more.\n"})
    lines = documented_with(own, {"random_state": "not I"})(kind).__doc__.splitlines()
    assert lines[2] == "    max_depth : int or None, default=None"
    assert lines[-3:] == ["    random_state : int", "        Mine.", "        And more."]
