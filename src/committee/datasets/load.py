"""Reading the shipped files into arrays or a frame."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as arrays; unpacks to ``X, y``.

    Attributes
    ----------
    data : ndarray of object, shape (n_samples, n_features)
        Numbers, texts for categories, None where a value is missing.
    target : ndarray of str
        The classes.
    feature_names : list of str
        Names of the columns.
    categorical_features : list of int
        Indices of the columns that hold categories.
    """

    data: Any
    target: npt.NDArray[Any]
    feature_names: list[str]
    categorical_features: list[int]

    def __iter__(self) -> Any:
        return iter((self.data, self.target))


def load_weather(*, as_frame: bool = False) -> Dataset:
    """Load the weather table: 14 days, and whether there was play.

    Parameters
    ----------
    as_frame : bool, default=False
        Whether ``data`` is a pandas frame with categorical columns.

    Returns
    -------
    Dataset
        Unpacks to ``X, y``.

    Examples
    --------
    >>> from committee import load_weather
    >>> X, y = load_weather()
    >>> X[0].tolist(), str(y[0])
    (['sunny', 85.0, 85.0, 'false'], 'no')
    """
    return _load("weather.csv", ["outlook", "windy"], as_frame)


def load_heart(*, as_frame: bool = False) -> Dataset:
    """Load the heart disease table: 303 patients, 13 features of both kinds, 7 missing values.

    Parameters
    ----------
    as_frame : bool, default=False
        Whether ``data`` is a pandas frame with categorical columns.

    Returns
    -------
    Dataset
        Unpacks to ``X, y``; the classes are "<50" (no disease) and ">50_1".
    """
    categories = ["sex", "cp", "fbs", "restecg", "exang", "slope", "thal"]
    return _load("heart.csv", categories, as_frame)


def _load(file: str, categories: list[str], as_frame: bool) -> Dataset:
    text = files("committee.datasets").joinpath(file).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    names = header[:-1]
    is_text = [name in categories for name in names]
    data = np.empty((len(rows), len(names)), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[:-1]):
            data[i, j] = None if cell == "" else cell if is_text[j] else float(cell)
    target = np.array([row[-1] for row in rows])
    categorical = [j for j, t in enumerate(is_text) if t]
    if not as_frame:
        return Dataset(data, target, names, categorical)
    import pandas as pd

    frame = pd.DataFrame(data, columns=names)
    kinds = {name: "category" if t else "float64" for name, t in zip(names, is_text, strict=True)}
    return Dataset(frame.astype(kinds), target, names, categorical)
