"""Training Gram matrices of several kernels of the same rows, written together.

The products x · z of a tile are computed once; every kernel writes its values, and their mirror image below
the diagonal, while the products are in the cache. So every page of the matrices is written once, and none is
needed beside them. The squared distances of a tile serve all Gaussians, and a Gaussian whose gamma is a power
of two times that of a wider one is a power of it: squaring takes a fraction of the time of an exponential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel.kernels._rows import Rows, TileBuffers, product_tiles, write_tile
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import Gaussian

_MOST_POWER = 16  # of one exponential: a power p has p times its relative error
_LARGEST_SHARE = 0.1  # of the largest number: below it, rounding on the way does not overflow


@dataclass(frozen=True)
class Target:
    """A kernel that `joins` others, where its Gram matrix (n, n) goes, and 1 / √k(x, x) for a unit diagonal.

    Without `roots` the matrix is that of the kernel as it is.
    """

    kernel: Any
    out: np.ndarray
    roots: np.ndarray | None = None


def joins(kernel: Kernel, rows: Rows, dtype: Any) -> bool:
    """Whether the training Gram of a fitted kernel can be written with others, and is finite in `dtype`."""
    if not (kernel.is_psd and kernel.is_fitted and kernel._reads_products(rows)):
        return False
    with np.errstate(all="ignore"):  # of a positive semidefinite kernel no entry is above the largest k(x, x)
        return bool(kernel._diagonal(rows).max() <= _LARGEST_SHARE * float(np.finfo(dtype).max))


def write_together(rows: Rows, targets: Sequence[Target]) -> None:
    """Write the training Gram of each target, symmetric bit by bit."""
    dots = [target for target in targets if not isinstance(target.kernel, Gaussian)]
    chains = _chains([target for target in targets if isinstance(target.kernel, Gaussian)])
    buffers = TileBuffers(2)
    with np.errstate(all="ignore"):
        for left, right, products in product_tiles(rows.values, rows.values, half=True):
            scratch = buffers.shaped(products.shape)
            for target in dots:
                _write_dots(target, left, right, products, scratch)
            if chains:
                _write_gaussians(chains, rows.sq_norms, left, right, products, scratch)
    for target in targets:
        if target.roots is not None:
            np.fill_diagonal(target.out, target.roots > 0.0)
        elif isinstance(target.kernel, Gaussian):
            np.fill_diagonal(target.out, 1.0)


def _write_dots(
    target: Target, left: slice, right: slice, products: np.ndarray, scratch: list[np.ndarray]
) -> None:
    values, factors = scratch
    np.copyto(values, products)
    target.kernel._map(values)
    if target.roots is not None:
        values *= np.multiply(target.roots[left, None], target.roots[right], out=factors)
    write_tile(target.out, left, right, values, True)


def _write_gaussians(
    chains: list[list[tuple[int, Target]]],
    norms: np.ndarray,
    left: slice,
    right: slice,
    products: np.ndarray,
    scratch: list[np.ndarray],
) -> None:
    distances, values = scratch
    # ‖x‖² + ‖z‖² first: addition commutes, so the result does not depend on the order of x and z
    np.add(norms[left, None], norms[right], out=values)
    np.multiply(products, 2.0, out=distances)
    distances -= values
    np.minimum(distances, 0.0, out=distances)
    for chain in chains:
        np.multiply(distances, chain[0][1].kernel._coefficient, out=values)
        np.exp(values, out=values)
        for n_squarings, target in chain:
            for _ in range(n_squarings):
                np.square(values, out=values)
            write_tile(target.out, left, right, values, True)


def _chains(targets: list[Target]) -> list[list[tuple[int, Target]]]:
    """Gaussians from the widest on, each with how often the values of the one before are squared for it.

    The first of a chain takes an exponential.
    """
    chains: list[list[tuple[int, Target]]] = []
    first = last = math.nan
    for target in sorted(targets, key=lambda target: target.kernel._coefficient):
        gamma = target.kernel._coefficient
        fraction, exponent = math.frexp(gamma / last)
        # no fraction is 0.5 at the first, whose ratio is NaN
        if fraction == 0.5 and math.ldexp(last, exponent - 1) == gamma and gamma <= _MOST_POWER * first:
            chains[-1].append((exponent - 1, target))
        else:
            first = gamma
            chains.append([(0, target)])
        last = gamma
    return chains
