"""The package as installed: what importing it costs and loads, its size, and what it links."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import committee
from committee.data.labels import HAVE_REGRESSORS

PACKAGE = Path(committee.__file__).parent
MAX_IMPORT_SECONDS = 0.3
MAX_BYTES = 10 * 2**20


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def import_seconds() -> float:
    """Time a first import of committee in a process that has imported scikit-learn."""
    return float(
        run_python(
            "import sklearn, time; start = time.perf_counter(); import committee;"
            "print(time.perf_counter() - start)"
        )
    )


@pytest.mark.sanitize
def test_every_public_name_exists() -> None:
    missing = [name for name in committee.__all__ if not hasattr(committee, name)]
    assert not missing
    assert len(set(committee.__all__)) == len(committee.__all__)


def test_classifiers_that_name_a_regressor_have_one() -> None:
    stems = [n.removesuffix("Classifier") for n in committee.__all__ if n.endswith("Classifier")]
    assert {stem for stem in stems if f"{stem}Regressor" in committee.__all__} == HAVE_REGRESSORS


def test_version_is_that_of_the_distribution() -> None:
    assert committee.__version__ == importlib.metadata.version("committee")


def test_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_tests_run_against_the_installed_package() -> None:
    root = Path(__file__).resolve().parents[1]
    assert root / "src" not in PACKAGE.parents


@pytest.mark.clock
def test_import_is_cheap() -> None:
    fastest = import_seconds()
    for _ in range(4):  # a busy machine slows some runs; the fastest is the cost
        if fastest <= MAX_IMPORT_SECONDS:
            break
        fastest = min(fastest, import_seconds())
    assert fastest <= MAX_IMPORT_SECONDS


def test_import_asks_for_no_optional_library() -> None:
    # scikit-learn loads pandas where it finds it, so what counts is who asks.
    code = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in {"pandas", "polars", "pyarrow", "matplotlib"}:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            print(frame.f_globals["__name__"], "imports", name)
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
import committee
"""
    asked = run_python(code).splitlines()
    assert [line for line in asked if not line.startswith("sklearn")] == []


def test_installed_size() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES


def test_extension_links_no_openmp() -> None:
    # The names of needed libraries stand in the file as plain strings, whatever its format.
    (extension,) = PACKAGE.glob("_engine*.so")
    content = extension.read_bytes()
    assert b"libstdc++" in content or b"libc++" in content
    assert not [name for name in (b"libgomp", b"libomp", b"libiomp") if name in content]
