"""The joint machine in which only the worst class of each sample counts (Crammer & Singer 2001).

    min  ½ Σ_l ‖w_l‖² + Σ_i C_i max_l [R_il − (f_i^{y_i} − f_i^l)],     f^l = w_l'φ,  R_iy_i = 0
    max_α  Σ_il R_il α_il − ½ tr B'KB   subject to   α_il ≥ 0,  Σ_l α_il = C_i,

where B_il = C_i [l = y_i] − α_il: α of the own class is what is left of C_i. There are no intercepts, so that
no constraint ties one sample to another: in the reduction of Crammer & Singer a step solves the problem of
one sample, all others fixed, which is a projection on a simplex of n_classes numbers. With two classes it is
the binary SVM of the same C without an intercept, as the machine of :mod:`.solver` is the one with it.

G = R + F with F = BK is the gradient in α, and Σ_i (C_i max_l G_il − Σ_l G_il α_il) the duality gap. The
largest G of a sample less the least of a class with α > 0 is its violation. Samples are visited in turn,
those of violations below a threshold are passed over, and the threshold falls with the gap. Newton's steps
for all the α between bounds help where these converge slowly.
"""

from typing import Any

import numpy as np

from ...._numba import HUGE, compiled, read_only
from ...._typing import Array
from ...optim.loop import Status, is_over, reason_to_stop
from ..losses import WorstHinge
from ..machine import Sensitivity, Terms
from ..smo import TINY_CURVATURE
from .machine import JointMachine
from .solver import FreeDuals, MulticlassResult, Values, checked_data, invert_on_balanced, multiclass_result

_FIRST_VIOLATION, _FINEST_VIOLATION = 0.2, 1e-13  # relative to the margins
_ROUNDING = 1e-13  # relative to the loss of the scores 0
_SWEEPS = 20  # at one threshold; after them the samples are taken to converge slowly
_MOST_FREE = 1500  # α between bounds, for all of which a system is solved
_BOUNDS = 30  # bounds met by one Newton step at most
_FEASIBLE = 1e-9


# ---------------------------------------------------------------------- one sample after the other
@compiled
def _project(target: Array, total: float, out: Array) -> None:
    """The nearest point of {α ≥ 0, Σ α = total} to ``target``, in ``out``."""
    n = target.size
    for a in range(n):  # sorted, the largest first
        value = target[a]
        b = a
        while b > 0 and out[b - 1] < value:
            out[b] = out[b - 1]
            b -= 1
        out[b] = value
    excess = -total
    level = 0.0
    for a in range(n):
        excess += out[a]
        candidate = excess / (a + 1)
        if out[a] <= candidate:
            break
        level = candidate
    for a in range(n):
        out[a] = max(target[a] - level, 0.0)


@compiled
def _sweep(K: Array, upper: Array, R: Array, alpha: Array, F: Array, threshold: float, most: int) -> Any:
    """Solve for each sample of a violation above the threshold; how many, and the largest violation."""
    n, n_classes = alpha.shape
    target, new = np.empty(n_classes), np.empty(n_classes)
    steps = 0
    worst = 0.0
    least = HUGE
    for i in range(n):
        if upper[i] > 0.0:
            highest, lowest, best = -HUGE, HUGE, 0
            for l in range(n_classes):
                g = R[i, l] + F[i, l]
                if g > highest:
                    highest, best = g, l
                if alpha[i, l] > 0.0:
                    lowest = min(lowest, g)
            worst = max(worst, highest - lowest)
            if highest - lowest > threshold and steps < most:
                curvature = np.float64(K[i, i])
                least = min(least, curvature)
                if curvature > TINY_CURVATURE:
                    for l in range(n_classes):
                        target[l] = alpha[i, l] + (R[i, l] + F[i, l] - highest) / curvature
                    _project(target, upper[i], new)
                else:
                    new[:] = 0.0
                    new[best] = upper[i]
                for l in range(n_classes):
                    target[l] = alpha[i, l] - new[l]
                    alpha[i, l] = new[l]
                row = K[i]
                for t in range(n):
                    k = np.float64(row[t])
                    for l in range(n_classes):
                        F[t, l] += k * target[l]
                steps += 1
    return steps, worst, least


# ---------------------------------------------------------------------- all samples at once
def free_pairs(alpha: Array) -> FreeDuals:
    """The α (n_classes, n) between bounds, each with the largest α of its sample, which gives and takes."""
    inside = alpha > 0.0
    largest = alpha.argmax(axis=0)
    inside[largest, np.arange(alpha.shape[1])] = False
    others, samples = np.nonzero(inside)
    return FreeDuals(samples, others, largest[samples])


def invert_free(K: Array, free: FreeDuals, right: Array) -> Array:
    """H⁻¹ right (n_free, n_sides), H = K_ij (turn_i · turn_j); nothing is balanced."""
    turns = free.turns
    H = np.asarray(K[np.ix_(free.samples, free.samples)], float) * (turns @ turns.T)
    return invert_on_balanced(H, right, np.zeros((free.samples.size, 1)))


def move_free(alpha: Array, free: FreeDuals, direction: Array, longest: float = 1.0) -> tuple[Array, float]:
    """α after a step along the free ones, to the first bound at most, and its length."""
    change = np.zeros_like(alpha)
    change[free.others, free.samples] = direction
    np.subtract.at(change, (free.own, free.samples), direction)
    falling = change < 0.0
    length = min(longest, float(np.min(alpha[falling] / -change[falling], initial=np.inf)))
    moved = np.maximum(alpha + length * change, 0.0)
    if length < longest:  # what meets its bound is on it, and no longer free
        moved[falling & (moved <= 1e-14 * alpha.max(axis=0))] = 0.0
    return moved, length


class WorstSolver:
    """The state of one solution; what :class:`.solver.JointSolver` is for the other joint machine.

    It starts from a feasible ``alpha`` (n_classes, n), 0 in the own classes, with ``scores`` BK if known.
    """

    def __init__(self, K: Array, loss: WorstHinge, alpha: Array, scores: Array | None = None) -> None:
        self.K, self.upper, self.R = read_only(K), loss.upper, np.ascontiguousarray(loss.margins)
        self.codes, self.each = loss.codes, np.arange(loss.codes.size)
        self.whole = np.ascontiguousarray(alpha.T)  # with what is left in the own class
        self.whole[self.each, self.codes] = np.maximum(self.upper - alpha.sum(axis=0), 0.0)
        self.size = float(np.abs(np.diagonal(K)).max(initial=0.0)) or 1.0
        self.n_steps, self.least_curvature = 0, np.inf
        if scores is None:
            self.rebuild_scores()
        else:
            self.F = np.ascontiguousarray(scores.T)

    @property
    def alpha(self) -> Array:
        """α (n_classes, n), 0 of the own classes."""
        alpha = self.whole.T.copy()
        alpha[self.codes, self.each] = 0.0
        return alpha

    @property
    def scores(self) -> Array:
        """BK (n_classes, n)."""
        return self.F.T.copy()

    @property
    def coefficients(self) -> Array:
        """B (n, n_classes)."""
        B = -self.whole
        B[self.each, self.codes] = 0.0
        B[self.each, self.codes] = -B.sum(axis=1)
        return B

    def rebuild_scores(self) -> None:
        """F from the support rows: at the start, and to remove the drift of many steps."""
        B = self.coefficients
        used = np.flatnonzero(B.any(axis=1))
        self.F = np.ascontiguousarray(self.K[:, used] @ B[used])

    def values(self) -> Values:
        """The dual and the primal value."""
        B = self.coefficients
        half = 0.5 * float(np.vdot(B, self.F))
        G = self.R + self.F
        loss = G.max(axis=1) - self.F[self.each, self.codes]
        dual = -float(np.vdot(self.R, B)) - half  # R is 0 in the own classes
        return Values(dual, half + float(loss @ self.upper), np.zeros(G.shape[1]))

    look = values

    def newton_step(self) -> None:
        """Solve for all the free α at once, to the bounds they meet."""
        for _ in range(_BOUNDS):
            free = free_pairs(self.whole.T)
            if not 0 < free.samples.size <= _MOST_FREE:
                return
            G = (self.R + self.F).T
            ascent = -free.turned(G)
            direction = invert_free(self.K, free, ascent[:, None])[:, 0]
            if not float(direction @ ascent) > 0.0:
                return
            moved, length = move_free(self.whole.T, free, direction)
            self.whole = np.ascontiguousarray(moved.T)
            self.rebuild_scores()
            if length >= 1.0:
                return

    def _approach(self, threshold: float, most: int) -> bool:
        """Sweeps to the threshold; whether it was reached."""
        for _ in range(_SWEEPS):
            steps, worst, least = _sweep(self.K, self.upper, self.R, self.whole, self.F, threshold, most)
            self.n_steps, most = self.n_steps + steps, most - steps
            self.least_curvature = min(self.least_curvature, least / self.size)
            if worst <= threshold:
                return True
            if most <= 0 or is_over():
                return False
        return False

    def solve(self, tol: float, max_steps: int) -> tuple[Values, Status]:
        """Steps until the relative gap is ``tol``."""
        scale = float(np.abs(self.R).max(initial=0.0)) or 1.0
        threshold, slow, last = _FIRST_VIOLATION * scale, 0, np.inf
        most = self.n_steps + max_steps
        while True:
            reached = self._approach(threshold, most - self.n_steps)
            self.rebuild_scores()
            values = self.values()
            if values.difference <= tol * abs(values.primal):
                return values, Status.OPTIMAL
            why = reason_to_stop()
            if why is not None:
                return values, why
            if self.n_steps >= most:
                return values, Status.MAX_ITER
            if threshold < _FINEST_VIOLATION * scale:
                is_zero = values.primal <= _ROUNDING * scale * float(self.upper.sum())
                return values, Status.OPTIMAL if is_zero else Status.STALLED
            if reached:
                threshold *= float(np.clip(0.7 * tol * abs(values.primal) / values.difference, 0.05, 0.5))
                continue
            slow = 0 if values.difference < 0.5 * last else slow + 1
            last = min(last, values.difference)
            if slow > _SWEEPS:
                return values, Status.STALLED
            self.newton_step()


def solve_worst(
    K: Array,
    codes: Array,
    n_classes: int,
    C: Array | float,
    *,
    tol: float = 1e-4,
    start: Array | None = None,
    max_iter: int = 10**7,
) -> MulticlassResult:
    """Solve the machine with the kernel K (n, n), as :func:`.solver.solve_multiclass` does the other one.

    ``start`` is an α (n, n_classes) of an earlier result; rows beyond their C are scaled to it.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> (X @ X.T @ solve_worst(X @ X.T, codes, 2, 10.0).coefficients).round(3).tolist()  # the scores
    [[2.0, -2.0], [1.0, -1.0], [-1.0, 1.0], [-2.0, 2.0]]
    """
    K, codes, upper = checked_data(K, codes, n_classes, C)
    alpha = np.zeros((codes.size, n_classes)) if start is None else np.maximum(start, 0.0)
    alpha[np.arange(codes.size), codes] = 0.0
    total = alpha.sum(axis=1)
    alpha *= np.minimum(upper / np.where(total > 0.0, total, 1.0), 1.0)[:, None]
    solver = WorstSolver(K, WorstHinge(codes, n_classes, upper), alpha.T)
    return multiclass_result(solver, *solver.solve(tol, max_iter))


# ---------------------------------------------------------------------- on a weighted stack
class WorstMachine(JointMachine):
    """The machine as the weight learner needs it; ``beta`` (n_classes, n) is B."""

    loss: WorstHinge

    def _solver(self, scores: Array | None = None) -> WorstSolver:  # type: ignore[override]
        return WorstSolver(self.stack.combined, self.loss, self.alpha, scores)

    def is_feasible(self) -> bool:
        alpha, given = self.alpha, self.beta
        total = alpha.sum(axis=0)
        shares = np.minimum(self.loss.upper / np.where(total > 0.0, total, 1.0), 1.0)
        self._set_alpha(alpha * shares)
        size = _FEASIBLE * max(float(alpha.sum()), 1.0)
        return bool(np.abs(given - self.beta).sum() <= size)

    def terms(self, shift: Array) -> Terms:
        alpha = self.alpha
        total = alpha.sum(axis=0)
        used = total > 0.0
        room = float(np.min(self.loss.upper[used] / total[used], initial=np.inf))
        return Terms(float(np.vdot(self.loss.margins.T, alpha)), 0.0, room)

    def _whole(self) -> Array:
        """α (n_classes, n) with what is left in the own class."""
        alpha = self.alpha
        left = np.maximum(self.loss.upper - alpha.sum(axis=0), 0.0)
        alpha[self.loss.codes, np.arange(self.stack.n)] = left
        return alpha

    def sensitivity(self, kernels: Array) -> Sensitivity:
        free = free_pairs(self._whole())
        size, rows = free.samples.size, np.arange(free.samples.size)
        right = free.turned(self.F[kernels])
        if not 0 < size <= _MOST_FREE:
            return Sensitivity(rows, np.zeros((size, kernels.size)), np.zeros((kernels.size,) * 2))
        self.stack.form_rows(np.unique(free.samples))
        solved = invert_free(self.stack.combined, free, right.T)
        hessian = right @ solved
        return Sensitivity(rows, solved, 0.5 * (hessian + hessian.T))

    def follow(self, change: Array, sensitivity: Sensitivity) -> bool:
        whole = self._whole()
        free = free_pairs(whole)
        if not sensitivity.rows.size or sensitivity.rows.size != free.samples.size:
            return False
        moved, _ = move_free(whole, free, sensitivity.direction(change))
        moved[self.loss.codes, np.arange(self.stack.n)] = 0.0
        self._set_alpha(moved)
        return True
