"""Discriminant kernel learning over the simplex: models on subspaces, and Newton's where those are costly.

What an iteration costs is one Cholesky factorisation and reading the kernels. So the first shares are learned
on half of the points, where it costs an eighth and a quarter of that, and each step goes to the minimiser of
a model on a subspace (`subspace`), of which two or three are enough.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dtrtrs

from ..._numba import read_only
from ..._typing import Array
from ...core.optim.loop import Options
from ...core.optim.simplex import SimplexResult, StartError, minimise_over_simplex
from ...core.scatter import SingularScatterError, separation_columns
from ...core.stack.passes import gather_stack
from .problem import (
    JITTER,
    DiscriminantProblem,
    DiscriminantResult,
    Members,
    Solved,
    discriminant_result,
    relative_gap,
)
from .subspace import Subspace, chosen_members, is_cheap

__all__ = ["DiscriminantProblem", "DiscriminantResult", "learn_discriminant"]

_COARSE_SIZE = 150  # a start on fewer samples than this is not worth its overhead
_COARSE_CLASS = 5  # points that each class has to keep there
_COARSE_GAP = 0.1  # from there the model leads to a start that is near enough
_NEGATIVE = 1e-9  # relative
_SURE = 0.8  # of tol: what a certificate without a factorisation has to reach
_REFINEMENTS = 2  # of its B, so that its gap is that of M(η)⁻¹H to within some parts in a hundred


def learn_discriminant(problem: DiscriminantProblem, *, options: Options | None = None) -> DiscriminantResult:
    """Learn the kernel weights, and λ where it is not given, of discriminant analysis.

    By default to a relative gap of 1e-8 within 100 iterations. Raises SingularScatterError where M cannot be
    factored.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(40) % 2
    >>> good, bad = rng.normal(size=(2, 40, 3))
    >>> good[:, 0] += 4 * codes
    >>> result = learn_discriminant(DiscriminantProblem(np.array([good @ good.T, bad @ bad.T]), codes, 0.1))
    >>> bool(result.shares[0] > 0.9), result.gap <= 1e-8
    (True, True)
    """
    options = options or Options(tol=1e-8, max_iter=100)
    members = Members(problem.Ks, problem.reg)
    H = np.asfortranarray(separation_columns(problem.codes))
    objective = Objective(members, H, options.tol)
    found = _search(objective, _start(problem, members, options), options)
    here = found.evaluation
    return discriminant_result(
        members,
        found.point,
        (here.value, here.lower_bound),
        here.size,
        options,
        n_iter=found.n_iter,
        n_factorisations=objective.n_factorisations,
        status=found.status,
        suspicious=here.suspicious,
        history=found.history,
    )


def _search(objective: "Objective", start: Array, options: Options) -> SimplexResult["Separation"]:
    try:
        return minimise_over_simplex(objective.at, start, options, objective.minimiser_of_model)
    except StartError:
        raise SingularScatterError(objective.members.ridge) from None


@dataclass(frozen=True)
class Separation:
    """F and its derivatives at one point."""

    value: float  # or an upper bound of it
    lower_bound: float
    gradient: Array
    size: float  # ‖B‖²
    solved: Solved  # at the point, or near it

    @property
    def gap(self) -> float:
        return relative_gap(self.value, self.lower_bound)

    @property
    def hessian(self) -> Array:
        """2⟨W_i, W_j⟩, W_i = L⁻¹A_iB."""
        W = self.solved.half_solved()
        W = W.reshape(len(W), -1)
        return np.asarray(2.0 * (W @ W.T))

    @property
    def suspicious(self) -> bool:
        """Whether some q_i is negative beyond rounding."""
        return bool(self.gradient.max() > _NEGATIVE * np.abs(self.gradient).max())


def evaluate_separation(members: Members, H: Array, shares: Array) -> Separation | None:
    """F(η) = tr H'M⁻¹H with gradient −q, Hessian, and the lower bound of B."""
    solved = members.solve(H, shares)
    if solved is None:
        return None
    return _separation(members, H, solved, float((solved.Y * solved.Y).sum()))


def _separation(members: Members, H: Array, solved: Solved, value: float) -> Separation:
    """At a B that is M(η)⁻¹H, or so near to it that ``value`` still bounds F(η)."""
    B = solved.B
    q = np.einsum("inq,nq->i", solved.products, B)
    size = float((B * B).sum())
    bound = float((B * H).sum()) ** 2 / ((0.0 if members.learned else members.ridge * size) + float(q.max()))
    value *= 1.0 + JITTER if members.learned else 1.0
    return Separation(value, bound, -q, size, solved)


class Objective:
    """F, its model on a subspace, and a certificate that needs no factorisation near a point that has one."""

    def __init__(self, members: Members, H: Array, tol: float) -> None:
        self.members, self.H, self.tol = members, H, tol
        self.n_factorisations = 0
        self._near: tuple[Array, Solved, Subspace] | None = None

    def at(self, shares: Array) -> Separation | None:
        """F(η); an upper bound of it where that is enough for the gap that is asked for."""
        certified = self._certified(shares)
        if certified is not None and certified.gap <= _SURE * self.tol:
            return certified
        self.n_factorisations += 1
        return evaluate_separation(self.members, self.H, shares)

    def minimiser_of_model(self, shares: Array, here: Separation) -> Array | None:
        """Where F is least on the span of B and its derivatives; None where the span is costly."""
        self._near = None
        chosen = chosen_members(self.members, shares, -here.gradient)
        if not is_cheap(self.members.n, chosen.size, self.H.shape[1]):
            return None
        subspace = Subspace(self.members, self.H, chosen, here.solved)
        if here.gap**3 <= 10.0 * self.tol:  # the next one is about that
            self._near = shares, here.solved, subspace
        return subspace.minimiser(shares)

    def _certified(self, shares: Array) -> Separation | None:
        """Bounds of F(η) from B in the span and the factor nearby; None where there is none."""
        if self._near is None:
            return None
        before, solved, subspace = self._near
        active = before > 0.0
        least = min(1.0, float((shares[active] / before[active]).min()))
        B = subspace.best_in_span(shares) if least > 0.0 else None
        if B is None:
            return None
        for _ in range(_REFINEMENTS):
            B += solved.inverse(self.H - self.members.apply(shares, B))
        products = self.members.times(B)
        residual = self.H - self.members.ridge * B - np.tensordot(shares, products, 1)
        missing = dtrtrs(solved.L, residual, lower=1)[0]
        value = float((B * (self.H + residual)).sum() + (missing * missing).sum() / least)
        return _separation(self.members, self.H, Solved(solved.L, missing, B, products), value)


def _start(problem: DiscriminantProblem, members: Members, options: Options) -> Array:
    """Shares learned on half of each class, if enough are left: an iteration there costs an eighth."""
    half = np.sort(
        np.concatenate([np.flatnonzero(problem.codes == c)[::2] for c in np.unique(problem.codes)])
    )
    codes = problem.codes[half]
    if not options.coarse or half.size < _COARSE_SIZE or np.bincount(codes).min() < _COARSE_CLASS:
        return members.start()
    Ks = np.empty((members.stack.m, half.size, half.size))
    gather_stack(read_only(problem.Ks), half, Ks)
    part = Objective(Members(Ks, problem.reg), np.asfortranarray(separation_columns(codes)), _COARSE_GAP)
    rough = replace(options, tol=max(_COARSE_GAP, options.tol), callback=None)
    try:
        found = _search(part, part.members.start(), rough)
    except SingularScatterError:
        return members.start()
    learned = part.minimiser_of_model(found.point, found.evaluation)
    shares = (found.point if learned is None else learned) * members.usable
    return np.asarray(shares / shares.sum()) if shares.any() else members.start()
