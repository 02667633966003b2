"""The gradient booster of the lectures: each stump is fitted to what the ones before left over.

With squared loss the negative gradient is the residual y - F(x), the hessian is 1, and the leaf
-G / H is the mean residual of its rows. On all rows, with trees of one split and no penalty,
``GradientBoostingRegressor`` therefore is residual fitting as it is taught. Here stand both: ten
lines of NumPy, and the estimator. They choose the same splits in all rounds, and their predictions
differ by 2e-9. That is what rounding leaves: the engine keeps a gradient in 32 bits and adds them
as integers, so that sums do not depend on the order of rows or threads.

Run ``python examples/plot_residual_fitting.py``; it writes ``residual_fitting.png``.
"""

import matplotlib.pyplot as plt
import numpy as np

from committee import GradientBoostingRegressor

ROUNDS, RATE = 50, 0.3
SHOWN = (1, 2, 3, ROUNDS)


def stump(x: np.ndarray, residual: np.ndarray) -> tuple[float, float, float]:
    """Find the threshold of least squared error, and the mean residual on both sides."""
    order = np.argsort(x)
    x, total = x[order], np.cumsum(residual[order])
    left = np.arange(1, len(x))  # rows on the left
    gain = total[:-1] ** 2 / left + (total[-1] - total[:-1]) ** 2 / (len(x) - left)
    k = int(np.where(x[1:] > x[:-1], gain, -np.inf).argmax())
    mean_left, mean_right = total[k] / left[k], (total[-1] - total[k]) / (len(x) - left[k])
    return (x[k] + x[k + 1]) / 2, mean_left, mean_right


def fit_residuals(x: np.ndarray, y: np.ndarray) -> tuple[list[np.ndarray], list[float]]:
    """Boost by hand: the fit after 0, 1, .. rounds, and the threshold of each."""
    fits, thresholds = [np.full(len(y), y.mean())], []
    for _ in range(ROUNDS):
        threshold, left, right = stump(x, y - fits[-1])
        fits.append(fits[-1] + RATE * np.where(x <= threshold, left, right))
        thresholds.append(threshold)
    return fits, thresholds


def main() -> None:
    """Boost both ways, compare, and draw what the rounds left over and added."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 80))
    y = np.sin(x) + 0.2 * rng.normal(size=80)
    by_hand, thresholds = fit_residuals(x, y)
    model = GradientBoostingRegressor(
        "squared_error",
        n_estimators=ROUNDS,
        learning_rate=RATE,
        max_depth=1,
        l2_regularization=0,
    ).fit(x[:, None], y)
    fits = list(model.staged_predict(x[:, None]))
    splits = model.committee_.members.forests[0].threshold[::3]  # of three nodes, the root's
    print(f"same thresholds in all rounds: {np.allclose(splits, thresholds, rtol=0, atol=1e-12)}")
    print(f"largest difference of a prediction: {np.abs(fits[-1] - by_hand[-1]).max():.1e}")
    figure, axes = plt.subplots(2, len(SHOWN), sharex=True, sharey="row", figsize=(12, 6))
    for n, (above, below) in zip(SHOWN, axes.T, strict=True):
        before = by_hand[n - 1]
        above.plot(x, y - before, ".", color="0.6")
        above.step(x, (fits[n - 1] - before) / RATE, where="mid", color="tab:red")
        above.set_title(f"round {n}")
        below.plot(x, y, ".", color="0.6")
        below.step(x, by_hand[n], where="mid", color="tab:orange", lw=3, label="by hand")
        below.step(x, fits[n - 1], where="mid", color="tab:blue", lw=1, label="committee")
        below.set_xlabel("x")
    axes[0, 0].set_ylabel("what is left, and the stump")
    axes[1, 0].set_ylabel("y, and the sum of stumps")
    axes[1, -1].legend()
    figure.tight_layout()
    figure.savefig("residual_fitting.png", dpi=150)


if __name__ == "__main__":
    main()
