"""Weights by discriminant analysis: the combination in whose feature space the classes lie furthest apart.

min_θ  λ tr H'(λI + Σ_i θ_i G~_i)⁻¹H,   θ'r = 1       by total scatter, any classes (Ye et al., 2007)
max_θ  d'(S₊ + S₋ + λI)⁻¹d,             Σ_i θ_i = 1   by scatter within two classes (Kim et al., 2006)
"""

import warnings
from typing import Any

import numpy as np

from .._validation import check_choice, check_number
from ..core.optim.loop import Status
from ..solvers.discriminant import DiscriminantProblem
from ..solvers.discriminant_problem import FORMULATIONS, check_reg
from ._discriminants import solve_discriminant, solve_kim
from ._inputs import class_codes, kernels_first, names_of
from .result import KernelWeights

Array = np.ndarray[Any, np.dtype[Any]]


def discriminant_weights(
    kernels: Any,
    y: Any,
    reg: Any = 1e-4,
    *,
    formulation: str = "exact",
    psd: str = "error",
) -> KernelWeights:
    """Kernel weights θ by which regularised kernel discriminant analysis separates the classes best.

    Solves min λ tr H'(λI + Σ_i θ_i G~_i)⁻¹H over θ ≥ 0, θ'r = 1, with the centred kernels G~_i and their
    traces r_i; H has a column √(n/n_c) (e_c − n_c/n) for each class c of n_c samples with indicator e_c, or
    for two classes the one column of 1/n₊ on the second class and −1/n₋ on the first.
    :class:`multikernel.KernelDiscriminantClassifier` learns the same weights and classifies by them.

    Parameters
    ----------
    kernels : ndarray of shape (n, n, n_kernels) or (n, n), or list or dict of arrays of shape (n, n)
        Gram matrices of the samples; positive semidefinite. Their scales do not matter.
    y : array-like of shape (n,)
        Labels of two classes or more.
    reg : float or "learn"
        λ, relative to a kernel whose centred trace is 1; "learn" finds it together with the weights.
    formulation : {"exact", "approximate"}
        "approximate" is (37) of the paper, for three classes or more: an upper bound of the above with other
        weights. See :class:`multikernel.KernelDiscriminantClassifier`.
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite; the weights are then those of the
        repaired kernels.

    Returns
    -------
    KernelWeights
        With ``weights`` of shape (n_kernels,), θ'r = 1, and ``reg``. ``objective`` is that of the paper: with
        the factor λ where it is given, without it where it is learned.

    Warns
    -----
    UserWarning
        If no kernel separates the classes better than the identity: the learned ``reg`` is infinite, and the
        weights are those of the best single kernel.

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> kernels = {"x": np.outer(x, x), "z": np.outer(z, z)}
    >>> learned = discriminant_weights(kernels, ["no", "yes", "no", "yes"], reg=0.1)
    >>> learned.weights.round(3), round(learned.objective, 3), learned.reg
    (array([0.239, 0.007]), 0.113, 0.1)
    """
    check_choice("formulation", formulation, FORMULATIONS)
    given = check_reg(reg)
    Ks = np.ascontiguousarray(kernels_first(kernels, psd), float)
    codes = class_codes(y, Ks.shape[1])
    problem = DiscriminantProblem(Ks, codes, given, formulation)
    result = solve_discriminant(problem, names_of(kernels, len(Ks)))
    _warn_unless_optimal(result.status, result.gap)
    return KernelWeights(
        weights=result.weights,
        objective=result.objective,
        upper_bound=result.objective,
        gap=result.gap,
        n_iter=result.n_iter,
        status=str(result.status),
        lower_bound=result.lower_bound,
        reg=result.reg,
    )


def kim_weights(kernels: Any, y: Any, reg: float = 1e-4, *, psd: str = "error") -> KernelWeights:
    """Kernel weights θ of the largest regularised Fisher ratio (Kim, Magnani & Boyd, 2006).

    Solves max d'(S₊ + S₋ + λI)⁻¹d over θ ≥ 0, Σ θ = 1, where d is the difference of the means of two classes
    and S₊, S₋ are their covariances in the feature space of Σ_i θ_i K_i.

    Parameters
    ----------
    kernels : ndarray of shape (n, n, n_kernels) or (n, n), or list or dict of arrays of shape (n, n)
        Gram matrices of the samples; positive semidefinite. Their scales matter: a kernel of larger entries
        has a larger ratio at the same λ.
    y : array-like of shape (n,)
        Labels of two classes.
    reg : float
        λ > 0, in the units of the kernels.
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite.

    Returns
    -------
    KernelWeights
        With ``weights`` of shape (n_kernels,) and sum 1; ``objective`` is the ratio.

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> learned = kim_weights([np.outer(x, x), np.outer(z, z)], ["no", "yes", "no", "yes"], reg=0.1)
    >>> learned.weights.round(3), round(learned.objective, 3)
    (array([0.917, 0.083]), 28.997)
    """
    given = check_number("reg", reg, above=0.0)
    Ks = np.ascontiguousarray(kernels_first(kernels, psd), float)
    codes = class_codes(y, Ks.shape[1])
    if codes.max() > 1:
        raise ValueError(
            f"y must hold two classes for kim_weights; got {codes.max() + 1}. "
            "discriminant_weights takes any number."
        )
    result = solve_kim(Ks, codes, given, names_of(kernels, len(Ks)))
    _warn_unless_optimal(result.status, result.gap)
    return KernelWeights(
        weights=result.weights,
        objective=result.objective,
        upper_bound=result.upper_bound,
        gap=result.gap,
        n_iter=result.n_iter,
        status=str(result.status),
        lower_bound=result.objective,
        reg=given,
    )


def _warn_unless_optimal(status: Status, gap: float) -> None:
    if status != Status.OPTIMAL:
        warnings.warn(
            f"the weights ended as {str(status)!r} with a relative gap of {gap:.1e}.",
            RuntimeWarning,
            stacklevel=3,
        )
