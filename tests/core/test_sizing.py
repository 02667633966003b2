"""The number of members: the evidence is a martingale, and the claimed confidence holds."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

from committee import InputError, _engine
from committee.core.sizing import (
    FEWEST,
    AutoSize,
    ClassJury,
    Sizing,
    leader_settled,
    next_size,
    sequence_width,
    shares_settled,
)
from committee.learners.extra_trees import ExtraTreesClassifier
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor


def evidence(a, b):
    return quad(lambda q: 2 * (2 * q) ** a * (2 - 2 * q) ** b, 0.5, 1)[0]


@pytest.mark.parametrize("votes", [(5, 0), (8, 2), (30, 14), (6, 6), (0, 0)])
def test_evidence_is_the_integral(votes):
    for risk in (0.5, 0.05, 0.01):
        expected = evidence(*votes) >= 1 / risk
        assert leader_settled(np.array([votes], dtype=float), risk)[0] == expected


def test_evidence_is_a_martingale_at_one_half():
    for a in range(6):
        for b in range(6):
            after = (evidence(a + 1, b) + evidence(a, b + 1)) / 2
            assert after == pytest.approx(evidence(a, b), rel=1e-9)


def test_three_classes_share_the_risk():
    votes = np.array([[8.0, 0.0], [8.0, 0.0]])
    assert leader_settled(votes, 0.02).all()
    assert not leader_settled(np.column_stack([votes, np.zeros(2)]), 0.02).any()
    assert leader_settled(np.ones((2, 1)), 0.01).all()


def tally(shares):
    """Sums, squares and counts after each member: shares is (n_rows, n_members, n_classes)."""
    members = np.arange(1, shares.shape[1] + 1)
    for sums, squares, n in zip(
        shares.cumsum(axis=1).swapaxes(0, 1),
        (shares**2).cumsum(axis=1).swapaxes(0, 1),
        members,
        strict=True,
    ):
        yield sums, squares, np.full(len(shares), float(n))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_false_leaders_of_the_mean_are_rare_at_any_time(n_classes):
    """Classes of equal mean probability, where votes would see a leader: few are ever declared."""
    rng = np.random.default_rng(1)
    often = rng.random((800, 400)) < 0.8  # four votes of .55 for class 0 to one of .3
    first = np.where(often, 0.55, 0.3)
    rest = (1 - first)[..., None] * (np.array([1.0]) if n_classes == 2 else np.array([1.0, 0.0]))
    shares = np.concatenate([first[..., None], rest], axis=2)
    ever = np.zeros(800, dtype=bool)
    for sums, squares, count in tally(shares):
        ever |= shares_settled(sums, squares, count, 0.05)
    assert ever.mean() < 0.05


def test_the_leader_of_the_mean_is_found():
    shares = np.tile([0.7, 0.3], (1, 200, 1))
    settled = [shares_settled(*state, 0.05)[0] for state in tally(shares)]
    assert not settled[2]
    assert settled[-1]
    votes = np.array([[12.0, 0.0], [12.0, 8.0]])
    count = votes.sum(axis=1)
    assert shares_settled(votes, votes, count, 0.1).tolist() == leader_settled(votes, 0.05).tolist()


class Said:
    """In place of a forest and its bitmap: what members say of one row that all left out."""

    def __init__(self, shares):
        self.shares, self.n_trees, self.n_rows = shares, len(shares), 1

    def slice(self, begin, end):
        return Said(self.shares[begin:end])

    def predict(self, table, n_threads):
        return np.array(self.shares)

    def mask(self, member):
        return np.ones(1, dtype=bool)


def test_a_jury_hears_probabilities_not_votes():
    """Four of five vote for the first class, and the mean is a tie: votes would settle it."""
    said = Said([[0.55, 0.45]] * 4 + [[0.3, 0.7]])
    jury = ClassJury(None, [2], 1)
    for _ in range(40):
        jury.hear(said, said)
    assert leader_settled(np.array([[160.0, 40.0]]), 0.05)[0]
    assert not jury.settled(0.95)[0]
    sure = Said([[0.75, 0.25]] * 4 + [[0.5, 0.5]])
    other = ClassJury(None, [2], 1)
    for _ in range(40):
        other.hear(sure, sure)
    assert other.settled(0.95)[0]


def test_false_leaders_are_rare_at_any_time():
    """Ties never have a leader: at most 5 % of them are ever declared, over 600 looks."""
    rng = np.random.default_rng(0)
    votes = rng.multinomial(1, [0.4, 0.4, 0.2], (1500, 600)).cumsum(axis=1)
    ever = np.zeros(1500, dtype=bool)
    wrong = rng.multinomial(1, [0.45, 0.55], (1500, 600)).cumsum(axis=1)
    ever_wrong = np.zeros(1500, dtype=bool)
    for k in range(600):
        ever |= leader_settled(votes[:, k].astype(float), 0.05)
        leads = wrong[:, k, 0] > wrong[:, k, 1]
        ever_wrong |= leader_settled(wrong[:, k].astype(float), 0.05) & leads
    assert ever.mean() < 0.05
    assert ever_wrong.mean() < 0.05


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_confidence_sequence_covers_at_any_time(draw):
    rng = np.random.default_rng(1)
    n = np.arange(1, 801.0)
    numbers = rng.normal(size=(1000, 800)) if draw == "normal" else rng.uniform(-1, 1, (1000, 800))
    mean = numbers.cumsum(axis=1) / n
    sd = np.sqrt(np.maximum((numbers**2).cumsum(axis=1) / n - mean**2, 0))
    outside = np.abs(mean) > sd * sequence_width(n, 0.1)
    assert outside[:, FEWEST - 1 :].any(axis=1).mean() < 0.1
    assert sequence_width(np.array([100.0]), 0.1)[0] < 0.3


def test_looks_do_not_depend_on_threads():
    sizes = [0]
    while sizes[-1] < 500:
        sizes.append(next_size(sizes[-1], 500))
    assert sizes[:4] == [0, 32, 48, 64]
    assert sizes[-1] == 500
    assert all(b - a >= 16 for a, b in itertools.pairwise(sizes[:-1]))


def test_parameters_are_checked():
    for bad in ({"confidence": 1.0}, {"tolerance": 0}, {"limit": 0}, {"precision": np.nan}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            AutoSize(**bad)


def test_sizing_is_a_sentence():
    assert str(Sizing(96, 0.985, 0.95, 0.02, False)) == (
        "96 members settle 98.5% of the rows at confidence 0.95."
    )
    assert "limit was met before 98% were" in str(Sizing(96, 0.9, 0.95, 0.02, True))


def noisy_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n) > 0).astype(int)


def out_of_bag_votes(model, X, n):
    votes = model.forest_.slice(0, n).votes([2])
    table = _engine.Table(np.ascontiguousarray(X), *X.shape)
    bitmap = np.ascontiguousarray(model.left_out_.bitmap[:n])
    return votes.predict_left_out(table, bitmap, 1)[0]


def test_settled_rows_keep_their_class_in_a_far_larger_forest():
    X, y = noisy_rows()
    size = AutoSize(confidence=0.9, tolerance=0.2, limit=400)
    model = RandomForestClassifier(size, random_state=0).fit(X, y)
    n = model.sizing_.members
    assert n == model.forest_.n_trees < 400
    assert model.sizing_.settled >= 0.8
    large = RandomForestClassifier(3000, random_state=0).fit(X, y)
    votes, final = (out_of_bag_votes(large, X, k) for k in (n, 3000))
    settled = leader_settled(votes, 0.05)  # leaves are pure: the other half is the other test's
    assert settled.mean() == pytest.approx(model.sizing_.settled)
    sure = leader_settled(final, 1e-3)  # whose class in the long run is known
    changed = votes.argmax(axis=1) != final.argmax(axis=1)
    assert changed[settled & sure].mean() <= 0.1
    assert changed[settled].mean() < changed[~settled].mean()


def test_auto_is_the_first_members_of_a_longer_forest():
    X, y = noisy_rows()
    size = AutoSize(tolerance=0.3)
    model = RandomForestClassifier(size, random_state=0).fit(X, y)
    plain = RandomForestClassifier(model.sizing_.members, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    threads = RandomForestClassifier(size, random_state=0, n_jobs=3).fit(X, y)
    assert threads.sizing_ == model.sizing_


def test_the_limit_is_kept_and_told():
    X, y = noisy_rows()
    model = RandomForestClassifier(AutoSize(limit=40), random_state=0).fit(X, y)
    assert model.forest_.n_trees == 40
    assert model.sizing_.limit_met


def test_numbers_are_settled_to_their_precision():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(250, 3))
    y = 10 * X[:, 0] + rng.normal(size=250)
    size = AutoSize(precision=0.15, tolerance=0.1)
    model = RandomForestRegressor(size, random_state=0, oob_score=True).fit(X, y)
    assert not model.sizing_.limit_met
    large = RandomForestRegressor(2500, random_state=1, oob_score=True).fit(X, y)
    off = np.abs(model.oob_prediction_ - large.oob_prediction_)
    assert (off <= 0.15 * y.std()).mean() >= 0.9
    small = RandomForestRegressor(AutoSize(precision=0.6, tolerance=0.1), random_state=0)
    assert small.fit(X, y).sizing_.members < model.sizing_.members


@pytest.mark.parametrize(
    "model",
    [
        ExtraTreesClassifier("auto"),
        RandomForestClassifier("auto", bootstrap=False),
        RandomForestClassifier("auto", resampling="exponential"),
    ],
)
def test_auto_needs_left_out_rows(model):
    with pytest.raises(InputError, match=r"P-BAG.*n_estimators='auto'.*(bootstrap|exponential)"):
        model.fit(*noisy_rows())
