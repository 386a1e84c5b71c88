"""Kernels and targets at a common scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..combine.stack_sums import mean_diagonals, variances
from .targets import Targets

Array = np.ndarray[Any, np.dtype[Any]]

_CONSTANT = 1e-12  # share of the trace that rounding leaves of the variance of a constant kernel


def kernel_scales(Ks: Array, names: Sequence[str]) -> Array:
    """s_m = tr K_m / n (m,), so that K_m / s_m has trace n; a kernel without one is refused."""
    scales = mean_diagonals(Ks)
    with np.errstate(divide="ignore", over="ignore"):
        usable = (scales > 0.0) & np.isfinite(1.0 / scales) & np.isfinite(scales)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"kernel {names[bad]!r} cannot be scaled to trace n: its mean diagonal is {scales[bad]:.1e}. "
            "Leave it out."
        )
    return scales


def variance_scales(Ks: Array, names: Sequence[str]) -> Array:
    """s_m = tr(HK_mH) / n (m,), so that HK_mH / s_m has trace n; a constant kernel is refused."""
    scales = variances(Ks)
    flat = np.flatnonzero(~(scales > _CONSTANT * mean_diagonals(Ks)))
    if flat.size:
        raise ValueError(
            f"kernel {names[flat[0]]!r} is the same for all samples: it has no scale. Leave it out."
        )
    return scales


def require_different_values(targets: Targets) -> None:
    """Refuse values that are all the same."""
    if targets.task == "values" and not np.ptp(targets.values, axis=0).max() > 0.0:
        raise ValueError("y must hold different values; all are the same. No kernel can be compared with it.")


def unit_ideal(targets: Targets) -> Array:
    """T (n, k) at the scale where TT' has trace n, as it has for classes."""
    require_different_values(targets)
    T = targets.ideal
    T = T / float(np.abs(T).max())
    return np.asarray(T * (np.sqrt(targets.n) / np.linalg.norm(T)))
