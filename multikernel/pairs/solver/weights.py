"""Kernel weights of both sides of the pairs, learned on the objective of ridge regression.

    J(μ, ν) = min_f Σ w (y − f)² + α ‖f‖²  in the space of K_left(μ) ⊗ K_right(ν),
    K_left(μ) = Σ μ_m K_left,m,  K_right(ν) = Σ ν_m K_right,m,  μ and ν in the unit simplex

is convex in μ for fixed ν and in ν for fixed μ. For any β, with g_m = tr(K_left,m B K_right(ν) B'),

    J(μ, ν) − min_μ J ≤ primal(β) − dual(β) + α (max_m g_m − Σ μ_m g_m)

The sides take turns with Newton's steps until both bounds are small. Where one set of objects is on both
sides, the weights are one and the same, μ = ν; the bound then says the same of either side with the other one
fixed.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status
from ...core.optim.simplex import minimise_over_simplex
from .ridge import Cells, PairMachine, PairSolution, Side, conjugate_gradients, solve_pairs

_TURN = 3  # Newton's steps before the other side has its turn
_EXACT = 1e-6  # of the tolerance: how exact a machine is, so that values tell two weights apart
_EXACTEST = 1e-15
_ROUGH = 1e-2  # relative residual of what goes into second derivatives
_SIDES = ("left", "right")


@dataclass(frozen=True)
class PairProblem:
    """Cells, the kernels of both sides, and α."""

    cells: Cells
    left: Array  # (n_kernels, n_left, n_left)
    right: Array | None  # (n_kernels, n_right, n_right); None where the right objects are the left ones
    alpha: float

    @property
    def tied(self) -> bool:
        return self.right is None

    def kernels(self, side: str) -> Array:
        """The kernels of a side."""
        return self.left if side == "left" or self.right is None else self.right

    def start(self) -> dict[str, Array]:
        """Equal weights."""
        return {side: np.full(len(self.kernels(side)), 1.0 / len(self.kernels(side))) for side in _SIDES}

    def side(self, name: str, weights: Array) -> Side:
        """The weighted sum of the kernels of a side."""
        return Side(np.tensordot(weights, self.kernels(name), axes=1))


@dataclass(frozen=True)
class PairPoint:
    """A machine at some weights, and what is known of its objective in the weights of one side."""

    problem: PairProblem
    name: str
    weights: dict[str, Array]
    machine: PairMachine
    solution: PairSolution

    @property
    def value(self) -> float:
        return self.solution.objective

    @property
    def gradient(self) -> Array:
        return -(2.0 if self.problem.tied else 1.0) * self.problem.alpha * self.norms(self.name)

    @property
    def gap(self) -> float:
        return self.gap_of(self.name)

    @cached_property
    def B(self) -> Array:
        return self.machine.cells.scatter(self.solution.beta)

    def norms(self, side: str) -> Array:
        """g_m = β'G_mβ for each kernel of a side."""
        if side == "left":
            inner = self.B @ self.machine.right.K @ self.B.T
        else:
            inner = self.B.T @ self.machine.left.K @ self.B
        return np.tensordot(self.problem.kernels(side), inner, axes=2)

    def gap_of(self, side: str) -> float:
        """How much better other weights of a side can be at most, relative to the objective."""
        norms = self.norms(side)
        worse = self.solution.gap + self.problem.alpha * float(norms.max() - self.weights[side] @ norms)
        return worse / abs(self.value) if self.value else 0.0

    @cached_property
    def hessian(self) -> Array:
        """2α v_m'A⁻¹v_k with v_m = G_mβ; where the cells are not complete, nearly so."""
        cells, machine = self.machine.cells, self.machine
        images = np.array([machine.root * cells.gather(F) for F in self._derivatives()])
        solved = np.array([_rough_solve(machine, image) for image in images])
        H = 2.0 * self.problem.alpha * images @ solved.T
        return (H + H.T) / 2.0

    def _derivatives(self) -> list[Array]:
        """The derivatives of K_left B K_right by the weights."""
        Ks = self.problem.kernels(self.name)
        if self.name == "right":
            return [(self.machine.left.K @ self.B) @ K for K in Ks]
        parts = [K @ (self.B @ self.machine.right.K) for K in Ks]
        return [part + part.T for part in parts] if self.problem.tied else parts


def _rough_solve(machine: PairMachine, target: Array) -> Array:
    first = machine.rough_inverse(target)
    if machine.cells.is_complete:
        return first
    bound = _ROUGH**2 * float(target @ target)
    return conjugate_gradients(machine, target, first, lambda _, rest: float(rest @ rest) <= bound, 100)[0]


@dataclass(frozen=True)
class LearnedPairs(Result):
    """Learned weights of both sides, and the machine at them; ``gap`` is the larger relative bound."""

    left: Array  # (n_kernels,), in the unit simplex
    right: Array
    machine: PairMachine
    solution: PairSolution


def fit_pairs(problem: PairProblem, tol: float, max_iter: int, *, learn: bool) -> LearnedPairs:
    """Solve the problem at equal weights, or learn them, to a relative gap `tol`."""
    search = _Search(problem, max(tol * _EXACT, _EXACTEST) if learn else tol, max_iter)
    return search.run(tol) if learn else search.fixed()


class _Search:
    def __init__(self, problem: PairProblem, exactness: float, max_iter: int) -> None:
        self.problem, self.exactness, self.max_iter = problem, exactness, max_iter
        start = problem.start()
        left = problem.side("left", start["left"])
        right = left if problem.tied else problem.side("right", start["right"])
        self.here = self._solved("left", start, left, right, None)

    def fixed(self) -> LearnedPairs:
        """The machine at equal weights."""
        solution = self.here.solution
        gap = solution.gap / abs(self.here.value) if self.here.value else 0.0
        return self._learned(gap, n_iter=solution.n_iter, status=solution.status)

    def run(self, tol: float) -> LearnedPairs:
        """Turns of the sides until both bounds are small."""
        turns = ("left",) if self.problem.tied else _SIDES
        record, n_turns = Recorder(tol, self.max_iter), 0
        while not record.note(self._entry(n_turns)):
            before, value = record.history[-1]["gap"], self.here.value
            for side in turns:
                self._turn(side, 0.5 * tol)
            n_turns += 1
            if self.gap() >= before and not self.here.value < value:
                machine = self.here.solution.status
                record.stop(Status.STALLED if machine == Status.OPTIMAL else machine)
                break
        return self._learned(self.gap(), **{**record.outcome, "n_iter": n_turns})

    def gap(self) -> float:
        return max(self.here.gap_of(side) for side in _SIDES)

    def _turn(self, side: str, tol: float) -> None:
        if len(self.problem.kernels(side)) == 1:
            return
        first = self.here

        def evaluate(weights: Array) -> PairPoint:
            if np.array_equal(weights, first.weights[side]):
                return PairPoint(self.problem, side, first.weights, first.machine, first.solution)
            return self._at(first, side, weights)

        found = minimise_over_simplex(evaluate, first.weights[side], Options(tol=tol, max_iter=_TURN))
        self.here = found.evaluation

    def _at(self, first: PairPoint, side: str, weights: Array) -> PairPoint:
        """The machine at other weights of one side."""
        made = self.problem.side(side, weights)
        tied = self.problem.tied
        left = made if side == "left" else first.machine.left
        right = made if side == "right" or tied else first.machine.right
        both = dict.fromkeys(_SIDES, weights) if tied else first.weights | {side: weights}
        return self._solved(side, both, left, right, first.solution.beta)

    def _solved(
        self, name: str, weights: dict[str, Array], left: Side, right: Side, start: Array | None
    ) -> PairPoint:
        machine = PairMachine(self.problem.cells, left, right, self.problem.alpha)
        solution = solve_pairs(machine, self.exactness, self.max_iter, start)
        return PairPoint(self.problem, name, weights, machine, solution)

    def _entry(self, iteration: int) -> dict[str, float]:
        used = sum(int(np.count_nonzero(weights)) for weights in self.here.weights.values())
        return {"iteration": iteration, "objective": self.here.value, "gap": self.gap(), "n_active": used}

    def _learned(self, gap: float, **ending: Any) -> LearnedPairs:
        here, weights = self.here, self.here.weights
        found = weights["left"], weights["right"], here.machine, here.solution
        return LearnedPairs(*found, objective=here.value, gap=gap, **ending)
