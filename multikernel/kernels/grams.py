"""Transforms by name, and transforms of plain Gram matrices in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_gram, check_square
from multikernel.kernels.transforms import Center, PSDRepair, Transform, UnitDiagonal, UnitTrace

_BY_NAME = {
    "center": Center(),
    "unit_diagonal": UnitDiagonal(),
    "unit_trace": UnitTrace(),
    "clip": PSDRepair("clip"),
    "shift": PSDRepair("shift"),
}


def as_transforms(spec: Any) -> tuple[Transform, ...]:
    """A tuple of transforms from a transform, a name, or several of either."""
    if spec is None:
        return ()
    if isinstance(spec, Transform):
        return (spec,)
    if isinstance(spec, str):
        return (_BY_NAME[check_choice("transforms", spec, tuple(_BY_NAME))],)
    if not isinstance(spec, Iterable):
        raise TypeError(
            f"transforms must be transforms or their names ({', '.join(_BY_NAME)}); got {spec!r}."
        )
    return tuple(transform for part in spec for transform in as_transforms(part))


def _transformed(K: Any, transform: Transform) -> np.ndarray:
    K = check_square(K, "K")
    check_gram(K, "K")
    return transform.fit_train(K)[1]


def center(K: Any) -> np.ndarray:
    """H K H with H = I − 11ᵀ / n, as a new array.

    Examples
    --------
    >>> center([[2.0, 0.0], [0.0, 2.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _transformed(K, Center())


def unit_diagonal(K: Any) -> np.ndarray:
    """K_ij / √(K_ii K_jj), as a new array; a zero diagonal entry leaves a zero row."""
    return _transformed(K, UnitDiagonal())


def unit_trace(K: Any) -> np.ndarray:
    """K · n / trace(K), as a new array: the mean of the diagonal is 1."""
    return _transformed(K, UnitTrace())


def repair_psd(K: Any, how: str = "clip") -> np.ndarray:
    """The positive semidefinite part of K (``"clip"``), or K plus a multiple of I (``"shift"``)."""
    return _transformed(K, PSDRepair(how))
