import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committee import InputError
from committee.theory.error_law import ambiguity, measure_error_law


@st.composite
def committees(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n = draw(st.integers(1, 9)), draw(st.integers(1, 30))
    shape = (m, n, draw(st.integers(1, 3))) if draw(st.booleans()) else (m, n)
    outputs = rng.normal(size=shape) + rng.normal(size=shape[1:]) + draw(st.sampled_from([0, 5]))
    weight = rng.integers(0, 4, n) + (np.arange(n) == 0) if draw(st.booleans()) else None
    return outputs, rng.normal(size=shape[1:]), weight


def test_the_law_by_hand():
    # Errors (1, 3) and (2, 0): means 2 and 1, variances 1 and 1, covariance -1, bias 1.5.
    law = measure_error_law([[1.0, 3.0], [2.0, 0.0]], [0.0, 0.0])
    assert (law.variance, law.covariance, law.correlation) == (1, -1, -1)
    assert (law.bias_squared, law.bias_spread) == (2.25, 0.25)
    assert law.member_error == 3.5  # (1 + 9 + 4 + 0) / 4 = bias² + spread of bias + variance
    assert law.committee_error == law.predicted == 2.25
    assert law.independent == 1.75
    assert law.floor == 1.25
    assert "correlation rho" in str(law)


@given(committees())
def test_r36_the_law_is_an_identity(committee):
    outputs, y, weight = committee
    law = measure_error_law(outputs, y, sample_weight=weight)
    assert law.predicted == pytest.approx(law.committee_error, rel=1e-12, abs=1e-12)
    assert law.bias_squared + law.bias_spread + law.variance == pytest.approx(law.member_error)


@given(committees())
def test_r36_parts_equal_brute_force(committee):
    outputs, y, _ = committee
    law = measure_error_law(outputs, y)
    errors = (outputs - y).reshape(*outputs.shape[:2], -1)
    m, n, p = errors.shape
    variances, covariances = [], []
    for o in range(p):
        table = np.atleast_2d(np.cov(errors[:, :, o], bias=True)) if n > 1 else np.zeros((m, m))
        variances += table.diagonal().tolist()
        covariances += [table[k, j] for k in range(m) for j in range(m) if k != j]
    assert law.variance == pytest.approx(np.mean(variances), abs=1e-12)
    if m > 1:
        assert law.covariance == pytest.approx(np.mean(covariances), abs=1e-12)
    else:
        assert np.isnan(law.covariance)
        assert law.predicted == pytest.approx(law.member_error)


def test_r36_independent_errors_fall_as_one_over_m():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100_000)
    law = measure_error_law(y + rng.normal(size=(25, 100_000)), y)
    assert law.committee_error / law.independent == pytest.approx(1, abs=0.01)
    assert law.correlation == pytest.approx(0, abs=0.002)


def test_r36_correlated_errors():
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=100_000), rng.normal(size=(25, 100_000))
    law = measure_error_law(np.sqrt(0.3) * shared + np.sqrt(0.7) * own, np.zeros(100_000))
    assert law.correlation == pytest.approx(0.3, abs=0.005)
    assert law.committee_error == pytest.approx(0.328, abs=0.005)  # .3 + .7 / 25
    fewer = measure_error_law(np.sqrt(0.3) * shared + np.sqrt(0.7) * own[:5], np.zeros(100_000))
    assert fewer.at(25) == pytest.approx(law.committee_error, abs=0.005)
    assert fewer.floor == pytest.approx(0.3, abs=0.005)


def test_equal_weights_change_nothing_and_copies_are_weights():
    rng = np.random.default_rng(2)
    outputs, y = rng.normal(size=(4, 20)), rng.normal(size=20)
    plain = measure_error_law(outputs, y)
    equal = measure_error_law(outputs, y, sample_weight=np.full(20, 7.0))
    assert vars(equal) == pytest.approx(vars(plain), rel=1e-12)
    weight = rng.integers(0, 3, 20)
    copies = measure_error_law(np.repeat(outputs, weight, axis=1), np.repeat(y, weight))
    weighted = measure_error_law(outputs, y, sample_weight=weight)
    assert vars(weighted) == pytest.approx(vars(copies), rel=1e-12)


@given(committees(), st.booleans())
def test_r28_mean_error_less_ambiguity_is_the_committees_error(committee, weighted):
    outputs, y, _ = committee
    rng = np.random.default_rng(len(y))
    weights = rng.random(len(outputs)) + 0.01 if weighted else None
    parts = ambiguity(outputs, y, weights=weights)
    np.testing.assert_allclose(
        parts.member_error - parts.ambiguity, parts.committee_error, rtol=1e-12, atol=1e-12
    )
    assert (parts.committee_error <= parts.member_error + 1e-12).all()
    share = np.ones(len(outputs)) if weights is None else weights
    mean = np.average(outputs, axis=0, weights=share)
    direct = ((mean - y) ** 2).reshape(len(y), -1).mean(axis=1)
    np.testing.assert_allclose(parts.committee_error, direct, rtol=1e-9, atol=1e-12)


def test_r28_jelly_beans():
    """A crowd guesses 100 beans: the mean beats the average guess by exactly the spread."""
    guesses = np.array([[60.0], [90.0], [130.0], [150.0]])
    parts = ambiguity(guesses, [100.0])
    assert parts.committee_error[0] == pytest.approx(56.25)  # mean 107.5
    assert parts.member_error[0] == pytest.approx(1275)  # (1600 + 100 + 900 + 2500) / 4
    assert parts.ambiguity[0] == pytest.approx(guesses.var())


@pytest.mark.parametrize(
    ("outputs", "y", "code"),
    [
        ([1.0, 2.0], [1.0, 2.0], "Y-SHAPE"),
        ([[1.0, 2.0]], [1.0], "Y-SHAPE"),
        (np.zeros((2, 3, 2)), np.zeros(3), "Y-SHAPE"),
        ([[1.0, np.nan]], [1.0, 2.0], "Y-NAN"),
    ],
)
def test_bad_input_is_named(outputs, y, code):
    for function in (measure_error_law, ambiguity):
        with pytest.raises(InputError) as caught:
            function(outputs, y)
        assert caught.value.code == code


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]])
def test_bad_weights_of_members_are_refused(weights):
    with pytest.raises(InputError, match="weights"):
        ambiguity([[1.0], [2.0]], [1.0], weights=weights)


def test_bad_sizes_and_weights_are_refused():
    law = measure_error_law([[1.0], [2.0]], [1.0])
    with pytest.raises(ValueError, match="n_members"):
        law.at(0)
    with pytest.raises(InputError, match="W-ZERO"):
        measure_error_law([[1.0]], [1.0], sample_weight=[0.0])
