"""The example of the lectures' booster says what it shows."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plain_boosters import make_plain

from committee import GradientBoostingRegressor

mpl.use("Agg")
EXAMPLE = Path(__file__).parents[3] / "examples" / "plot_residual_fitting.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(EXAMPLE))


def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example["main"]()
    said = capsys.readouterr().out
    assert "same thresholds in all rounds: True" in said
    assert float(said.split()[-1]) < 1e-8
    plt.close("all")
    assert (tmp_path / "residual_fitting.png").stat().st_size > 10_000


@pytest.mark.parametrize("seed", range(3))
def test_residual_fitting_by_hand(example, seed):
    """Squared loss, stumps, all rows; equal values of x lie on the same side."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, 120).astype(float)
    y = np.cos(x / 8) + rng.normal(size=120)
    by_hand, _ = example["fit_residuals"](x, y)
    model = make_plain(
        GradientBoostingRegressor,
        n_estimators=example["ROUNDS"],
        learning_rate=example["RATE"],
        max_leaf_nodes=2,
        min_samples_leaf=1,
        early_stopping=False,
    ).fit(x[:, None], y)
    staged = list(model.staged_predict(x[:, None]))
    np.testing.assert_allclose(staged, by_hand[1:], rtol=0, atol=1e-7)  # of gradients of 32 bits
