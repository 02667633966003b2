"""Seeds by member index: stable, distinct, free of order."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from committee.core.randomness import member_rng, member_seed, seeded_clone


def test_seeds_are_those_of_numpys_spawned_children():
    """SeedSequence.spawn numbers its children by the same key, so order does not matter."""
    children = np.random.SeedSequence(42).spawn(5)
    for member in (3, 0, 4, 1, 2):
        assert member_seed(42, member) == children[member].generate_state(1)[0]
        expected = np.random.default_rng(children[member]).random(3)
        np.testing.assert_array_equal(member_rng(42, member).random(3), expected)


def test_seeds_are_32_bits_and_differ():
    seeds = [member_seed(seed, member) for seed in (0, 1, 2**64 - 1) for member in range(500)]
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert len(set(seeds)) == len(seeds)


def test_a_generator_is_fresh_at_each_call():
    assert member_rng(1, 2).random() == member_rng(1, 2).random()
    assert member_rng(1, 2).random() != member_rng(1, 3).random()
    assert member_rng(1, 2).random() != member_rng(2, 2).random()


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="non-negative"):
        member_seed(-1, 0)


def test_a_clone_is_seeded_and_the_original_left_alone():
    tree = DecisionTreeClassifier(random_state=None, max_depth=2)
    copy = seeded_clone(tree, 5, 3)
    assert copy.random_state == member_seed(5, 3)
    assert copy.max_depth == 2
    assert tree.random_state is None


def test_every_random_state_of_a_nest_is_seeded():
    nest = make_pipeline(DecisionTreeClassifier(), RandomForestClassifier(random_state=0))
    copies = [seeded_clone(nest, 5, member) for member in (0, 0, 1)]
    states = [
        [value for name, value in sorted(copy.get_params().items()) if "random_state" in name]
        for copy in copies
    ]
    assert len(states[0]) == 2
    assert states[0] == states[1]
    assert len({*states[0], *states[2]}) == 4


def test_an_estimator_without_chance_is_just_cloned():
    model = LinearRegression(fit_intercept=False)
    copy = seeded_clone(model, 5, 0)
    assert copy is not model
    assert copy.get_params() == model.get_params()
