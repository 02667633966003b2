# Everything a developer runs. Needs make, g++ and Python >= 3.11; all else comes into .venv.
# Stamps in .venv remember what is installed, so that a second call starts at once.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
unexport PYTHONPATH

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export CMAKE_GENERATOR := Ninja

BUILD_FILES := pyproject.toml CMakeLists.txt cpp/CMakeLists.txt README.md LICENSE
# Folders are listed beside their files: their times tell of files removed.
PACKAGE_FILES := $(BUILD_FILES) $(shell find cpp/include cpp/src cpp/bindings src \
	-not -path '*/__pycache__*' -not -name '.*')
CPP_FILES = $(shell find cpp -name '*.cpp' -o -name '*.hpp')

.PHONY: help run test lint cpp-test pytest bench sanitize format clean distclean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.package ## Build, install into .venv and run the main job
	@$(PY) -m committee

test: lint cpp-test pytest ## Lint, C++ tests, Python tests, in this order

lint: $(VENV)/.tools ## Style, types, layers, spelling, sizes; changes nothing
	ruff check .
	ruff format --check .
	$(PY) -m mypy
	@echo "clang-format --dry-run -Werror ($(words $(CPP_FILES)) files)"
	@clang-format --dry-run -Werror --ferror-limit=20 $(CPP_FILES)
	PYTHONPATH=src lint-imports --no-cache
	$(PY) tools/check_layers.py
	codespell
	$(PY) tools/check_sizes.py

cpp-test: $(VENV)/.build ## C++ unit tests, by ctest
	cmake -S . -B build/cpp-test -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCOMMITTEE_BUILD_TESTS=ON \
		--log-level=WARNING
	cmake --build build/cpp-test
	ctest --test-dir build/cpp-test/cpp --output-on-failure --no-tests=error

# Tests that read the clock come first and alone: the others, on all cores, would disturb them.
pytest: $(VENV)/.tools $(VENV)/.package ## Python tests and doctests of the installed package
ifdef ARGS
	@$(PY) -m pytest $(ARGS)
else
	@$(PY) -m pytest -m clock
	@$(PY) -m pytest -m "not clock" --numprocesses=auto --dist=worksteal
endif

bench: $(VENV)/.bench $(VENV)/.package ## Build the C++ benchmarks, then run benchmarks/
	cmake -S . -B build/bench -DCMAKE_BUILD_TYPE=Release -DCOMMITTEE_BUILD_BENCH=ON \
		--log-level=WARNING
	cmake --build build/bench
	$(PY) -m benchmarks $(ARGS)

sanitize: $(VENV)/.tools ## C++ and marked Python tests under ASan + UBSan, then TSan
	tools/sanitize.sh address
	tools/sanitize.sh thread

format: $(VENV)/.tools ## Lay out all C++ and Python files
	ruff check --fix-only .
	ruff format .
	clang-format -i $(CPP_FILES)

clean: ## Remove build output
	rm -rf build dist .pytest_cache $(VENV)/.package

distclean: clean ## Remove the environment too
	rm -rf $(VENV)

$(VENV)/.created:
	@rm -rf $(VENV)
	@python="$$(tools/find_python.sh)"; \
	echo "Creating $(VENV) with $$python"; \
	"$$python" -m venv $(VENV)
	@touch $@

# $(call install,<groups of tools/requirements.py>)
define install
@echo "Installing into $(VENV): $(1)"
@$(PY) tools/requirements.py $(1) >$@.txt
@$(PIP) install --quiet -r $@.txt
@touch $@
endef

$(VENV)/.build: $(VENV)/.created pyproject.toml tools/requirements.py
	$(call install,build run)

$(VENV)/.tools: $(VENV)/.build
	$(call install,run test lint)

$(VENV)/.bench: $(VENV)/.build
	$(call install,run bench)

# Without isolation the build folder stays valid, and only what changed is compiled.
$(VENV)/.package: $(VENV)/.build $(PACKAGE_FILES)
	@echo "Building committee"
	@$(PIP) install --quiet --no-build-isolation --no-deps --force-reinstall .
	@touch $@
