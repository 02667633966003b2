"""The main job: a tree, a forest and two boosters on a shipped data set, and what they say."""

from __future__ import annotations

import time
from typing import Any

from sklearn.model_selection import StratifiedKFold, cross_val_score

from committee import (
    AdaBoostClassifier,
    DecisionStump,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    __version__,
    export_text,
    load_heart,
)


def main() -> None:
    """Run the example of the README."""
    heart = load_heart()
    tree = DecisionTreeClassifier(
        criterion="gain_ratio",
        min_samples_leaf=5,
        pruning="pessimistic",
        categorical_features=heart.categorical_features,
    )
    forest = RandomForestClassifier(
        n_estimators=300,
        oob_score=True,
        categorical_features=heart.categorical_features,
        random_state=0,
    )
    stump = DecisionStump(categorical_features=heart.categorical_features)
    booster = AdaBoostClassifier(stump, n_estimators=30)
    categories = heart.categorical_features
    gradient = GradientBoostingClassifier(max_leaf_nodes=8, categorical_features=categories)
    n, p = heart.data.shape
    print(f"committee {__version__}: heart disease, {n} patients, {p} features")
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    named: dict[str, Any] = {
        "C4.5-like tree": tree,
        "random forest": forest,
        "AdaBoost, 30 stumps": booster,
        "gradient boosting": gradient,
    }
    for name, model in named.items():
        scores = cross_val_score(model, heart.data, heart.target, cv=folds)
        begin = time.perf_counter()
        model.fit(heart.data, heart.target)
        took = time.perf_counter() - begin
        print(
            f"{name}: accuracy {scores.mean():.3f} +- {scores.std():.3f} (10 folds; "
            f"{took * 1e3:.1f} ms a fit)"
        )
    print(f"\nThe forest, judged by the rows each tree left out: {forest.oob_score_:.3f}.")
    print(f"{forest.verify_no_leak(heart.data, heart.target)}")
    found = forest.permutation_importance(heart.data, heart.target)
    print("What it would lose without a feature, in points of accuracy:")
    for feature in found.importances_mean.argsort()[::-1][:5].tolist():
        mean, error = 100 * found.importances_mean[feature], 100 * found.importances_se[feature]
        print(f"  {heart.feature_names[feature]:<10} {mean:4.1f} +- {error:.1f}")
    certificate = booster.certificate()
    print(f"\n{certificate}\n{certificate.verify(heart.data, heart.target)}")
    print(f"\nThe tree, {tree.get_n_leaves()} leaves, depth {tree.get_depth()}:\n")
    print(export_text(tree, feature_names=heart.feature_names))


if __name__ == "__main__":
    main()
