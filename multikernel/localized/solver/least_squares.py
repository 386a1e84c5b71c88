"""Ridge regression on a kernel that moves: factorizations are kept as long as they help, leave-one-out.

    J = Σ_k max_β y_k'β − ½ β'(K + D)β,   1'β = 0 with an intercept,   D = diag(alpha / weight)

is 1/alpha times min_f Σ_k ½ Σ_i weight_i (y_ik − f_k(x_i))² + alpha/2 ‖f_k‖². All outputs y_k have the same
matrix A = K + D. Its Cholesky factor takes n³/3 operations, a conjugate gradient step about 4 n² for each
output: where K has changed little since the last factor M M', steps in the metric of M M' solve the new
problem, and only a matrix that needs many of them, or is small, is factored again. Where K = Z'Z with few
rows of features Z (R, n), a product takes 2 R n operations, and I + Z D⁻¹ Z' is factored instead, which gives
A⁻¹ = D⁻¹ − D⁻¹Z'(I + Z D⁻¹ Z')⁻¹Z D⁻¹ in n R² operations. Every iterate has sum
zero, so that its dual value bounds J from below; the primal value of its scores bounds J from above, and the
two say when to stop. A value above the ceiling of a line search is given up at the first iterate that shows
it.

**Leave-one-out.** With G = A⁻¹ − A⁻¹1 1'A⁻¹ / 1'A⁻¹1 (A⁻¹ without an intercept) the residual of sample i in
the model without it is β_i / G_ii. Of a sample that stands for several rows of total weight w one row of
weight u is left out: the residual is then β_i / G_ii / (u/w + (w − u) / (alpha G_ii)).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from ..._typing import Array
from ...core.stack.sums import GatedStack
from .machines import Kernel, Solved

# Of r outputs n / (60 + 20 r) steps take about half as long as a factor. Where these are fewer than 8, which
# seldom arrive, every matrix is factored.
_FEWEST_STEPS, _SAMPLES_A_STEP, _SAMPLES_AN_OUTPUT = 8, 60, 20
_SAMPLES_A_FEATURE = 4  # at least, where features are factored in place of the kernel
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


class DenseInverse:
    """A⁻¹ by a Cholesky factor of A = K + D."""

    def __init__(self, K: Array, ridge: Array) -> None:
        A = K.copy()
        A.flat[:: len(A) + 1] += ridge
        self._factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def times(self, B: Array) -> Array:
        """A⁻¹B."""
        return np.asarray(cho_solve(self._factor, B, check_finite=False))

    def diagonal(self) -> Array:
        """The diagonal of A⁻¹; the factor is used up."""
        inverse, _ = dpotri(self._factor[0], lower=1, overwrite_c=1)
        return np.diagonal(inverse).copy()


class FeatureInverse:
    """A⁻¹ of A = Z'Z + D by a Cholesky factor of I + Z D⁻¹ Z'."""

    def __init__(self, Z: Array, ridge: Array) -> None:
        self.Z, self.ridge, self.scaled = Z, ridge, Z / ridge
        inner = self.scaled @ Z.T
        inner.flat[:: len(inner) + 1] += 1.0
        self._factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def times(self, B: Array) -> Array:
        """A⁻¹B."""
        X = B / self.ridge[:, None]
        return np.asarray(X - self.scaled.T @ cho_solve(self._factor, self.Z @ X, check_finite=False))

    def diagonal(self) -> Array:
        """The diagonal of A⁻¹."""
        root = solve_triangular(self._factor[0], self.scaled, lower=True, check_finite=False)
        return np.asarray(1.0 / self.ridge - np.einsum("rt,rt->t", root, root))


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
        self._inverse: DenseInverse | FeatureInverse | None = None
        self.coefficients = np.zeros(self.targets.shape)
        self.intercepts = np.zeros(self.n_machines)

    # ------------------------------------------------------------------ one kernel
    def solve(self, kernel: Kernel, ceiling: float = np.inf) -> Solved:
        bounds = self._by_features(kernel, ceiling) if isinstance(kernel, GatedStack) else None
        if bounds is not None:
            return self._solved(bounds, ceiling)
        K = kernel.whole() if isinstance(kernel, GatedStack) else kernel
        if self._inverse is not None and self.most_steps:
            bounds = self._descend(K.__matmul__, ceiling, self.most_steps)
            if bounds.gap <= self.tol or bounds.dual > ceiling:
                return self._solved(bounds, ceiling)
        try:
            self._use(DenseInverse(K, self.ridge))
        except np.linalg.LinAlgError:  # no positive definite matrix: a kernel is not positive semidefinite
            self.suspicious = True
            self.reset()
            return Solved(np.inf, np.inf, False)
        self.n_factorizations += 1
        return self._solved(self._descend(K.__matmul__, ceiling, _REFINEMENTS), ceiling)

    def _by_features(self, kernel: GatedStack, ceiling: float) -> Bounds | None:
        """The solution by the features of the kernel; None where it has none, many, or they are too rough."""
        if kernel.factors is None or len(kernel.features) * _SAMPLES_A_FEATURE > len(self.targets):
            return None
        Z = kernel.features
        self._use(FeatureInverse(Z, self.ridge))
        bounds = self._descend(lambda B: Z.T @ (Z @ B), ceiling, _REFINEMENTS)
        return bounds if bounds.gap <= self.tol or bounds.dual > ceiling else None

    def _use(self, inverse: DenseInverse | FeatureInverse) -> None:
        self._inverse = inverse
        self._ones = inverse.times(np.ones((len(self.targets), 1)))[:, 0] if self.has_intercept else None

    def _solved(self, bounds: Bounds, ceiling: float) -> Solved:
        self.intercepts = bounds.intercepts
        if bounds.dual > ceiling:
            return Solved(max(bounds.dual, float(np.nextafter(ceiling, np.inf))), bounds.gap, False)
        return Solved(bounds.dual if bounds.gap <= self.tol else bounds.primal, bounds.gap, False)

    def _direction(self, slope: Array) -> Array:
        """The slope in the metric of the last factor, of sum zero where there is an intercept."""
        assert self._inverse is not None
        z = self._inverse.times(slope)
        if self._ones is not None:
            z -= self._ones[:, None] * (z.sum(axis=0) / self._ones.sum())
        return z

    def _descend(self, times: Callable[[Array], Array], ceiling: float, most: int) -> Bounds:
        """Conjugate gradient steps from the last coefficients, all outputs at once; ``times`` is K @ …"""
        beta = self.coefficients
        slope = times(beta) + self.ridge[:, None] * beta - self.targets
        z = self._direction(slope)
        p, size = -z, np.einsum("ik,ik->k", slope, z)
        bounds = self._bounds(beta, slope)
        for _ in range(most):
            if bounds.gap <= self.tol or bounds.dual > ceiling:
                break
            Ap = times(p) + self.ridge[:, None] * p
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
        assert self._inverse is not None
        diagonal, self._inverse = self._inverse.diagonal(), None
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
