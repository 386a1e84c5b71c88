"""The approximation (37) of Ye et al. (2007): one matrix inequality with a diagonal instead of one a class.

    min 1't   over η in the simplex, t:    ⎡ M(η)   H       ⎤ ⪰ 0,        M(η) = λI + Σ_i η_i A_i
                                           ⎣ H'     Diag(t) ⎦

By the Schur complement its value is v(C(η)), C = H'M⁻¹H, v the smallest diagonal matrix above a matrix
(`diagonal_separation`). It is always larger than tr C, what the exact problem minimises: v(C) = tr C needs a
diagonal C, but C√(n_1 … n_k) = 0. For two classes the ratio is constant, (√n_1 + √n_2)²/n, and the solution
the same; for more both differ.

The optimum is often a kink of v, where the Z of v(C(η)) jumps with η. So η, t and Z are found together:
Newton steps for

    SZ = σI,   Z_jj = 1,   η the minimiser of a model of ⟨Z, C(·)⟩ over the simplex,    S = Diag(t) − C(η),

while σ goes to nothing. They hold near the solution for a σ only; Newton's method over the simplex for
v_σ(C(η)) gets there at first, and again wherever a step fails.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..core.optim.line_search import armijo, backtrack
from ..core.optim.loop import Options, Recorder, Status
from ..criteria.scatter import SingularScatterError, class_columns
from .diagonal_bound import congruent, diagonal_bound, smooth_bound, step_inside
from .diagonal_separation import (
    Between,
    SmoothSeparation,
    between_classes,
    beyond_diagonals,
    smooth_separation,
)
from .discriminant_problem import (
    JITTER,
    DiscriminantProblem,
    DiscriminantResult,
    Members,
    discriminant_result,
    relative_gap,
)
from .simplex_newton import minimise_over_simplex
from .simplex_step import minimize_step

Array = np.ndarray[Any, np.dtype[Any]]

_FIRST = 0.1  # kσ of the first problem, relative to tr C
_NEAR = 0.3  # of kσ: the gap at which the solution for a σ is near enough
_SHRINK = 0.1
_LAST = 0.05  # of tol: kσ relative to v of the last problem
_ROUNDING = 1e-13
_TRIALS = 3
_SHORT = 0.3
_RETURNS = 25
_CRUMB = 1e-3  # of σ relative to v: shares that go to zero and cannot matter any more


def learn_diagonal_discriminant(problem: DiscriminantProblem, options: Options) -> DiscriminantResult:
    """Learn weights, and λ where it is not given, by (37), for three classes or more.

    Parameters
    ----------
    problem : DiscriminantProblem
        Its ``formulation`` is not read.
    options : Options
        ``max_iter`` counts all Newton steps.
    """
    members = Members(problem.Ks, problem.reg)
    path = _Path(members, np.asfortranarray(class_columns(problem.codes)), options)
    path.follow()
    path.tighten()
    return discriminant_result(
        members,
        path.best.shares,
        (path.upper, path.lower),
        float(np.trace(path.best.between.squares)),
        options,
        n_factorisations=path.n_factorisations,
        **path.record.outcome,
        suspicious=path.best.between.suspicious,
    )


class _Point(NamedTuple):
    """Shares, C there, and t and Z about central: S = Diag(t) − C and Z are positive definite."""

    shares: Array
    between: Between
    t: Array
    Z: Array


class _Directions(NamedTuple):
    """A Newton step for shares (to ``target``), t and Z, and how far t and Z may go.

    ``barrier`` and ``slope`` are the value and the slope of 1't − σ log det S, which the step lets fall.
    """

    target: Array
    t: Array
    Z: Array
    t_length: float
    Z_length: float
    barrier: float
    slope: float


class _Path:
    """The way to the solution: where it is, its best point and bounds, and what it cost."""

    def __init__(self, members: Members, H: Array, options: Options) -> None:
        self.members, self.H, self.options = members, H, options
        self.factor = 1.0 + JITTER if members.learned else 1.0
        self.n_iter, self.n_factorisations = 0, 0
        self.record = Recorder.of(options)
        self.upper, self.lower = np.inf, 0.0
        self.last: tuple[Array, Between | None] = (np.empty(0), None)
        self.point = self.best = self._approach(members.start(), _FIRST)
        self._take(self.point)

    @property
    def gap(self) -> float:
        return relative_gap(self.upper, self.lower)

    def follow(self) -> None:
        """Take steps until the bounds meet."""
        returns = 0
        while not self._note():
            if returns > _RETURNS:
                self.record.stop(Status.STALLED)
                break
            rest = max(_SHRINK * self._rest(), _LAST * self.options.tol)
            point = self._advance(self.point, rest * float(self.point.t.sum()) / self.point.t.size)
            if point is None:
                returns += 1
                point = self._approach(self.point.shares, rest)
            self._take(point)

    def tighten(self) -> None:
        """The value at the best point, without what a σ left of it."""
        bound = diagonal_bound(self.best.between.C)
        self.upper = min(self.upper, self.factor * bound.upper)
        self.lower = max(self.lower, self.best.between.lower_bound(bound.Z))

    def _rest(self) -> float:
        """⟨S, Z⟩ relative to 1't: about kσ / v."""
        point = self.point
        return 1.0 - float((point.Z * point.between.C).sum()) / float(point.t.sum())

    def _take(self, point: _Point) -> None:
        self.point = point
        upper = self.factor * float(point.t.sum())
        if upper < self.upper:
            self.upper, self.best = upper, point
        self.lower = max(self.lower, point.between.lower_bound(point.Z))

    def _note(self) -> bool:
        entry = {
            "iteration": self.n_iter,
            "objective": self.upper,
            "lower_bound": self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(self.point.shares)),
        }
        return self.record.note(entry)

    def _at(self, shares: Array) -> Between | None:
        """C and its derivatives; those of the last shares are kept."""
        if not np.array_equal(self.last[0], shares):
            self.last = (shares.copy(), between_classes(self.members, self.H, shares))
            self.n_factorisations += 1
        return self.last[1]

    def _approach(self, start: Array, rest: float) -> _Point:
        """The minimiser of v_σ(C(·)), kσ = rest · tr C, from anywhere; its t and Z are central."""
        between = self._at(start)
        if between is None:
            raise SingularScatterError(self.members.ridge)
        sigma = rest * float(np.trace(between.C)) / len(between.C)

        def evaluate(shares: Array) -> SmoothSeparation | None:
            between = self._at(shares)
            return None if between is None else smooth_separation(between, sigma)

        options = replace(
            self.options, tol=_NEAR * rest, max_iter=self.options.max_iter - self.n_iter, callback=None
        )
        found = minimise_over_simplex(evaluate, start, options)
        self.n_iter += found.n_iter
        between = self._at(found.point)
        assert between is not None
        bound = smooth_bound(between.C, sigma)
        return _Point(found.point, between, bound.t, bound.Z)

    def _advance(self, point: _Point, sigma: float) -> _Point | None:
        """One step of shares, t and Z together; None if it does not bring much."""
        step = _directions(point, sigma)
        if step is None:
            return None
        self.n_iter += 1

        def attempt(length: float) -> _Point | None:
            shares = _towards(point.shares, step.target, length, _CRUMB * sigma / float(point.t.sum()))
            between, t = self._at(shares), point.t + length * step.t
            if between is None or length < _SHORT:
                return None
            limit = armijo(step.barrier, length, step.slope) + _ROUNDING * float(t.sum())
            if not _barrier(t, between.C, sigma) <= limit:
                return None
            return _Point(shares, between, t, point.Z + step.Z_length * step.Z)

        return backtrack(attempt, _TRIALS, first=step.t_length)


def _towards(shares: Array, target: Array, length: float, crumb: float) -> Array:
    """Part of the way; what goes to zero and is below ``crumb`` is there at once."""
    moved = np.maximum(shares + length * (target - shares), 0.0)
    moved[(target == 0.0) & (moved < crumb)] = 0.0
    return moved / moved.sum()


def _barrier(t: Array, C: Array, sigma: float) -> float:
    """1't − σ log det(Diag(t) − C); infinity outside."""
    values = np.linalg.eigvalsh(np.diag(t) - C)
    return float(t.sum() - sigma * np.log(values).sum()) if values[0] > 0.0 else np.inf


def _directions(point: _Point, sigma: float) -> _Directions | None:
    """Newton's step to SZ = σI; None where S or Z is singular to rounding.

    Z + dZ = σS⁻¹ − (Z dS S⁻¹ + S⁻¹ dS Z)/2 with dS = Diag(dt) + Σ dη_i E_i, of unit diagonal: that gives dt
    for any dη, and what is left is a quadratic program in η.
    """
    shares, between, t, Z = point
    values, vectors = np.linalg.eigh(np.diag(t) - between.C)
    if not values[0] > 0.0:
        return None
    try:
        L = np.linalg.cholesky(Z)
    except np.linalg.LinAlgError:
        return None
    half = vectors / np.sqrt(values)
    inverse = half @ half.T
    rest, along, triangle = beyond_diagonals(L, between.E, half)
    hessian = between.curvature(L) + rest @ rest.T
    from_E = -sigma * np.einsum("iab,ab->i", between.E, inverse)
    from_t = scipy.linalg.solve_triangular(triangle, sigma * np.diag(inverse) - 1.0, trans=1)
    linear = from_E + along @ from_t
    target = np.asarray(minimize_step(hessian, linear, shares))
    move = target - shares
    dt = scipy.linalg.solve_triangular(triangle, from_t - move @ along)
    dS = np.diag(dt) + np.einsum("i,iab->ab", move, between.E)
    turned = Z @ dS @ inverse
    dZ = sigma * inverse - Z - 0.5 * (turned + turned.T)
    np.fill_diagonal(dZ, 0.0)
    return _Directions(
        target=target,
        t=dt,
        Z=dZ,
        t_length=step_inside(half.T @ dS @ half),
        Z_length=step_inside(congruent(L, dZ)),
        barrier=float(t.sum() - sigma * np.log(values).sum()),
        slope=float((1.0 - sigma * np.diag(inverse)) @ dt + from_E @ move),
    )
