"""Certificates: what they say, that they verify, and that tampering is found."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from tests.estimators import BOOSTERS, name_of

from committee import AdaBoostClassifier, Committee
from committee.core.members import Trees
from committee.ensembles.boosting.certificate import Certificate, CertificateSet, Claim

CERTIFIED = [booster for booster in BOOSTERS if hasattr(booster, "certificate")]


def ids(booster):
    return name_of(booster)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:300, :10], y[:300]


@pytest.mark.parametrize("booster", CERTIFIED, ids=ids)
def test_every_booster_verifies(booster, cancer):
    X, y = cancer
    model = copy.deepcopy(booster).fit(X, y)
    certificate = model.certificate()
    assert isinstance(certificate, Certificate)
    assert certificate.claims
    assert certificate.holds, str(certificate)
    found = certificate.verify(X, y)
    assert found, str(found)
    assert "promises nothing" in str(certificate)
    again = pickle.loads(pickle.dumps(model)).certificate()
    assert again.verify(X, y)


@pytest.mark.parametrize("booster", CERTIFIED, ids=ids)
def test_more_classes_verify(booster):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    certificate = copy.deepcopy(booster).fit(X, y).certificate()
    assert certificate.holds, str(certificate)
    found = certificate.verify(X, y)
    assert found, str(found)
    if isinstance(certificate, CertificateSet):
        assert list(certificate.parts) == ["a", "b", "c"]


@pytest.mark.parametrize("booster", CERTIFIED, ids=ids)
def test_weights_verify_and_other_weights_do_not(booster, cancer):
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    certificate = copy.deepcopy(booster).fit(X, y, weight).certificate()
    assert certificate.holds, str(certificate)
    assert certificate.verify(X, y, weight), str(certificate.verify(X, y, weight))
    other = weight.copy()
    other[np.flatnonzero(other)[0]] += 1
    assert not certificate.verify(X, y, other)


def tamper_weight(model):
    weights = model.committee_.weights.copy()
    weights[0] += 1e-3
    model.committee_ = Committee(model.committee_.members, weights)
    return model


@pytest.mark.parametrize("booster", CERTIFIED, ids=ids)
def test_a_changed_row_label_or_weight_is_found(booster, cancer):
    X, y = cancer
    model = copy.deepcopy(booster).fit(X, y)
    certificate = model.certificate()
    other = X.copy()
    other[17, 3] += 1.0
    assert "row 17" in str(certificate.verify(other, y))
    flipped = y.copy()
    flipped[5] = 1 - flipped[5]
    assert "row 5" in str(certificate.verify(X, flipped))
    assert not certificate.verify(X[:-1], y[:-1])
    assert not certificate.verify(X[::-1], y[::-1])
    assert not tamper_weight(model).certificate().verify(X, y)


def test_a_changed_member_is_found(cancer):
    X, y = cancer
    model = AdaBoostClassifier(n_estimators=12).fit(X, y)
    forest = model.committee_.members.forest
    values = np.array(forest.values)
    values[4] *= -1  # a leaf of the second stump votes for the other class
    changed = Trees(forest.revalued(values), model.schema_)
    model.committee_ = Committee(changed, model.committee_.weights)
    found = model.certificate().verify(X, y)
    assert not found
    assert "round 2" in str(found)


def test_a_changed_record_is_found(cancer):
    X, y = cancer
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    model.rounds_["error"][3] += 1e-6
    assert "error: 1 of 6 rounds differ, first round 4" in str(model.certificate().verify(X, y))
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    model.train_margins_[7] += 1e-6
    assert "margin of row 7" in str(model.certificate().verify(X, y))


def test_n14_a_bound_above_one_is_called_vacuous():
    assert "(vacuous)" in str(Claim("error <= bound", 0.1, 1.3))
    assert "FAILS" in str(Claim("error <= bound", 0.4, 0.3))
    assert Claim("equal", 0.3, 0.3 + 1e-12, "=").holds
    assert not Claim("equal", 0.3, 0.31, "=").holds
    assert not Claim("at least", 0.2, 0.3, ">=").holds


def test_frame_html_and_plot(cancer):
    X, y = cancer
    model = AdaBoostClassifier(n_estimators=14).fit(X, y)
    certificate = model.certificate()
    frame = certificate.to_frame()
    assert frame.index.tolist() == list(range(1, 15))
    np.testing.assert_array_equal(frame["error"], model.estimator_errors_)
    html = certificate._repr_html_()
    assert html.count("<tr>") == 1 + 11  # names, five rounds, an ellipsis, five rounds
    assert "&lt;=" in html
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = certificate.plot()
    left, right = figure.axes
    bound = left.lines[0].get_ydata()
    np.testing.assert_allclose(bound, np.cumprod(model.rounds_["z"]))
    assert right.get_xlim() == (-1, 1)
    plt.close(figure)


@pytest.mark.filterwarnings("ignore:.*X-ALL-MISSING")
def test_certificates_of_real_data(shared_data):
    """Every shared two-class set that fits: certificate and verification of AdaBoost."""
    for name in ("credit-a", "sick", "spambase", "kr-vs-kp", "hepatitis", "colic", "labor"):
        X, y = shared_data(name)
        model = AdaBoostClassifier(n_estimators=25).fit(X, y)
        certificate = model.certificate()
        assert certificate.holds, name
        assert certificate.verify(X, y), name
