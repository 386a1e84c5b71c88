"""Local Fisher discriminant analysis (Sugiyama, 2007): affinities, local scatters, directions.

With n samples, n_c of them in class c, and affinities A_ij of samples of one class,

    S_w = ½ Σ_ij W^w_ij (g_i − g_j)(g_i − g_j)',   W^w_ij = A_ij / n_c  in class c, else 0
    S_b = ½ Σ_ij W^b_ij (g_i − g_j)(g_i − g_j)',   W^b_ij = A_ij (1/n − 1/n_c)  in class c, else 1/n

and the directions are S_b v = λ (S_w + ε I) v, v'(S_w + ε I) v = 1, the largest λ first. With A = 1 these
are the scatters of Fisher. The coordinates g are the columns of the samples, or any whose products are the
kernel matrix, K = G G': the eigenvectors of K, each times the root of its eigenvalue. ε is a share of tr S_w,
so that neither the unit nor the choice of coordinates matters.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.neighbors import affinities

_NULL = 1e-12  # of the largest eigenvalue: a smaller one is rounding
SCALINGS = ("weighted", "orthonormalized", "plain")


class SingularWithinError(ValueError):
    """The local scatter inside the classes cannot be inverted."""


class Directions(NamedTuple):
    """What was found: ``coefficients`` (n_coordinates, n_directions) and λ."""

    coefficients: Array
    eigenvalues: Array


def pair_weights(squares: Array, codes: Array, n_neighbors: int | None) -> tuple[Array, Array]:
    """W^b and W^w (n, n), of squared distances (n, n) and classes 0, 1, … (n,)."""
    n = codes.size
    between, within = np.full((n, n), 1.0 / n), np.zeros((n, n))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        place = np.ix_(rows, rows)
        near = affinities(squares[place], n_neighbors)
        between[place] = near * (1.0 / n - 1.0 / rows.size)
        within[place] = near / rows.size
    return between, within


def coordinates_of(K: Array) -> tuple[Array, Array]:
    """G (n, r) with G G' = K, and the matrix M (n, r) with G = K M."""
    values, vectors = scipy.linalg.eigh(K)
    kept = values > _NULL * max(values[-1], 0.0)
    roots = np.sqrt(values[kept])
    return vectors[:, kept] * roots, vectors[:, kept] / roots


def find_directions(
    G: Array, between: Array, within: Array, reg: float, count: int | None = None
) -> Directions:
    """The first ``count`` directions of the coordinates G (n, r), all by default; ε = ``reg`` · tr S_w."""
    centered = G - G.mean(axis=0)
    S_b, S_w = _scatter(centered, between), _scatter(centered, within)
    S_w[np.diag_indices_from(S_w)] += reg * np.trace(S_w)
    spread = scipy.linalg.eigvalsh(S_w)
    if not spread[0] > _NULL * spread[-1]:
        raise SingularWithinError(
            "the local scatter inside the classes is singular: some direction has no spread among near "
            "samples of one class (more columns than samples, columns that depend on others, repeated "
            "samples). Set reg, such as reg=1e-3, or put a PCA before it."
        )
    r = len(S_w)
    subset = None if count is None or count >= r else [r - count, r - 1]
    eigenvalues, vectors = scipy.linalg.eigh(S_b, S_w, subset_by_index=subset)
    return Directions(vectors[:, ::-1], eigenvalues[::-1])


def scaled(directions: Directions, scaling: str) -> Array:
    """The directions in the metric asked for: × √λ, orthonormal by Gram and Schmidt, or as they are."""
    V = directions.coefficients
    if scaling == "weighted":
        return V * np.sqrt(np.maximum(directions.eigenvalues, 0.0))
    if scaling == "plain":
        return V
    Q, R = np.linalg.qr(V)
    return Q * np.where(np.diagonal(R) < 0.0, -1.0, 1.0)


def apply_laplacian(weights: Array, G: Array) -> Array:
    """(D − W) G, D the sums of the rows of W (n, n), for the columns of G (n, r)."""
    return np.asarray(weights.sum(axis=1)[:, None] * G - weights @ G)


def _scatter(G: Array, weights: Array) -> Array:
    """½ Σ_ij w_ij (g_i − g_j)(g_i − g_j)' = G'(D − W) G."""
    S = G.T @ apply_laplacian(weights, G)
    return 0.5 * (S + S.T)
