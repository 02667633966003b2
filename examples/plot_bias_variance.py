"""Bias and variance of four learners, and what a committee of each would gain.

A full tree errs mostly by variance, which averaging removes; a linear model by bias, which it
leaves. The diamond is the loss of the mean of the replicates: what bagging can hope for.

Run ``python examples/plot_bias_variance.py``; it writes ``bias_variance.png`` and
``bias_variance_rows.png``.
"""

from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from committee import BiasVarianceDisplay, DecisionTreeRegressor


def main() -> None:
    """Draw both pictures."""
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    learners = {
        "full tree": DecisionTreeRegressor(random_state=0),
        "tree, 8 leaves": DecisionTreeRegressor(max_leaf_nodes=8, random_state=0),
        "linear model": LinearRegression(),
        "5 neighbours": KNeighborsRegressor(),
    }
    display = BiasVarianceDisplay.from_estimator(learners, X, y, n_replicates=100, random_state=0)
    display.figure_.savefig("bias_variance.png", dpi=150)
    for name, result in display.results.items():
        print(name, result, sep="\n", end="\n\n")
    display.plot(kind="rows").figure_.savefig("bias_variance_rows.png", dpi=150)


if __name__ == "__main__":
    main()
