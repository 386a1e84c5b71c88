"""One fit on generated rows: times of its stages, peak memory, and what the judge says of it."""

from __future__ import annotations

from benchmarks.measuring import resident_bytes
from benchmarks.scale.child import timed
from benchmarks.scale.data import N_INFORMATIVE, make_rows
from benchmarks.scale.ours import judge_fit, watched
from benchmarks.store import Record

_WARM_ROWS = 400


def take(n: int, rank: int, loss: str, dtype: str, tol: float) -> Record:
    """Fit n rows; the peak is that of the fit, before the judge sets to work."""
    few = make_rows(_WARM_ROWS)
    watched(loss, rank=10, dtype=dtype).fit(few.X, few.values if loss == "squared" else few.labels)
    rows = make_rows(n)
    y = rows.values if loss == "squared" else rows.labels
    model = watched(loss, rank=rank, dtype=dtype, tol=tol)
    before = resident_bytes("VmRSS")
    times, _ = timed(lambda: model.fit(rows.X, y))
    peak = resident_bytes("VmHWM")
    verdict = judge_fit(model, y, loss, 1.0)
    result = model.result
    return {
        "fit": times,
        "factors": model.factor_times,
        "solver": model.solver_times,
        "before": before,
        "peak_fit": peak,
        "estimate": model.memory_.total,
        "columns": int(model.factors.bank.offsets_[-1]),
        "trace_error": float(model.approximation_["trace_error"].max()),
        "n_iter": result.n_iter,
        "rounds": result.rounds,
        "bytes_moved": result.bytes_moved,
        "gap": model.dual_gap_,
        "judged_value": verdict.value,
        "judged_gap": verdict.gap,
        "signal_weight": float(model.kernel_weights_[:N_INFORMATIVE].sum() / model.kernel_weights_.sum()),
    }
