"""AdaBoost on ten points, round by round, as it is taught; and the certificate of the fit.

Three stumps with errors 0.30, 0.21 and 0.14 get the weights 0.42, 0.65 and 0.92. Each is drawn on
the points as large as their weights in its round; any two of them outvote the third, and together
they classify all ten points.

Run ``python examples/plot_ten_points.py``; it writes ``ten_points.png`` and
``ten_points_certificate.png``.
"""

import pandas as pd

from committee import AdaBoostClassifier, DecisionRegionsDisplay

POSITIVE = [(8, 7), (6, 8), (7, 10), (1, 3), (2, 1)]
NEGATIVE = [(3, 5), (5, 6), (4, 2), (10, 9), (9, 4)]


def main() -> None:
    """Fit three rounds, draw them, and print what the theory says of them."""
    X = pd.DataFrame(POSITIVE + NEGATIVE, columns=["x", "y"], dtype=float)
    y = ["plus"] * len(POSITIVE) + ["minus"] * len(NEGATIVE)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y)
    display.figure_.savefig("ten_points.png", dpi=150)
    certificate = model.certificate()
    certificate.plot().savefig("ten_points_certificate.png", dpi=150)
    print(certificate)
    print(certificate.verify(X, y))


if __name__ == "__main__":
    main()
