"""The kernel of largest Fisher ratio (Kim, Magnani & Boyd, 2006), the forerunner of `discriminant`.

    max over θ ≥ 0, Σ θ = 1 of  F1(θ) = d'(S₊ + S₋ + λI)⁻¹d = (1/λ) min_v (a − Jv)'G(a − Jv) + λv'v

for two classes, with d = φa the difference of their means in the feature space of G = Σ_i θ_i G_i, S₊ and S₋
their covariances (each divided by its own number of points) and J = diag over classes of (I − 11'/n_c)/√n_c.
The kernels are neither centred nor scaled: a constant added to one changes nothing, but a factor does,
because the sum of the weights is given.

Ye et al. (2007, equation 3) weight the covariances by the sizes of the classes: (n₊S₊ + n₋S₋)/n, with √n in
the place of √n_c in J. Then F1 and their own criterion F2, which has the total scatter instead of that
within the classes, are monotone functions of each other, F2 = F1 / (1 + (n₊n₋/n²) F1): both have the same
optimal kernel over the same set, and they differ by the set alone (Σ θ = 1 here, Σ θ_i tr G~_i = 1 there).

At a point, v = (λI + JGJ)⁻¹JGa and u = a − Jv give the direction φα with α = u/λ, and

    ∂_i F1 = u'G_iu / λ,      ∂²_ij F1 = −(2/λ) (JG_iu)'(λI + JGJ)⁻¹(JG_ju).

F1 is a minimum of functions that are linear in θ, so that every v bounds the optimum from above:

    F1* ≤ (max_i u'G_iu + λv'v) / λ.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from ..._typing import Array
from ...core.optim.loop import Options, Result
from ...core.optim.simplex import minimise_over_simplex
from ...core.scatter import class_contrast
from ...core.stack.sums import weighted_sum


@dataclass(frozen=True)
class KimResult(Result):
    """Kernel weights of largest Fisher ratio.

    ``objective``: F1; ``gap``: (upper_bound − objective) / upper_bound; the history has upper_bound too.
    """

    weights: Array  # (m,), θ of sum 1
    alpha: Array  # (n,), the direction of largest ratio is Σ_j α_j φ(x_j), from class 0 to class 1
    upper_bound: float  # the optimum is not above it
    n_factorisations: int


@dataclass(frozen=True)
class FisherRatio:
    """−λF1 and its derivatives at one point: what is minimised."""

    value: float
    bound: float
    gradient: Array
    hessian: Array
    u: Array

    @property
    def gap(self) -> float:
        return abs(1.0 - self.value / self.bound) if self.bound < 0.0 else 0.0


class FisherStack:
    """The kernels, each divided by its scale, and J of the classes."""

    def __init__(
        self, Ks: Array, codes: Array, scales: Array | None = None, *, weighted: bool = False
    ) -> None:
        self.Ks, self.n, self.weighted = Ks, codes.size, weighted
        self.scales = np.ones(len(Ks)) if scales is None else scales
        self.contrast = class_contrast(codes)
        self.classes = [np.flatnonzero(codes == 0), np.flatnonzero(codes == 1)]

    def combine(self, weights: Array) -> Array:
        return weighted_sum(self.Ks, weights / self.scales)

    def within(self, V: Array) -> Array:
        """JV."""
        out = np.empty_like(V)
        for members in self.classes:
            block = V[members]
            out[members] = (block - block.mean(axis=0)) / np.sqrt(self.n if self.weighted else members.size)
        return out

    def times(self, u: Array) -> Array:
        """G_i u, (m, n)."""
        products = np.asarray(self.Ks @ u.astype(self.Ks.dtype, copy=False), float)
        return products / self.scales[:, None]


def fisher_ratio(stack: FisherStack, reg: float, weights: Array) -> FisherRatio | None:
    """−λF1, gradient and Hessian in θ; None where λI + JGJ is not positive definite to rounding."""
    K = stack.combine(weights)
    A = stack.within(stack.within(K).T)
    A.flat[:: stack.n + 1] += reg
    R, failed = dpotrf(A.T, lower=0, clean=0, overwrite_a=1)
    if failed:
        return None
    b = stack.within(K @ stack.contrast)
    v = dtrtrs(R, dtrtrs(R, b, lower=0, trans=1)[0], lower=0)[0]
    u = stack.contrast - stack.within(v)
    products = stack.times(u)
    q = products @ u
    W = dtrtrs(R, stack.within(products.T), lower=0, trans=1)[0]
    ridge = reg * float(v @ v)
    return FisherRatio(
        value=-(float(weights @ q) + ridge),
        bound=-(float(q.max()) + ridge),
        gradient=-q,
        hessian=2.0 * (W.T @ W),
        u=u,
    )


def learn_kim(
    Ks: Array,
    codes: Array,
    reg: float,
    options: Options | None = None,
    scales: Array | None = None,
    *,
    weighted: bool = False,
) -> KimResult:
    """Learn kernel weights of largest Fisher ratio.

    Parameters
    ----------
    Ks : array (m, n, n), C-contiguous, symmetric positive semidefinite; never modified
    codes : array (n,) of int, 0 and 1, both present
    reg : float, λ > 0
    options : Options, optional; by default a relative gap of 1e-8 within 100 iterations
    scales : array (m,), optional; G_i = Ks_i / scales_i, 1 each by default
    weighted : bool, (n₊S₊ + n₋S₋)/n instead of S₊ + S₋

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(40) % 2
    >>> good, bad = rng.normal(size=(2, 40, 3))
    >>> good[:, 0] += 4 * codes
    >>> result = learn_kim(np.array([good @ good.T, bad @ bad.T]), codes, 1e-2)
    >>> result.weights.round(2), result.gap <= 1e-8
    (array([0.73, 0.27]), True)
    """
    options = options or Options(tol=1e-8, max_iter=100)
    stack = FisherStack(Ks, codes, scales, weighted=weighted)
    watch = options.callback
    if watch is not None:
        options = replace(options, callback=lambda entry: watch(_in_units(entry, reg)))
    found = minimise_over_simplex(
        lambda weights: fisher_ratio(stack, reg, weights), np.full(len(Ks), 1.0 / len(Ks)), options
    )
    here = found.evaluation
    return KimResult(
        weights=found.point,
        alpha=here.u / reg,
        objective=-here.value / reg,
        upper_bound=-here.bound / reg,
        gap=here.gap,
        n_iter=found.n_iter,
        n_factorisations=found.n_evaluations,
        status=found.status,
        history=[_in_units(entry, reg) for entry in found.history],
    )


def _in_units(entry: dict[str, float], reg: float) -> dict[str, float]:
    value = -entry["objective"] / reg
    return {
        "iteration": entry["iteration"],
        "objective": value,
        "upper_bound": value / (1.0 - entry["gap"]),
        "gap": entry["gap"],
        "n_active": entry["n_active"],
    }
