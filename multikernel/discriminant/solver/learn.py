"""Discriminant kernel learning by Newton's method over the simplex.

What an iteration costs is one Cholesky factorisation and reading the kernels. So the first shares are learned
on half of the points, where it costs an eighth and a quarter of that.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._numba import read_only
from ..._typing import Array
from ...core.optim.loop import Options
from ...core.optim.simplex import StartError, minimise_over_simplex
from ...core.scatter import SingularScatterError, separation_columns
from ...core.stack.passes import gather_stack
from .problem import (
    JITTER,
    DiscriminantProblem,
    DiscriminantResult,
    Members,
    discriminant_result,
    relative_gap,
)

__all__ = ["DiscriminantProblem", "DiscriminantResult", "learn_discriminant"]

_COARSE_SIZE = 150  # a start on fewer samples than this is not worth its overhead
_COARSE_CLASS = 5  # points that each class has to keep there
_COARSE_GAP = 1e-3
_NEGATIVE = 1e-9  # relative


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
    start = _start(problem, members, options)
    try:
        found = minimise_over_simplex(lambda shares: evaluate_separation(members, H, shares), start, options)
    except StartError:
        raise SingularScatterError(members.ridge) from None
    here = found.evaluation
    return discriminant_result(
        members,
        found.point,
        (here.value, here.lower_bound),
        here.size,
        options,
        n_iter=found.n_iter,
        n_factorisations=found.n_evaluations,
        status=found.status,
        suspicious=here.suspicious,
        history=found.history,
    )


@dataclass(frozen=True)
class Separation:
    """F and its derivatives at one point."""

    value: float
    lower_bound: float
    gradient: Array
    hessian: Array
    size: float  # ‖B‖²

    @property
    def gap(self) -> float:
        return relative_gap(self.value, self.lower_bound)

    @property
    def suspicious(self) -> bool:
        """Whether some q_i is negative beyond rounding."""
        return bool(self.gradient.max() > _NEGATIVE * np.abs(self.gradient).max())


def evaluate_separation(members: Members, H: Array, shares: Array) -> Separation | None:
    """F(η) = tr H'M⁻¹H with gradient −q, Hessian 2⟨W_i, W_j⟩, W_i = R⁻ᵀA_iB, and the lower bound of B."""
    solved = members.solve(H, shares)
    if solved is None:
        return None
    Y, B, products, W = solved
    q = np.einsum("inq,nq->i", products, B)
    W = W.reshape(q.size, -1)
    size = float((B * B).sum())
    bound = float((B * H).sum()) ** 2 / ((0.0 if members.learned else members.ridge * size) + float(q.max()))
    value = float((Y * Y).sum()) * (1.0 + JITTER if members.learned else 1.0)
    return Separation(value, bound, -q, 2.0 * (W @ W.T), size)


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
    coarse = replace(options, tol=max(_COARSE_GAP, options.tol), callback=None)
    try:
        learned = learn_discriminant(DiscriminantProblem(Ks, codes, problem.reg), options=coarse)
    except SingularScatterError:
        return members.start()
    shares = learned.shares * members.usable
    return shares / shares.sum() if shares.any() else members.start()
