"""The optimal value of kernel ridge regression as a function of kernel weights, and its gradient.

    F(η) = tr T'(P + αI)⁻¹T,      P = K_η ∘ … ∘ K_η  (d times, entry by entry),   K_η = Σ_m η_m K_m / s_m
    ∂F/∂η_m = −d ⟨AA' ∘ K_η^{∘(d−1)}, K_m / s_m⟩,      A = (P + αI)⁻¹T

F / α is the least of Σ (t − f)² / α + ‖f‖² over the functions f of the kernel P. For d = 1 it is convex.

The power has each product of d kernels as often as it can be ordered. With each once,

    P = h_d,    h_j = Σ_{q ≥ 0, Σ q_m = j} ∘_m x_m^{q_m},    ∂h_d/∂x_m = Σ_{j<d} x_m^{∘j} ∘ h_{d−1−j}

with x_m = η_m K_m / s_m: h_j of the first m kernels is that of the m − 1 before, plus x_m ∘ h_{j−1} of the
first m.

Weights in a ball (Cortes, Mohri & Rostamizadeh, 2009):

    min F(η) over η ≥ 0, ‖η − η₀‖ ≤ Λ,        v = −∇F ≥ 0

For a convex F that falls in every weight the solution is the fixed point η = η₀ + Λ v / ‖v‖. Each step goes
there, and half of the way from the first time on that this does not halve the gap. Where that does not
converge, projected gradients go on from the best point seen. The certificate is Frank and Wolfe's: v'η is
below its largest value over the set, v'η₀ + Λ‖v‖, by no more than the gap, and F(η) − min F by no more than
that.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._typing import Array
from ...core.optim.loop import Options, Recorder
from ...core.optim.weight_sets import PositiveBall
from ...core.stack.sums import quadratic_sums, weighted_sum
from .descent import Function, ProjectedResult, minimise_projected

_FIXED_POINT_STEPS = 50


class RidgeValue:
    """F and its gradient, to be asked for many η ≥ 0; Ks (m, n, n) is never modified and never copied.

    Examples
    --------
    >>> value = RidgeValue(np.eye(2)[None], np.array([[1.0], [3.0]]), 1.0, np.ones(1))
    >>> value(np.array([4.0]))
    (2.0, array([-0.4]))
    """

    def __init__(self, Ks: Array, T: Array, alpha: float, scales: Array, degree: int = 1) -> None:
        self.Ks, self.T, self.alpha, self.scales, self.degree = Ks, T, alpha, scales, degree

    def __call__(self, eta: Array) -> tuple[float, Array]:
        """F and its gradient (m,); infinite where P overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            P, slopes = self._combined(eta / self.scales)
        P.flat[:: len(P) + 1] += self.alpha
        if not np.isfinite(P.sum()):
            return np.inf, np.full(len(eta), np.nan)
        A = self._solve(P)
        return float(np.vdot(self.T, A)), -slopes(A) / self.scales

    def _combined(self, weights: Array) -> tuple[Array, Callable[[Array], Array]]:
        """P, and A (n, k) to ⟨AA', ∂P/∂weight_m⟩ for every kernel, (m,)."""
        K = weighted_sum(self.Ks, weights)
        return K**self.degree, lambda A: self._forms(K, A)

    def _solve(self, M: Array) -> Array:
        try:
            return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), self.T))
        except LinAlgError:
            raise ValueError(
                f"alpha={self.alpha:g} is too small for these kernels, which are numerically singular. "
                "Raise alpha."
            ) from None

    def _forms(self, K: Array, A: Array) -> Array:
        if self.degree == 1:
            return quadratic_sums(self.Ks, A)
        G = A @ A.T
        G *= self.degree * K ** (self.degree - 1)
        return np.array([np.vdot(G, np.asarray(K_m, np.float64)) for K_m in self.Ks])


class HomogeneousRidgeValue(RidgeValue):
    """F where each product of `degree` kernels is in P once.

    Examples
    --------
    >>> Ks = np.stack([np.diag([1.0, 2.0]), np.diag([3.0, 1.0])])  # h_2 = x² + xy + y²: 13 and 7
    >>> value = HomogeneousRidgeValue(Ks, np.array([[14.0], [8.0]]), 1.0, np.ones(2), degree=2)
    >>> value(np.ones(2))[0]
    22.0
    """

    def _combined(self, weights: Array) -> tuple[Array, Callable[[Array], Array]]:
        sums = homogeneous_sums(enumerate(self.Ks), weights, self.degree)

        def slopes(A: Array) -> Array:
            G = A @ A.T
            return np.array(
                [np.vdot(G, self._slope(K, w, sums)) for K, w in zip(self.Ks, weights, strict=True)]
            )

        return sums[self.degree].copy(), slopes

    def _slope(self, K: Array, weight: float, sums: list[Array]) -> Array:
        """∂h_d/∂weight, by Horner's rule."""
        K = np.asarray(K, np.float64)
        total = sums[0].copy()
        for h in sums[1 : self.degree]:
            total *= weight * K
            total += h
        total *= K
        return total


def homogeneous_sums(kernels: Iterable[tuple[int, Array]], weights: Array, degree: int) -> list[Array]:
    """h_0 … h_degree of the kernels with their weights, from pairs of a number and its kernel, one at a time.

    Examples
    --------
    >>> kernels = enumerate(np.array([[[2.0]], [[3.0]]]))
    >>> [float(h[0, 0]) for h in homogeneous_sums(kernels, np.ones(2), 3)]
    [1.0, 5.0, 19.0, 65.0]
    """
    sums: list[Array] = []
    for m, K in kernels:
        part = np.multiply(K, weights[m], dtype=np.float64)
        sums = sums or [np.ones_like(part), *(np.zeros_like(part) for _ in range(degree))]
        for j in range(1, degree + 1):
            sums[j] += part * sums[j - 1]
    assert sums, "no kernel is active"
    return sums


def learn_in_ball(evaluate: Function, ball: PositiveBall, options: Options) -> ProjectedResult:
    """Minimise a convex function that falls in every weight: `evaluate` gives value > 0 and gradient ≤ 0.

    Examples
    --------
    >>> F = lambda x: ((1.0 / (1.0 + x)).sum(), -1.0 / (1.0 + x) ** 2)
    >>> found = learn_in_ball(F, PositiveBall(np.zeros(2), 1.0), Options(tol=1e-9))
    >>> found.point.round(6), str(found.status)
    (array([0.707107, 0.707107]), 'optimal')
    """
    m = ball.center.size
    eta = ball.center + ball.radius / np.sqrt(m)
    record = Recorder.of(options)
    best, last, share = (np.inf, eta), np.inf, 1.0
    for iteration in range(min(options.max_iter, _FIXED_POINT_STEPS)):
        value, gradient = evaluate(eta)
        size = float(np.linalg.norm(gradient))
        goal = ball.center - ball.radius * gradient / max(size, np.finfo(float).tiny)
        gap = max(float(gradient @ (eta - goal)), 0.0) / value
        lower = value * (1.0 - gap)
        if record.note({"iteration": iteration, "objective": value, "lower_bound": lower, "gap": gap}):
            return ProjectedResult(eta, gradient, objective=value, gap=gap, **record.outcome)
        best = (value, eta) if value < best[0] else best
        share = 0.5 if gap > 0.5 * last else share
        last, eta = gap, eta + share * (goal - eta)
    done = len(record.history)
    found = minimise_projected(evaluate, ball, best[1], options)
    rest = [{**entry, "iteration": entry["iteration"] + done} for entry in found.history]
    return replace(found, n_iter=done + found.n_iter, history=record.history + rest)
