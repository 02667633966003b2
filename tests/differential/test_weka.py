"""AdaBoost and LogitBoost against WEKA 3.6, round by round; skipped where WEKA or JShell is absent.

WEKA votes by ln((1 - e) / e), twice our alpha. Its stump is the best tree of depth 1, by entropy or
for numbers by squared error, and cuts halfway between two values, as ours does.
"""

import shutil

import numpy as np
import pytest
from benchmarks.papers.data import Unavailable
from benchmarks.papers.weka_program import find_jar, jshell
from sklearn.datasets import load_iris

from committee import DecisionTreeClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier

# Ten points of the lectures: five positive ones, then five negative ones.
TOY = np.array([[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]])
TOY_CLASS = np.repeat([1, 0], 5)
FUNCTIONS = """
import weka.classifiers.Classifier;
import weka.classifiers.meta.*;
import weka.classifiers.trees.DecisionStump;
import weka.core.*;

Object field(Class<?> of, Object owner, String name) throws Exception {
    var found = of.getDeclaredField(name);
    found.setAccessible(true);
    return found.get(owner);
}

void tell(double vote, Object member) throws Exception {
    double[][] leaves = (double[][]) field(DecisionStump.class, member, "m_Distribution");
    System.out.println("round " + vote + " "
        + field(DecisionStump.class, member, "m_AttIndex") + " "
        + field(DecisionStump.class, member, "m_SplitPoint") + " "
        + leaves[0][0] + " " + leaves[1][0]);
}
"""
# A block, which is compiled at once.
CASE = """{
System.out.println("case NAME");
Instances data = new Instances(new java.io.FileReader("FILE"));
data.setClassIndex(data.numAttributes() - 1);
METHOD model = new METHOD();
model.setClassifier(new DecisionStump());
model.setNumIterations(ROUNDS);
SETTING
model.buildClassifier(data);
"""
ADABOOST = """
double[] votes = (double[]) field(AdaBoostM1.class, model, "m_Betas");
Class<?> parent = weka.classifiers.IteratedSingleClassifierEnhancer.class;
Object[] members = (Object[]) field(parent, model, "m_Classifiers");
int made = (int) field(AdaBoostM1.class, model, "m_NumIterationsPerformed");
for (int t = 0; t < made; t++) tell(votes[t], members[t]);
"""
LOGITBOOST = """
for (Classifier member : model.classifiers()[0]) tell(1.0, member);
"""
LOGITBOOST_CLASSES = """
for (Classifier[] of_class : model.classifiers()) tell(1.0, of_class[0]);
"""


def two_irises():
    """Versicolor and virginica: no feature tells them apart, and hardly two stumps tie."""
    X, y = load_iris(return_X_y=True)
    return X[y > 0], (y[y > 0] == 2).astype(int)


def three_irises():
    X, y = load_iris(return_X_y=True)
    return X[:, :3], y  # two features part the first class from the others, which ties


def noisy_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=120) > 1).astype(int)


# What WEKA is asked: method, what it tells, rows and classes, rounds, and a setting.
CASES = {
    "adaboost, ten points": ("AdaBoostM1", ADABOOST, (TOY, TOY_CLASS), 3, ""),
    "adaboost, irises": ("AdaBoostM1", ADABOOST, two_irises(), 8, ""),
    "logitboost, ten points": ("LogitBoost", LOGITBOOST, (TOY, TOY_CLASS), 2, ""),
    "logitboost, noisy": ("LogitBoost", LOGITBOOST, noisy_rows(), 6, "model.setShrinkage(0.1);"),
    "logitboost, three classes": ("LogitBoost", LOGITBOOST_CLASSES, three_irises(), 1, ""),
}


def write_rows(file, X, y):
    lines = ["@relation rows"]
    lines += [f"@attribute x{j} numeric" for j in range(X.shape[1])]
    levels = ",".join(map(str, range(y.max(), -1, -1)))
    lines += [f"@attribute class {{{levels}}}", "@data"]  # of two, WEKA boosts the first
    lines += [",".join(map(str, [*map(float, row), c])) for row, c in zip(X, y, strict=True)]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def weka(tmp_path_factory):
    """Boost stumps in WEKA; a row per round: vote, feature, cut, and what the leaves say.

    One JShell answers all cases, as it takes seconds to start.
    """
    try:
        find_jar()
    except Unavailable as reason:
        pytest.skip(str(reason))
    if shutil.which("jshell") is None:
        pytest.skip("no jshell: it comes with a Java development kit")
    folder, script = tmp_path_factory.mktemp("weka"), FUNCTIONS
    for number, (name, (method, tell, rows, rounds, setting)) in enumerate(CASES.items()):
        file = folder / f"{number}.arff"
        write_rows(file, *rows)
        part = CASE.replace("NAME", name).replace("FILE", str(file)).replace("METHOD", method)
        script += part.replace("ROUNDS", str(rounds)).replace("SETTING", setting) + tell + "}\n"
    told = {}
    for line in jshell(script, 120):
        if line.startswith("case "):
            told[line.removeprefix("case ")] = found = []
        elif line.startswith("round "):
            found.append(line.split()[1:])
    return {name: np.array(rows, dtype=float) for name, rows in told.items()}


def cuts(model, rounds):
    """Feature and threshold of the first stumps."""
    trees = [member.tree_ for member in model.estimators_[:rounds]]
    return [(int(tree.feature[0]), float(tree.threshold[0])) for tree in trees]


def entropy_stumps(rounds):
    stump = DecisionTreeClassifier(criterion="entropy", max_depth=1, max_bins=65535)
    return AdaBoostClassifier(stump, n_estimators=rounds, algorithm="m1")


def test_r1_adaboost_votes_on_the_ten_points_are_half_of_wekas(weka):
    found = weka["adaboost, ten points"]
    model = AdaBoostClassifier(n_estimators=3).fit(TOY, TOY_CLASS)
    np.testing.assert_allclose(found[:, 0].round(2), [0.85, 1.30, 1.85])
    np.testing.assert_allclose(2 * model.estimator_weights_, found[:, 0], rtol=1e-12)


def test_adaboost_of_entropy_stumps_takes_wekas_steps(weka):
    X, y = two_irises()
    found = weka["adaboost, irises"]
    model = entropy_stumps(8).fit(X, y)
    np.testing.assert_allclose(cuts(model, 8), found[:, 1:3], rtol=1e-12)
    np.testing.assert_allclose(2 * model.estimator_weights_, found[:, 0], rtol=1e-9)


def leaves(model, t):
    """What the stump of a round says on its two sides."""
    said = model.estimators_[t].tree_.value[1:, 0, 0]
    return said.tolist()


def test_logitboost_on_the_ten_points_fits_wekas_leaves(weka):
    found = weka["logitboost, ten points"]
    model = LogitBoostClassifier(n_estimators=2).fit(TOY, TOY_CLASS)
    np.testing.assert_allclose(found[:, 1:3], [[0, 2.5], [1, 6.5]])
    np.testing.assert_allclose(found[:, 3:], [[2, -0.5], [-1.105874, 1.584908]], atol=1e-6)
    np.testing.assert_allclose(cuts(model, 2), found[:, 1:3])
    np.testing.assert_allclose([leaves(model, t) for t in range(2)], found[:, 3:], rtol=1e-9)


def test_logitboost_takes_wekas_steps_while_no_response_is_clipped(weka):
    # Where p < 1/3, z is clipped at 3; WEKA keeps w z then, the paper and we keep w.
    X, y = noisy_rows()
    found = weka["logitboost, noisy"]
    model = LogitBoostClassifier(n_estimators=6, learning_rate=0.1).fit(X, y)
    assert model.predict_proba(X).min() > 1 / 3
    np.testing.assert_allclose(cuts(model, 6), found[:, 1:3], rtol=1e-12)
    np.testing.assert_allclose([leaves(model, t) for t in range(6)], found[:, 3:], rtol=1e-9)


def test_logitboost_of_three_classes_begins_with_wekas_stumps(weka):
    X, y = three_irises()
    found = weka["logitboost, three classes"][::-1]  # last class first
    model = LogitBoostClassifier(n_estimators=1).fit(X, y)
    np.testing.assert_allclose(cuts(model, 3), found[:, 1:3], rtol=1e-12)
    # WEKA keeps what was fitted. Ours says it as a step of one class away from the mean of three,
    # and what is seen is the step of the first class.
    said = np.array([leaves(model, j) for j in range(3)]) / np.array([[2 / 3], [-1 / 3], [-1 / 3]])
    np.testing.assert_allclose(said, found[:, 3:], rtol=1e-9)
