"""Ridge regression on a kernel that moves: factorizations are kept as long as they help, leave-one-out.

    J = Σ_k max_β y_k'β − ½ β'(K + D)β,   1'β = 0 with an intercept,   D = diag(alpha / weight)

is 1/alpha times min_f Σ_k ½ Σ_i weight_i (y_ik − f_k(x_i))² + alpha/2 ‖f_k‖². All outputs y_k have the same
matrix A = K + D. Its Cholesky factor takes n³/3 operations, a conjugate gradient step some 4 n² for each
output: where K has changed little since the last factor M M', steps in the metric of M M' solve the new
problem, and only a matrix that needs many of them, or is small, is factored again. Every iterate has sum
zero, so that its dual value bounds J from below; the primal value of its scores bounds J from above, and the
two say when to stop. A value above the ceiling of a line search is given up at the first iterate that shows
it.

**Leave-one-out.** With G = A⁻¹ − A⁻¹1 1'A⁻¹ / 1'A⁻¹1 (A⁻¹ without an intercept) the residual of sample i in
the model without it is β_i / G_ii. Of a sample that stands for several rows of total weight w one row of
weight u is left out: the residual is then β_i / G_ii / (u/w + (w − u) / (alpha G_ii)).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from ..._typing import Array
from ...core.stack.sums import GatedStack
from .machines import Kernel, Solved

# Of r outputs n / (60 + 20 r) steps take about half as long as a factor. Where these are fewer than 8, which
# seldom arrive, every matrix is factored.
_FEWEST_STEPS, _SAMPLES_A_STEP, _SAMPLES_AN_OUTPUT = 8, 60, 20
_REFINEMENTS = 3  # steps with the factor of the matrix itself: the first is exact but for rounding
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Bounds:
    """What an iterate says of J: a value below it, one above it, and the intercepts of the latter."""

    dual: float
    primal: float
    intercepts: Array

    @property
    def gap(self) -> float:
        """(primal − dual) / |primal|."""
        return (self.primal - self.dual) / max(abs(self.primal), _TINY)


class RidgeMachines:
    """Ridge regression of all outputs, to a relative duality gap of ``tol``, as the machines of a descent.

    Parameters
    ----------
    targets : array (n, r)
    ridge : array (n,)
        D: alpha divided by the weight of each sample.
    has_intercept : bool
    tol : float
    """

    def __init__(self, targets: Array, ridge: Array, has_intercept: bool = True, tol: float = 1e-4) -> None:
        self.targets, self.ridge = np.ascontiguousarray(targets, float), ridge
        self.has_intercept, self.tol = has_intercept, tol
        self.n_machines = targets.shape[1]
        steps = len(targets) // (_SAMPLES_A_STEP + _SAMPLES_AN_OUTPUT * self.n_machines)
        self.most_steps = steps if steps >= _FEWEST_STEPS else 0
        self.suspicious = False
        self.n_factorizations = 0
        self.n_steps = 0
        self.reset()

    def reset(self) -> None:
        self._factor: Any = None
        self.coefficients = np.zeros(self.targets.shape)
        self.intercepts = np.zeros(self.n_machines)

    # ------------------------------------------------------------------ one kernel
    def solve(self, kernel: Kernel, ceiling: float = np.inf) -> Solved:
        K = kernel.whole() if isinstance(kernel, GatedStack) else kernel
        if self._factor is not None and self.most_steps:
            bounds = self._descend(K, ceiling, self.most_steps)
            if bounds.gap <= self.tol or bounds.dual > ceiling:
                return self._solved(bounds, ceiling)
        try:
            self.factor(K)
        except np.linalg.LinAlgError:  # no positive definite matrix: a kernel is not positive semidefinite
            self.suspicious = True
            self.reset()
            return Solved(np.inf, np.inf, False)
        return self._solved(self._descend(K, ceiling, _REFINEMENTS), ceiling)

    def factor(self, K: Array) -> None:
        """Factor K + D."""
        A = K.copy()
        A.flat[:: len(A) + 1] += self.ridge
        self._factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        self.n_factorizations += 1
        self._ones = self._inverse_times(np.ones((len(A), 1)))[:, 0] if self.has_intercept else None

    def _solved(self, bounds: Bounds, ceiling: float) -> Solved:
        self.intercepts = bounds.intercepts
        if bounds.dual > ceiling:
            return Solved(max(bounds.dual, float(np.nextafter(ceiling, np.inf))), bounds.gap, False)
        return Solved(bounds.dual if bounds.gap <= self.tol else bounds.primal, bounds.gap, False)

    def _inverse_times(self, B: Array) -> Array:
        return np.asarray(cho_solve(self._factor, B, check_finite=False))

    def _direction(self, slope: Array) -> Array:
        """The slope in the metric of the last factor, of sum zero where there is an intercept."""
        z = self._inverse_times(slope)
        if self._ones is not None:
            z -= self._ones[:, None] * (z.sum(axis=0) / self._ones.sum())
        return z

    def _descend(self, K: Array, ceiling: float, most: int) -> Bounds:
        """Conjugate gradient steps from the last coefficients, all outputs at once."""
        beta = self.coefficients
        slope = K @ beta + self.ridge[:, None] * beta - self.targets
        z = self._direction(slope)
        p, size = -z, np.einsum("ik,ik->k", slope, z)
        bounds = self._bounds(beta, slope)
        for _ in range(most):
            if bounds.gap <= self.tol or bounds.dual > ceiling:
                break
            Ap = K @ p + self.ridge[:, None] * p
            curvature = np.einsum("ik,ik->k", p, Ap)
            if (curvature < 0.0).any():
                self.suspicious = True
                break
            step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0.0)
            beta, slope = beta + step * p, slope + step * Ap
            z = self._direction(slope)
            last, size = size, np.einsum("ik,ik->k", slope, z)
            p = np.divide(size, last, out=np.zeros_like(size), where=last > 0.0) * p - z
            bounds = self._bounds(beta, slope)
            self.n_steps += 1
        self.coefficients = beta
        return bounds

    def _bounds(self, beta: Array, slope: Array) -> Bounds:
        """With (K + D) β = slope + y the scores are K β = slope + y − D β."""
        residual = self.ridge[:, None] * beta - slope
        scores = self.targets - residual
        intercepts = np.zeros(self.n_machines)
        if self.has_intercept:
            intercepts = (residual / self.ridge[:, None]).sum(axis=0) / (1.0 / self.ridge).sum()
        norms = float(np.einsum("ik,ik->", beta, scores))
        error = float((((residual - intercepts) ** 2) / self.ridge[:, None]).sum())
        dual = 0.5 * float(np.einsum("ik,ik->", beta, self.targets - slope))
        return Bounds(dual, 0.5 * (norms + error), intercepts)

    # ------------------------------------------------------------------ leave-one-out
    def inverse_diagonal(self) -> Array:
        """The diagonal of G (n,), by the last factor, which is used up."""
        inverse, _ = dpotri(self._factor[0], lower=1, overwrite_c=1)
        self._factor = None
        diagonal = np.diagonal(inverse).copy()
        return diagonal if self._ones is None else diagonal - self._ones**2 / self._ones.sum()


def held_out_residuals(beta: Array, diagonal: Array, alpha: float, total: Array, own: Array) -> Array:
    """The residuals of rows in the models without them (n, r).

    Parameters
    ----------
    beta : array (n, r), of the sample that each row is one of
    diagonal : array (n,), G_ii of that sample
    alpha : float
    total, own : array (n,), the weights of the sample and of the row
    """
    alone = np.minimum(own / total, 1.0) + np.maximum(total - own, 0.0) / (alpha * diagonal)
    return np.asarray(beta / (diagonal * alone)[:, None])
