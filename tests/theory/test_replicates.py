import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier

from committee.core.randomness import member_rng
from committee.theory.bias_variance import bootstrap_bias_variance
from committee.theory.replicates import draw


def test_r31_share_of_unique_rows():
    for n, expected, spread in (
        (10, 0.6513, 0.0996),
        (100, 0.6340, 0.0312),
        (1000, 0.6323, 0.0099),
    ):
        shares = [len(np.unique(draw(member_rng(0, k), n))) / n for k in range(200)]
        assert 1 - (1 - 1 / n) ** n == pytest.approx(expected, abs=5e-5)
        error = 0.002 if n == 1000 else 3 * spread / np.sqrt(200)
        assert np.mean(shares) == pytest.approx(expected, abs=error)
        assert np.std(shares) == pytest.approx(spread, rel=0.2)


def test_r32_three_draws_from_five():
    every = list(itertools.product(range(5), repeat=3))
    assert (len(every), len({tuple(sorted(bag)) for bag in every})) == (125, 35)
    assert np.mean([len(set(bag)) for bag in every]) == pytest.approx(2.44)
    bags = draw(np.random.default_rng(0), 5, 3 * 20_000).reshape(-1, 3)
    assert len(draw(np.random.default_rng(0), 5, 3)) == 3
    counts = np.unique(bags @ [25, 5, 1], return_counts=True)[1]
    assert len(counts) == 125  # every ordered sample, each as often
    assert stats.chisquare(counts).pvalue > 0.01
    assert np.mean([len(set(bag)) for bag in bags.tolist()]) == pytest.approx(2.44, abs=0.015)


def test_r33_left_out_counts_are_binomial():
    n, B = 200, 100
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    result = bootstrap_bias_variance(DummyClassifier(), X, y, n_replicates=B, random_state=0)
    p = (1 - 1 / n) ** n
    assert p == pytest.approx(0.367, abs=1e-3)
    law = stats.binom(B, p)
    assert result.n_left_out.mean() == pytest.approx(law.mean(), abs=0.5)
    edges = law.ppf([0.25, 0.5, 0.75])
    seen = np.bincount(np.searchsorted(edges, result.n_left_out), minlength=4)
    share = np.diff([0, *law.cdf(edges), 1])
    assert stats.chisquare(seen, n * share).pvalue > 0.01
