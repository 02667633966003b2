"""Stacking against WEKA 3.6's StackingC and Stacking; skipped where WEKA or JShell is absent.

WEKA says how it divided the rows, so that ours is given the same folds. Members are IBk, whose
shares are those of the neighbours with 1/n added to each class, n rows having been learned. The
meta-models are WEKA's linear regressions without selection of columns, with its ridge of 1e-8.
"""

import shutil

import numpy as np
import pytest
from benchmarks.papers.data import Unavailable
from benchmarks.papers.weka_program import find_jar, jshell
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from committee import StackingClassifier

N_FOLDS, SEED = 5, 3
SCRIPT = """
import java.util.Random;
import weka.classifiers.Classifier;
import weka.classifiers.functions.LinearRegression;
import weka.classifiers.lazy.IBk;
import weka.classifiers.meta.*;
import weka.core.*;

Instances data = new Instances(new java.io.FileReader("FILE"));
data.setClassIndex(data.numAttributes() - 1);

// The folds as Stacking makes them.
Instances numbered = new Instances(data);
numbered.insertAttributeAt(new Attribute("row"), 0);
for (int i = 0; i < numbered.numInstances(); i++) numbered.instance(i).setValue(0, i);
numbered.randomize(new Random(SEED));
numbered.stratify(FOLDS);
for (int k = 0; k < FOLDS; k++) {
    Instances test = numbered.testCV(FOLDS, k);
    for (int i = 0; i < test.numInstances(); i++)
        System.out.println("fold " + (int) test.instance(i).value(0) + " " + k);
}

IBk near(int k) throws Exception {
    IBk member = new IBk(k);
    member.getNearestNeighbourSearchAlgorithm().setDistanceFunction(plain());
    return member;
}

EuclideanDistance plain() {
    EuclideanDistance distance = new EuclideanDistance();
    distance.setDontNormalize(true);
    return distance;
}

LinearRegression line = new LinearRegression();
line.setOptions(Utils.splitOptions("-S 1 -C"));
void tell(String name, Stacking model) throws Exception {
    model.setClassifiers(new Classifier[] {near(1), near(5), near(20)});
    model.setNumFolds(FOLDS);
    model.setSeed(SEED);
    model.buildClassifier(data);
    for (int i = 0; i < data.numInstances(); i++) {
        StringBuilder said = new StringBuilder(name);
        for (double share : model.distributionForInstance(data.instance(i)))
            said.append(" " + share);
        System.out.println(said);
    }
}

StackingC per_class = new StackingC();
per_class.setMetaClassifier(line);
tell("per_class", per_class);

ClassificationViaRegression each = new ClassificationViaRegression();
each.setClassifier(line);
Stacking linear = new Stacking();
linear.setMetaClassifier(each);
tell("linear", linear);
"""


class IBk(KNeighborsClassifier):
    """WEKA's neighbours: no class has a share of 0."""

    def predict_proba(self, X):
        votes = super().predict_proba(X) * self.n_neighbors + 1 / self.n_samples_fit_
        return votes / votes.sum(axis=1, keepdims=True)


def rows():
    """Three classes that overlap; no two distances are equal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    return rng.normal(size=(150, 3)) + np.eye(3)[y] * 1.5, y


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What WEKA prints, by the first word of the line; one run, since Java is slow to start."""
    try:
        find_jar()
    except Unavailable as reason:
        pytest.skip(str(reason))
    if shutil.which("jshell") is None:
        pytest.skip("no jshell: it comes with a Java development kit")
    X, y = rows()
    lines = ["@relation rows", *(f"@attribute x{j} numeric" for j in range(3))]
    lines += ["@attribute class {0,1,2}", "@data"]
    lines += [",".join(map(str, [*map(float, row), c])) for row, c in zip(X, y, strict=True)]
    file = tmp_path_factory.mktemp("weka") / "rows.arff"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    script = SCRIPT.replace("FILE", str(file)).replace("FOLDS", str(N_FOLDS))
    printed = [line.split() for line in jshell(script.replace("SEED", str(SEED)), 120)]
    return lambda word: np.array([line[1:] for line in printed if line[0] == word], dtype=float)


@pytest.mark.parametrize("meta", ["per_class", "linear"])
def test_stacks_as_weka_does(told, meta):
    X, y = rows()
    numbers, fold_of = told("fold").astype(int).T
    folds = np.empty(len(y), dtype=int)
    folds[numbers] = fold_of
    members = [(f"near{k}", IBk(k)) for k in (1, 5, 20)]
    ours = StackingClassifier(members, meta, cv=PredefinedSplit(folds)).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), told(meta), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), told(meta).argmax(axis=1))
