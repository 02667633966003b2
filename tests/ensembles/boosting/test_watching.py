"""Callbacks and progress: what happens around the rounds."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from committee import AdaBoostClassifier, LogitBoostClassifier, MadaBoostClassifier

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Watcher:
    """Collects the facts of each member, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.facts, self.scores = [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if not hasattr(context, "facts"):
            return False
        self.facts.append(context.facts)
        return self.stop_after is not None and len(self.facts) >= self.stop_after


def test_the_facts_of_every_round_are_shown():
    X, y = load_breast_cancer(return_X_y=True)
    watcher = Watcher()
    model = AdaBoostClassifier(n_estimators=5)
    model.set_callbacks(watcher)
    model.fit(X, y)
    shown = [facts["error"] for facts in watcher.facts]
    np.testing.assert_array_equal(shown, model.estimator_errors_)


def test_a_callback_may_stop_the_fit():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=50)
    model.set_callbacks(Watcher(stop_after=4))
    model.fit(X, y)
    assert len(model) == 4
    assert model.stop_reason_ == "a callback asked to stop"
    assert model.certificate().verify(X, y)


def test_rounds_of_several_members_and_parts_are_shown():
    X, y = load_iris(return_X_y=True)
    many, parts = Watcher(), Watcher()
    LogitBoostClassifier(n_estimators=4).set_callbacks(many).fit(X, y)
    assert len(many.facts) == 12
    MadaBoostClassifier(n_estimators=4).set_callbacks(parts).fit(X, y)
    assert [facts["n_members"] for facts in parts.facts] == [1, 4, 4]


def test_progress_is_counted_in_print(capsys):
    X, y = load_iris(return_X_y=True)
    AdaBoostClassifier(n_estimators=3, verbose=1).fit(X, y)
    assert capsys.readouterr().out.splitlines() == [
        f"[AdaBoostClassifier] {t} of 3" for t in (1, 2, 3)
    ]
    AdaBoostClassifier(n_estimators=3).fit(X, y)
    assert capsys.readouterr().out == ""
