"""The whole of DECORATE against plain Python, trial by trial and member by member."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from committee import DecisionTreeClassifier, DecorateClassifier
from committee.ensembles.decorate.reading import c45
from tests.oracles.decorate import decorate


def mixed(seed, n=24):
    """Two numbers, two categories, gaps, and three classes that depend on all of them."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n).round(2), rng.integers(0, 9, n).astype(float)
    c, d = rng.choice(["x", "y", "z"], n), rng.choice(["no", "yes"], n, p=[0.8, 0.2])
    score = a + (c == "y") + 0.2 * b + rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, [0.3, 0.7]))
    rows = [list(row) for row in zip(a.tolist(), b.tolist(), c.tolist(), d.tolist(), strict=True)]
    for row, gap in zip(rows, rng.integers(0, 12, n).tolist(), strict=True):
        if gap < 4:
            row[gap] = None
    return rows, y


def framed(rows):
    columns = list(zip(*rows, strict=True))
    numbers = [np.array([np.nan if v is None else v for v in column]) for column in columns[:2]]
    return pd.DataFrame(
        {
            "a": numbers[0],
            "b": numbers[1],
            "c": pd.Categorical(columns[2], ["x", "y", "z"]),
            "d": pd.Categorical(columns[3], ["no", "yes"]),
        }
    )


def learner(base, container):
    def fit(rows, labels):
        model = base().fit(container(rows), np.array(labels))
        return lambda asked: model.predict_proba(container(asked)).tolist()

    return fit


CASES = {
    "c45": (c45, framed, slice(None)),
    "cart": (lambda: DecisionTreeClassifier(max_depth=3), framed, slice(None)),
    "bayes": (GaussianNB, np.array, slice(2)),
}


@pytest.mark.filterwarnings("ignore::committee.DataWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CASES)
def test_every_trial_and_member_is_that_of_plain_python(name, seed):
    base, container, columns = CASES[name]
    rows, y = mixed(seed)
    rows = [row[columns] for row in rows]
    if name == "bayes":
        rows = [[0.5 if cell is None else cell for cell in row] for row in rows]
    settings = {"n_estimators": 5, "max_trials": 12, "artificial_size": 0.8}
    found = decorate(rows, y.tolist(), 3, learner(base, container), seed=seed, **settings)
    model = DecorateClassifier(base(), random_state=seed, **settings).fit(container(rows), y)
    before, after, kept = zip(*found.trials, strict=True)
    np.testing.assert_allclose(model.trials_["error_before"], before)
    np.testing.assert_allclose(model.trials_["error_after"], after)
    np.testing.assert_array_equal(model.trials_["kept"], kept)
    asked = [row[columns] for row in mixed(99)[0]]
    if name == "bayes":
        asked = [[0.5 if cell is None else cell for cell in row] for row in asked]
    assert len(model) == len(found.members)
    for ours, theirs in zip(model.estimators_, found.members, strict=True):
        np.testing.assert_allclose(
            ours.predict_proba(container(asked)), theirs(asked), rtol=1e-6, atol=1e-12
        )
