"""Whether gradient boosting learns as much as that of other libraries, fold by fold on real data.

`python -m benchmarks.gradient_quality [--parts same defaults ranking] [--sets ...] [--write]`:
first with the same parameters as LightGBM, scikit-learn and XGBoost, then everyone by default, then
LambdaMART. The sets are those of ../shared/data (or of $COMMITTEE_DATA). What was measured is kept
under build/; `--again` measures ours anew.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats

import committee
from benchmarks.gradient.models import PEERS, SAME, ours
from benchmarks.gradient.rankings import measured
from benchmarks.gradient.scores import Score, Scores, losses
from benchmarks.gradient.sets import BoostingSet, boosting_set, names
from benchmarks.peers import versions
from benchmarks.report import OURS, markdown

RESULTS = Path(__file__).parent / "results" / "gradient_quality.md"
RELEVANT = 0.01  # of a loss: what is less is not worth a look
SEEDS = 10  # of the rankings
PARTS = ("same", "defaults", "ranking")


# --- the same parameters ---


def difference(mine: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return by which share of the peer's loss ours is above it, and the standard error."""
    gap = (mine - other) / other.mean()
    return float(gap.mean()), float(stats.sem(gap))


def verdict(share: float, error: float) -> str:
    if np.isnan(share) or abs(share) <= 2 * error or abs(share) <= RELEVANT:
        return ""
    return "WORSE" if share > 0 else "better"


def same(sets: list[str], scores: Scores) -> str:
    found: dict[str, list[list[str]]] = {title: [] for title in SAME}
    for name in sets:
        data = boosting_set(name)
        n = data.n_folds()
        for title, (first, mine, peer, theirs) in SAME.items():
            a = losses(scores.of(data, f"{first}, {title}", mine, n, codes=True))
            known = title.removesuffix(", of peers")
            b = losses(scores.of(data, f"{peer}, {known}", theirs, n, codes=True))
            share, error = difference(a, b)
            said = [f"{a.mean():.4g}", f"{b.mean():.4g}", f"{100 * share:+.1f} ± {100 * error:.1f}"]
            row = [name, _size(data), str(n), *said, verdict(share, error)]
            found[title].append(row)
            print(title, *row, flush=True)
    return "\n\n".join(_same_part(title, rows) for title, rows in found.items())


def _size(data: BoostingSet) -> str:
    return f"{data.X.shape[0]} x {data.X.shape[1]}, {data.n_classes or 'numbers'}"


def _same_part(title: str, rows: list[list[str]]) -> str:
    first, _, peer, _ = SAME[title]
    shares = np.array([float(row[5].split()[0]) for row in rows])
    verdicts = [row[6] for row in rows]
    worse = ", ".join(row[0] for row in rows if row[6] == "WORSE") or "none"
    head = ["set", "rows x columns, classes", "folds", first, peer, "difference, %", ""]
    return "\n\n".join(
        [
            f"### {title}: {first} beside {peer}",
            f"Worse: {worse}; better: {verdicts.count('better')} of {len(rows)} sets. Median "
            f"difference {np.nanmedian(shares):+.2f} %.",
            markdown([head, *rows]),
        ]
    )


# --- defaults ---


def ranks(table: np.ndarray) -> np.ndarray:
    """Rank the columns of each row, 1 for the least loss; equal ones share, NaN has none."""
    return stats.rankdata(np.round(table, 12), axis=1, nan_policy="omit")


def defaults(sets: list[str], scores: Scores) -> str:
    contestants = {f"{OURS} by default": ours(), **PEERS}
    every: list[list[list[Score]]] = []
    lines = []
    for name in sets:
        data = boosting_set(name)
        n = data.n_few_folds()
        row = [scores.of(data, c, model, n, codes=False) for c, model in contestants.items()]
        every.append(row)
        cells = [f"{losses(s).mean():.4g}" for s in row]
        if data.classify:
            cells = [
                f"{cell} / {100 * np.mean([f.error for f in s]):.1f}"
                for cell, s in zip(cells, row, strict=True)
            ]
        lines.append([name, str(n), *cells])
        print(*lines[-1], flush=True)
    loss = np.array([[losses(s).mean() for s in row] for row in every])
    error = np.array([[np.mean([f.error for f in s]) for s in row] for row in every])
    seconds = np.array([[np.mean([f.seconds for f in s]) for s in row] for row in every])
    lines += [
        ["mean rank of the loss", "", *(f"{r:.2f}" for r in np.nanmean(ranks(loss), axis=0))],
        ["mean rank of the error", "", *(f"{r:.2f}" for r in np.nanmean(ranks(error), axis=0))],
        ["sets where ours is better", "", *_wins(loss)],
        ["geometric mean of seconds", "", *(f"{s:.2f}" for s in np.exp(np.log(seconds).mean(0)))],
    ]
    return markdown([["set", "folds", *contestants], *lines])


def _wins(loss: np.ndarray) -> list[str]:
    return ["", *(f"{int((loss[:, 0] < loss[:, j]).sum())}" for j in range(1, loss.shape[1]))]


# --- rankings ---


def rankings() -> str:
    rows = [["growth", "peer", OURS, "theirs", "difference", ""]]
    for growth, (mine, peer, theirs) in measured(SEEDS).items():
        gap = mine - theirs
        mean, error = gap.mean(), stats.sem(gap)
        said = "" if abs(mean) <= 2 * error else "better" if mean > 0 else "WORSE"
        cells = [f"{mine.mean():.4f}", f"{theirs.mean():.4f}", f"{mean:+.4f} ± {error:.4f}", said]
        rows.append([growth, peer, *cells])
        print(*rows[-1], flush=True)
    return markdown(rows)


# --- all ---

SAYS_SAME = f"""\
100 rounds at rate .1, lambda 1, 255 bins, no early stopping; categories are codes for all. Log-loss
or root mean squared error on the given folds; the difference is the first's less the second's in
percent of the second's loss, with its standard error over the folds. It is flagged where it is
above two of them and above {100 * RELEVANT:g} %: by chance alone about one set of twenty each way,
where folds are ten, and more where they are three.

Rules are the same, too: LightGBM does not try a feature again below a node where none of its splits
gained (ours with `retire_features`), XGBoost and scikit-learn try all (ours by default). What that
rule alone is worth, XGBoost shows in our place beside LightGBM. One meaning differs: of the rows of
a leaf, which LightGBM counts by their share of the hessian, scikit-learn and we one by one."""
SAYS_DEFAULTS = """\
Each library as it comes, categories and missing values in the form that it takes. Log-loss and,
behind it, percent of errors; or root mean squared error."""
SAYS_RANKING = f"""\
NDCG@10 on synthetic queries, {SEEDS} seeds, the same parameters as far as they mean the same."""


def report(asked: argparse.Namespace, scores: Scores) -> str:
    begun = time.perf_counter()
    parts = []
    if "same" in asked.parts:
        parts += ["## The same parameters", SAYS_SAME, same(asked.sets, scores)]
    if "defaults" in asked.parts:
        parts += ["## Defaults", SAYS_DEFAULTS, defaults(asked.sets, scores)]
    if "ranking" in asked.parts:
        parts += ["## Rankings", SAYS_RANKING, rankings()]
    libraries = ", ".join(f"{name} {version}" for name, version in versions().items())
    head = (
        f"committee {committee.__version__}, {libraries}, {time.strftime('%Y-%m-%d')}, "
        f"{time.perf_counter() - begun:.0f} s."
    )
    return "\n\n".join(["# Gradient boosting: quality", head, *parts]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sets", nargs="+", choices=names(), default=names())
    parser.add_argument("--again", action="store_true", help="measure ours anew")
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of peers, of levels that only the test fold has
    scores = Scores()
    if asked.again:
        scores.forget(OURS)
    text = report(asked, scores)
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
