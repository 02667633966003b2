"""R69: boosting one-word rules on real texts."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as ScikitLearnAdaBoost
from sklearn.feature_extraction.text import CountVectorizer

from committee import AdaBoostClassifier, AdaBoostMHClassifier, DecisionStump

ARFF = Path("/usr/share/doc/weka/examples")  # of Debian's package weka
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def read_arff(name):
    """Texts and classes of an ARFF file with one string attribute."""
    if not (ARFF / name).exists():
        pytest.skip(f"needs {ARFF / name} of Debian's package weka")
    data = (ARFF / name).read_text(encoding="latin-1").partition("@data")[2]
    lines = re.findall(r"'((?:[^'\\]|\\.)*)'\s*,\s*(\S+)", data, flags=re.DOTALL)
    texts = [re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), text) for text, _ in lines]
    return texts, np.array([label for _, label in lines])


def weka_words(text):
    """Part words as WEKA's tokeniser does."""
    return [word for word in re.split(r"""[ \r\n\t.,;:'"()?!]+""", text) if word]


def most_frequent(texts, labels, n_words):
    """Keep the words that are most frequent in some class, ties included, as WEKA does."""
    kept = set()
    for label in np.unique(labels):
        own = [t for t, one in zip(texts, labels, strict=True) if one == label]
        counts = Counter(word for text in own for word in weka_words(text))
        least = sorted(counts.values())[-min(n_words, len(counts))]
        kept |= {word for word, count in counts.items() if count >= least}
    return sorted(kept)


@pytest.mark.parametrize(("variant", "most"), [("real", 6), ("abstaining", 6), ("discrete", 7)])
def test_r69_reuters_corn(variant, most):
    # WEKA's AdaBoostM1 with 100 stumps and scikit-learn's AdaBoost both make 6 errors of 604;
    # found here 5, 3 and 6.
    texts, y = read_arff("ReutersCorn-train.arff")
    others, truth = read_arff("ReutersCorn-test.arff")
    assert (len(texts), len(others)) == (1554, 604)
    words = CountVectorizer(
        analyzer=weka_words, vocabulary=most_frequent(texts, y, 1000), binary=True
    )
    X = words.transform(texts)
    model = AdaBoostMHClassifier(n_estimators=100, variant=variant).fit(X, y)
    assert (model.predict(words.transform(others)) != truth).sum() <= most
    assert model.certificate().holds


@pytest.mark.parametrize(
    ("variant", "most"), [("real", 0.026), ("abstaining", 0.030), ("discrete", 0.045)]
)
def test_r69_sms_spam(shared_data, variant, most):
    # Every third message is held out; found .0183, .0237 and .0388, scikit-learn's .0469.
    frame, y = shared_data("sms-spam")
    X, y = CountVectorizer(binary=True).fit_transform(frame["text"]), np.asarray(y)
    held = np.arange(len(y)) % 3 == 0
    model = AdaBoostMHClassifier(n_estimators=100, variant=variant).fit(X[~held], y[~held])
    error = 1 - model.score(X[held], y[held])
    assert error < most
    if variant == "real":
        theirs = ScikitLearnAdaBoost(n_estimators=100, random_state=0).fit(X[~held], y[~held])
        assert error < 1 - theirs.score(X[held], y[held])
    if variant == "discrete":  # of two classes: AdaBoost over the stumps of the tree engine
        same = AdaBoostClassifier(DecisionStump(), n_estimators=100).fit(X[~held], y[~held])
        np.testing.assert_allclose(model.rounds_["edge"], same.rounds_["edge"], atol=1e-9)


@pytest.mark.parametrize(
    ("variant", "most"), [("real", 0.050), ("abstaining", 0.056), ("discrete", 0.098)]
)
def test_r69_reuters_r8(shared_data, variant, most):
    # The published division into 5485 and 2189 texts, 8 classes; found .0411, .0466 and .0863,
    # scikit-learn's AdaBoost of 100 stumps .1302.
    frame, y = shared_data("reuters-r8")
    y = np.asarray(y)
    train = np.arange(len(y)) < 5485
    words = CountVectorizer(binary=True)
    X = words.fit_transform(frame["text"][train])
    model = AdaBoostMHClassifier(n_estimators=100, variant=variant).fit(X, y[train])
    assert 1 - model.score(words.transform(frame["text"][~train]), y[~train]) < most
    assert model.certificate().verify(X, y[train])
