"""Displays of named members: correlation, kappa against error with ambiguity (R112), weights."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import cohen_kappa_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.theory.displayed import fits, written

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    CascadeClassifier,
    DecisionTreeClassifier,
    EnsembleSelectionClassifier,
    GradientBoostingClassifier,
    InputError,
    KappaErrorDisplay,
    MemberCorrelationDisplay,
    MetaWeightsDisplay,
    QueryByBagging,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee.theory.displays.kappa_error import PairCloud
from committee.theory.displays.member_opinions import ask_members

POOL = [
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(9)),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(240, 6, n_informative=4, n_classes=3, random_state=0)
    return X, np.array(["u", "v", "w"])[y]


@pytest.fixture(scope="module")
def voting(rows):
    X, y = rows
    return VotingClassifier(POOL, voting="soft", weights=[1, 2, 1]).fit(X[::2], y[::2])


# --- what members say


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(n_estimators=3, max_features=3, random_state=0),
        RandomForestClassifier(3, random_state=0),
        AdaBoostClassifier(n_estimators=3),
        ensemble.VotingClassifier(POOL),
        ensemble.RandomForestClassifier(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_members_of_any_ensemble_are_asked(rows, model):
    X, y = rows
    said = ask_members(clone(model).fit(X[::2], y[::2]), X, y)
    assert said.outputs.shape == (3, len(y), 3)
    if not isinstance(model, AdaBoostClassifier):  # whose later members are weak alone
        assert (said.errors < 0.6).all()
    assert (said.errors > 0).all()
    named = isinstance(model, ensemble.VotingClassifier)
    assert said.names == (("bayes", "near", "tree") if named else ("0", "1", "2"))


def test_what_has_no_members_to_compare_is_refused(rows):
    X, y = rows
    alone = VotingClassifier(POOL[:1]).fit(X, y)
    booster = GradientBoostingClassifier(n_estimators=2).fit(X, y)
    for model in (alone, booster, GaussianNB().fit(X, y)):
        with pytest.raises(InputError, match="member"):
            ask_members(model, X, y)
    asks = QueryByBagging(n_estimators=3).fit(X, y)
    with pytest.raises(InputError, match=r"0 member.*Fix: pass model.estimator_"):
        ask_members(asks, X, y)
    with pytest.raises(InputError, match="'x' is none of the classes of the fit, 'u', 'v', 'w'"):
        ask_members(VotingClassifier(POOL).fit(X, y), X[:2], ["u", "x"])


def test_levels_that_see_other_columns_are_refused(rows):
    X, y = rows
    tall = StackingClassifier(levels=[POOL[:2], [("last", GaussianNB())]], cv=3).fit(X, y)
    with pytest.raises(InputError, match=r"StackingClassifier has 2 levels.*members of one level"):
        ask_members(tall, X, y)
    cascade = CascadeClassifier(POOL[:2], check_leak=False).fit(X, y)
    with pytest.raises(InputError, match=r"CascadeClassifier has 2 levels.*CascadeGainDisplay"):
        ask_members(cascade, X, y)
    flat = StackingClassifier(POOL, cv=2).fit(X, y)
    assert ask_members(flat, X, y).names == ("bayes", "near", "tree")


# --- correlation


def test_correlation_of_being_right(rows, voting):
    X, y = rows
    display = MemberCorrelationDisplay.from_estimator(voting, X[1::2], y[1::2])
    right = np.stack([m.predict(X[1::2]) == y[1::2] for m in voting.estimators_]).astype(float)
    np.testing.assert_allclose(display.matrix, np.corrcoef(right))
    np.testing.assert_allclose(display.errors, 1 - right.mean(axis=1))
    assert display.names == ("bayes", "near", "tree")
    cells = display.image_.get_array()
    assert cells.count() == 3  # the pairs, once each
    assert cells[2, 0] == display.matrix[2, 0]
    assert display.mean == pytest.approx(display.matrix[np.triu_indices(3, 1)].mean())
    assert len(written(display.ax_)) == 6
    assert fits(display)


def test_correlation_of_errors_of_numbers():
    X, y = make_friedman1(120, random_state=0)
    members = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    model = VotingRegressor(members).fit(X[:60], y[:60])
    display = MemberCorrelationDisplay.from_estimator(model, X[60:], y[60:])
    gaps = model.transform(X[60:]).T - y[60:]
    np.testing.assert_allclose(display.matrix, np.corrcoef(gaps))
    np.testing.assert_allclose(display.errors, np.sqrt((gaps**2).mean(axis=1)))
    assert fits(display)
    with pytest.raises(InputError, match="compares labels"):
        MemberCorrelationDisplay.from_estimator(model, X, y, measure="kappa")


def test_many_members_are_drawn_without_numbers(rows):
    X, y = rows
    model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    display = MemberCorrelationDisplay.from_estimator(
        model, X[1::2], y[1::2], measure="disagreement"
    )
    assert written(display.ax_) == []
    assert display.ax_.get_title(loc="left") == "higher: more diverse"
    crowd = MemberCorrelationDisplay(np.eye(40)).plot()
    assert len(crowd.ax_.get_xticks()) == len(crowd.ax_.get_yticks()) == 20


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([[1, 2]],), "square"),
        (([[1, 0.2], [0.3, 1]],), "not symmetric"),
        (([[1, 0.2], [0.2, 1]], ["a"]), "1 for 2 members"),
        (([[1, 0.2], [0.2, 1]], None, [1, 2, 3]), "3 for 2 members"),
    ],
)
def test_bad_matrices(arguments, says):
    with pytest.raises(InputError, match=says):
        MemberCorrelationDisplay(*arguments)


def test_bad_measure(rows, voting):
    with pytest.raises(ValueError, match="'measure' parameter"):
        MemberCorrelationDisplay.from_estimator(voting, *rows, measure="distance")


# --- R112: diversity and error


def test_r112_every_pair_is_a_point_of_kappa_and_error(rows, voting):
    X, y = rows[0][1::2], rows[1][1::2]
    display = KappaErrorDisplay.from_estimator(voting, X, y)
    said = [member.predict(X) for member in voting.estimators_]
    pairs = [(0, 1), (0, 2), (1, 2)]
    cloud = display.pairs["VotingClassifier"]
    np.testing.assert_allclose(cloud.kappa, [cohen_kappa_score(said[a], said[b]) for a, b in pairs])
    wrong = [np.mean(labels != y) for labels in said]
    np.testing.assert_allclose(cloud.error, [(wrong[a] + wrong[b]) / 2 for a, b in pairs])
    (points,) = display.ax_.collections
    np.testing.assert_allclose(points.get_offsets(), np.column_stack([cloud.kappa, cloud.error]))
    assert fits(display)


def test_r112_the_report_adds_up(rows):
    """Members' squared error less their ambiguity is that of the mean, exactly."""
    X, y = rows[0][1::2], rows[1][1::2]
    models = {
        "bagging": BaggingClassifier(n_estimators=8, random_state=0),
        "forest": RandomForestClassifier(8, random_state=0),
    }
    for model in models.values():
        model.fit(rows[0][::2], rows[1][::2])
    display = KappaErrorDisplay.from_estimator(models, X, y)
    truth = np.eye(3)[np.unique(y, return_inverse=True)[1]]
    for name, cloud in display.pairs.items():
        assert len(cloud.kappa) == 28
        assert cloud.member_error - cloud.ambiguity == pytest.approx(cloud.committee_error)
        mean = models[name].predict_proba(X)
        assert cloud.committee_error == pytest.approx(((mean - truth) ** 2).mean())
        assert cloud.ambiguity > 0
        line = next(line for line in display.report().splitlines() if line.startswith(name))
        assert f"{cloud.ambiguity:.4f}" in line
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [text.partition(":")[0] for text in legend] == ["bagging", "forest"]
    assert f"− {cloud.ambiguity:.3f} =" in legend[1]
    assert "ambiguity" in display.ax_.get_legend().get_title().get_text()


def test_r112_members_that_always_agree_have_no_kappa():
    same = [(name, DummyClassifier()) for name in "ab"]
    X, y = load_iris(return_X_y=True)
    model = VotingClassifier(same).fit(X, y)
    display = KappaErrorDisplay.from_estimator(model, X, y)
    assert np.isnan(display.pairs["VotingClassifier"].kappa).all()
    assert "nan" in display.report()
    with pytest.raises(InputError, match="one each per pair"):
        KappaErrorDisplay(PairCloud(np.zeros(3), np.zeros(2)))


def test_numbers_have_no_kappa():
    X, y = make_friedman1(30, random_state=0)
    model = VotingRegressor([("a", LinearRegression()), ("b", Ridge())]).fit(X, y)
    with pytest.raises(InputError, match="no kappa"):
        KappaErrorDisplay.from_estimator(model, X, y)


# --- weights


def widths(display):
    return [bar.get_width() for bar in display.ax_.patches]


def test_weights_of_a_vote_and_of_a_selection(rows, voting):
    display = MetaWeightsDisplay.from_estimator(voting)
    assert display.order() == ["near", "bayes", "tree"]
    np.testing.assert_allclose(widths(display), [0.5, 0.25, 0.25])
    model = EnsembleSelectionClassifier(POOL, n_rounds=5, cv=3).fit(*rows)
    display = MetaWeightsDisplay.from_estimator(model)
    np.testing.assert_allclose(sorted(widths(display)), sorted(model.weights_))
    assert fits(display)


def test_coefficients_of_a_meta_model(rows):
    X, y = rows
    stack = ensemble.StackingClassifier(POOL, LogisticRegression(), cv=2).fit(X, y)
    display = MetaWeightsDisplay.from_estimator(stack)
    assert display.names[:4] == ["bayes: u", "bayes: v", "bayes: w", "near: u"]
    np.testing.assert_array_equal(display.weights, stack.final_estimator_.coef_)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["u", "v", "w"]
    assert len(written(display.ax_)) == 27
    two = y != "w"
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    stack = ensemble.StackingClassifier(POOL, scaled, cv=2).fit(X[two], y[two])
    display = MetaWeightsDisplay.from_estimator(stack)
    np.testing.assert_array_equal(display.weights[0], stack.final_estimator_[-1].coef_[0])
    assert sorted(display.order()) == ["bayes", "near", "tree"]
    assert fits(display)


def test_columns_are_named_by_classes_where_numbers_could_be_read_in_two_ways(rows):
    X = rows[0]
    y = np.arange(len(X)) % 12
    pool = [("tree", DecisionTreeClassifier(max_depth=1)), ("tree1", GaussianNB())]
    stack = StackingClassifier(pool, cv=2, passthrough=True).fit(X, y)
    names = MetaWeightsDisplay.from_estimator(stack).names
    assert names[:24] == [f"{name}: {k}" for name in ("tree", "tree1") for k in range(12)]
    assert len(names) == 24 + X.shape[1]
    assert not any(": " in name for name in names[24:])


def test_long_names_of_classes_do_not_lie_over_each_other():
    classes = [f"a class with a long name, {k}" for k in range(4)]
    display = MetaWeightsDisplay(np.eye(4), list("abcd"), classes).plot()
    display.figure_.canvas.draw()
    labels = display.ax_.get_xticklabels()
    assert {label.get_rotation() for label in labels} == {45}
    assert fits(display)
    short = MetaWeightsDisplay(np.eye(2), list("ab"), ["yes", "no"]).plot()
    assert {label.get_rotation() for label in short.ax_.get_xticklabels()} == {0}


def test_only_the_largest_are_shown():
    display = MetaWeightsDisplay([1.0, -3.0, 2.0], ["a", "b", "c"]).plot(max_shown=2)
    assert widths(display) == [-3.0, 2.0]
    assert display.ax_.get_ylabel() == "2 of 3 columns"


def test_weights_that_are_not_there(rows):
    X, y = rows
    with pytest.raises(InputError, match="no weights of named members"):
        MetaWeightsDisplay.from_estimator(GaussianNB().fit(X, y))
    stack = ensemble.StackingClassifier(POOL, DecisionTreeClassifier(), cv=2).fit(X, y)
    with pytest.raises(InputError, match="DecisionTreeClassifier has no coef_"):
        MetaWeightsDisplay.from_estimator(stack)
    with pytest.raises(InputError, match="one per name"):
        MetaWeightsDisplay([1, 2], ["a"])
    with pytest.raises(InputError, match="NaN"):
        MetaWeightsDisplay([np.nan], ["a"])
