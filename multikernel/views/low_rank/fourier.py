"""Random features: k(x, z) = E cos(w · (x − z)) over frequencies w, so that a few draws of w give factors.

Of a frequency w both cos(w · x) and sin(w · x) are taken: their products sum to cos(w · (x − z)), without
the phase that one cosine alone needs (scikit-learn's RBFSampler), and ‖z‖² is k(x, x) exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from multikernel.kernels import Gaussian, Kernel, Laplacian
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Power, Product, Scaled
from multikernel.views.low_rank.maps import FeatureMap


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """z(x) = root · (cos(x · w_1), …, cos(x · w_s), sin(x · w_1), …, sin(x · w_s))."""

    frequencies: np.ndarray = field(repr=False)
    root: float

    @property
    def rank(self) -> int:
        return 2 * int(self.frequencies.shape[1])

    def write(self, kernel: Kernel, pair: Pair, out: np.ndarray) -> None:
        angles = pair.left.values @ self.frequencies
        half = self.frequencies.shape[1]
        np.cos(angles, out=out[:, :half])
        np.sin(angles, out=out[:, half:])
        out *= self.root


def fourier_map(kernel: Kernel, rows: Rows, rank: int, seed: int) -> FourierMap:
    """Random features of a fitted kernel: `rank` of them, one fewer where it is odd.

    Parameters
    ----------
    kernel : Kernel
        Gaussian or Laplacian, or a product, power or multiple of such.
    rows : Rows
        Their number of columns is that of the kernel.
    """
    if rank < 2:
        raise ValueError(f"random features come in pairs: rank must be at least 2; got {rank}.")
    n_columns, count = int(rows.values.shape[1]), rank // 2
    frequencies = _frequencies(kernel, (n_columns, count), np.random.default_rng(seed))
    if frequencies is None:
        raise ValueError(
            f"{kernel!r} has no random features: there are some for Gaussian and Laplacian, and their "
            "products, powers and multiples. Use approximation='nystroem' or 'cholesky'."
        )
    size = float(kernel.evaluate_diagonal(rows.take(np.array([0])))[0])  # the same for every row
    return FourierMap(frequencies, float(np.sqrt(size / count)))


def _frequencies(kernel: Kernel, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray | None:
    """Draws from the Fourier transform of the kernel; those of a product of kernels are sums."""
    if isinstance(kernel, Gaussian):
        return rng.normal(scale=np.sqrt(2.0 * kernel._coefficient), size=shape)
    if isinstance(kernel, Laplacian):
        return kernel.gamma * rng.standard_cauchy(shape)
    if isinstance(kernel, Scaled):
        return _frequencies(kernel.base, shape, rng)
    if isinstance(kernel, Product):
        return _sum_of_draws([kernel.left, kernel.right], shape, rng)
    if isinstance(kernel, Power):
        return _sum_of_draws([kernel.base] * kernel.exponent, shape, rng)
    return None


def _sum_of_draws(
    kernels: list[Kernel], shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray | None:
    total = np.zeros(shape)
    for kernel in kernels:
        draws = _frequencies(kernel, shape, rng)
        if draws is None:
            return None
        total += draws
    return total
