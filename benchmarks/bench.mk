# `make bench` measures multikernel against its peers and writes benchmarks/results.md; `make bench-scale` does so
# for many rows and writes benchmarks/scale/results.md; `make stress` fits random problems, judges each, and writes
# docs/benchmarks/stress.md; `make bench-tables` and `make bench-noise` measure accuracy on tables and views and
# write docs/benchmarks/tables.md. See benchmarks/README.md.
# ARGS are handed to `python -m benchmarks`: make bench ARGS="--quick", ARGS="--only floor,smo --resume".

BENCH_PYTHON ?= python3.11
BENCH_VENV := .venv-bench
BENCH_PIP := $(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
BENCH_ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1

.PHONY: bench bench-scale bench-tables bench-noise stress

bench: $(BENCH_VENV)/.installed
	$(BENCH_ONE_THREAD) $(BENCH_VENV)/bin/python -m benchmarks $(ARGS)

# On two threads, which `python -m benchmarks.scale` sets for itself and for the processes that it starts.
bench-scale: $(BENCH_VENV)/.installed-scale
	$(BENCH_VENV)/bin/python -m benchmarks.scale $(ARGS)

# Random fits, each judged: hours; goes on where it was stopped. Needs the package alone.
stress: $(VENV)/.installed
	$(BENCH_ONE_THREAD) $(BIN)/python -m benchmarks.stress $(ARGS)

# Accuracy on tables and views: many hours; goes on where it was stopped. Needs MULTIKERNEL_DATA, and the package
# alone: make bench-tables ARGS="--jobs 2 --max-minutes 60".
bench-tables: $(VENV)/.installed
	$(BENCH_ONE_THREAD) $(BIN)/python -m benchmarks.tables $(ARGS)

bench-noise: $(VENV)/.installed
	$(BENCH_ONE_THREAD) $(BIN)/python -m benchmarks.tables.noise $(ARGS)

$(BENCH_VENV)/bin/python:
	$(BENCH_PYTHON) -m venv $(BENCH_VENV)

$(BENCH_VENV)/.installed: benchmarks/requirements.txt pyproject.toml | $(BENCH_VENV)/bin/python
	$(BENCH_VENV)/bin/python -m pip install --quiet -r benchmarks/requirements.txt -e .
	touch $@

$(BENCH_VENV)/.installed-scale: benchmarks/scale/requirements.txt pyproject.toml constraints.txt | $(BENCH_VENV)/bin/python
	$(BENCH_PIP) -r benchmarks/scale/requirements.txt -e .
	touch $@
