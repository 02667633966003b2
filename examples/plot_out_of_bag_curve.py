"""How many members are enough? Out-of-bag accuracy over the number of trees.

Every row is judged by the trees that have not seen it, so that no test set is needed and the curve
of the whole committee comes from one fit.

Run ``python examples/plot_out_of_bag_curve.py``; it writes ``out_of_bag_curve.png``.
"""

from committee import (
    BaggingClassifier,
    ExtraTreesClassifier,
    OutOfBagCurveDisplay,
    RandomForestClassifier,
    load_heart,
)


def main() -> None:
    """Fit three committees and draw their curves."""
    X, y = load_heart(as_frame=True)
    models = {
        "random forest": RandomForestClassifier(400, random_state=0),
        "extra trees": ExtraTreesClassifier(400, bootstrap=True, random_state=0),
        "bagged trees": BaggingClassifier(n_estimators=400, random_state=0),
    }
    for model in models.values():
        model.fit(X, y)
    display = OutOfBagCurveDisplay.from_estimator(models, X, y)
    display.figure_.savefig("out_of_bag_curve.png", dpi=150)
    for name, score in display.final.items():
        print(f"{name:15s} {score:.4f}")


if __name__ == "__main__":
    main()
