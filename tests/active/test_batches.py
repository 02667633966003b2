"""Diverse batches: farthest first, by distances that know categories and missing values."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp
from scipy import sparse
from tests.active.tasks import labelled

from committee.active import QueryByBagging
from committee.active.batches import farthest_first, row_distances


def test_farthest_first_by_hand():
    place = np.array([0.0, 1.0, 2.0, 9.0, 10.0, 5.0])
    chosen = farthest_first(lambda row: np.abs(place - place[row]), 6, 4)
    assert chosen.tolist() == [0, 4, 5, 2]  # the ends, the middle, then 2 from 0 and 3 from 5
    assert farthest_first(lambda row: np.abs(place - place[row]), 6, 9).tolist()[4:] == [1, 3]


def test_equal_distances_go_to_the_more_disputed():
    assert farthest_first(lambda row: np.ones(5), 5, 3).tolist() == [0, 1, 2]


@settings(max_examples=40)
@given(
    points=hnp.arrays(np.float64, (12, 2), elements=st.integers(-9, 9).map(float)),
    k=st.integers(1, 12),
)
def test_farthest_first_equals_the_plain_loop(points, k):
    def distance(a, b):
        return abs(points[a] - points[b]).sum()

    chosen = farthest_first(lambda row: np.abs(points - points[row]).sum(axis=1), 12, k)
    expected = [0]
    while len(expected) < k:
        rest = [row for row in range(12) if row not in expected]
        nearest = [min(distance(row, c) for c in expected) for row in rest]
        expected.append(rest[nearest.index(max(nearest))])
    assert chosen.tolist() == expected


def test_gower_by_hand():
    frame = pd.DataFrame(
        {
            "size": [0.0, 5.0, 10.0, np.nan],
            "kind": pd.Categorical(["a", "b", "a", None]),
            "flat": [1.0, 1.0, 1.0, 1.0],
        }
    )
    distances = row_distances(frame)
    np.testing.assert_allclose(distances(0), [0, (0.5 + 1) / 3, 1 / 3, 2 / 3])
    np.testing.assert_allclose(distances(3), [2 / 3, 2 / 3, 2 / 3, 0])


def test_sparse_distances_are_one_minus_the_cosine():
    rows = np.array([[1.0, 0, 1], [2, 0, 2], [0, 3, 0], [0, 0, 0]])
    distances = row_distances(sparse.csr_matrix(rows))
    np.testing.assert_allclose(distances(0), [0, 0, 1, 1], atol=1e-15)
    np.testing.assert_allclose(distances(3), [1, 1, 1, 0])


def test_a_diverse_batch_is_spread_over_the_most_disputed():
    X, y, pool = labelled()
    top = QueryByBagging(random_state=0).fit(X, y)
    spread = QueryByBagging(batch="diverse", shortlist=4, random_state=0).fit(X, y)
    shortlist = top.query(pool, 40).indices
    query = spread.query(pool, 10)
    assert set(query.indices) <= set(shortlist)
    assert query.indices[0] == shortlist[0]
    assert query.reasons[0].endswith("; spread over the 40 most disputed")

    def narrowest(indices):
        apart = [row_distances(pool[indices])(k) for k in range(len(indices))]
        return (np.array(apart) + np.eye(len(indices)) * 9).min()

    assert narrowest(query.indices) > narrowest(shortlist[:10])
    np.testing.assert_array_equal(spread.query(pool, 1).indices, top.query(pool, 1).indices)


def test_a_diverse_batch_of_a_frame_and_of_sparse_rows():
    X, y, pool = labelled()
    for make in (lambda Z: pd.DataFrame(Z, columns=list("abc")), sparse.csr_matrix):
        model = QueryByBagging(batch="diverse", random_state=0).fit(make(X), y)
        assert len(set(model.query(make(pool), 6).indices)) == 6
