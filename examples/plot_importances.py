"""Which features matter? Three measures, of which the usual one is misled by many values.

Beside the features of the heart data there are three of pure noise, with 2, 20 and 300 values. The
importance on training rows ranks the last above real features; left-out rows are not deceived.

Run ``python examples/plot_importances.py``; it writes ``importances.png``.
"""

import numpy as np

from committee import ImportanceDisplay, RandomForestClassifier, load_heart


def main() -> None:
    """Fit a forest and draw its importances."""
    X, y = load_heart(as_frame=True)
    rng = np.random.default_rng(0)
    for n_values in (2, 20, 300):
        X[f"noise, {n_values} values"] = rng.integers(0, n_values, len(X))
    model = RandomForestClassifier(400, random_state=0).fit(X, y)
    display = ImportanceDisplay.from_estimator(model, X, y, random_state=0)
    display.figure_.savefig("importances.png", dpi=150)


if __name__ == "__main__":
    main()
