"""Weights by kernel alignment: the combination whose angle to the labels is smallest.

max_μ  q'μ,   μ'Sμ = 1,      q_i = y'K_i y on the labelled samples,   S_ij = ⟨K_i, K_j⟩ on all samples
"""

import warnings
from typing import Any

import numpy as np
import scipy.linalg

from .._validation import check_choice, check_positive_integer
from ..core.optim.loop import Status
from ..kernels.transforms import Center
from ..solvers.alignment import AlignmentResult, learn_alignment, spectral_alignment
from ._inputs import kernels_first, signs_of_two_classes
from .result import KernelWeights

Array = np.ndarray[Any, np.dtype[Any]]

WEIGHTS = ("nonnegative", "free", "spectral")
_RANGE_TOLERANCE = 1e-10


def alignment_weights(
    kernels: Any,
    y: Any,
    *,
    weights: str = "nonnegative",
    centered: bool = False,
    n_components: int | None = None,
    psd: str = "error",
) -> KernelWeights:
    """Kernel weights μ of best alignment of K(μ) = Σ_i μ_i K_i with the labels.

    Solves max q'μ over μ'Sμ = 1, where q_i = y'K_i y is taken over the labelled samples and S_ij = ⟨K_i, K_j⟩
    over all. Without unlabelled samples q'μ is n times the alignment of K(μ) with yy'; with them it is not,
    and the alignment on the labelled samples is reported beside it.

    Parameters
    ----------
    kernels : ndarray of shape (n, n, n_kernels) or (n, n), or list or dict of arrays of shape (n, n)
        Gram matrices over all samples, the labelled ones first; positive semidefinite.
    y : array-like of shape (n_labelled,), n_labelled ≤ n
        Labels of the first samples, of two classes.
    weights : {"nonnegative", "free", "spectral"}
        "nonnegative": μ ≥ 0. "free": any sign, as long as K(μ) is positive semidefinite over all n samples.
        "spectral": μ ≥ 0 are new eigenvalues for the eigenvectors of the kernel; of several kernels, for
        those of the sum of the kernels scaled to trace one.
    centered : bool
        Whether to align the centred kernels HK_iH, H = I − 11ᵀ/n. For "free" it is then HK(μ)H
        (:func:`multikernel.kernels.center`) that is positive semidefinite, and for "spectral" the
        eigenvectors are those of the centred matrix.
    n_components : int, optional
        For "spectral": how many eigenvectors, those of the largest eigenvalues. Default: all whose
        eigenvalue is not zero.
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite; the weights are then those of the
        repaired kernels.

    Returns
    -------
    KernelWeights
        With ``weights`` of shape (n_kernels,) such that K(μ) has Frobenius norm 1 over all samples. For a
        matrix of trace c, take ``c * mu / (mu @ traces)`` with the traces of the kernels; for "spectral"
        ``c * mu / mu.sum()``.

    Notes
    -----
    Cost: one read of the kernels for "nonnegative", an eigendecomposition for "spectral", about fifteen steps
    of (2 n_kernels + 10) n³ operations for "free". A free combination is positive semidefinite up to
    rounding; where nearly dependent kernels get large weights of both signs the rounding grows with them, and
    ``smallest_eigenvalue`` says how far.

    Raises
    ------
    ValueError
        Also if no kernel is aligned with the labels at all.

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> kernels = {"x": np.outer(x, x) + 0.5 * np.eye(4), "z": np.outer(z, z), "same": np.eye(4)}
    >>> labels = ["no", "yes", "no"]  # of the first three samples
    >>> learned = alignment_weights(kernels, labels)
    >>> learned.weights.round(3), round(learned.objective, 3), round(learned.alignment_train, 3)
    (array([0.199, 0.   , 0.049]), 2.123, 0.937)
    >>> learned = alignment_weights(kernels, labels, weights="free")
    >>> learned.weights.round(3), round(learned.objective, 3), learned.status
    (array([ 0.176, -0.09 ,  0.157]), 2.212, 'optimal')
    >>> alignment_weights(kernels["x"], labels, weights="spectral").vectors.shape
    (4, 4)
    """
    return _learn(kernels, y, check_choice("weights", weights, WEIGHTS), centered, n_components, psd)


def centered_alignment_weights(
    kernels: Any,
    y: Any,
    *,
    weights: str = "nonnegative",
    n_components: int | None = None,
    psd: str = "error",
) -> KernelWeights:
    """Kernel weights of best centred alignment: :func:`alignment_weights` with ``centered=True``.

    Centring takes away what a constant in a kernel, or classes of unequal size, would add to the alignment.

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1])
    >>> learned = centered_alignment_weights([5.0 + np.outer(y, y), np.eye(4)], y)
    >>> learned.weights.round(6), round(learned.alignment_train, 6)
    (array([0.333333, 0.      ]), 1.0)
    """
    return _learn(kernels, y, check_choice("weights", weights, WEIGHTS), True, n_components, psd)


def _learn(
    kernels: Any, y: Any, weights: str, centered: bool, n_components: int | None, psd: str
) -> KernelWeights:
    if n_components is not None and weights != "spectral":
        raise ValueError(
            f'n_components counts the eigenvectors of weights="spectral"; got it with {weights!r}.'
        )
    Ks = kernels_first(kernels, psd)
    signs = signs_of_two_classes(y, Ks.shape[1])
    vectors = None
    if weights == "spectral":
        vectors = _eigenvectors(Ks, n_components, centered)
        result = spectral_alignment(vectors, signs, centered=centered)
    else:
        result = learn_alignment(Ks, signs, weights, centered=centered)
    _warn(result)
    return KernelWeights(
        weights=result.weights,
        objective=result.objective,
        upper_bound=result.upper_bound,
        gap=result.gap,
        alignment_train=result.alignment_train,
        smallest_eigenvalue=result.smallest_eigenvalue,
        vectors=vectors,
        n_iter=result.n_iter,
        status=str(result.status),
        lower_bound=result.objective,
    )


def _eigenvectors(Ks: Array, n_components: int | None, centered: bool) -> Array:
    """Eigenvectors (n, k) of the sum of the kernels at trace one, the largest eigenvalue first."""
    total = np.zeros(Ks.shape[1:])
    for K in Ks:
        scaled = K / np.float64(K.diagonal().max())
        total += scaled / np.trace(scaled)
    if centered:
        total = Center().fit(total).train(total, overwrite=True)
    values, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
    rank = int(np.count_nonzero(values > _RANGE_TOLERANCE * values[-1]))
    k = rank if n_components is None else check_positive_integer("n_components", n_components)
    if k > rank:
        raise ValueError(
            f"n_components must be at most the number of eigenvalues that are not zero, {rank}; got {k}."
        )
    vectors = vectors[:, : -k - 1 : -1]
    largest = np.abs(vectors).argmax(axis=0)  # the sign is arbitrary: make it the same on every machine
    return np.ascontiguousarray(vectors * np.sign(vectors[largest, np.arange(k)]))


def _warn(result: AlignmentResult) -> None:
    if result.rank < result.weights.size:
        warnings.warn(
            f"only {result.rank} of the {result.weights.size} kernels are linearly independent: other "
            "weights give the same matrix. Leave out what repeats others if you read the weights.",
            UserWarning,
            stacklevel=4,
        )
    if result.status != Status.OPTIMAL:
        warnings.warn(
            f"alignment ended as {str(result.status)!r} with a relative gap of {result.gap:.1e}.",
            RuntimeWarning,
            stacklevel=4,
        )
