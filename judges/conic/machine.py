"""The machine at fixed weights by Clarabel, the repair of its duals, and the bound that weights give.

    max_β  2y'β − β'(K(w) + τI)β     0 ≤ y∘β ≤ C,  Σβ = 0

The primal value of the machine at any feasible weights bounds the optimum of kernel matrix learning from
above. Clarabel's duals are right to some digits; one system of equations over those that it finds strictly
between their bounds gives the rest.
"""

from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.linalg
import scipy.sparse

from multikernel.core.svm.losses import Loss
from multikernel.transductive.solver.families import KernelFamily

from .program import Block, minimise

Array = np.ndarray[Any, np.dtype[Any]]

_MAX_EXCHANGES = 12
_AT_A_BOUND = 1e-9
_ROUNDING = 1e-12
_GOOD = 1e-10


class Problem(NamedTuple):
    """A family, the loss of its labelled points, and what both say about the duals."""

    family: KernelFamily
    loss: Loss
    y: Array
    shift: Array
    C: Array

    @property
    def boxed(self) -> bool:
        """Whether the duals have upper bounds."""
        return bool(np.isfinite(self.C).all())

    def ridge(self, w: Array) -> float:
        """The identity's share of K(w)."""
        return float(w[-1]) * self.family.size if self.family.has_identity else 0.0

    def quadratic(self, w: Array) -> Array:
        """K(w) + τI over the labelled points."""
        Q = self.family.combined(w)
        Q.flat[:: self.y.size + 1] += self.shift
        return Q


class MachineAnswer(NamedTuple):
    """Duals, the value that they give (below), and the primal value (above) at the same weights.

    ``free`` marks the duals strictly between their bounds.
    """

    beta: Array
    intercept: float
    lower: float
    upper: float
    free: Array


def make_problem(family: KernelFamily, loss: Loss) -> Problem:
    """Collect what a loss says about the duals."""
    y = loss.target
    return Problem(family, loss, y, loss.shift, np.where(y > 0, loss.upper, -loss.lower))


def repair(problem: Problem, beta: Array) -> Array:
    """The nearest duals, or nearly so, that keep the bounds and the balance exactly."""
    y, C = problem.y, problem.C
    a = np.maximum(y * beta, 0.0)
    a[a <= _AT_A_BOUND * np.minimum(C, a.max(initial=0.0))] = 0.0
    if problem.boxed:
        a = np.where(a >= C * (1.0 - _AT_A_BOUND), C, a)
    positive, negative = float(a[y > 0].sum()), float(a[y < 0].sum())
    if positive == 0.0 or negative == 0.0:
        return np.zeros_like(a)
    a[y > 0] *= min(1.0, negative / positive)
    a[y < 0] *= min(1.0, positive / negative)
    return y * a


def _judge(problem: Problem, w: Array, Q: Array, beta: Array, free: Array) -> MachineAnswer:
    """The dual value of β, and twice the primal value of the scores that it gives."""
    Kb = Q @ beta - (problem.shift + problem.ridge(w)) * beta
    value = 2.0 * float(problem.y @ beta) - float(beta @ (Q @ beta))
    loss = problem.loss.with_ridge(problem.ridge(w)) if problem.family.has_identity else problem.loss
    bound = loss.bound(Kb, max(float(beta @ Kb), 0.0))
    return MachineAnswer(beta, bound.intercept, value, 2.0 * bound.value, free)


def _by_clarabel(problem: Problem, Q: Array, scale: float) -> tuple[Array, Array, Array] | None:
    """β, and the multipliers of its lower and upper bounds; ``scale`` is about the size of β."""
    y, N = problem.y, problem.y.size
    signs = scipy.sparse.diags(y)
    blocks = [
        Block(np.ones((1, N)), np.zeros(1), clarabel.ZeroConeT(1)),
        Block(-signs, np.zeros(N), clarabel.NonnegativeConeT(N)),
    ]
    if problem.boxed:
        blocks.append(Block(signs, problem.C / scale, clarabel.NonnegativeConeT(N)))
    answer = minimise(2.0 * scale * Q, -2.0 * y, blocks)
    if answer is None:
        return None
    above = answer.multipliers[2] if problem.boxed else np.zeros(N)
    return scale * answer.x, answer.multipliers[1], above


def _exchange(problem: Problem, Q: Array, at_zero: Array, at_C: Array) -> tuple[Array, Array] | None:
    """Duals that solve the equations of the free vectors, and the gradient of the value."""
    y, N = problem.y, problem.y.size
    free = ~(at_zero | at_C)
    beta = np.where(at_C, y * np.where(at_C, problem.C, 0.0), 0.0)
    k = int(free.sum())
    if k == 0:
        return None
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = Q[np.ix_(free, free)]
    system[:k, k] = system[k, :k] = 1.0
    rhs = np.append(y[free] - Q[free] @ beta, -beta.sum())
    try:
        x = scipy.linalg.lstsq(system, rhs, cond=1e-14, lapack_driver="gelsy")[0]
    except np.linalg.LinAlgError:
        return None
    beta[free] = x[:k]
    return beta, y * (y - Q @ beta - np.full(N, x[k]))


def _polish(problem: Problem, Q: Array, found: tuple[Array, Array, Array]) -> list[tuple[Array, Array]]:
    """Candidates (β, free vectors): solve the equations, move vectors that break a bound, repeat."""
    beta, below, above = found
    a = problem.y * beta
    size = max(float(np.abs(a).max()), 1e-300)
    at_zero = a / size < below
    at_C = problem.C - a < size * above if problem.boxed else np.zeros(a.size, bool)
    at_C &= ~at_zero
    candidates = [(repair(problem, beta), ~(at_zero | at_C))]
    for _ in range(_MAX_EXCHANGES):
        exchanged = _exchange(problem, Q, at_zero, at_C)
        if exchanged is None:
            break
        beta, gradient = exchanged
        a = problem.y * beta
        candidates.append((repair(problem, beta), ~(at_zero | at_C)))
        to_zero = ~at_zero & (a < -_ROUNDING * size)
        to_C = ~at_C & (a > problem.C * (1.0 + _ROUNDING))
        release = (at_zero & (gradient > _ROUNDING)) | (at_C & (gradient < -_ROUNDING))
        if not (to_zero | to_C | release).any():
            break
        at_zero, at_C = (at_zero | to_zero) & ~release, (at_C | to_C) & ~release
    return candidates


def _scales(problem: Problem, Q: Array) -> list[float]:
    """Guesses of the size of the duals: for classes that are separated, and for those that are not."""
    guess = np.where(problem.y > 0, 1.0 / np.sum(problem.y > 0), -1.0 / np.sum(problem.y < 0))
    norm2 = max(float(guess @ (Q @ guess)), 1e-10 * float(np.trace(Q)) / problem.y.size)
    separated = 2.0 / (norm2 * problem.y.size)
    if not problem.boxed:
        return [separated, 1e3 * separated]
    C = float(problem.C.max())
    return [min(separated, C), float(np.sqrt(min(separated, C) * C)), C]


def solve_fixed(problem: Problem, w: Array) -> MachineAnswer | None:
    """The machine at weights w, or None if Clarabel finds no solution (a hard margin without separation)."""
    Q = problem.quadratic(w)
    answers: list[MachineAnswer] = []
    for scale in _scales(problem, Q):
        found = _by_clarabel(problem, Q, scale)
        if found is not None:
            answers += [_judge(problem, w, Q, beta, free) for beta, free in _polish(problem, Q, found)]
        best = min(answers, key=_misses, default=None)
        if best is not None and _misses(best) <= _GOOD * abs(best.upper):
            break
    return best


def _misses(answer: MachineAnswer) -> float:
    """The gap between the machine's bounds; rounding may cross them."""
    return max(answer.upper - answer.lower, 0.0)


def derivatives(problem: Problem, w: Array, answer: MachineAnswer) -> Array:
    """How the duals answer a change of each weight while the same vectors stay free: (N, n_members)."""
    free = answer.free
    k = int(free.sum())
    changes = np.zeros((problem.y.size, problem.family.n_members))
    if k == 0:
        return changes
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = problem.quadratic(w)[np.ix_(free, free)]
    system[:k, k] = system[k, :k] = 1.0
    rhs = np.vstack([-problem.family.products(answer.beta)[free], np.zeros(changes.shape[1])])
    changes[free] = scipy.linalg.lstsq(system, rhs, cond=1e-12, lapack_driver="gelsy")[0][:k]
    return changes
