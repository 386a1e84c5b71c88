"""One dense fit whose stack of Gram matrices is on disk, in a process that is held to so much memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import resident_bytes
from benchmarks.scale.child import timed
from benchmarks.scale.data import VIEW_COLUMNS, make_rows, view_columns, view_name
from benchmarks.scale.dense_objective import DenseProblem, judge_dense
from benchmarks.scale.limits import limited_memory
from benchmarks.store import Record
from multikernel import KernelBank, MKLClassifier, MKLRegressor, View
from multikernel.kernels import Gaussian
from multikernel.views import make_bank

GAMMA = 0.5 / VIEW_COLUMNS  # about one over the median squared distance
EPSILON = 0.5
_WARM_ROWS = 400
_LOOK_SECONDS = 0.02


def take(n: int, n_kernels: int, loss: str, kind: str, limit: int, tol: float) -> Record:
    """Fit n rows within `limit` bytes, from a "table" or from a "ready-made" stack on disk (`kind`).

    The judge comes after the limit: what it needs is not counted.
    """
    columns = [view_columns(view) for view in range(n_kernels)]
    plain: dict[str, Any] = {"standardize": False, "normalize": None}
    views = [View(view_name(m), Gaussian(gamma=GAMMA), columns[m], **plain) for m in range(n_kernels)]
    few = make_rows(_WARM_ROWS)
    _fit(views, loss, few.X, few.labels if loss == "hinge" else few.values, tol)
    rows = make_rows(n)
    y = rows.labels if loss == "hinge" else rows.values
    read = _bytes_read()
    with limited_memory(limit) as held, _anonymous_peak() as peak:
        kernels: Any = views
        X: Any = rows.X
        if kind == "ready-made":
            stack = make_bank(_stored(views), lean=True).fit_stack(rows.X)
            kernels, X, read = "precomputed", np.moveaxis(stack, 0, 2), _bytes_read()
        before = resident_bytes("RssAnon")
        times, model = timed(lambda: _fit(kernels, loss, X, y, tol))
    read = _bytes_read() - read
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    problem = DenseProblem(rows.X, columns, GAMMA, y, 1.0, None if loss == "hinge" else EPSILON)
    verdict = judge_dense(problem, model.kernel_weights_, beta, float(model.intercept_[0]))
    return {
        "fit": times,
        "held_by": held,
        "before": before,
        "anonymous": peak[0],
        "estimate": model.memory_.total,
        "stack": model.memory_.stack,
        "read": read,
        "status": model.status_,
        "n_iter": model.n_iter_,
        "n_support": int(model.support_.size),
        "gap": model.dual_gap_,
        "judged_value": verdict.value,
        "judged_gap": verdict.gap,
    }


def _fit(kernels: Any, loss: str, X: Any, y: Any, tol: float) -> Any:
    if loss == "hinge":
        return MKLClassifier(_stored(kernels), tol=tol).fit(X, y)
    return MKLRegressor(_stored(kernels), C=1.0, epsilon=EPSILON, tol=tol).fit(X, y)


def _stored(kernels: Any) -> KernelBank:
    return KernelBank(kernels, gram="memmap", dtype="float32")


@contextmanager
def _anonymous_peak() -> Iterator[list[int]]:
    """The most memory that is no file, looked at every so often; in a list, which is filled at the end."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            peak[0] = max(peak[0], resident_bytes("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _bytes_read() -> int:
    """What this process has had read from disk."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1])
    return 0
