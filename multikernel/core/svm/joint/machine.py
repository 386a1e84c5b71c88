"""The joint multiclass machine as the weight learner needs it: on a weighted stack, with its own state.

The same things as :class:`..machine.Machine` has for one output; B has one row for each class, and
q_m = Σ_l B_l'K_m B_l.
"""

import numpy as np

from ...._typing import Array
from ...optim.loop import Status
from ...stack.sums import WeightedStack
from ..losses import Bound, JointHinge
from ..machine import ROUNDING, Sensitivity, Terms, Values
from .solver import FreeDuals, JointSolver, solve_free_duals
from .solver import Values as Found


class JointMachine:
    """All classes in one problem on a weighted stack; ``beta`` (n_classes, n) is B, ``scores`` B K(μ).

    ``F`` (n_kernels, n_classes, n) are its adjoints c_m B K_m.
    """

    def __init__(self, loss: JointHinge, stack: WeightedStack, max_steps: int = 10**7) -> None:
        self.loss, self.stack, self.max_steps = loss, stack, max_steps
        self.n_outputs = loss.n_classes
        self.beta = np.zeros((loss.n_classes, stack.n))
        self.F = np.zeros((stack.n_kernels, loss.n_classes, stack.n))
        self.scores = np.zeros_like(self.beta)
        self.intercepts = np.zeros(loss.n_classes)
        self.least_curvature = np.inf
        self.n_steps = 0
        self.least_size = 0.0
        self.exhausted = False

    # ------------------------------------------------------------------ the duals
    @property
    def labels(self) -> Array:
        """The class of each sample."""
        return self.loss.codes

    @property
    def alpha(self) -> Array:
        """α (n_classes, n), 0 of the own classes, where B is not negative."""
        return np.maximum(-self.beta, 0.0)

    def _set_alpha(self, alpha: Array) -> None:
        self.beta = -alpha
        self.beta[self.loss.codes, np.arange(self.stack.n)] = alpha.sum(axis=0)

    def set_start(self, beta: Array) -> None:
        """Start from another feasible B."""
        self.beta = beta.copy()

    def is_feasible(self) -> bool:
        """Whether α is within its bounds and B balanced over the classes; rounding is mended."""
        alpha = np.minimum(self.alpha, self.loss.upper)
        given, size = self.beta, ROUNDING * max(float(alpha.sum()), 1.0)
        self._set_alpha(alpha)
        return bool(np.abs(given - self.beta).sum() <= size and np.abs(self.beta.sum(axis=1)).sum() <= size)

    def terms(self, shift: Array) -> Terms:
        """The parts of the dual at the current B; there is no shift."""
        alpha = self.alpha
        used = alpha > 0.0
        room = float(
            np.min(np.broadcast_to(self.loss.upper, alpha.shape)[used] / alpha[used], initial=np.inf)
        )
        return Terms(float(np.vdot(self.loss.margins.T, alpha)), 0.0, room)

    # ------------------------------------------------------------------ solving
    def solve(self, target: float, value_stop: float = np.inf, plain: bool = True) -> Values:
        """Steps along cycles of classes until the machine's own relative gap is ``target``."""
        self.stack.form_rows(np.arange(self.stack.n))
        solver = self._solver()
        found, status = solver.solve(target, self.max_steps)
        self.exhausted = status == Status.MAX_ITER
        self.n_steps += solver.n_steps
        self.least_curvature = min(self.least_curvature, solver.least_curvature)
        self._set_alpha(solver.alpha)
        self.scores = solver.scores
        return self._note(found)

    def values(self) -> Values:
        """Dual and primal value at the current B and weights, with the intercepts that fit them."""
        return self._note(self._solver(self.scores).look())

    def _solver(self, scores: Array | None = None) -> JointSolver:
        """The solution at the present B; ``scores`` where they are known."""
        return JointSolver(self.stack.combined, self.loss, self.alpha, scores)

    def _note(self, found: Found) -> Values:
        self.intercepts = found.intercepts
        return Values(found.dual, Bound(found.primal, found.primal, np.nan))

    def scale_to_margin(self) -> bool:
        """There is no hard margin."""
        return False

    # ------------------------------------------------------------------ the weights
    def knows(self, kernels: Array) -> bool:
        """Never: q is read off the stack at each look, which costs little beside the solving."""
        return False

    def refresh(self, kernels: Array) -> Array:
        """Bring F up to date for the given kernels and return their q."""
        self.stack.adjoint_of_rows(kernels, self.beta, self.F)
        return np.einsum("mln,ln->m", self.F[kernels], self.beta)

    def quadratic_forms(self, kernels: Array) -> Array:
        """q of kernels whose adjoint is not kept."""
        F = np.empty((self.stack.n_kernels, *self.beta.shape))
        self.stack.adjoint_of_rows(kernels, self.beta, F)
        return np.einsum("mln,ln->m", F[kernels], self.beta)

    def recombine(self, kernels: Array, form_rows: bool) -> None:
        """After a change of weights and B: F and the scores anew."""
        self.refresh(kernels)
        self.rebuild_gradient()

    def rebuild_gradient(self) -> None:
        """The scores from F, which holds every kernel that has weight."""
        used = np.flatnonzero(self.stack.weights)
        self.scores = np.tensordot(self.stack.weights[used], self.F[used], 1)

    def _free(self) -> FreeDuals:
        alpha = self.alpha
        others, samples = np.nonzero((alpha > 0.0) & (alpha < self.loss.upper))
        return FreeDuals(samples, others, self.loss.codes[samples])

    def sensitivity(self, kernels: Array) -> Sensitivity:
        """How the free duals answer to the weights of the given kernels, and the Hessian of the value."""
        free = self._free()
        self.stack.form_rows(np.unique(free.samples))
        return solve_free_duals(self.stack.combined, free, free.turned(self.F[kernels]))

    def follow(self, change: Array, sensitivity: Sensitivity) -> bool:
        """Move the free duals to where a change of the weights takes them, or to the first bound."""
        free = self._free()
        if sensitivity.rows.size < 2:
            return False
        direction = sensitivity.direction(change)
        alpha = self.alpha
        here = (free.others, free.samples)
        room = np.where(direction > 0.0, self.loss.upper[free.samples] - alpha[here], alpha[here])
        moving = direction != 0.0
        steps = room[moving] / np.abs(direction[moving])
        step = min(1.0, float(steps.min(initial=1.0)))
        alpha[here] = np.clip(alpha[here] + step * direction, 0.0, self.loss.upper[free.samples])
        self._set_alpha(alpha)
        return True
