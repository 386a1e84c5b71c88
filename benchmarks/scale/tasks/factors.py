"""The factors of generated rows, ours and the peer's; ours go to files for the contests of solvers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem

from benchmarks.scale.child import timed
from benchmarks.scale.contestants.random_features import random_features
from benchmarks.scale.data import N_VIEWS, make_rows, view_columns
from benchmarks.scale.ours import views
from benchmarks.store import Record
from multikernel.views.low_rank import LowRankBank, reference_rows, reference_size


def take(n: int, rank: int, approximation: str, folder: str) -> Record:
    """Times of both; the peer is told the widths of the kernels."""
    rows = make_rows(n)
    bank = LowRankBank(views(approximation), rank=rank)
    sample = rows.X[reference_rows(n, reference_size(n, [rank]))]
    our_times, Z = timed(lambda: bank.fit(sample, n).transform(rows.X))
    for name, values in (("Z", Z), ("labels", rows.labels), ("values", rows.values)):
        np.save(Path(folder) / f"{name}.npy", values)
    del Z
    widths = [view.kernel.gamma for view in bank.views_]
    peer = _features if approximation == "random_features" else _nystroem
    peer_times, _ = timed(lambda: np.hstack([peer(rows.X, m, widths[m], rank) for m in range(N_VIEWS)]))
    return {"ours": our_times, "peer": peer_times, "offsets": [int(offset) for offset in bank.offsets_]}


def _nystroem(X: np.ndarray, view: int, gamma: float, rank: int) -> np.ndarray:
    machine = Nystroem(gamma=gamma, n_components=rank, random_state=view)
    return machine.fit_transform(X[:, view_columns(view)])


def _features(X: np.ndarray, view: int, gamma: float, rank: int) -> np.ndarray:
    return random_features(X[:, view_columns(view)], gamma, rank, view)
