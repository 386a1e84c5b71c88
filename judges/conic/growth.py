"""The semidefinite program through subspaces that grow where the last relaxation was wrong.

A relaxation (relaxation.py) gives weights w and a dual point, which bounds the optimum from below. Its
weights may leave K(w) indefinite; drawn towards equal weights until K(w) ⪰ 0, they bound it from above by the
machine that they give. The eigenvectors that were negative join U, the machine's duals and their derivatives
in the weights join W: near the optimum each round squares the error. Directions of small multipliers are
dropped from a basis that becomes large. Small programs start from the whole space, so that the first round
solves them.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from multikernel.core.optim.weight_sets import Spectrahedron

from .certificate import lower_bound
from .machine import MachineAnswer, Problem, derivatives, repair, solve_fixed
from .relaxation import Relaxation, Relaxed

Array = np.ndarray[Any, np.dtype[Any]]

_MAX_PULLS, _SURE_PULLS = 30, 5
_KEPT_U, _KEPT_W = 5, 12  # directions that a basis keeps for the next round, beyond one for each member
_DEPENDENT = 1e-7  # a direction missed by so little changes the value by the square of it
_NEGLIGIBLE = 1e-8
_SHARES = (0.0, 0.1, 0.5)  # of equal weights, tried until the classes are separated


class Round(NamedTuple):
    """What one round found: feasible weights and their machine, duals with multiplier and what they prove."""

    w: Array
    machine: MachineAnswer
    proof: Array
    Z: Array
    lower: float


def pull_inside(cone: Spectrahedron, w: Array, middle: Array) -> tuple[Array, Array]:
    """The first weights on the way from w to the middle with K(w) ⪰ 0, and eigenvectors met on the way.

    The smallest eigenvalue is concave along the segment, so Newton's steps never go too far. It is known to
    rounding only; where that keeps it below zero, later steps aim a little above.
    """
    m = cone.n_members
    outside, inside = cone.combine(w[:m]), cone.combine(middle[:m])
    rounding = float(np.finfo(float).eps * np.trace(inside))
    length = 0.0
    met: list[Array] = []
    for count in range(_MAX_PULLS):
        last = min(m + 1, cone.size) - 1
        values, vectors = scipy.linalg.eigh(
            outside + length * (inside - outside), subset_by_index=(0, last), check_finite=False
        )
        if values[0] >= -rounding:
            return w + length * (middle - w), np.column_stack([*met, vectors])
        met.append(vectors[:, :2])
        x = vectors[:, 0]
        gain = float(x @ (inside @ x)) - float(x @ (outside @ x))
        aim = max(0, count - _SURE_PULLS) * rounding
        length = min(1.0, length + (aim - float(values[0])) / gain)
    return middle, np.column_stack(met)


def _signed(w: Array, n_free: int) -> Array:
    """Weights whose signed part (the identity's) is nonnegative, of the same sum."""
    kept = np.maximum(w[n_free:], 0.0)
    free = w[:n_free]
    total = float(free.sum())
    return np.append(free * ((1.0 - float(kept.sum())) / total), kept) if total > 0.0 else w


def _orthonormal(columns: Array) -> Array:
    """An orthonormal basis of the columns, each first scaled to length one.

    Entries of rounding size go: as a dual's only way to be positive they would be a bound that is none.
    """
    norms = np.linalg.norm(columns, axis=0)
    columns = columns[:, norms > 0.0] / norms[norms > 0.0]
    Q, R, _ = scipy.linalg.qr(columns, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    basis = Q[:, size > _DEPENDENT * size[0]]
    basis[np.abs(basis).max(axis=1) < _NEGLIGIBLE] = 0.0
    return basis


def balanced(columns: Array) -> Array:
    """An orthonormal basis of columns of sum zero, whose sums stay zero to the last digit."""
    basis = _orthonormal(columns)
    used = basis.any(axis=1)
    basis[used] -= basis.sum(axis=0) / np.count_nonzero(used)
    return basis


class Growth:
    """The two bases and the rounds.

    Parameters
    ----------
    problem : Problem
    cone : Spectrahedron
    middle : array (n_members,)
        Equal weights.
    machine : MachineAnswer
        The machine with these weights.
    whole_below : int
        Programs of at most this many points start from the whole space.
    """

    def __init__(
        self, problem: Problem, cone: Spectrahedron, middle: Array, machine: MachineAnswer, whole_below: int
    ) -> None:
        self.problem, self.cone, self.middle = problem, cone, middle
        scale = machine.upper if np.isfinite(machine.upper) else machine.lower
        self.relaxation = Relaxation(problem, cone, max(scale, float(np.finfo(float).tiny)))
        self.whole = max(cone.size, problem.y.size) <= whole_below
        if self.whole:
            self.U = np.eye(cone.size)
            self.W = scipy.linalg.null_space(np.ones((1, problem.y.size)))
        else:
            self._start(machine)

    def _start(self, machine: MachineAnswer) -> None:
        """Machines at weights near each member's own, and the directions that bound their weights."""
        corners = 0.2 * self.middle + 0.8 * np.eye(self.middle.size)
        machines = [machine] + [solve_fixed(self.problem, w) for w in corners]
        self.W = balanced(np.column_stack([found.beta for found in machines if found is not None]))
        size = self.cone.size
        top = [scipy.linalg.eigh(K, subset_by_index=(max(size - 2, 0), size - 1))[1] for K in self.cone.Ks]
        self.U = _orthonormal(np.column_stack(top))

    def round(self, regularisation: float) -> Round | None:
        """Solve the relaxation, bound from both sides, grow; None if Clarabel found nothing."""
        relaxed = self.relaxation.solve(self.U, self.W, regularisation)
        if relaxed is None:
            return None
        w = _signed(relaxed.w, self.cone.n_members)
        pulled, met = pull_inside(self.cone, w, self.middle)
        pulled, machine = self._machine(pulled)
        proof = repair(self.problem, relaxed.beta)
        lower = lower_bound(self.problem, proof, self.cone, relaxed.Z)
        if machine is None:
            self._grow(relaxed, met, np.empty((self.problem.y.size, 0)))
            return None
        self._grow(relaxed, met, np.column_stack([machine.beta, derivatives(self.problem, pulled, machine)]))
        return Round(pulled, machine, proof, relaxed.Z, lower)

    def _machine(self, w: Array) -> tuple[Array, MachineAnswer | None]:
        """The machine at w, or nearer to equal weights if no machine is found there."""
        for share in _SHARES:
            mixed = w + share * (self.middle - w)
            machine = solve_fixed(self.problem, mixed)
            if machine is not None and np.isfinite(machine.upper):
                return mixed, machine
        return w, None

    def _grow(self, relaxed: Relaxed, met: Array, duals: Array) -> None:
        m = self.cone.n_members
        more = (0, 0) if self.whole else (_KEPT_U, _KEPT_W)  # in the whole space rounding has the last word
        self.U = _orthonormal(np.column_stack([relaxed.U[:, : m + more[0]], met]))
        self.W = balanced(np.column_stack([relaxed.W[:, : m + more[1]], duals]))
        self.whole = False
