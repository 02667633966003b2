"""Random learning problems for the property tests.

Hypothesis draws the shape and a seed, numpy the cells: shrinking still leads to the smallest shape
that fails, and a table of thousands of rows costs no more to draw than a small one.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _engine

SMALL = (1, 2, 3, 10, 40)
SIZES = (*SMALL, 150, 700, 4000)  # the engine sums small and large nodes by different methods
CLASSIFIERS = ("gini", "entropy", "gain_ratio", "normalized_gain", "error", "exponential")
REGRESSORS = ("squared_error", "absolute_error", "poisson")


@dataclass(repr=False)
class Problem:
    """Rows, targets, weights and the parameters of a tree."""

    X: Any
    y: Any
    weight: Any
    n_classes: int
    params: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.X.size <= 60:
            parts = f"{self.X.tolist()}, {self.y.tolist()}, "
            parts += f"{None if self.weight is None else self.weight.tolist()}"
        else:
            parts = f"X of {self.X.shape}, weighted: {self.weight is not None}"
        return f"Problem({parts}, {self.n_classes}, {self.params})"

    def model(self, **params: Any) -> Any:
        kind = DecisionTreeClassifier if self.n_classes else DecisionTreeRegressor
        return kind(**{"random_state": 0, **self.params, **params})

    def fit(self, **params: Any) -> Any:
        return self.model(**params).fit(self.X, self.y, sample_weight=self.weight)

    def on(self, X: Any, **params: Any) -> Any:
        """Fit the same problem held in another container."""
        return self.model(**params).fit(X, self.y, sample_weight=self.weight)


@st.composite
def problems(draw, sizes=SIZES, categorical=True, weighted=None, missing=True, criteria=None):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.sampled_from(sizes)), draw(st.integers(1, 6))
    X = np.round(rng.normal(size=(n, p)) * draw(st.sampled_from([1, 4, 256])), 0) / 4
    # Columns beyond these few values are rounded to float32, so that all containers hold them.
    fine = rng.random(p) < 0.5
    X[:, fine] = rng.normal(size=(n, int(fine.sum()))).astype(np.float32)
    params: dict[str, Any] = {}
    if categorical and draw(st.booleans()):
        columns = [j for j in range(p) if j % 2 == 0]
        X[:, columns] = rng.integers(0, draw(st.sampled_from([2, 5, 70, 300])), (n, len(columns)))
        params["categorical_features"] = columns
    n_classes = (
        draw(st.sampled_from([0, 2, 5])) if criteria is None else 2 * (criteria[0] in CLASSIFIERS)
    )
    score = X[:, 0] - X[:, -1] + rng.normal(size=n)
    y = np.digitize(score, np.linspace(-1, 1, n_classes - 1)) if n_classes else score
    if missing and draw(st.booleans()):
        X[:, -1][rng.random(n) < 0.3] = np.nan
        X[0, -1] = 1.0  # an empty column is another matter
    if n_classes:
        y[: min(n, n_classes)] = np.arange(min(n, n_classes))
    else:
        y = np.abs(np.round(y, 3))
    params["criterion"] = draw(
        st.sampled_from(criteria or (CLASSIFIERS if n_classes else REGRESSORS))
    )
    if params["criterion"] == "poisson":
        y[0] += 1  # a sum of zero is refused
    has_weight = draw(st.booleans()) if weighted is None else weighted
    weight = rng.integers(0, 4, n).astype(np.float64) if has_weight else None
    if has_weight:
        weight[0] = 1.0
    params |= draw(limits())
    return Problem(X, y, weight, n_classes, params)


@st.composite
def limits(draw):
    """Parameters that shape the tree."""
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "max_depth": st.integers(1, 6),
                "min_samples_leaf": st.integers(1, 5),
                "max_leaf_nodes": st.integers(2, 12),
                "max_features": st.sampled_from([0.5, "sqrt", 1]),
                "splitter": st.sampled_from(["best", "random"]),
                "max_bins": st.sampled_from([2, 16, 65535]),
                "min_impurity_decrease": st.sampled_from([1e-3, 1e-2]),
            },
        )
    )


def native(problem: Problem, **params: Any) -> tuple[Any, ...]:
    """Return matrix, mapper, stats and parameters of a problem for the engine's own functions."""
    table = _engine.Table(np.ascontiguousarray(problem.X), *problem.X.shape)
    levels = [0] * problem.X.shape[1]
    for column in problem.params.get("categorical_features", []):
        levels[column] = int(np.nanmax(problem.X[:, column])) + 1
    max_bins = problem.params.get("max_bins", 255)
    mapper = _engine.BinMapper.fit(table, problem.weight, max_bins, levels, 0, 1)
    matrix = mapper.transform(table, 1)
    if problem.n_classes:
        codes = np.ascontiguousarray(problem.y, dtype=np.uint32).reshape(-1, 1)
        stats = _engine.Stats.classes(codes, [problem.n_classes], problem.weight, True)
    else:
        centred = problem.params["criterion"] != "poisson"
        y = np.ascontiguousarray(problem.y, dtype=np.float64).reshape(-1, 1)
        stats = _engine.Stats.regression(y, problem.weight, centred, True)
    grown = _engine.TreeParams()
    grown.criterion = getattr(_engine.Criterion, problem.params["criterion"])
    for name, value in params.items():
        setattr(grown, name, value)
    return matrix, mapper, stats, grown
