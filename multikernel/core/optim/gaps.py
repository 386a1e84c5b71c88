"""Gaps in relation to a value, what they are relative to where the value is 0, and scales for both."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._typing import Array
from ..svm.losses import Loss

_LEAST_KERNEL = 1e-8
_TINY = float(np.finfo(float).tiny)


def value_floor(losses: Sequence[Any], mean_diagonals: Array) -> float:
    """The size below which the sum of the machines' values counts as 0, by the smallest of their kernels.

    ``mean_diagonals`` are those of the kernels at their largest weights; none counts as less than a share of
    the largest that rounding leaves.
    """
    present = mean_diagonals[mean_diagonals > 0.0]
    size = max(float(present.min()), _LEAST_KERNEL * float(present.max())) if present.size else 0.0
    return sum(loss.least_size(size) for loss in losses if isinstance(loss, Loss))


def relative_gap(upper: float, lower: float, least_size: float = 0.0) -> float:
    """(upper − lower) / max(|upper|, least_size); infinite where a bound is.

    Examples
    --------
    >>> relative_gap(2.0, 1.0), relative_gap(0.0, -1e-9, 1e-3)
    (0.5, 1e-06)
    """
    if not (np.isfinite(upper) and np.isfinite(lower)):
        return float("inf")
    return float((upper - lower) / max(abs(upper), least_size, _TINY))


def power_of_two(size: float) -> float:
    """The power of two nearest to a size: scaling by it is exact, so that a dual at C comes back as C.

    Examples
    --------
    >>> power_of_two(3.1), power_of_two(0.0)
    (4.0, 1.0)
    """
    return float(np.exp2(np.round(np.log2(size)))) if np.isfinite(size) and size > 0 else 1.0
