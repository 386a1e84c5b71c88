"""The optimal value of kernel machines as a function of their kernel, and its gradient.

    J(K) = Σ_t max_β  y_t'β − ε‖β‖₁ − ½ β'(K + diag(shift))β,      ∂J/∂K = −½ Σ_t β_t β_t'

For K that depends on parameters η in any differentiable way, ∂J/∂η_m = −½ Σ_t β_t'(∂K/∂η_m)β_t. Each solve
starts from the duals of the one before, and has a limit of steps: where SMO converges slowly (a C far above
the scale of a nearly singular kernel) an interior point method helps out up to 500 samples; beyond, a solve
may end short of its tolerance, and ``upper`` says by how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..._typing import Array
from ...core.optim import cone
from ...core.optim.loop import Options, Status, is_over, patient_steps
from ...core.svm.losses import Loss
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult

_BALANCE = 1e-10  # of the sum of the duals, relative to their size
_ROUNDING = 1e-15  # of the largest eigenvalue
_MOST_DENSE = 500  # samples, up to which an interior point method takes over where SMO converges slowly


@dataclass(frozen=True, eq=False)
class MarginPoint:
    """Value and duals of all machines at one kernel."""

    value: float  # J(K), the dual value
    upper: float  # the primal value: J(K) is between the two
    duals: Array  # (n_machines, n)
    suspicious: bool = False  # negative curvature was met, which a positive semidefinite kernel cannot have
    gap: float = 0.0  # relative, between the two values

    def forms(self, Ks: Array) -> Array:
        """q_m = Σ_t β_t'K_mβ_t for a stack, (m,): −½ q is the gradient in the weights of a sum."""
        return np.array([np.vdot(self.duals, self.duals @ K) for K in Ks])


class MarginValue:
    """J, to be asked again and again: a loss for each machine, `tol` the relative duality gap of each solve.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> point = MarginValue([Hinge(y, 10.0)])(np.outer(x, x))
    >>> round(point.value, 6), point.forms(np.outer(x, x)[None]).round(6).tolist()
    (0.5, [1.0])
    """

    def __init__(self, losses: Sequence[Loss], tol: float = 1e-9) -> None:
        self.losses = losses
        n = losses[0].target.size
        self.options = Options(tol=tol, coarse=False, max_steps=patient_steps(n))
        self._last: SolveResult | None = None

    def __call__(self, K: Array) -> MarginPoint:
        stack, options = np.ascontiguousarray(K)[None], self.options
        last = learn_weights(stack, self.losses, options=options, start=self._last)
        if last.gap > 2.0 * options.tol and last.duals.shape[1] <= _MOST_DENSE and not is_over():
            last = self._finish(stack, last, options)
        self._last = last
        return MarginPoint(last.objective, last.upper_bound, last.duals, last.suspicious, last.gap)

    def _finish(self, stack: Array, found: SolveResult, options: Options) -> SolveResult:
        """Go on from the duals of an interior point, if these are better."""
        duals = [interior_duals(stack[0], loss) for loss in self.losses]
        if found.status == Status.INSEPARABLE or any(beta is None for beta in duals):
            return found
        start = replace(found, duals=np.array(duals))
        better = learn_weights(stack, self.losses, options=options, start=start)
        return better if better.gap < found.gap else found


def interior_duals(K: Array, loss: Loss) -> Array | None:
    """β (n,) of one machine by a conic program, within its bounds; None if it could not be solved.

    max_β  y'β − ε‖β‖₁ − ½‖z‖²    subject to  z = L'β,  lower ≤ β ≤ upper,  Σβ = total,  K + diag(shift) = LL'

    With the factor L of the eigenvectors the program knows the square root of the kernel's condition only.
    What Clarabel returns is not believed: it is a start.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> interior_duals(np.outer(x, x), Hinge(y, 10.0)).round(6).tolist()
    [-0.0, -0.5, 0.5, 0.0]
    """
    values, vectors = np.linalg.eigh(K + np.diag(loss.shift))
    kept = values > _ROUNDING * float(values[-1])
    sizes = np.sqrt(values[kept])
    n, rank = len(K), int(kept.sum())
    above, below = np.isfinite(loss.upper), np.isfinite(loss.lower)
    one, root = sparse.eye(n, format="csr"), sparse.diags(-1.0 / sizes)
    rows = [[np.ones((1, n)), None], [vectors[:, kept].T, root], [one[above], None], [-one[below], None]]
    b = np.concatenate([[loss.total], np.zeros(rank), loss.upper[above], -loss.lower[below]])
    linear, quadratic = np.append(-loss.target, np.zeros(rank)), np.append(np.zeros(n), np.ones(rank))
    if loss.epsilon:  # one more variable for each |β|
        rows = [[*row, None] for row in rows] + [[one, None, -one], [-one, None, -one]]
        b, linear = np.append(b, np.zeros(2 * n)), np.append(linear, np.full(n, loss.epsilon))
        quadratic = np.append(quadratic, np.zeros(n))
    A = sparse.bmat(rows, format="csr")
    blocks = [
        cone.Block(A[: 1 + rank], b[: 1 + rank], cone.zero(1 + rank)),
        cone.Block(A[1 + rank :], b[1 + rank :], cone.nonnegative(len(b) - 1 - rank)),
    ]
    tol = 1e-8  # enough for a start
    found = cone.minimize(
        sparse.diags(quadratic), linear, blocks, tol_gap_rel=tol, tol_gap_abs=tol, tol_feas=tol
    )
    beta = np.clip(found.x[:n], loss.lower, loss.upper)
    balanced = abs(float(beta.sum()) - loss.total) <= _BALANCE * float(np.abs(beta).sum())  # not if it is nan
    return beta if balanced else None
