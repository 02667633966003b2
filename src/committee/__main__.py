"""The main job: fit a tree on a shipped data set, say how good it is, and draw it."""

from __future__ import annotations

import time

from sklearn.model_selection import StratifiedKFold, cross_val_score

from committee import DecisionTreeClassifier, __version__, export_text, load_heart


def main() -> None:
    """Run the example of the README."""
    heart = load_heart()
    model = DecisionTreeClassifier(
        criterion="gain_ratio",
        min_samples_leaf=5,
        pruning="pessimistic",
        categorical_features=heart.categorical_features,
    )
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scores = cross_val_score(model, heart.data, heart.target, cv=folds)
    begin = time.perf_counter()
    model.fit(heart.data, heart.target)
    took = time.perf_counter() - begin
    n, p = heart.data.shape
    print(f"committee {__version__}: a C4.5-like tree on heart disease, {n} patients, {p} features")
    print(
        f"accuracy {scores.mean():.3f} +- {scores.std():.3f} (10 folds; {took * 1e3:.1f} ms a fit)"
    )
    print(f"{model.get_n_leaves()} leaves, depth {model.get_depth()}:\n")
    print(export_text(model, feature_names=heart.feature_names))


if __name__ == "__main__":
    main()
