"""k(x, x) of new samples where the kernels are ready-made: known only if it is the same for all."""

from typing import Any

import numpy as np

from .._validation import warn_caller

Array = np.ndarray[Any, np.dtype[Any]]

_CONSTANT = 1e-8


def constant_diagonals(Ks: Array, names: list[str]) -> Array | None:
    """The diagonals of ready-made kernels, (n_kernels,), if each is constant; otherwise a warning and None.

    One kernel alone is let pass: what its diagonal adds to both classes cancels.
    """
    diagonals = np.einsum("mtt->mt", Ks)
    low, high = diagonals.min(axis=1), diagonals.max(axis=1)
    varying = np.flatnonzero(high - low > _CONSTANT * high)
    if varying.size and len(Ks) > 1:
        m = varying[0]
        warn_caller(
            f"kernel {names[m]!r} has a diagonal from {low[m]:.3g} to {high[m]:.3g}: predictions need "
            "k(x, x) of new samples, which ready-made kernels do not tell. This model will refuse them. "
            "Divide each kernel, that of new samples too, by sqrt(k(x, x) k(z, z))."
        )
        return None
    return np.asarray(diagonals.mean(axis=1))


def require_diagonals(diagonals: Array | None) -> Array:
    """The same for every new sample, (1, n_kernels)."""
    if diagonals is None:
        raise ValueError(
            "predictions need k(x, x) of new samples, which ready-made kernels tell only if it is the same "
            "for all; the diagonals of the kernels at fit were not. Divide each kernel, that of new samples "
            "too, by sqrt(k(x, x) k(z, z)), or give the kernels as functions of a table."
        )
    return diagonals[None, :]
