"""Alignment over the positive semidefinite combinations of a stack, by an interior point method.

In coordinates where the combinations are (nearly) orthonormal matrices B_j, with g_j = ⟨B_j, T⟩ and G their
inner products, the weights of best alignment are a multiple of the projection of T on the cone,

    min ½x'Gx − g'x,   K(x) = Σ_j x_j B_j ⪰ 0,      optimal when   Gx = g + [tr(Z B_j)],  K(x)Z = 0,  Z ⪰ 0.

Newton's method follows K(x)Z = tI as t falls to 0, with Mehrotra's correction. Every iterate gives two
certificates: x is feasible, so that g'x / √(x'Gx) is attained, and with Z comes the bound
√(p'G⁻¹p), p_j = g_j + tr(Z B_j). The cost of an iteration is (2m + 10) n³ operations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..combine.spectrahedron import Spectrahedron
from ..core.optim.loop import Recorder, Status
from ..criteria.alignment import StackAlignment
from ..kernels._rows import row_blocks
from .psd_pair import PSDPair, PSDStep, cholesky

Array = np.ndarray[Any, np.dtype[Any]]

_TO_THE_BOUNDARY = 0.99
_SHORT_STEP = 0.05  # below this a plain centring step is taken instead
_PATIENCE = 8
_ROUNDING = 1e-13  # a smallest eigenvalue above minus this, relative to the norm, is zero


@dataclass(frozen=True, eq=False)
class Aligned:
    """Weights and certificate for kernels, and a target, of Frobenius norm one.

    Attributes
    ----------
    w : array (m,), of any length
    upper : float, no feasible w of norm one has a larger alignment
    slack : array (m,), what the certificate adds to the cosines
    Z : array (n, n) or None, slack_i = tr(Z K_i)
    n_iter : int
    status : Status, of the iterations
    rank : int, independent kernels
    """

    w: Array
    upper: float
    slack: Array
    Z: Array | None
    n_iter: int
    status: Status
    rank: int


def align_in_cone(
    Ks: Array, y: Array, table: StackAlignment, basis: Array, *, tol: float, max_iter: int
) -> Aligned:
    """The weights of any sign whose combination is positive semidefinite and best aligned.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric positive semidefinite
    y : array (N,), labels of the first N points
    table : StackAlignment of both
    basis : array (m, r)
        Weights, for members of norm one, of r (nearly) orthonormal combinations.
    tol : float
        Relative gap.
    max_iter : int
    """
    g, G = _inner_products(Ks, y, basis / table.norms[:, None])
    g /= table.target_norm
    cone = Spectrahedron(Ks, 1.0 / table.norms)
    cone.Ks = _recombined(cone.Ks, basis)  # the same cone in other coordinates
    method = _ConeProjection(cone, g, G)
    x = method.unconstrained()
    if _is_semidefinite(cone.combine(x)):
        return Aligned(basis @ x, method.bound(g), np.zeros(len(Ks)), None, 0, Status.OPTIMAL, g.size)
    method.start(np.linalg.pinv(basis) @ np.ones(len(Ks)))
    record = method.run(tol, max_iter)
    Z = method.best_Z if cone.basis is None else cone.basis @ method.best_Z @ cone.basis.T
    slack = np.array([np.vdot(K, Z) for K in Ks]) / table.norms
    return Aligned(basis @ method.best_x, method.upper, slack, Z, record.n_iter, record.status, g.size)


def _inner_products(Ks: Array, y: Array, factors: Array) -> tuple[Array, Array]:
    """⟨B_j, T⟩ and ⟨B_j, B_k⟩ of B_j = Σ_i factors_ij K_i.

    Taken from the matrices: what B'SB and B'q would lose where kernels are nearly dependent is kept, and
    nothing is left to the range on which the cone is described.
    """
    m, n, r = Ks.shape[0], Ks.shape[1], factors.shape[1]
    labels = np.zeros(n)
    labels[: y.size] = y
    g, G = np.zeros(r), np.zeros((r, r))
    for rows in row_blocks(n, m * n):
        block = factors.T @ Ks[:, rows].reshape(m, -1)
        G += block @ block.T
        g += (block.reshape(r, -1, n) @ labels) @ labels[rows]
    return g, G


def _is_semidefinite(K: Array) -> bool:
    K.flat[:: len(K) + 1] += _ROUNDING * float(np.linalg.norm(K))
    return cholesky(K) is not None


def _recombined(Ks: Array, basis: Array) -> Array:
    """Σ_i basis_ij K_i for every j: (r, p, p), a block of rows at a time in the memory of Ks."""
    m, p, r = Ks.shape[0], Ks.shape[1], basis.shape[1]
    for rows in row_blocks(p, m * p):
        block = Ks[:, rows].reshape(m, -1)
        Ks[:r, rows] = (basis.T @ block).reshape(r, -1, p)
    return Ks[:r]


class _ConeProjection:
    """The iterate, its Newton system and the best certificates so far.

    Parameters
    ----------
    cone : Spectrahedron of r linearly independent members
    g : array (r,)
    G : array (r, r), positive definite
    """

    def __init__(self, cone: Spectrahedron, g: Array, G: Array) -> None:
        self.cone, self.g, self.G = cone, g, G
        self.G_factor = cho_factor(G, lower=True)

    def unconstrained(self) -> Array:
        """G⁻¹g."""
        return np.asarray(cho_solve(self.G_factor, self.g))

    def bound(self, p: Array) -> float:
        """√(p'G⁻¹p)."""
        return float(np.sqrt(max(p @ cho_solve(self.G_factor, p), 0.0)))

    def start(self, x: Array) -> None:
        """From weights inside the cone, at the best length along them."""
        self.x = x * (float(self.g @ x) / float(x @ self.G @ x))
        self.pair = PSDPair(self.cone, self.x, float(self.x @ self.G @ self.x) / self.cone.size)
        self.lower, self.upper = -np.inf, np.inf

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper

    def run(self, tol: float, max_iter: int) -> Recorder:
        """Iterate until the certificates meet, or do not come closer any more."""
        record, waited = Recorder(tol, max_iter), 0
        while True:
            waited = 0 if self.certify() else waited + 1
            if record.note({"iteration": len(record.history), "objective": self.lower, "gap": self.gap}):
                break
            if waited >= _PATIENCE or not self.advance():
                record.stop(Status.STALLED)
                break
        return record

    def certify(self) -> bool:
        """Both certificates of the iterate; whether one of them is better than before."""
        lower = float(self.g @ self.x) / float(np.sqrt(self.x @ self.G @ self.x))
        upper = self.bound(self.g + self.cone.traces(self.pair.Z))
        better = lower > self.lower or upper < self.upper
        if lower > self.lower:
            self.lower, self.best_x = lower, self.x
        if upper < self.upper:
            self.upper, self.best_Z = upper, self.pair.Z
        return better

    def advance(self) -> bool:
        """One iteration; False if floating point allows none."""
        matrix = self.G + self.pair.prepare()
        self.scaling = 1.0 / np.sqrt(np.diag(matrix))
        self.matrix = matrix * np.outer(self.scaling, self.scaling)
        if not np.isfinite(self.matrix).all():
            return False
        self.residual = self.g + self.pair.traces - self.G @ self.x
        t = self.pair.gap / self.cone.size
        dx, first = self._direction(0.0)
        reduced = self.pair.gap_after(first, min(1.0, self.pair.longest(first))) / self.pair.gap
        centring = min(1.0, max(1e-4, max(reduced, 0.0) ** 3))
        dx, step = self._direction(centring * t, self.pair.correction(first))
        length = self.pair.longest(step)
        if length < _SHORT_STEP:
            dx, step = self._direction(0.8 * t)
            length = self.pair.longest(step)
        length = self.pair.advance(step, min(1.0, _TO_THE_BOUNDARY * length))
        self.x = self.x + length * dx
        return length > 0.0

    def _direction(self, target: float, correction: Array | None = None) -> tuple[Array, PSDStep]:
        rhs = self.residual + target * self.pair.inverse_traces - self.pair.traces
        if correction is not None:
            rhs = rhs - self.cone.traces(correction)
        dx = np.linalg.lstsq(self.matrix, rhs * self.scaling, rcond=None)[0] * self.scaling
        return dx, self.pair.step(dx, target, correction)
