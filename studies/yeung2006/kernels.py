"""The kernels that the study compares: each as it is with all labels, and as it is without one of them.

gaussian          K itself
alignment         K_μ = Σ_r μ_r² v_r v_r' over all eigenvectors of K, μ_r² ∝ (v_r'y)²
conformal         q(x) q(z) k(x, z), q = a_0 + Σ_j a_j k_1(·, c_j) around a third of the labelled points
separability      K_μ over all eigenvectors of K, μ in closed form, α = 10⁴

and variants of ours (`VARIANTS`): eigenvectors above a share of the largest eigenvalue only, columns told
apart, the factor of the conformal kernel with the width of k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from multikernel.spectral.conformal import choose_cores
from multikernel.spectral.solver.conformal_kernel import scatter_matrices
from multikernel.spectral.solver.kernel import SpectralRule, Spectrum, learn_spectral_weights, spectrum_of
from multikernel.spectral.solver.leave_one_out import squares_without_each
from studies.yeung2006.setting import Split, gaussian_kernels

KERNELS = {"gaussian": "RBF", "alignment": "Alignment", "conformal": "Xiong's", "separability": "Ours"}
VARIANTS = {
    "separability_kept": "separability, eig_tol = 0.01",
    "separability_loo": "separability, eig_tol by leave-one-out",
    "separability_apart": "separability, eig_tol = 0.01, columns told apart",
    "alignment_kept": "alignment, eig_tol = 0.01",
    "conformal_same": "conformal, the factor with the width of the kernel",
}
ALL = 1e-10  # of the largest eigenvalue: what is below is rounding
EIG_TOL = 0.01
EIG_TOLS = (0.3, 0.1, 0.03, 0.01)
CORES = 1 / 3
STEP, STEPS = 0.01, 200  # of Xiong et al.
_APART = 1e-4  # relative differences between the scales of columns that would give equal eigenvalues
_CORE_SEED = 2006

Array = np.ndarray


@dataclass(frozen=True)
class LearnedKernel:
    """One kernel to choose from.

    Attributes
    ----------
    width : str
    eig_tol : float or None
        The share of the largest eigenvalue that those kept exceed; None where all are kept or there is none.
    K : ndarray of shape (n, n)
        Over all points, labelled ones first.
    without : callable
        Position of a labelled point to the kernel between all labelled points (l, l), learned without it.
    is_relearned : bool
        Whether that differs from point to point. It does not for the plain kernel, nor for the conformal
        one, which is left as all labels made it: one point of many hardly moves its factor.
    """

    width: str
    eig_tol: float | None
    K: Array
    without: Callable[[int], Array]
    is_relearned: bool = True

    @property
    def name(self) -> str:
        """What was chosen, in a word."""
        return self.width if self.eig_tol is None else f"{self.width}, {self.eig_tol:g}"


def learned_kernels(kernel: str, points: Split) -> Iterator[LearnedKernel]:
    """Give the kernels to choose from, in the order in which the first of equals is chosen.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS` or `VARIANTS`.
    points : Split

    Yields
    ------
    LearnedKernel
    """
    X = points.X
    if kernel == "separability_apart":
        X = X * (1.0 + _APART * np.arange(X.shape[1]))
    cores = choose_cores(CORES, points.n_labelled, _CORE_SEED)
    method, _, variant = kernel.partition("_")
    own = None  # the kernel of the factor
    for width, K in gaussian_kernels(X):
        own = K if own is None or variant == "same" else own  # the first has σ² = d̄²
        if method == "gaussian":
            yield _fixed(width, K, points.n_labelled)
        elif method == "conformal":
            yield _fixed(width, conformal_kernel(K, own[:, cores], points.labels), points.n_labelled)
        else:
            eig_tols = {"": (ALL,), "loo": EIG_TOLS}.get(variant, (EIG_TOL,))
            yield from _spectral(width, K, points.labels, eig_tols, SpectralRule(method))


def conformal_kernel(K: Array, factor_columns: Array, labels: Array) -> Array:
    """The kernel q(x) q(z) k(x, z) of Xiong et al. (2005), by their steps as they are: none is halved.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        k, labelled points first.
    factor_columns : ndarray of shape (n, n_cores)
        k_1 between all points and the cores.
    labels : ndarray of shape (l,)

    Returns
    -------
    ndarray of shape (n, n)
    """
    l = len(labels)
    K1 = np.column_stack([np.ones(len(K)), factor_columns])
    between, within = scatter_matrices(K[:l, :l], labels)
    M, N = (K1[:l].T @ scatter @ K1[:l] for scatter in (between, within))
    a = np.eye(1, K1.shape[1])[0]
    for t in range(STEPS):
        inside = a @ N @ a
        if not inside > 0.0:  # no point is like another, or all are alike: nothing tells where to go
            break
        a = a + STEP * (1.0 - t / STEPS) * (M @ a - (a @ M @ a / inside) * (N @ a)) / inside
        a = a / np.linalg.norm(a)
    q = K1 @ a
    return K * np.multiply.outer(q, q)


def _fixed(width: str, K: Array, n_labelled: int) -> LearnedKernel:
    inside = K[:n_labelled, :n_labelled]
    return LearnedKernel(width, None, K, lambda i: inside, is_relearned=False)


def _spectral(
    width: str, K: Array, labels: Array, eig_tols: tuple[float, ...], rule: SpectralRule
) -> Iterator[LearnedKernel]:
    """One kernel for each part of the spectrum; a threshold that keeps what the last one kept adds none."""
    whole = spectrum_of(K)
    kept = 0
    for eig_tol in eig_tols:
        spectrum = whole.above(eig_tol)
        if spectrum.values.size > kept:
            kept = spectrum.values.size
            yield _weighted(width, None if eig_tol == ALL else eig_tol, spectrum, labels, rule)


def _weighted(
    width: str, eig_tol: float | None, spectrum: Spectrum, labels: Array, rule: SpectralRule
) -> LearnedKernel:
    Z = spectrum.vectors * learn_spectral_weights(spectrum, labels, rule).weights
    V = spectrum.vectors[: len(labels)]
    squares = squares_without_each(spectrum, labels, rule)
    if rule.criterion == "alignment":
        squares = squares * (spectrum.trace / squares.sum(axis=1, keepdims=True))
    return LearnedKernel(width, eig_tol, Z @ Z.T, lambda i: (V * squares[i]) @ V.T)
