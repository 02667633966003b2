"""Certificates of every booster on every shared data set: they hold, verify, and find tampering.

Run ``python -m benchmarks.certificates [--sets ...] [--write]``. A booster is fitted with few
rounds; its certificate's claims must hold and `verify` must agree with the same rows. Then one
row, one label, one member's weight and one member are changed, one at a time, and each change must
be found. Text becomes words that are there or not, a sparse matrix.
"""

import argparse
import copy
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import committee
from benchmarks.accuracy import every_set, read
from benchmarks.report import markdown
from committee import Committee, DataWarning
from committee.core.members import Trees
from committee.ensembles.boosting.cell_rules import CellRules

RESULTS = Path(__file__).parent / "results" / "certificates.md"
ROUNDS = 10
LARGEST = 100_000  # rows


def boosters() -> dict[str, Any]:
    """Return a small booster of every kind that has a certificate."""
    found = {}
    for name in committee.__all__:
        kind = getattr(committee, name)
        if isinstance(kind, type) and hasattr(kind, "certificate"):
            model = kind()
            known = model.get_params(deep=False)
            model.set_params(**{key: value for key, value in WANTED.items() if key in known})
            found[name] = model
    return found


WANTED = {"n_estimators": ROUNDS, "random_state": 0, "n_jobs": 2}


def check(booster: Any, X: Any, y: Any) -> Iterator[str]:
    """Yield what is wrong with the certificate of a booster on a data set."""
    model = clone(booster).fit(X, y)
    certificate = model.certificate()
    if not certificate.holds:
        yield "a claim fails"
    found = certificate.verify(X, y)
    if not found:
        yield f"does not verify: {found.findings[0]}"
    rng = np.random.default_rng(0)
    row = int(rng.integers(len(y)))
    if certificate.verify(X, flipped(y, row)):
        yield "a changed label is not found"
    if certificate.verify(changed_row(X, row), y):
        yield "a changed row is not found"
    for what, tamper in (("weight", other_weight), ("member", other_member)):
        other = copy.deepcopy(model)
        if tamper(other) and other.certificate().verify(X, y):
            yield f"a changed {what} is not found"


def flipped(y: pd.Series, row: int) -> pd.Series:
    other = y.copy()
    other.iloc[row] = next(label for label in y.unique() if label != y.iloc[row])
    return other


def changed_row(X: Any, row: int) -> Any:
    """Change one value of one row: to another number, or to another level."""
    if not isinstance(X, pd.DataFrame):
        other = X.tolil(copy=True)
        other[row, 0] = 1 - min(1, other[row, 0])
        return other.tocsr()
    other = X.copy()
    for column in other.columns:
        values = other[column].dropna().unique()
        differing = [value for value in values if value != other[column].iloc[row]]
        if differing:
            other.iloc[row, other.columns.get_loc(column)] = differing[0]
            return other
    raise ValueError("no column varies")


def parts_of(model: Any) -> list[Any]:
    return getattr(model, "parts_", [model])


def other_weight(model: Any) -> bool:
    part = parts_of(model)[0]
    weights = part.committee_.weights.copy()
    weights[0] += 1e-3
    part.committee_ = Committee(part.committee_.members, weights)
    return bool(part.rounds_)


def other_member(model: Any) -> bool:
    """Turn what the first member says around, in one leaf or cell."""
    part = parts_of(model)[0]
    members = part.committee_.members
    if isinstance(members, CellRules):
        values = members.values.copy()
        values[0, 0] = -values[0, 0] if values[0, 0].any() else 1.0
        rules = type(members)(members.features, members.cuts, values, members.schema)
        part.committee_ = Committee(rules, part.committee_.weights)
        return True
    if not isinstance(members, Trees) or not part.rounds_:
        return False
    values = np.array(members.forest.values)
    leaf = int(np.argmax(members.forest.left == np.arange(members.forest.n_nodes)))
    values[leaf] = -values[leaf] if values.shape[1] == 1 else np.roll(values[leaf], 1)
    if (values == members.forest.values).all():
        return False
    trees = Trees(members.forest.revalued(values), members.schema)
    part.committee_ = Committee(trees, part.committee_.weights)
    return True


def problem(name: str) -> tuple[Any, pd.Series]:
    """Read a set; text becomes words that are there or not."""
    X, y = read(name)
    text = [column["name"] for column in every_set()[name]["columns"] if column["kind"] == "text"]
    if text:
        X = CountVectorizer(binary=True, min_df=3).fit_transform(X[text[0]].fillna(""))
    return X, pd.Series(y)


def rows_of_table(names: list[str]) -> Iterator[list[str]]:
    every = boosters()
    for name in names:
        begin = time.perf_counter()
        X, y = problem(name)
        faults = {k: "; ".join(check(booster, X, y)) for k, booster in every.items()}
        bad = {k: fault for k, fault in faults.items() if fault}
        verdict = ", ".join(f"{k}: {fault}" for k, fault in bad.items()) or "all verify"
        print(f"{name}: {len(every) - len(bad)} of {len(every)}, {verdict}", flush=True)
        took = f"{time.perf_counter() - begin:.0f}"
        yield [
            name,
            str(X.shape[0]),
            str(y.nunique()),
            f"{len(every) - len(bad)} of {len(every)}",
            verdict,
            took,
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", help="names of data sets; by default all that fit")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    args = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    fits = [
        name
        for name, entry in every_set().items()
        if entry["task"] == "classification" and entry["rows"] <= LARGEST
    ]
    lines = list(rows_of_table(args.sets or fits))
    head = ["data set", "rows", "classes", "verified", "what disagrees", "s"]
    table = markdown([head, *lines])
    note = (
        f"Every booster with a certificate, {ROUNDS} rounds, on every shared data set for "
        f'classification of at most {LARGEST} rows. "Verified": all claims hold, the same rows '
        "verify, and a changed label, row, weight or tree is found, one at a time."
    )
    print(table)
    if args.write:
        RESULTS.write_text(f"# Certificates\n\n{note}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
