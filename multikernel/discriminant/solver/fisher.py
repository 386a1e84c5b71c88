"""Kernel Fisher discriminant as least squares, with kernel weights (our reading of Fung et al., 2004).

    min over u, b and η ≥ 0 of   ν/2 ‖t − K_η u − b‖² + ½ u'u + ½ η'η,     K_η = Σ_m η_m K_m / s_m

with t_i = ± n / (2 n_c) for a sample of a class of n_c, which is ±1 for classes of equal size. For given η
the best u is proportional to (N + I/ν)⁻¹(m₊ − m₋), with m₊, m₋ the means of the rows of K_η over the classes
and N the scatter of the rows within them: Mika's kernel Fisher direction. For given u the weights are a
nonnegative least squares problem of m variables. The two steps take turns, and the value never rises. For
large ν they converge slowly; after a few turns, Newton's steps in η over F(η) = min_u take their place. With
V the rows HK_mu / s_m, r the residuals, A = I + ν K_ηHK_η and the columns c_m = ν K_ηV_m − ν K_mr / s_m of C,
the Hessian of F is

    I + ν VV' − C'A⁻¹C,       its eigenvalues replaced by their sizes;

a step that does not lower the value is shortened, and in the end given up for a turn.

The problem is convex in either block, not in both: the certificate is stationarity,

    max( ‖∂u‖ / ‖u‖,  ‖η − (η − ∂η)₊‖ / ‖η‖ ),

∂ the gradient of the joint problem. With u = 0 and η = 0 it is zero too: where ν is so small that nothing
pays, that is the end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status, armijo, backtrack
from ...core.stack.sums import weighted_sum

_TURNS = 5  # of the alternation, before Newton's steps
_TRIALS, _SHRINK = 4, 0.25  # of the length of Newton's step
_FLAT = 1e-10


@dataclass(frozen=True)
class FisherResult(Result):
    """Weights and direction; ``gap`` is the stationarity."""

    weights: Array  # (m,), η, of the kernels divided by their scales
    direction: Array  # (n,), u
    intercept: float  # b


def fisher_targets(signs: Array) -> Array:
    """± n / (2 n_c), of sum zero."""
    positive = signs > 0
    sizes = np.where(positive, np.count_nonzero(positive), np.count_nonzero(~positive))
    return np.asarray(signs * signs.size / (2.0 * sizes))


@dataclass(frozen=True)
class _Point:
    """Both blocks after the step in u, and the joint problem there."""

    eta: Array
    u: Array
    outputs: Array  # V, (m, n)
    residuals: Array
    slope: Array  # of F, (m,)
    centred: Array  # HK_η
    factor: Any  # of A
    intercept: float
    value: float
    gap: float


class HeterogeneousFisher:
    """The joint problem of a stack of kernels and the signs of two classes.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric positive semidefinite; never modified
    signs : array (n,) of ±1, both present
    nu : float, ν > 0
    scales : array (m,), s_m > 0
    """

    def __init__(self, Ks: Array, signs: Array, nu: float, scales: Array) -> None:
        self.Ks, self.nu, self.scales = Ks, nu, scales
        self.targets = fisher_targets(signs)

    def at(self, eta: Array) -> _Point:
        """The best u and b for given weights."""
        K = weighted_sum(self.Ks, eta / self.scales)
        means = K.mean(axis=0)
        K -= means  # now H K_η
        M = self.nu * (K.T @ K)
        M.flat[:: len(M) + 1] += 1.0
        factor = cho_factor(M, overwrite_a=True, check_finite=False)
        u = cho_solve(factor, self.nu * (K.T @ self.targets))
        residuals = self.targets - K @ u
        outputs = np.array([K_m @ u / s for K_m, s in zip(self.Ks, self.scales, strict=True)])
        outputs -= outputs.mean(axis=1, keepdims=True)
        value = 0.5 * (self.nu * residuals @ residuals + u @ u + eta @ eta)
        slope_u = u - self.nu * (K.T @ residuals)
        slope = eta - self.nu * (outputs @ residuals)
        gap = max(_relative(slope_u, u), _relative(eta - np.maximum(eta - slope, 0.0), eta))
        intercept = -float(means @ u)
        return _Point(eta, u, outputs, residuals, slope, K, factor, intercept, float(value), gap)

    def best_weights(self, here: _Point) -> Array:
        """The best weights for u as it is."""
        m = len(here.eta)
        rows = np.concatenate([np.sqrt(self.nu) * here.outputs.T, np.eye(m)])
        sides = np.concatenate([np.sqrt(self.nu) * self.targets, np.zeros(m)])
        return np.asarray(nnls(rows, sides)[0])

    def newton_weights(self, here: _Point) -> Array:
        """The nonnegative weights where the quadratic model of F is least."""
        products = np.array([K @ here.residuals / s for K, s in zip(self.Ks, self.scales, strict=True)])
        C = self.nu * (here.centred.T @ here.outputs.T - products.T)
        S = np.eye(len(here.eta)) + self.nu * (here.outputs @ here.outputs.T)
        S -= C.T @ cho_solve(here.factor, C)
        values, vectors = np.linalg.eigh(0.5 * (S + S.T))
        values = np.maximum(np.abs(values), _FLAT * np.abs(values).max())
        root = np.sqrt(values)[:, None] * vectors.T
        sides = root @ here.eta - (vectors.T @ here.slope) / np.sqrt(values)
        return np.asarray(nnls(root, sides)[0])

    def turn(self, here: _Point) -> _Point:
        """One turn of the alternation."""
        return self.at(self.best_weights(here))

    def step(self, here: _Point) -> _Point:
        """One of Newton's steps, or a turn where it does not help."""
        move = self.newton_weights(here) - here.eta
        promised = float(here.slope @ move)

        def attempt(share: float) -> _Point | None:
            there = self.at(here.eta + share * move)
            return there if there.value <= armijo(here.value, share, promised) else None

        found = backtrack(attempt, _TRIALS, shrink=_SHRINK) if promised < 0.0 else None
        return self.turn(here) if found is None else found


def _relative(move: Array, size: Array) -> float:
    length = float(np.linalg.norm(size))
    return float(np.linalg.norm(move)) / length if length > 0.0 else 0.0


def learn_fisher(problem: HeterogeneousFisher, options: Options) -> FisherResult:
    """Learn the direction and the weights, from equal weights of sum 1; ``max_iter`` counts turns and steps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> signs = np.where(np.arange(40) % 2, 1.0, -1.0)
    >>> good, bad = rng.normal(size=(2, 40, 3))
    >>> good[:, 0] += 2 * signs
    >>> Ks = np.array([good @ good.T, bad @ bad.T])
    >>> found = learn_fisher(HeterogeneousFisher(Ks, signs, 1e-3, np.ones(2)), Options(tol=1e-6))
    >>> bool(found.weights[0] > 5 * found.weights[1]), str(found.status)
    (True, 'optimal')
    """
    m = len(problem.Ks)
    record, here = Recorder.of(options), problem.at(np.full(m, 1.0 / m))
    for iteration in range(options.max_iter + 1):
        n_active = int(np.count_nonzero(here.eta))
        entry = {"iteration": iteration, "objective": here.value, "gap": here.gap, "n_active": n_active}
        if record.note(entry):
            break
        there = problem.turn(here) if iteration < _TURNS else problem.step(here)
        if not there.value < here.value:
            nothing = problem.at(np.zeros(m))
            here = nothing if nothing.value <= here.value else here
            record.stop(Status.OPTIMAL if here is nothing else Status.STALLED)
            break
        here = there
    return FisherResult(
        here.eta, here.u, here.intercept, objective=here.value, gap=here.gap, **record.outcome
    )
