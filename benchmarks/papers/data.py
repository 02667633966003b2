"""The data of the papers, from packages of Debian that `apt-get` fetches by name, uninstalled.

`r-cran-mlbench` (Leisch and Dimitriadou) carries most sets, `weka` two more; waveform, twonorm,
threenorm and ringnorm are drawn as Breiman describes them (CART book 1984; "Bias, variance, and
arcing classifiers", 1996). The packages are unpacked into build/papers.
"""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import arff

from benchmarks.papers.rda import read_frame

CACHE = Path(__file__).parents[2] / "build" / "papers"
MLBENCH = ("r-cran-mlbench", "usr/lib/R/site-library/mlbench/data")
WEKA = ("weka", "usr/share/doc/weka/examples")


class Unavailable(RuntimeError):
    """Says which package to install."""


@dataclass(frozen=True)
class Data:
    """Numbers throughout: categories as codes, missing values as NaN, classes 0, 1, ..."""

    X: np.ndarray
    y: np.ndarray
    categorical: tuple[int, ...] = ()
    n_learn: int | None = None  # rows of the published learning set, which come first

    def rows(self, chosen: np.ndarray) -> "Data":
        return Data(self.X[chosen], self.y[chosen], self.categorical)


# --- packages ---


@cache
def folder(package: str, inside: str) -> Path:
    """Return where the files of a package are: installed, or fetched and unpacked."""
    for root in (Path("/"), CACHE / package):
        if (root / inside).is_dir():
            return root / inside
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        if not list(CACHE.glob(f"{package}_*.deb")):
            _run("apt-get", "download", package)
        _run("dpkg-deb", "-x", str(next(CACHE.glob(f"{package}_*.deb"))), package)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(
            f"the Debian package {package} could not be fetched ({error}); install it "
            f"(apt-get install {package}) or put its .deb file into {CACHE}"
        ) from error
    return CACHE / package / inside


def _run(*command: str) -> None:
    subprocess.run(command, cwd=CACHE, check=True, capture_output=True)


def _mlbench(name: str, target: str = "Class", drop: str = "", ordered: bool = False) -> Data:
    frame = read_frame(folder(*MLBENCH) / f"{name}.rda")
    return _numbers(frame.drop(columns=drop) if drop else frame, target, ordered)


def _weka(*names: str, target: str = "class") -> Data:
    frames = [pd.DataFrame(arff.loadarff(folder(*WEKA) / f"{name}.arff")[0]) for name in names]
    frame = pd.concat(frames, ignore_index=True)
    for name in frame.columns:
        if frame[name].dtype == object:
            levels = frame[name].str.decode("utf-8")
            frame[name] = pd.Categorical(levels.mask(levels == "?"))
    return _numbers(frame, target, ordered=False)


def _numbers(frame: pd.DataFrame, target: str, ordered: bool) -> Data:
    """Turn levels into codes; where they are `ordered` or only two, the codes are numbers."""
    y = np.unique(frame[target].cat.codes.to_numpy(), return_inverse=True)[1]
    columns, categorical = [], []
    for j, name in enumerate(frame.columns.drop(target)):
        values = frame[name]
        if isinstance(values.dtype, pd.CategoricalDtype):
            if not ordered and len(values.cat.categories) > 2:
                categorical.append(j)
            values = values.cat.codes.astype(np.float64).replace(-1.0, np.nan)
        columns.append(values.to_numpy(dtype=np.float64))
    return Data(np.column_stack(columns), y.astype(np.int64), tuple(categorical))


def _divided(data: Data, n_learn: int) -> Data:
    return Data(data.X, data.y, data.categorical, n_learn)


LOADERS: dict[str, Callable[[], Data]] = {
    "breast cancer": lambda: _mlbench("BreastCancer", drop="Id", ordered=True),
    "diabetes": lambda: _mlbench("PimaIndiansDiabetes", target="diabetes"),
    "german": lambda: _weka("credit-g"),
    "glass": lambda: _mlbench("Glass", target="Type"),
    "image": lambda: _weka("segment-challenge", "segment-test"),
    "ionosphere": lambda: _mlbench("Ionosphere"),
    "letters": lambda: _divided(_mlbench("LetterRecognition", target="lettr"), 15_000),
    "sat": lambda: _divided(_mlbench("Satellite", target="classes"), 4_435),
    "sonar": lambda: _mlbench("Sonar"),
    "soybean": lambda: _mlbench("Soybean"),
    "vehicle": lambda: _mlbench("Vehicle"),
    "votes": lambda: _mlbench("HouseVotes84"),
    "vowel": lambda: _mlbench("Vowel"),
}
load = cache(lambda name: LOADERS[name]())


# --- drawn cases ---


def waveform(n: int, rng: np.random.Generator) -> Data:
    """Mix two of three triangular waves, in 21 points, and add noise. Bayes rate 14 %."""
    points = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(points - peak), 0) for peak in (11, 15, 7)])
    y = rng.integers(0, 3, n)
    first, second = np.array([[0, 1], [0, 2], [1, 2]])[y].T
    share = rng.random((n, 1))
    X = share * waves[first] + (1 - share) * waves[second]
    return Data(X + rng.standard_normal((n, 21)), y)


def _two_normals(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((n, 20)), rng.integers(0, 2, n)


def twonorm(n: int, rng: np.random.Generator) -> Data:
    """Draw from unit normals at a and at -a, a = (2, ..., 2) / sqrt(20)."""
    X, y = _two_normals(n, rng)
    return Data(X + np.where(y == 0, 1, -1)[:, None] * 2 / np.sqrt(20), y)


def threenorm(n: int, rng: np.random.Generator) -> Data:
    """Draw one class around a and -a, the other around (a, -a, a, -a, ...)."""
    X, y = _two_normals(n, rng)
    either = np.where(rng.integers(0, 2, n) == 0, 1, -1)[:, None]
    turns = np.resize([1, -1], 20)
    return Data(X + np.where(y[:, None] == 0, either, turns) * 2 / np.sqrt(20), y)


def ringnorm(n: int, rng: np.random.Generator) -> Data:
    """Draw one class with four times the variance, the other around (1, ..., 1) / sqrt(20)."""
    X, y = _two_normals(n, rng)
    # Others write (2, ..., 2): forests then err by 0.7 points less.
    return Data(np.where(y[:, None] == 0, 2 * X, X + 1 / np.sqrt(20)), y)


GENERATORS = {
    "waveform": waveform,
    "twonorm": twonorm,
    "threenorm": threenorm,
    "ringnorm": ringnorm,
}


# --- what the protocols repeat ---


def splits(
    name: str, iterations: int, *, drawn: tuple[int, int], seed: int = 0
) -> Iterator[tuple[Data, Data]]:
    """Yield learning and test sets: a random tenth is the test set, or fresh cases are `drawn`.

    A set with a published division has that one only: its iterations differ by the members' seeds.
    """
    for i in range(iterations):
        rng = np.random.default_rng([seed, i])
        if name in GENERATORS:
            yield GENERATORS[name](drawn[0], rng), GENERATORS[name](drawn[1], rng)
            continue
        data = load(name)
        order = rng.permutation(len(data.y))
        n_test = round(len(data.y) / 10)
        learn, test = order[n_test:], order[:n_test]
        if data.n_learn is not None:
            learn, test = np.split(np.arange(len(data.y)), [data.n_learn])
        yield data.rows(learn), data.rows(test)
