"""What a fitted model says of the descents that it came from, over gates or over projections."""

from collections.abc import Sequence
from typing import Any

from ..solvers.localized.learn import LocalizedResult
from ._estimator import worst_status


def record_descents(model: Any, results: Sequence[LocalizedResult], saturated: list[str]) -> None:
    """Store J, its certificate and how the descents ended; ``saturated`` names the gates that are 0 or 1."""
    model.objective_ = float(sum(r.objective for r in results))
    model.dual_gap_ = float(max(r.gap for r in results))
    model.gradient_norm_ = float(max(r.gradient_norm / max(abs(r.objective), 1e-300) for r in results))
    model.n_iter_ = max(1, max(r.n_iter for r in results))
    model.saturated_ = saturated
    model.status_ = worst_status([r.status for r in results])
