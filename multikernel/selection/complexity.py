"""The complexity of a family of kernels over given points: C = E max_{K ∈ 𝒦} s'Ks over random signs s."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import as_generator, check_choice, check_number, check_positive_integer
from ..criteria.complexity import mean_with_error, nonnegative_limit, stack_ratios, vector_ratios
from ..solvers import leading_eigenvectors
from ..solvers.complexity import largest_over_spectrahedron
from ._inputs import check_draws, kernels_first

Array = np.ndarray[Any, np.dtype[Any]]

WEIGHTS = ("nonnegative", "free", "spectral")


@dataclass(frozen=True)
class KernelComplexity:
    """Complexity of a family of kernel matrices, estimated from random signs.

    Attributes
    ----------
    mean : float
        The estimate of C.
    standard_error : float
        Of the mean over the draws.
    limit : float
        C cannot exceed this: c · min(m, N max_j λ_j / r_j), with c the trace, N the number of points, λ_j the
        largest eigenvalue and r_j the trace of kernel j; c · N for free weights.
    trace : float
        c, the trace of the matrices in the family.
    n_draws : int
    bracket : float
        The largest relative distance, over the draws, between the upper bound that is used and a lower one:
        0 where the maximum is a formula.
    """

    mean: float
    standard_error: float
    limit: float
    trace: float
    n_draws: int
    bracket: float

    def __str__(self) -> str:
        c = self.trace
        return (
            f"C = {self.mean:.4g} ± {self.standard_error:.2g} ({self.n_draws} draws), {self.mean / c:.3g} ± "
            f"{self.standard_error / c:.2g} times the trace; at most {self.limit / c:.3g} times"
        )


def kernel_complexity(
    kernels: Any,
    *,
    weights: str = "nonnegative",
    trace: float | None = None,
    n_components: int | None = None,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> KernelComplexity:
    """Estimate C = E max s'Ks over the matrices K of a family with trace c, for random signs s.

    A family that fits random signs well fits any labels well, right or wrong: the larger C, the more training
    points are needed before a good fit means anything. C / c is at least 1 and needs no labels, so families
    can be compared by it.

    Parameters
    ----------
    kernels : array (N, N, n_kernels), array (N, N), or list or dict of arrays (N, N)
        Positive semidefinite kernels over all points, training and test.
    weights : {"nonnegative", "free", "spectral"}
        Nonnegative weights; weights of any sign that keep the matrix positive semidefinite; or nonnegative
        weights of rank-one matrices of eigenvectors of the kernel (of the mean of the kernels, each scaled to
        trace one, if there are several).
    trace : float, optional
        c; by default the sum of the kernels' traces. C is proportional to it.
    n_components : int, optional
        How many eigenvectors (spectral); by default all with an eigenvalue above 1e-10 of the largest.
    n_draws : int
    random_state : int, Generator or None
        The same seed gives the same draws.

    Returns
    -------
    KernelComplexity

    Notes
    -----
    Free weights need a small semidefinite program for each draw and one or two eigenvalue problems of size N:
    some milliseconds for 200 points and 3 to 5 kernels, a third of a second for 1000 points, where fewer
    draws may do. Each is bounded from both sides to 1e-4, and the upper bound is used. Time grows with the
    number of kernels: a few are meant, not hundreds.

    Examples
    --------
    One kernel has C / c = 1, whatever it is. Three kernels that know different things fit more:

    >>> import numpy as np
    >>> from multikernel.selection import kernel_complexity
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> kernels = [np.outer(x, x) for x in X.T]
    >>> alone, together = kernel_complexity(kernels[:1]), kernel_complexity(kernels)
    >>> round(alone.mean / alone.trace, 1), round(together.mean / together.trace, 1)
    (1.0, 2.2)
    """
    check_choice("weights", weights, WEIGHTS)
    return complexity_of_stack(
        kernels_first(kernels),
        weights=weights,
        trace=trace,
        n_components=n_components,
        n_draws=check_draws(n_draws),
        rng=as_generator(random_state),
    )


def complexity_of_stack(
    Ks: Array,
    *,
    weights: str,
    trace: float | None,
    n_components: int | None,
    n_draws: int,
    rng: np.random.Generator,
) -> KernelComplexity:
    """`kernel_complexity` of a checked stack (m, N, N)."""
    traces = np.array([np.trace(K, dtype=float) for K in Ks])
    c = float(traces.sum()) if trace is None else check_number("trace", trace, above=0)
    n_points, bracket = Ks.shape[1], 0.0
    if weights == "spectral":
        if n_components is not None:
            check_positive_integer("n_components", n_components)
        V = leading_eigenvectors(np.tensordot(1.0 / traces, Ks, 1), n_components)[1]
        best, limit = vector_ratios(V, n_draws, rng).max(axis=1), float(V.shape[1])
    elif weights == "free":
        lower, best = largest_over_spectrahedron(Ks, stack_ratios(Ks, n_draws, rng))
        bracket, limit = float(((best - lower) / np.maximum(best, 1.0)).max()), float(n_points)
    else:
        best, limit = stack_ratios(Ks, n_draws, rng).max(axis=1), nonnegative_limit(Ks)
    mean, error = mean_with_error(best)
    return KernelComplexity(c * mean, c * error, c * limit, c, n_draws, bracket)
