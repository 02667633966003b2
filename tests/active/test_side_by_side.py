"""Different classifiers in a list: weights, seeds, failures and parallel fits, as in any panel."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.active.tasks import labelled

from committee import DataWarning, RandomForestClassifier
from committee.active import QueryByCommittee
from committee.core.randomness import fill_seeds
from committee.data import InputError, InputTypeError


class Counting(ClassifierMixin, BaseEstimator):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        self.inner_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


class Failing(Counting):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("out of luck")


def test_weights_are_refused_before_any_member_is_fitted():
    X, y, _ = labelled()
    weight = np.arange(len(y)) + 1.0
    model = QueryByCommittee([Counting(), GaussianNB(), KNeighborsClassifier()])
    before = Counting.fits
    said = r"W-FIT.*1 of 3 members take no sample_weight: 'member2' \(KNeighborsClassifier\)"
    with pytest.raises(InputTypeError, match=said):
        model.fit(X, y, weight)
    with pytest.raises(InputTypeError, match=said), pytest.warns(DataWarning, match="Y-ONE-CLASS"):
        model.fit(X[:3], ["no"] * 3, weight[:3])  # nobody is fitted yet, and nobody could be
    assert Counting.fits == before
    assert not hasattr(model, "estimator_")


def test_a_member_that_fails_is_named():
    X, y, _ = labelled()
    with pytest.raises(InputError, match=r"M-FIT.*member 1, 'member1' \(Failing\).*out of luck"):
        QueryByCommittee([GaussianNB(), Failing()]).fit(X, y)


def test_a_member_that_is_no_classifier_is_named_where_the_user_has_listed_it():
    X, y, _ = labelled()
    with pytest.raises(InputError, match=r"P-PANEL\] estimator: member 'member1' \(Ridge\)"):
        QueryByCommittee([GaussianNB(), Ridge()]).fit(X, y)


def test_members_are_fitted_in_parallel_to_the_same_bits():
    X, y, pool = labelled()
    minds = [RandomForestClassifier(3), RandomForestClassifier(3), LogisticRegression()]
    one = QueryByCommittee(minds, random_state=3).fit(X, y)
    with parallel_config(backend="threading"):
        two = QueryByCommittee(minds, random_state=3, n_jobs=2).fit(X, y)
    assert two.estimator_.n_jobs == 2
    np.testing.assert_array_equal(two.predict_proba(pool), one.predict_proba(pool))
    seeds = [member.random_state for member in one.estimator_.estimators_[:2]]
    assert seeds == [fill_seeds(minds[k], 3, k).random_state for k in (0, 1)]
    assert len(set(seeds)) == 2


def test_frozen_members_stay_as_they_are():
    X, y, pool = labelled()
    frozen = RandomForestClassifier(3).fit(X, y)  # its seed stays None
    model = QueryByCommittee([FrozenEstimator(frozen), GaussianNB()], random_state=0).fit(X, y)
    assert model.estimator_.estimators_[0].estimator is frozen
    assert frozen.random_state is None
    each = [frozen.predict_proba(pool), GaussianNB().fit(X, y).predict_proba(pool)]
    np.testing.assert_allclose(model.predict_proba(pool), np.mean(each, axis=0))


def test_prefit_members_are_held_against_the_rows():
    X, y, _ = labelled()
    fitted = [GaussianNB().fit(X, y), LogisticRegression().fit(X, y)]
    with pytest.raises(InputError, match=r"estimator: member 'member1' .*is not fitted"):
        QueryByCommittee([fitted[0], GaussianNB()], prefit=True).fit(X, y)
    with pytest.raises(InputError, match=r"M-PREFIT.*'member0'.*3 features, X has 2"):
        QueryByCommittee(fitted, prefit=True).fit(X[:, :2], y)
    with pytest.raises(InputError, match=r"M-CLASSES.*knows the classes no, yes"):
        QueryByCommittee(fitted, prefit=True).fit(X, np.where(y == "no", "a", "b"))


def test_weights_of_a_prefit_committee_count_from_the_first_teaching():
    X, y, pool = labelled(60)
    weight = np.arange(40) % 5 + 1.0
    fitted = [GaussianNB().fit(X[:40], y[:40], weight), LogisticRegression().fit(X[:40], y[:40])]
    model = QueryByCommittee(fitted, prefit=True, random_state=0).fit(X[:40], y[:40], weight)
    each = [member.predict_proba(pool) for member in fitted]
    np.testing.assert_allclose(model.predict_proba(pool), np.mean(each, axis=0))
    model.teach(X[40:], y[40:])
    whole = QueryByCommittee([GaussianNB(), LogisticRegression()], random_state=0)
    whole.fit(X, y, np.append(weight, np.ones(20)))
    np.testing.assert_array_equal(model.predict_proba(pool), whole.predict_proba(pool))
    near = [fitted[0], KNeighborsClassifier().fit(X, y)]
    with pytest.raises(InputTypeError, match=r"W-FIT.*'member1' \(KNeighborsClassifier\)"):
        QueryByCommittee(near, prefit=True).fit(X[:40], y[:40], weight)
