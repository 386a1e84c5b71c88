"""Functions of several views whose values at the training samples are drawn together.

    min_{f, b}  Σ_m (α_m/2) ‖f_m‖² + (ρ/2) Σ_i w_i Σ_{m<l} (f_m(x_i) − f_l(x_i))² + Σ_i ℓ_i(F_i + b)

with f_m in the space of K_m, the sums F_i = Σ_m f_m(x_i), and a loss ℓ_i that holds the weight w_i.

**One kernel.** Σ_{m<l} (f_m − f_l)² = M Σ_m f_m² − F². For a given F the best f_m therefore have a closed
form, and what is left is the machine of one kernel, ½ F'H⁻¹F + Σ_i ℓ_i(F_i + b). Without weights

    R_m = (α_m I + ρ M K_m)⁻¹,   S = Σ_m K_m R_m,   T = I − ρ S = Σ_m (α_m / M) R_m,   H = T⁻¹ S.

T is positive definite for every ρ, computed as the sum and not as the difference. ρ = 0 gives
H = Σ_m K_m / α_m. With the dual variables β = H⁻¹F of that machine, f_m = K_m a_m with

    a_m = R_m (β + ρ F).

Weights: with W^½ K_m W^½ instead of K_m the same holds for W^½ F.

**Certificate.** The machine bounds the value of all functions from below; the value of the functions that are
returned is computed from their own coefficients. The gap lies between these two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._typing import Array
from ...core.optim.loop import Entry, Options, Status, relative_gap
from ...core.svm.losses import Loss, SquaredError, SquaredHinge
from ...core.weights.learn import learn_weights

_SMALLEST = 1e-200  # of values that gaps are relative to: a constant target has the value 0
MATRICES = 6  # of n × n that a fit holds beside the stack


@dataclass(frozen=True)
class Views:
    """The kernels (n_kernels, n, n), the penalty on each, and the agreement at samples with weights (n,)."""

    Ks: Array
    alphas: Array
    rho: float
    weights: Array

    @property
    def _strength(self) -> float:
        """ρ, or 0 where there is nothing to agree with."""
        return self.rho if len(self.Ks) > 1 else 0.0

    def _factor(self, m: int, root: Array) -> tuple[Array, Any]:
        """W^½ K_m W^½, and the Cholesky factor of α_m I + ρ M times it."""
        K = np.asarray(self.Ks[m], np.float64) * root[:, None] * root
        system = self._strength * len(self.Ks) * K
        system.flat[:: len(K) + 1] += self.alphas[m]
        return K, cho_factor(system, lower=True, overwrite_a=True)

    def kernel(self) -> Array:
        """H, the kernel of the sums."""
        n = self.weights.size
        S, T = np.zeros((n, n)), np.zeros((n, n))
        if self._strength == 0.0:
            for K, alpha in zip(self.Ks, self.alphas, strict=True):
                S += np.asarray(K, np.float64) / alpha
            return S
        root = np.sqrt(self.weights)
        for m, alpha in enumerate(self.alphas):
            K, factor = self._factor(m, root)
            R = cho_solve(factor, np.eye(n), overwrite_b=True)
            S += K @ R
            T += (alpha / len(self.Ks)) * R
        H = cho_solve(cho_factor(T + T.T, lower=True, overwrite_a=True), S + S.T, overwrite_b=True)
        return np.ascontiguousarray(0.5 * (H + H.T) / root[:, None] / root)

    def coefficients(self, duals: Array, sums: Array) -> Array:
        """a of f_m = K_m a_m, (n_machines, n_kernels, n), for β and F of shape (n_machines, n)."""
        if self._strength == 0.0:
            return np.asarray(duals[:, None, :] / self.alphas[:, None])
        root = np.sqrt(self.weights)
        pull = (duals / root + self._strength * sums * root).T
        parts = [cho_solve(self._factor(m, root)[1], pull).T * root for m in range(len(self.Ks))]
        return np.ascontiguousarray(np.stack(parts, axis=1))

    def values(self, coefficients: Array) -> Array:
        """The values of each function at the samples, (n_machines, n_kernels, n)."""
        parts = [coefficients[:, m] @ np.asarray(K, np.float64) for m, K in enumerate(self.Ks)]
        return np.stack(parts, axis=1)

    def penalty(self, coefficients: Array, values: Array) -> float:
        """Σ_m (α_m/2) ‖f_m‖², and what the differences between the functions cost, of all machines."""
        norms = (coefficients * values).sum(axis=(0, 2))
        apart = values - values.mean(axis=1, keepdims=True)
        squares = len(self.Ks) * float((apart**2).sum(axis=(0, 1)) @ self.weights)
        return 0.5 * float(self.alphas @ norms) + 0.5 * self._strength * squares


@dataclass(frozen=True)
class CooperativeResult:
    """The functions of all machines; the objective is their value, and the gap that to the lower bound."""

    coefficients: Array  # (n_machines, n_kernels, n)
    duals: Array  # (n_machines, n), β
    intercepts: Array
    objective: float
    lower_bound: float
    gap: float
    n_iter: int
    status: str
    history: list[Entry]
    suspicious: bool

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed."""
        numbers = (self.coefficients, self.duals, self.intercepts, np.array(self.objective))
        return all(bool(np.isfinite(values).all()) for values in numbers)


def learn_functions(views: Views, losses: Sequence[SquaredHinge], options: Options) -> CooperativeResult:
    """The functions of all views with the squared hinge, a set of them for each machine.

    Parameters
    ----------
    views : Views
    losses : sequence of SquaredHinge
        With the weights of the samples in C.
    options : Options

    Returns
    -------
    CooperativeResult

    Examples
    --------
    >>> x, z = np.array([-1.0, -0.5, 1.0]), np.array([-1.0, 0.2, 0.8])
    >>> views = Views(np.stack([np.outer(x, x), np.outer(z, z)]), np.ones(2), 1.0, np.ones(3))
    >>> learn_functions(views, [SquaredHinge(np.sign(x), 1.0)], Options()).gap < 1e-3
    True
    """
    H = views.kernel()
    found = learn_weights(H[None], losses, options=options)
    result = _functions(views, H, found.duals, losses, found.lower_bound, max(options.tol, found.gap))
    return replace(
        result,
        n_iter=found.n_iter,
        status=result.status if found.status == Status.OPTIMAL else found.status,
        history=[*found.history[:-1], found.history[-1] | _bounds(result)],
        suspicious=found.suspicious or found.status == Status.INDEFINITE,
    )


def fit_functions(views: Views, target: Array, tol: float) -> CooperativeResult:
    """The functions of all views with squared errors: one linear system.

    Parameters
    ----------
    views : Views
    target : array of shape (n,)
    tol : float
        Relative gap above which rounding is said to have spoiled the solution.

    Returns
    -------
    CooperativeResult

    Examples
    --------
    >>> x, z = np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 0.2, 0.8])
    >>> views = Views(np.stack([np.outer(x, x), np.outer(z, z)]), np.ones(2), 1.0, np.ones(3))
    >>> result = fit_functions(views, x, 1e-3)
    >>> bool(result.gap < 1e-8), views.values(result.coefficients)[0, :, 2].round(2).tolist()
    (True, [0.4, 0.33])
    """
    H, ridge = views.kernel(), 1.0 / views.weights
    factor = cho_factor(H + np.diag(ridge), lower=True, overwrite_a=True)
    solved, ones = cho_solve(factor, np.column_stack([target, np.ones(target.size)])).T
    beta = solved - (solved.sum() / ones.sum()) * ones
    beta -= beta.mean()  # rounding: the constraint holds exactly
    lower = float(target @ beta - 0.5 * beta @ H @ beta - 0.5 * ridge @ beta**2)
    return _functions(views, H, beta[None], [SquaredError(target, ridge)], lower, tol)


def _bounds(result: CooperativeResult) -> Entry:
    """What the history says of the functions that are returned."""
    return {"objective": result.objective, "lower_bound": result.lower_bound, "gap": result.gap}


def _functions(
    views: Views, H: Array, duals: Array, losses: Sequence[Loss], lower: float, tol: float
) -> CooperativeResult:
    """The functions that dual variables of the one kernel make, their value and its gap to a lower bound."""
    coefficients = views.coefficients(duals, duals @ H)
    values = views.values(coefficients)
    risks = [loss.risk(scores) for loss, scores in zip(losses, values.sum(axis=1), strict=True)]
    objective = views.penalty(coefficients, values) + float(sum(value for value, _ in risks))
    gap = max(relative_gap(objective, lower, _SMALLEST), 0.0)
    return CooperativeResult(
        coefficients=coefficients,
        duals=duals,
        intercepts=np.array([intercept for _, intercept in risks]),
        objective=objective,
        lower_bound=lower,
        gap=gap,
        n_iter=1,
        status=Status.OPTIMAL if gap <= tol else Status.STALLED,
        history=[
            {
                "iteration": 1,
                "objective": objective,
                "lower_bound": lower,
                "gap": gap,
                "n_active": len(values[0]),
            }
        ],
        suspicious=False,
    )
