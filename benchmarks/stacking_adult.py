"""Stack five learners on adult, to see that every core is at work and that progress is told.

    python -m benchmarks.stacking_adult [n_jobs]

Prints a line for each model as it is done, the seconds of the clock and of all processors, and the
accuracy of each member and of the stack on rows of the published test set.
"""

import os
import sys
import time
from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.conftest import load_shared_data

from committee import (
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)

N_TRAIN = 32561  # the rows of the published training set come first


def columns():
    """Numbers scaled, categories in columns of their own."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )


MEMBERS = [
    ("logistic", make_pipeline(columns(), LogisticRegression(max_iter=300))),
    ("bayes", make_pipeline(columns(), BernoulliNB())),
    ("tree", DecisionTreeClassifier(min_samples_leaf=20)),
    ("forest", RandomForestClassifier(50, min_samples_leaf=2)),
    ("boosted", GradientBoostingClassifier(n_estimators=100)),
]


def worker_seconds() -> list[float]:
    """Read how long each process that this one started has computed; on Linux."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in children]
    return [(int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK") for f in fields]


def main(n_jobs: int) -> None:
    X, y = load_shared_data("adult")
    X, X_test, y, y_test = X[:N_TRAIN], X[N_TRAIN:], y[:N_TRAIN], y[N_TRAIN:]
    model = StackingClassifier(MEMBERS, n_jobs=n_jobs, verbose=1, random_state=0)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    busy = ", ".join(f"{used:.1f} s" for used in sorted(worker_seconds(), reverse=True)[:n_jobs])
    print(f"\nn_jobs={n_jobs}: {seconds:.1f} s by the clock; workers computed for {busy}")
    for name, member in model.named_estimators_.items():
        print(f"{name:10s} {member.score(X_test, y_test):.4f}")
    print(f"{'stack':10s} {model.score(X_test, y_test):.4f}")
    weights = zip(model.named_estimators_, model.final_estimator_.coef_[0], strict=True)
    print("meta-weights:", ", ".join(f"{name} {weight:.2f}" for name, weight in weights))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
