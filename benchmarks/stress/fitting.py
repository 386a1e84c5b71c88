"""One fit and its verdict; and the process that fits, which the system ends at the limit of CPU time.

The process reads numbers of problems from its input and writes a record of each, one JSON line, to its
output. It lives until its input ends or a fit passes the limit; then another one is started.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import cpu_seconds, thread_environment
from benchmarks.store import Record
from benchmarks.stress.problems import (
    LOSSES,
    TOL,
    KernelOf,
    Problem,
    make_problem,
    standard_table,
    targets_of,
)
from judges.margin_gap import NotCertifiedError, judge_model

ROOT = Path(__file__).parents[2]
LIMIT = 60.0
ALLOWED = 1.05  # times tol
_PATIENCE = 10.0  # times the limit of CPU time, in wall time, until a silent process is ended


# --- one fit -----------------------------------------------------------------------------------------------


def describe(problem: Problem) -> Record:
    """What a record says of its problem."""
    return {
        "category": problem.category,
        "name": problem.name,
        "n": problem.n,
        "m": len(problem.kernels),
        "C": problem.C,
        "norm": str(problem.norm),
        "loss": problem.loss,
        "precomputed": problem.precomputed,
    }


def measure(problem: Problem, limit: float | None = None) -> Record:
    """Fit and judge; CPU time of the fit alone."""
    found: Record = {"status": "", "gap": None, "judged": None, "seconds": None, "said": ""}
    X, y, model = problem.samples(), problem.targets(), problem.estimator()
    start = time.process_time()
    try:
        limit_cpu(limit)
        found["seconds"], _ = cpu_seconds(lambda: model.fit(X) if y is None else model.fit(X, y))
    except Exception as error:  # whatever a fit raises is a finding
        found |= {"seconds": time.process_time() - start, "said": f"{type(error).__name__}: {error}"[:300]}
        return found | {"outcome": "exception", "certified": False}
    finally:
        limit_cpu(None)
    found |= {"status": str(model.status_), "outcome": str(model.status_), "gap": float(model.dual_gap_)}
    try:
        scores = getattr(model, "decision_function", getattr(model, "predict", None))(X)
        distinct = len(np.unique(problem.X, axis=0)) if not problem.precomputed else problem.n
        by_factors = bool(getattr(model, "kernel_factors_", ()))
        # Values of huge kernels are known to rounding only, which factors by pivots magnify: how far
        # predictions are from what the judge sees is kept beside the gap.
        by_values = any(factor.root is not None for factor in getattr(model, "kernel_factors_", ()))
        predicted = None if by_values else scores
        verdict = judge_model(
            model, problem.grams(), y, predicted=predicted, n_distinct=distinct, explicit=problem.features
        )
        found |= {"judged": float(verdict.gap), "judged_as_given": float(verdict.gap_as_given)}
        found["by_factors"] = by_factors
        found["disagreement"] = float(np.abs(verdict.scores - np.reshape(scores, verdict.scores.shape)).max())
    except NotCertifiedError as error:
        found["said"] = f"not certified: {error}"[:300]
    judged = found["judged"]
    is_small = judged is not None and abs(judged) <= ALLOWED * TOL  # far below 0, rounding rules the bounds
    return found | {"certified": bool(is_small and found["outcome"] == "optimal")}


def limit_cpu(seconds: float | None) -> None:
    """Let the system end this process after so many more seconds of CPU time; None lifts the limit."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = hard if seconds is None else int(np.ceil(time.process_time() + seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def compile_all() -> None:
    """Fit a tiny problem of each loss, so that nothing is compiled while time is taken."""
    rng = np.random.default_rng(0)
    X = standard_table(60, 3, rng)
    kernels = (KernelOf("linear"), KernelOf("gaussian", gamma=0.3))
    for loss in (*LOSSES, "joint"):
        C = 0.5 if loss == "one_class" else 1.0
        measure(Problem("", "", X, targets_of(X, loss, rng), kernels, loss, C, 1.0))


def serve(seed: int, limit: float) -> None:
    """Answer numbers with records, until the input ends."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    compile_all()
    gc.collect()
    gc.freeze()  # else each fit waits for a collection of all that was imported
    print("ready", flush=True)
    for line in sys.stdin:
        problem = make_problem(seed, int(line))
        print(json.dumps(measure(problem, limit)), flush=True)


# --- the process that fits ---------------------------------------------------------------------------------


class Worker:
    """A process that fits one problem after the other; a new one takes its place where it is ended."""

    command: tuple[str, ...] = ("-m", "benchmarks.stress")

    def __init__(self, seed: int, limit: float = LIMIT):
        self.seed, self.limit = seed, limit
        self._process: subprocess.Popen[str] | None = None

    def fit(self, number: int) -> Record:
        """The record of a problem."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        said = self._read(process, _PATIENCE * self.limit)
        if said:
            return dict(json.loads(said))
        self.close()
        ended = -process.returncode
        outcome = "timeout" if ended in (signal.SIGXCPU, signal.SIGKILL) else "exception"
        nothing = {"status": "", "gap": None, "judged": None, "seconds": self.limit, "certified": False}
        return nothing | {"outcome": outcome, "said": f"ended by signal {ended}"}

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> Any:
        if self._process is None:
            options = ["--serve", str(self.limit), "--seed", str(self.seed)]
            self._process = subprocess.Popen(
                [sys.executable, *self.command, *options],
                cwd=ROOT,
                env=os.environ | thread_environment(1),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            if self._read(self._process, 600.0) != "ready":
                self.close()
                raise RuntimeError("the process that fits did not start; see its message above.")
        return self._process

    @staticmethod
    def _read(process: subprocess.Popen[str], patience: float) -> str:
        """A line of its output; empty where it ended, or said nothing for so many seconds."""
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], patience)
        return process.stdout.readline().strip() if ready else ""
