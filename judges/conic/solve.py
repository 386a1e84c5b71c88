"""Entry point for the conic solver: nonnegative weights by one program, weights of any sign by rounds.

    min_w  max_β  2y'β − β'(K(w) + τI)β     Σ w = 1,  w ≥ 0 or K(w) ⪰ 0
                                            0 ≤ y∘β ≤ C,  Σβ = 0

The problem of interior_point.py by other means from beginning to end: Clarabel solves every program, and the
bounds that are returned are computed from feasible points, whatever Clarabel says of itself.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from multikernel.core.optim.weight_sets import Spectrahedron
from multikernel.core.svm.losses import Loss
from multikernel.transductive.solver.families import KernelFamily

from .certificate import lower_bound
from .growth import Growth, Round, balanced
from .machine import MachineAnswer, Problem, derivatives, make_problem, repair, solve_fixed
from .point import ConicPoint
from .program import SLIGHT, USUAL
from .quadratic import solve_nonnegative

Array = np.ndarray[Any, np.dtype[Any]]
Watch = Callable[[ConicPoint], bool]

_WHOLE_BELOW = 24  # beyond, the whole program takes seconds and subspaces are as sharp
_MEMORY = 12
_PATIENCE = 5


def solve_conic(
    family: KernelFamily,
    loss: Loss,
    cone: Spectrahedron | None,
    tol: float = 1e-8,
    max_iter: int = 50,
    watch: Watch | None = None,
    whole_below: int = _WHOLE_BELOW,
) -> ConicPoint:
    """Learn the weights of a family of kernel matrices by Clarabel.

    Parameters
    ----------
    family : KernelFamily
    loss : Hinge, SquaredHinge or HardMargin of the labelled points
        In the family's units. A hard margin needs classes that equal weights separate.
    cone : Spectrahedron, optional
        Of the members without the identity; their weights may then be negative. Without it all weights are
        nonnegative.
    tol : float
        Relative gap between the bounds to reach.
    max_iter : int
        Programs to solve; for nonnegative weights one is nearly always enough.
    watch : callable, optional
        Sees the best point after each round; a true answer stops.
    whole_below : int
        Up to this many points the semidefinite program is solved outright.

    Returns
    -------
    ConicPoint

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.transductive.solver.families import StackFamily
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 1.0, -1.0, -1.0])
    >>> family = StackFamily(np.stack([np.outer(x, x), np.outer(z, z)]), n_labelled=2)
    >>> point = solve_conic(family, Hinge(np.array([-1.0, 1.0]), 1.0), cone=None)
    >>> point.w.round(3).tolist(), point.why
    ([1.0, 0.0], 'solved')
    """
    problem = make_problem(family, loss)
    search = _Search(problem, cone, tol, watch)
    if search.point.why == "stalled":
        return search.point
    if cone is None:
        search.nonnegative(max_iter)
    else:
        search.rounds(cone, max_iter, whole_below)
    return search.point


class _Search:
    """The best weights and the best proof so far; begins with the machine of equal weights."""

    def __init__(self, problem: Problem, cone: Spectrahedron | None, tol: float, watch: Watch | None) -> None:
        self.problem, self.cone, self.tol = problem, cone, tol
        self.watch = watch or (lambda point: False)
        self.least_gap, self.waited = np.inf, 0
        n_members = problem.family.n_members
        self.middle = np.full(n_members, 1.0 / n_members)
        self.machine = solve_fixed(problem, self.middle)
        nothing = np.zeros(problem.y.size)
        self.point = ConicPoint(self.middle, nothing, 0.0, 0.0, np.inf, -np.inf, nothing, None, 0, "max_iter")
        if self.machine is None:
            self.point = replace(self.point, why="stalled")
        else:
            self._take_upper(self.middle, self.machine)

    def _take_upper(self, w: Array, machine: MachineAnswer) -> None:
        if machine.upper < self.point.upper:
            self.point = replace(
                self.point,
                w=w,
                beta=machine.beta,
                intercept=machine.intercept,
                value=machine.lower,
                upper=machine.upper,
            )

    def _take_lower(self, proof: Array, Z: Array | None, lower: float) -> None:
        if lower > self.point.lower:
            self.point = replace(self.point, proof=proof, Z=Z, lower=lower)

    def _take(self, found: Round) -> None:
        self._take_upper(found.w, found.machine)
        self._take_lower(found.proof, found.Z, found.lower)

    def nonnegative(self, max_iter: int) -> None:
        """One program; where it stops short, further ones over the duals that were found so far."""
        assert self.machine is not None
        self._prove(self.machine.beta)
        size = float(np.abs(self.machine.beta).max())
        W: Array | None = None
        for count in range(1, max_iter + 1):
            regularisation = SLIGHT if self.waited % 2 else USUAL
            found = solve_nonnegative(self.problem, size, regularisation, W)
            columns = [] if W is None else [W[:, :_MEMORY]]
            if found is not None:
                columns += self._learn_from(*found)
            if self._ended(count):
                return
            W = balanced(np.column_stack(columns)) if columns else None

    def _learn_from(self, w: Array, beta: Array) -> list[Array]:
        """Bounds from the weights and duals of a program; columns for the next."""
        beta = repair(self.problem, beta)
        self._prove(beta)
        machine = solve_fixed(self.problem, w)
        if machine is None:
            return [beta[:, None]]
        self._take_upper(w, machine)
        self._prove(machine.beta)
        return [np.column_stack([beta, machine.beta, derivatives(self.problem, w, machine)])]

    def _prove(self, beta: Array) -> None:
        """A lower bound for nonnegative weights."""
        self._take_lower(beta, None, lower_bound(self.problem, beta, None, None))

    def rounds(self, cone: Spectrahedron, max_iter: int, whole_below: int) -> None:
        """Weights of any sign."""
        assert self.machine is not None
        growth = Growth(self.problem, cone, self.middle, self.machine, whole_below)
        for count in range(1, max_iter + 1):
            # Where one regularisation gets no further, the other often does.
            found = growth.round(USUAL if self.waited % 2 else SLIGHT)
            if found is not None:
                self._take(found)
            if self._ended(count):
                return

    def _ended(self, count: int) -> bool:
        """Show the point after so many programs; whether that was the last."""
        self.point = replace(self.point, n_rounds=count)
        self.waited = 0 if self.point.gap < 0.5 * self.least_gap else self.waited + 1
        self.least_gap = min(self.least_gap, self.point.gap)
        stopped = self.watch(self.point)
        if self.point.gap <= self.tol:
            return self._end("solved")
        if stopped:
            return self._end("stopped")
        return self.waited >= _PATIENCE and self._end("stalled")

    def _end(self, why: str) -> bool:
        self.point = replace(self.point, why=why)
        return True
