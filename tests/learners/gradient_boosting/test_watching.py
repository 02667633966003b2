"""What users hang into a fit: callbacks, losses, scores; and what happens when these fail (B84)."""

import numpy as np
import pytest
from sklearn.metrics import make_scorer
from tests.estimators import model_bits

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    InputError,
)
from committee.losses import Loss

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
N = 300
MADE = []  # all watchers of a test


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=2 * N)


@pytest.fixture(autouse=True)
def watchers_forget():
    """Let go of models: scikit-learn keeps a callback, for its signature, until Python ends."""
    yield
    while MADE:
        watcher = MADE.pop()
        watcher.fits, watcher.then = [], None


class Watcher:
    """Collects what it is shown after each round, and does what it is told then."""

    def __init__(self, then=lambda watcher: False):
        self.then = then
        MADE.append(self)
        self.facts, self.fits = [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if not hasattr(context, "facts"):
            return False
        self.facts.append(context.facts)
        self.fits.append(fitted_estimator)
        return self.then(self)


def test_each_round_is_shown_and_can_be_measured(rows):
    X, y = rows
    watcher = Watcher()
    model = GradientBoostingRegressor(n_estimators=8, early_stopping=False, random_state=0)
    plain = GradientBoostingRegressor(n_estimators=8, early_stopping=False, random_state=0)
    model.set_callbacks(watcher).fit(X[:N], y[:N])
    assert model_bits(model) == model_bits(plain.fit(X[:N], y[:N]))
    said = [fit.predict(X[N:]) for fit in watcher.fits]
    np.testing.assert_array_equal(said, list(plain.staged_predict(X[N:])))


def test_facts_are_the_losses_to_stop_by(rows):
    X, y = rows
    watcher = Watcher()
    model = GradientBoostingRegressor(n_estimators=60, learning_rate=0.3).set_callbacks(watcher)
    model.fit(X[:N], y[:N], X_val=X[N:], y_val=y[N:])
    shown = [facts["held_out_loss"] for facts in watcher.facts]
    np.testing.assert_array_equal(shown, model.held_out_loss_[1:])
    assert model.n_estimators_ < len(shown) < 60
    watcher = Watcher()
    model.set_params(early_stopping="oob", subsample=0.5).set_callbacks(watcher).fit(X, y)
    shown = [facts["out_of_bag_loss"] for facts in watcher.facts]
    np.testing.assert_allclose(shown, -np.cumsum(model.oob_improvement_), rtol=1e-12)


@pytest.mark.parametrize("kind", ["numbers", "classes", "ranking"])
def test_a_callback_stops_by_a_measure_of_its_own(kind, rows):
    X, y = rows
    labels = np.digitize(y, [-1, 1])
    model = {
        "numbers": GradientBoostingRegressor(n_estimators=50, learning_rate=0.3),
        "classes": GradientBoostingClassifier(n_estimators=50, learning_rate=0.3),
        "ranking": GradientBoostingRanker("pairwise", n_estimators=50, learning_rate=0.3),
    }[kind].set_params(random_state=0)
    target = y if kind == "numbers" else labels

    def good_enough(watcher):
        return watcher.fits[-1].score(X[N:], target[N:]) > 0.6

    watcher = Watcher(good_enough)
    model.set_callbacks(watcher).fit(X[:N], target[:N])
    assert 1 <= model.n_estimators_ == len(watcher.facts) < 50
    assert model.score(X[N:], target[N:]) > 0.6
    plain = type(model)(**model.get_params()).set_params(n_estimators=model.n_estimators_)
    assert model_bits(plain.fit(X[:N], target[:N])) == model_bits(model)


def test_conformal_bounds_can_be_watched(rows):
    X, y = rows
    watcher = Watcher()
    model = GradientBoostingRegressor(n_estimators=5, intervals="conformal", random_state=0)
    model.set_callbacks(watcher).fit(X, y)
    widths = [np.diff(fit.predict_interval(X[:1])).item() for fit in watcher.fits]
    assert widths[-1] == np.diff(model.predict_interval(X[:1])).item()
    assert widths[-1] < widths[0]


# --- B84: what users give fails ---


class Odd(Exception):
    pass


def fails(*args):
    raise Odd("mine")


class Squares(Loss):
    """A loss of the user's, of which one function can be replaced."""

    def __init__(self, **replaced):
        self.replaced = replaced

    def __eq__(self, other):
        return isinstance(other, Squares)

    __hash__ = None

    def _ask(self, name, usual, *args):
        return self.replaced.get(name, usual)(*args)

    def value(self, y, raw):
        return self._ask("value", lambda y, raw: (y - raw) ** 2 / 2, y, raw)

    def gradient_hessian(self, y, raw):
        return self._ask("slope", lambda y, raw: (raw - y, np.ones(len(y))), y, raw)

    def start(self, y, weight):
        return self._ask("start", lambda y, weight: np.array([y.mean()]), y, weight)

    def predict(self, raw):
        return self._ask("predict", lambda raw: raw, raw)


def unchanged(model, before, bits):
    return model.__dict__ == before and model_bits(model) == bits


@pytest.mark.parametrize("where", ["slope", "start", "value"])
def test_b84_an_error_of_the_users_comes_through(where, rows):
    X, y = rows
    model = GradientBoostingRegressor(Squares(), n_estimators=3, early_stopping=True).fit(X, y)
    model.set_params(loss=Squares(**{where: fails}))
    before, bits = dict(model.__dict__), model_bits(model)
    with pytest.raises(Odd, match="mine"):
        model.fit(X, y)
    assert unchanged(model, before, bits)


def test_b84_values_to_stop_by(rows):
    X, y = rows
    asked = []

    def late(y, raw):
        asked.append(len(y))
        return np.full(len(y), np.nan if len(asked) > 3 else 1.0)

    model = GradientBoostingRegressor(Squares(value=late), early_stopping=True, n_iter_no_change=9)
    with pytest.raises(InputError, match=r"L-FINITE\] Squares.value: .*nan.*in round 3"):
        model.fit(X, y)
    model.set_params(loss=Squares(value=lambda y, raw: 1.0))
    with pytest.raises(
        InputError, match=r"L-SHAPE\] Squares.value: .*shape \(\), expected \(60,\)"
    ):
        model.fit(X, y)
    model.set_params(early_stopping="oob", subsample=0.5)
    with pytest.raises(InputError, match=r"L-SHAPE\] Squares.value: .*expected \(600,\)"):
        model.fit(X, y)
    assert not hasattr(model, "committee_")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda raw: np.full(len(raw), np.nan), r"L-FINITE\] Squares.predict: .*nan"),
        (lambda raw: raw[:-1], r"L-SHAPE\] Squares.predict: .*shape \(599,\), expected \(600,\)"),
        (lambda raw: None, r"L-SHAPE\] Squares.predict: "),
    ],
    ids=["NaN", "shape", "None"],
)
def test_b84_predictions(answer, says, rows):
    X, y = rows
    model = GradientBoostingRegressor(Squares(predict=answer), n_estimators=2).fit(X, y)
    with pytest.raises(InputError, match=says):
        model.predict(X)


def test_b84_shares_of_classes(rows):
    X, y = rows
    model = GradientBoostingClassifier(Squares(), n_estimators=2).fit(X, (y > 0).astype(int))
    with pytest.raises(InputError, match=r"Squares.predict: .*\(600,\), expected \(600, 2\)"):
        model.predict_proba(X)
    both = Squares(predict=lambda raw: np.stack([1 - raw, raw], axis=1))
    model = GradientBoostingClassifier(both, n_estimators=2).fit(X, (y > 0).astype(int))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_b84_scores(rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=2).fit(X, y)
    scorer = make_scorer(lambda y, said: np.nan)
    with pytest.raises(InputError, match=r"P-SCORE\] scoring: .*nan for 600 row\(s\)"):
        model.permutation_importance(X, y, scoring=scorer)

    def several(estimator, X, y):
        return [1.0, 2.0]

    with pytest.raises(InputError, match=r"P-SCORE\] scoring: several does not answer with a num"):
        model.permutation_importance(X, y, scoring=several)
    with pytest.raises(Odd):
        model.permutation_importance(X, y, scoring=fails)


def test_b84_callbacks(rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=3).fit(X, y)

    def third(watcher):
        return fails() if len(watcher.facts) == 2 else False

    model.set_callbacks(Watcher(third))
    before, bits = dict(model.__dict__), model_bits(model)
    with pytest.raises(Odd, match="mine"):
        model.fit(X[:N], y[:N])
    assert unchanged(model, before, bits)
    model.set_callbacks(Watcher(lambda watcher: np.zeros(2)))  # neither true nor false
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="ambiguous"):
        model.fit(X[:N], y[:N])
    assert unchanged(model, before, bits)
