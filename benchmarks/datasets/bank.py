"""The kernels: Gaussians and polynomials on all features and on single ones, each with unit mean diagonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.points import DATASETS, load_points

__all__ = ["DATASETS", "KernelSpec", "bank_specs", "kernel_bank"]

_WIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
_DEGREES = (1, 2, 3)
_SEED = 0


@dataclass(frozen=True)
class KernelSpec:
    """exp(−‖x − z‖² / (2 width²)) if `width` is given, else (x'z / d + [degree > 1]) ** degree.

    `feature` restricts it to one column.
    """

    width: float | None = None
    degree: int = 1
    feature: int | None = None

    def gram(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Gram matrix, exactly symmetric, with mean diagonal 1."""
        columns = points if self.feature is None else points[:, [self.feature]]
        inner = columns @ columns.T
        if self.width is None:
            gram = (inner / columns.shape[1] + (1.0 if self.degree > 1 else 0.0)) ** self.degree
        else:
            squares = np.diag(inner)
            distances = np.maximum(squares[:, None] + squares[None, :] - 2.0 * inner, 0.0)
            gram = np.exp(-distances / (2.0 * self.width**2))
        gram = 0.5 * (gram + gram.T)
        return gram / np.mean(np.diag(gram))


def bank_specs(n_features: int, m: int) -> list[KernelSpec]:
    """The m kernels of a bank: five chosen ones, or all-feature kernels first and then single features."""
    if m == 5:
        return [KernelSpec(width=w) for w in (1.0, 5.0, 20.0)] + [KernelSpec(degree=2), KernelSpec(degree=1)]
    everywhere = [KernelSpec(width=w) for w in _WIDTHS] + [KernelSpec(degree=k) for k in _DEGREES]
    if m < len(everywhere):
        raise ValueError(f"a bank has 5 or at least {len(everywhere)} kernels; {m} were asked for")
    single = [KernelSpec(width=w, feature=f) for f in range(n_features) for w in _WIDTHS]
    single += [KernelSpec(degree=k, feature=f) for f in range(n_features) for k in _DEGREES]
    drawn = np.random.RandomState(_SEED).permutation(len(single))[: m - len(everywhere)]
    return everywhere + [single[index] for index in drawn]


def kernel_bank(name: str, n: int, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The stack (m, n, n), contiguous, kernels first, and the labels ±1."""
    points, y = load_points(name, n)
    stack = np.empty((m, n, n))
    for index, spec in enumerate(bank_specs(points.shape[1], m)):
        stack[index] = spec.gram(points)
    return stack, y
