from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.theory import oracles

from committee import InputError
from committee.theory.decomposition import decompose

NAN = np.nan


def test_squared_terms_by_hand():
    # Row 0: votes 1, 3, 5 and y = 4: mean 3, bias 1, variance (4 + 0 + 4) / 2 = 4,
    # bias² 1 - 4/3 = -1/3, loss (9 + 1 + 1) / 3 = 11/3.
    result = decompose([[1, 7, NAN], [3, NAN, NAN], [5, 8, 2]], [4, 7, 5], "squared")
    assert result.n_left_out.tolist() == [3, 2, 1]
    np.testing.assert_allclose(result.prediction, [3, 7.5, 2])
    np.testing.assert_allclose(result.bias, [1, -0.5, 3])
    np.testing.assert_allclose(result.variance, [4, 0.5, NAN])
    np.testing.assert_allclose(result.bias_squared, [-1 / 3, 0, NAN], atol=1e-15)
    np.testing.assert_allclose(result.loss, [11 / 3, 0.5, 9])
    np.testing.assert_allclose(result.committee_loss, [1, 0.25, 9])
    assert result.counted.tolist() == [True, True, False]
    assert result.overall == pytest.approx(
        {
            "loss": 25 / 12,
            "bias": 0.25,
            "bias_squared": -1 / 6,
            "variance": 2.25,
            "committee_loss": 0.625,
        }
    )


def test_zero_one_terms_by_hand():
    # Row 0: votes a a b c, y = a. Shares 1/2 1/4 1/4: sum p² = 3/8, loss 1/2,
    # variance 5/16 * 4/3 = 5/12, bias² (1/4 + 1/16 + 1/16) / 2 - 5/48 = 1/12. Main a: unbiased 1/2.
    # Row 1: votes b b b a, y = c: loss 1, main b, biased variance 0 (nobody says c).
    # Row 2: votes b a b b, y = a: loss 3/4, main b, biased variance 1/4.
    votes = np.array([list("abb"), list("aba"), list("bbb"), list("cab")])
    result = decompose(votes, list("aca"), "zero_one")
    assert result.prediction.tolist() == ["a", "b", "b"]
    np.testing.assert_allclose(result.loss, [1 / 2, 1, 3 / 4])
    np.testing.assert_allclose(result.variance[0], 5 / 12)
    np.testing.assert_allclose(result.bias_squared[0], 1 / 12)
    np.testing.assert_allclose(result.bias, [0, 1, 1])
    np.testing.assert_allclose(result.unbiased_variance, [1 / 2, 0, 0])
    np.testing.assert_allclose(result.biased_variance, [0, 0, 1 / 4])
    np.testing.assert_allclose(result.net_variance, [1 / 2, 0, -1 / 4])
    assert result.overall["committee_loss"] == pytest.approx(2 / 3)


def test_a_tied_vote_goes_to_the_first_label():
    result = decompose([["b"], ["a"]], ["b"], "zero_one")
    assert result.prediction.tolist() == ["a"]
    assert (result.bias[0], result.biased_variance[0]) == (1, 0.5)


@st.composite
def votes_and_truth(draw, labels):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    replicates, rows = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    if labels:
        votes = rng.integers(0, labels, (replicates, rows)).astype(float)
        y = rng.integers(0, labels, rows)
    else:
        scale = 10.0 ** draw(st.integers(-3, 3))
        votes = scale * rng.normal(draw(st.sampled_from([0, 1, 100])), 1, (replicates, rows))
        y = scale * rng.normal(size=rows)
    votes[rng.random(votes.shape) < draw(st.sampled_from([0.0, 0.4, 0.8]))] = NAN
    return votes, y


@given(votes_and_truth(labels=0))
def test_r34_squared_terms_equal_brute_force_and_add_up(problem):
    votes, y = problem
    result = decompose(votes, y, "squared")
    naive = np.array([oracles.squared(votes[:, i].tolist(), y[i]) for i in range(len(y))]).T
    terms = (result.loss, result.bias, result.bias_squared, result.variance)
    scale = np.maximum(1e-9, np.nanmax(np.abs(naive), initial=0))
    for term, expected in zip(terms, naive, strict=True):
        np.testing.assert_allclose(term / scale, expected / scale, rtol=1e-9, atol=1e-12)
    several = result.n_left_out >= 2
    total = (result.bias_squared + result.variance)[several]
    np.testing.assert_allclose(total, result.loss[several], rtol=1e-12, atol=1e-12 * scale)
    assert np.isnan(result.variance[~several]).all()
    assert np.isnan(result.prediction[result.n_left_out == 0]).all()


@given(
    st.sampled_from([2, 3, 5]).flatmap(lambda k: st.tuples(votes_and_truth(labels=k), st.just(k)))
)
def test_zero_one_terms_equal_brute_force_and_add_up(case):
    (votes, y), n_classes = case
    result = decompose(votes, y, "zero_one")
    for i in range(len(y)):
        column = votes[:, i].tolist()
        expected = oracles.kohavi_wolpert(column, y[i], range(n_classes))
        found = (result.loss[i], result.bias_squared[i], result.variance[i])
        np.testing.assert_allclose(found, expected, atol=1e-12)
        if result.n_left_out[i] >= 2:
            expected = oracles.domingos(column, y[i])
            found = (
                result.prediction[i],
                result.bias[i],
                result.unbiased_variance[i],
                result.biased_variance[i],
            )
            np.testing.assert_allclose(found, expected, atol=1e-12)
    several = result.n_left_out >= 2
    for total in (result.bias_squared + result.variance, result.bias + result.net_variance):
        np.testing.assert_allclose(total[several], result.loss[several], rtol=0, atol=1e-12)
    overall = result.overall
    if several.any():
        assert overall["bias_squared"] + overall["variance"] == pytest.approx(
            overall["loss"], abs=1e-12
        )
        assert overall["bias"] + overall["net_variance"] == pytest.approx(
            overall["loss"], abs=1e-12
        )
    else:
        assert np.isnan(overall["loss"])


@given(votes_and_truth(labels=2))
def test_two_classes_need_no_count_of_hits(problem):
    """Domingos for two classes: loss = bias + (1 - 2 bias) V, V being plain dissent."""
    votes, y = problem
    result = decompose(votes, y, "zero_one")
    dissent = result.unbiased_variance + result.biased_variance
    several = result.n_left_out >= 2
    np.testing.assert_allclose(
        result.loss[several], (result.bias + (1 - 2 * result.bias) * dissent)[several], atol=1e-12
    )


def test_the_terms_are_right_on_average_at_small_k():
    """The corrections for K: over many rows of 3 votes the mean terms are the true ones."""
    rng = np.random.default_rng(0)
    n = 200_000
    squared = decompose(rng.normal(2, 3, (3, n)), np.full(n, 1.5), "squared").overall
    assert squared["variance"] == pytest.approx(9, abs=0.1)
    assert squared["bias_squared"] == pytest.approx(0.25, abs=0.05)
    shares = np.array(
        [0.5, 0.3, 0.2]
    )  # variance (1 - .38) / 2, bias² (.49 + .25 + .04) / 2 for y = 1
    votes = rng.choice(3, size=(3, n), p=shares).astype(float)
    zero_one = decompose(votes, np.ones(n, dtype=int), "zero_one").overall
    assert zero_one["variance"] == pytest.approx(0.31, abs=0.003)
    assert zero_one["bias_squared"] == pytest.approx(0.39, abs=0.003)


def test_votes_may_miss_in_any_container():
    expected = decompose([["a", "b"], ["b", "b"], ["a", "a"]], ["a", "b"], "zero_one").overall
    extra = [["a", "b"], ["b", "b"], ["a", "a"], [None, None], [NAN, NAN]]
    assert decompose(extra, ["a", "b"], "zero_one").overall == expected
    frame = pd.DataFrame(extra)
    assert decompose(frame, pd.Series(["a", "b"]), "zero_one").overall == expected
    never = decompose([["a", None], ["b", None]], ["a", "b"], "zero_one")
    assert never.prediction[0] == "a"
    assert np.isnan(never.prediction[1])
    assert np.isnan(decompose([[1, NAN]], [1, 2], "zero_one").prediction[1])


def test_weights_count_rows_like_copies():
    rng = np.random.default_rng(1)
    votes, y = rng.normal(size=(5, 4)), rng.normal(size=4)
    weights = [2, 0, 1, 3]
    weighted = decompose(votes, y, "squared", sample_weight=weights).overall
    copies = decompose(np.repeat(votes, weights, axis=1), np.repeat(y, weights), "squared").overall
    assert weighted == pytest.approx(copies)


def test_frame_and_text_say_what_the_arrays_say():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 50)
    votes = np.where(rng.random((20, 50)) < 0.7, y, rng.integers(0, 3, (20, 50))).astype(float)
    result = decompose(votes, y, "zero_one")
    frame = result.to_frame()
    assert frame.shape == (50, 11)
    np.testing.assert_array_equal(frame["net_variance"], result.net_variance)
    text = str(result)
    assert "0-1 loss: 20 replicates" in text
    assert "50 of 50 rows counted, left out by 20.0 models" in text
    assert f"{result.overall['loss']:.5g}" in text
    assert "Kohavi & Wolpert" in text
    assert "squared loss" in str(decompose(votes, y, "squared"))


def test_advice_follows_the_numbers():
    rng = np.random.default_rng(3)
    y = rng.normal(size=400)
    scattered = decompose(y + rng.normal(size=(50, 400)), y, "squared")
    alone = replace(scattered, single_loss=rng.normal(size=400) ** 2)
    assert alone.advice.startswith("Bagging should pay: the mean of the replicates errs less")
    assert alone.overall["single_loss"] == pytest.approx(1, abs=0.2)
    better = replace(scattered, single_loss=np.full(400, 0.01))
    few = decompose(y[:20] + rng.normal(size=(50, 20)), y[:20], "squared")
    few = replace(few, single_loss=np.ones(20))
    assert scattered.advice == better.advice == few.advice == ""
    stubborn = decompose(np.repeat(rng.normal(size=(1, 400)), 50, axis=0), y, "squared")
    stubborn = replace(stubborn, single_loss=stubborn.loss)
    assert stubborn.advice.startswith("Bagging should gain little")


def test_votes_that_err_more_together_get_no_praise():
    """Most rows are biased: the vote of such members is worse than a member."""
    rng = np.random.default_rng(4)
    y = np.zeros(500, dtype=int)
    votes = (rng.random((101, 500)) < 0.6).astype(float)
    result = decompose(votes, y, "zero_one")
    result = replace(result, single_loss=result.loss)
    assert result.overall["committee_loss"] > result.overall["loss"]
    assert result.overall["net_variance"] < 0
    assert result.advice == ""


@pytest.mark.parametrize(
    ("predictions", "y", "loss", "code"),
    [
        ([1.0, 2.0], [1.0, 2.0], "squared", "P-VALUE"),
        (np.empty((0, 2)), [1.0, 2.0], "squared", "P-VALUE"),
        ([[1.0, 2.0]], [1.0, 2.0, 3.0], "squared", "Y-LENGTH"),
        ([[1.0, 2.0]], [1.0, NAN], "squared", "Y-NAN"),
        ([["a", "b"]], [1, 2], "zero_one", "Y-MIXED"),
        ([[1, 2]], ["a", "b"], "zero_one", "Y-MIXED"),
    ],
)
def test_bad_input_is_named(predictions, y, loss, code):
    with pytest.raises(InputError) as caught:
        decompose(predictions, y, loss)
    assert caught.value.code == code


def test_an_unknown_loss_is_refused():
    with pytest.raises(ValueError, match=r"\[P-VALUE\] loss"):
        decompose([[1.0]], [1.0], "hinge")
