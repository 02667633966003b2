"""Questions against random rows on real data: the area under the error curve.

Run ``python -m benchmarks.active_learning [--sets ...] [--repeats 20] [--write]``. The sets are
chosen by a rule that was written down before any was run: the first six for classification by name
that have 600 to 5000 rows. In each repeat a third of the rows is set aside for the test and the
others are the pool; a learner begins with 10 labels of random rows and asks about one row after
the other, as Abe and Mamitsuka do, until it has 70. Its twin is the same committee, begins with
the same labels and is taught random rows. Test labels measure the error and have no other part.
Categories are codes that the trees are told of, and missing values stay missing.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy import every_set, read
from benchmarks.report import markdown
from committee import DecisionStump, DecisionTreeClassifier
from committee.active import (
    ActiveDecorate,
    QueryByBagging,
    QueryByBoosting,
    QueryCurve,
    simulate_queries,
)

RESULTS = Path(__file__).parent / "results" / "active_learning.md"
FEWEST, MOST, N_SETS = 600, 5000, 6
ROUNDS, BATCH, INITIAL, TEST = 60, 1, 10, 1 / 3


def learners(categories: Any) -> dict[str, Any]:
    """Make the learners with their defaults; they are told which columns are categories."""
    tree = DecisionTreeClassifier(categorical_features=categories)
    stump = DecisionStump(max_bins=255, categorical_features=categories)
    return {
        "QueryByBagging": QueryByBagging(tree),
        "QueryByBoosting": QueryByBoosting(stump),
        "ActiveDecorate": ActiveDecorate(categorical_features=categories),
    }


REMARK = (
    "Where the interval holds 0, questions are not shown to be better. QueryByBoosting also ends "
    "with a higher error than random rows on anneal and hypothyroid, whatever its area: a boosted "
    "stump that makes no error on the labels is a committee of one, all rows tie, and questions "
    "are random until it errs; whether that is the cause was not measured.\n\n"
    "The sets were fixed before any run, the protocol was not: a first trial asked about the five "
    "most disputed rows at a time, up to 90 labels, and was stopped after two lines on anneal "
    "(QueryByBagging +0.0082 [-0.0070, +0.0235], QueryByBoosting -0.0230 [-0.0547, +0.0087]). "
    "Single questions, as Abe and Mamitsuka ask them, had gained more than batches on three "
    "synthetic tasks, and replaced it; no parameter of a learner was changed. So the table speaks "
    "of single questions, and batches of the most disputed rows may gain less. Stumps as the weak "
    "learner of QueryByBoosting were kept, rather than deeper trees, after trials on sick, "
    "spambase, heart-statlog, waveform-5000 and colic, which are not among the six."
)
HEAD = [
    "data set",
    "learner",
    "area, questions",
    "area, random",
    "gain [95 %]",
    "repeats won",
    "error at the end, questions",
    "random",
    "verdict",
]


def chosen() -> list[str]:
    """Apply the rule."""
    fits = [
        name
        for name, entry in sorted(every_set().items())
        if entry["task"] == "classification" and FEWEST <= entry["rows"] <= MOST
    ]
    return fits[:N_SETS]


def coded(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Read a set as numbers, categories as codes, and tell which columns are such."""
    X, y = read(name)
    kinds = [isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes]
    columns = [
        X[column].cat.codes.where(X[column].notna()) if category else X[column]
        for column, category in zip(X.columns, kinds, strict=True)
    ]
    numbers = np.column_stack([column.to_numpy(dtype=np.float64) for column in columns])
    return numbers, y, np.flatnonzero(kinds).tolist()


def measure(learner: Any, X: np.ndarray, y: np.ndarray, repeats: int) -> QueryCurve:
    return simulate_queries(
        learner,
        X,
        y,
        n_initial=INITIAL,
        n_rounds=ROUNDS,
        k=BATCH,
        n_repeats=repeats,
        test_size=TEST,
        random_state=0,
    )


def lines(names: list[str], repeats: int) -> Iterator[list[str]]:
    for name in names:
        X, y, categories = coded(name)
        for title, learner in learners(categories or None).items():
            begin = time.perf_counter()
            curve = measure(learner, X, y, repeats)
            gain = curve.gain("queries")
            cells = [
                name,
                title,
                f"{curve.area('queries').mean():.4f}",
                f"{curve.area('random').mean():.4f}",
                f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]",
                f"{gain.wins} of {gain.n_repeats}",
                *(f"{curve.mean(kind)[-1]:.4f}" for kind in ("queries", "random")),
                gain.verdict,
            ]
            print(" | ".join(cells), f"| {time.perf_counter() - begin:.0f} s", flush=True)
            yield cells


def summary(table: list[list[str]]) -> str:
    """Say for each learner where questions beat random rows, and where they do not."""
    text = []
    for title in learners(None):
        rows = [line for line in table if line[1] == title]
        by = {
            verdict: [line[0] for line in rows if line[-1] == verdict]
            for verdict in ("better", "no difference", "worse")
        }
        lower = sum(float(line[2]) < float(line[3]) for line in rows)
        said = f"- {title}: a smaller area on {lower} of {len(rows)} sets; the interval is above 0 "
        said += f"on {len(by['better'])} ({', '.join(by['better']) or 'none'}), holds 0 on "
        said += f"{', '.join(by['no difference']) or 'none'}, and is below 0 on "
        text.append(said + f"{', '.join(by['worse']) or 'none'}.")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", help="names of data sets; by default the rule's")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table = list(lines(args.sets or chosen(), args.repeats))
    laid_out, said = markdown([HEAD, *table]), summary(table)
    note = (
        f"Area under the error curve (mean error over the labels) from {INITIAL} to "
        f"{INITIAL + ROUNDS * BATCH} labels, one question after the other, against the same "
        f"committee taught random rows; {args.repeats} repeats with a third of the rows for the "
        f"test. Sets: the first {N_SETS} by name for classification with {FEWEST} to {MOST} rows, "
        "a rule made before any was run. Gains are paired by repeat, with Student's interval."
    )
    print(f"\n{laid_out}\n\n{said}")
    if args.write:
        RESULTS.write_text(
            f"# Active learning\n\n{note}\n\n{laid_out}\n\n{said}\n\n{REMARK}\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
