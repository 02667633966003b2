"""Several quantiles in one model: predictions never cross, and sorting never costs anything."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from committee.losses import Quantile, Quantiles

few = settings(max_examples=150)
numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
level_sets = st.lists(st.integers(1, 99), min_size=2, max_size=6, unique=True).map(
    lambda percents: tuple(percent / 100 for percent in sorted(percents))
)


@st.composite
def crossing_scores(draw):
    loss = Quantiles(draw(level_sets))
    n = draw(st.integers(1, 6))
    raw = draw(hnp.arrays(float, (n, loss.n_outputs), elements=numbers))
    return loss, draw(hnp.arrays(float, n, elements=numbers)), raw


@few
@given(crossing_scores())
def test_predictions_never_cross(drawn):
    loss, _, raw = drawn
    assert (np.diff(loss.predict(raw), axis=1) >= 0).all()


@few
@given(crossing_scores())
def test_sorting_never_raises_the_loss_of_a_row(drawn):
    loss, y, raw = drawn
    before = loss.value(y, raw)
    after = loss.value(y, loss.predict(raw))
    rounding = 1e-14 * (np.abs(raw).sum(axis=1) + np.abs(y)) * loss.n_outputs
    assert (after <= before + rounding).all()


@few
@given(
    st.tuples(st.integers(1, 98), st.integers(1, 98)).filter(lambda pair: pair[0] != pair[1]),
    st.tuples(numbers, numbers),
    numbers,
)
def test_two_that_cross_gain_what_the_proof_says(percents, pair, y):
    a, b = (percent / 100 for percent in sorted(percents))
    low, high = sorted(pair)
    loss = Quantiles((a, b))
    crossed = loss.value(np.array([y]), np.array([[high, low]]))[0]
    placed = loss.value(np.array([y]), np.array([[low, high]]))[0]
    rounding = 1e-14 * (abs(y) + abs(low) + abs(high))
    assert abs(crossed - placed - (b - a) * (high - low)) <= rounding


@few
@given(level_sets, st.lists(st.tuples(numbers, st.integers(0, 3)), min_size=1, max_size=20))
def test_starts_do_not_cross(levels, rows):
    y = np.array([value for value, _ in rows])
    weight = np.array([float(count) for _, count in rows])
    weight[0] += 1
    assert (np.diff(Quantiles(levels).start(y, weight)) >= 0).all()


def test_one_level_is_the_plain_quantile():
    rng = np.random.default_rng(0)
    y, raw = rng.normal(size=30), rng.normal(size=30)
    several, single = Quantiles((0.7,)), Quantile(0.7)
    assert several.n_outputs == 1
    assert (several.value(y, raw) == single.value(y, raw)).all()
    for ours, plain in zip(
        several.gradient_hessian(y, raw), single.gradient_hessian(y, raw), strict=True
    ):
        assert (ours == plain).all()
    assert (several.predict(raw) == raw).all()
