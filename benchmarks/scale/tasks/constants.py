"""What one core does in a second, and what travels in a round: the constants of the extrapolation."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np

from benchmarks.scale.child import timed
from benchmarks.scale.data import make_rows
from benchmarks.scale.ours import LOSSES, views
from benchmarks.store import Record
from multikernel.core.weights.factors.rounds import Query, block_sums
from multikernel.views.low_rank import LowRankBank


class _Rows(NamedTuple):
    start: int
    parts: tuple[np.ndarray, np.ndarray, np.ndarray]


def take(n: int, rank: int, dtype: str, loss: str) -> Record:
    """Rows a second of the factors and of one pass with and without the Hessian, and bytes both ways."""
    rows = make_rows(n)
    bank = LowRankBank(views(), rank=rank, dtype=dtype).fit(rows.X[:5000], n)
    bank.transform(rows.X[:1000])
    factor_times, Z = timed(lambda: bank.transform(rows.X))
    block = _Rows(0, (Z, rows.labels[:, None], np.ones((n, 1))))
    record: Record = {"columns": Z.shape[1], "factor_rows": n / factor_times["wall"]}
    point = np.full((1, Z.shape[1]), 1e-3)
    for name, curvature in (("gradient", False), ("hessian", True)):
        query = Query(point, np.zeros(1), (1.0,), curvature)
        sums = block_sums(_Rows(0, tuple(part[:500] for part in block.parts)), LOSSES[loss], query)
        times, sums = timed(lambda query=query: block_sums(block, LOSSES[loss], query))
        record |= {
            f"{name}_rows": n / times["wall"],
            f"{name}_back": len(pickle.dumps(sums)),
            f"{name}_out": len(pickle.dumps(query)),
        }
    return record
