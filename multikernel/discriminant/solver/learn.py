"""Discriminant kernel learning over the simplex: models on subspaces, and Newton's where those are costly.

What an iteration costs is one Cholesky factorisation and reading the kernels. So the first shares are learned
on half of the points, where it costs an eighth and a quarter of that, and each step goes to the minimiser of
a model on a subspace (`subspace`), which is enlarged as long as that is cheaper than the next factorisation.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

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
from .subspace import Subspace, chosen_members, is_cheap, steepest

__all__ = ["DiscriminantProblem", "DiscriminantResult", "learn_discriminant"]

_COARSE_SIZE = 150  # a start on fewer samples than this is not worth its overhead
_COARSE_CLASS = 5  # points that each class has to keep there
_COARSE_GAPS = (0.5, 0.1)  # from there the model leads to a start that is near enough; where it is costly
_NEGATIVE = 1e-9  # relative
_SURE = 0.8  # of tol: what a certificate without a factorisation has to reach
_WORTH = 60  # a factorisation and the model there cost as much as n / 60 enlargements ...
_MOST_WORTH = 10  # ... and not more, where reading the kernels is most of both


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
    """At a B that is M(η)⁻¹H."""
    q = np.einsum("inq,nq->i", solved.products, solved.B)
    return _bounded(members, H, solved.B, q, solved, value)


def _bounded(members: Members, H: Array, B: Array, q: Array, solved: Solved, value: float) -> Separation:
    """With the lower bound of any B of sum zero, where ``value`` is not below F(η)."""
    size = float((B * B).sum())
    bound = members.lower_bound(float((B * H).sum()), size, q)
    value *= 1.0 + JITTER if members.learned else 1.0
    return Separation(value, bound, -q, size, solved)


class Objective:
    """F, its model on a subspace, and a certificate of the model's minimiser that needs no factorisation."""

    def __init__(self, members: Members, H: Array, tol: float) -> None:
        self.members, self.H, self.tol = members, H, tol
        self.worth = min(_MOST_WORTH, members.n / _WORTH)
        self.n_factorisations = 0
        self._certified: tuple[Array, Separation] | None = None

    def at(self, shares: Array) -> Separation | None:
        """F(η); an upper bound of it where that is enough for the gap that is asked for."""
        if self._certified is not None and np.array_equal(shares, self._certified[0]):
            return self._certified[1]
        self.n_factorisations += 1
        return evaluate_separation(self.members, self.H, shares)

    def model(self, shares: Array, here: Separation) -> Subspace | None:
        """F on the span of B and its derivatives; None where that is costly."""
        chosen = chosen_members(self.members, shares, -here.gradient)
        if not is_cheap(self.members.n, chosen.size, self.H.shape[1]):
            return None
        return Subspace(self.members, self.H, chosen, shares, here.solved)

    def minimiser_of_model(self, shares: Array, here: Separation) -> Array | None:
        """Where the model is least, enlarged while that promises a certificate; None where there is none."""
        self._certified = None
        subspace = self.model(shares, here)
        if subspace is None:
            return None
        before, left = None, 0.5 * np.sqrt(here.gap)  # how much a column leaves of what was missing: a guess
        for _ in range(math.ceil(self.worth)):
            shares = subspace.minimiser(shares)
            lacking = subspace.lacking(shares)
            if lacking is None:
                return shares
            if before is not None:
                left = np.sqrt(lacking.missing / before)
            elif not self._is_promising(2.0 * np.sqrt(here.gap * lacking.missing / lacking.value), left):
                return shares
            before = lacking.missing
            subspace.enlarge(lacking)
            gap = subspace.gap(shares)
            if gap <= _SURE * self.tol:
                before = None
                if not self._certify_or_admit(subspace, shares):
                    return shares
            elif not self._is_promising(gap, left):
                break
        return subspace.minimiser(shares)

    def _is_promising(self, gap: float, left: float) -> bool:
        """Whether enlargements of the model are likely to cost less than the next factorisation."""
        return bool(gap * left**self.worth <= self.tol)

    def _certify_or_admit(self, subspace: Subspace, shares: Array) -> bool:
        """Keep the bounds of the best B, or take the members into the model for which they fail.

        False where nothing was admitted.
        """
        members = self.members
        lacking = subspace.lacking(shares)
        if lacking is None:
            return False
        others = np.flatnonzero(members.usable)
        others = others[~np.isin(others, subspace.chosen)]
        products = members.products(lacking.B.T, others)
        q = np.zeros(shares.size)
        q[subspace.chosen] = lacking.q
        level = float(q.max())
        q[others] = np.einsum("iqn,nq->i", products, lacking.B)
        certificate = _bounded(members, self.H, lacking.B, q, subspace.solved, lacking.value + lacking.excess)
        entering = steepest(q[others], level)
        n_chosen = subspace.chosen.size + entering.size
        if certificate.gap <= _SURE * self.tol:
            self._certified = shares, certificate
            return False
        if entering.size == 0 or not is_cheap(members.n, n_chosen, self.H.shape[1]):
            return False
        subspace.admit(others[entering])
        subspace.extend(subspace.solved.inverse(products[entering].reshape(-1, members.n).T))
        return True


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
    part_members, H = Members(Ks, problem.reg), np.asfortranarray(separation_columns(codes))
    is_costly = not is_cheap(half.size, int(np.count_nonzero(part_members.usable)), H.shape[1])
    rough = replace(options, tol=max(_COARSE_GAPS[is_costly], options.tol), callback=None)
    part = Objective(part_members, H, rough.tol)
    try:
        found = _search(part, part.members.start(), rough)
    except SingularScatterError:
        return members.start()
    shares = found.point
    model = part.model(shares, found.evaluation)
    if model is not None:
        shares = model.minimiser(shares)
        lacking = model.lacking(shares)
        if lacking is not None:
            model.enlarge(lacking)
            shares = model.minimiser(shares)
    shares = shares * members.usable
    return np.asarray(shares / shares.sum()) if shares.any() else members.start()
