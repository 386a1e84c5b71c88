# `make bench` measures multikernel against its peers and writes benchmarks/results.md; see benchmarks/README.md.
# ARGS are handed to `python -m benchmarks`: make bench ARGS="--quick", ARGS="--only floor,smo --resume".

BENCH_PYTHON ?= python3.11
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.installed
BENCH_ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1

.PHONY: bench

bench: $(BENCH_READY)
	$(BENCH_ONE_THREAD) $(BENCH_VENV)/bin/python -m benchmarks $(ARGS)

$(BENCH_READY): benchmarks/requirements.txt pyproject.toml
	$(BENCH_PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet -r benchmarks/requirements.txt -e .
	touch $@
