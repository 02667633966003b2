"""WEKA, run by JShell: it divides the rows into folds, trains, and says what it predicts.

JShell is part of every Java development kit, so that nothing is compiled and no Java file is
kept. WEKA divides the rows as its command line does (shuffled by the seed, then stratified), so its
errors are those that anyone gets from `weka.classifiers.*** -t file -x 10 -s seed`.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.papers.data import Unavailable

JARS = ("/usr/share/java/weka.jar", "/usr/share/java/weka-3.6.14.jar")
N_FOLDS = 10
CROSS_VALIDATION = """
import java.util.Random;
import weka.classifiers.Classifier;
import weka.core.*;

// Rows carry their number in a first column, which is taken out before anything is trained.
Instances numbered(String file) throws Exception {
    Instances data = new Instances(new java.io.FileReader(file));
    data.setClassIndex(data.numAttributes() - 1);
    data.insertAttributeAt(new Attribute("row"), 0);
    for (int i = 0; i < data.numInstances(); i++) data.instance(i).setValue(0, i);
    return data;
}

void said(String[] method, Instances data, int seed, int folds) throws Exception {
    Random random = new Random(seed);
    Instances mixed = new Instances(data);
    mixed.randomize(random);
    mixed.stratify(folds);
    for (int k = 0; k < folds; k++) {
        Instances train = mixed.trainCV(folds, k, random), test = mixed.testCV(folds, k);
        StringBuilder line = new StringBuilder("said|" + method[0] + "|" + seed + "|" + k + "|");
        int[] rows = new int[test.numInstances()];
        for (int i = 0; i < rows.length; i++) rows[i] = (int) test.instance(i).value(0);
        train.deleteAttributeAt(0);
        test.deleteAttributeAt(0);
        String options = method[2].replace("SEED", "" + seed);
        Classifier model = Classifier.forName(method[1], Utils.splitOptions(options));
        model.buildClassifier(train);
        for (int i = 0; i < rows.length; i++)
            line.append(rows[i] + " " + (int) model.classifyInstance(test.instance(i)) + " ");
        System.out.println(line);
    }
}
"""


@dataclass(frozen=True)
class Fold:
    """What a method of WEKA said of the test rows of one fold."""

    method: str
    seed: int
    number: int
    rows: np.ndarray
    said: np.ndarray  # class codes, in the order in which the file declares the classes


def find_jar() -> Path:
    """Return WEKA's archive: named by WEKA_JAR, or where Debian puts it."""
    named = os.environ.get("WEKA_JAR")
    for path in map(Path, [named] if named else JARS):
        if path.is_file():
            return path
    where = named or " or ".join(JARS)
    raise Unavailable(f"no WEKA at {where}; apt-get install weka, or say where by WEKA_JAR")


def jshell(script: str, seconds: float | None = None) -> list[str]:
    """Run a script with WEKA at hand and return the lines that it prints."""
    program, jar = shutil.which("jshell"), find_jar()
    if program is None:
        raise Unavailable("no jshell; apt-get install default-jdk-headless")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.jsh"
        file.write_text(f"{script}\n/exit\n", encoding="utf-8")
        # -s prints nothing but what the script prints and what is wrong with it.
        command = [program, "-s", "--class-path", str(jar), "-R-Djava.awt.headless=true", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if "Exception" in line or line.startswith("|  ")]
    if done.returncode or wrong:
        raise RuntimeError(f"jshell failed: {wrong[:3] or done.stderr[-500:]}")
    return lines


def cross_validate(
    file: Path, methods: dict[str, tuple[str, str]], seeds: list[int]
) -> Iterator[Fold]:
    """Yield what each method, a class with its options, says in every fold of every seed."""
    calls = [
        f'said(new String[] {{"{name}", "{kind}", "{options}"}}, data, {seed}, {N_FOLDS});'
        for name, (kind, options) in methods.items()
        for seed in seeds
    ]
    begin = f'Instances data = numbered("{file}");'
    for line in jshell("\n".join([CROSS_VALIDATION, begin, *calls])):
        if not line.startswith("said|"):
            continue
        _, name, seed, number, pairs = line.split("|")
        rows, said = np.array(pairs.split(), dtype=np.int64).reshape(-1, 2).T
        yield Fold(name, int(seed), int(number), rows, said)
