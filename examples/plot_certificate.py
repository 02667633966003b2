"""What a booster can prove, and what it cannot: errors, bounds and margins on the cancer data.

The product of Z bounds the training error of 1000 stumps in every round, and the certificate
recomputes it from the members. No training row is misclassified after round 26, yet boosting goes
on: the least margin grows, and the test error falls from 0.06 to 0.04. These are three rows of 171,
and the last number is one that nobody can certify.

Run ``python examples/plot_certificate.py``; it writes ``certificate.png``. The same figure saved as
``certificate.svg`` is the second picture of the README.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from committee import AdaBoostClassifier, BoostingCurveDisplay, MarginDistributionDisplay


def main() -> None:
    """Fit a long committee, verify its certificate, and draw errors and margins."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    curve = BoostingCurveDisplay.from_estimator(
        model, X_test, y_test, X_train=X, y_train=y, rows_name="test", log_rounds=True, ax=left
    )
    margins = MarginDistributionDisplay.from_estimator(model, X, y, rounds=(5, 100, 1000), ax=right)
    left.set_title("Errors of AdaBoost, and what bounds the training error", loc="left", size=10)
    right.set_title("Margins of the training rows", loc="left", size=10)
    figure.savefig("certificate.png", dpi=150)
    certificate = model.certificate()
    print(*certificate.claims, sep="\n")
    print(certificate.verify(X, y))
    errors = curve.curves["AdaBoostClassifier"].training
    print(f"last round with a training row misclassified: {errors.nonzero()[0][-1] + 1}")
    print(f"least margin: {margins.least}")
    print(f"test error: {1 - model.score(X_test, y_test):.3f}")


if __name__ == "__main__":
    main()
