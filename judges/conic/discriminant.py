"""The kernel of discriminant analysis by Clarabel: the second opinion beside Newton's method.

Exact: the second-order cone program of the dual, whose multipliers are the shares η of the members A_i,

    max_{B,s}  2 tr(B'H) − λ‖B‖² − s²     ‖F_i'B‖ ≤ s for every member A_i = F_iF_i'

(the bound is stated on the norm and squared in the objective: cones of squares would lose half the digits).
Approximate, for three classes and more: the semidefinite program (37) itself,

    min 1't   over η in the simplex, t:    ⎡ R'M(η)R   R'H     ⎤ ⪰ 0,        M(η) = λI + Σ_i η_i A_i
                                           ⎣ H'R       Diag(t) ⎦

whose multiplier holds Z (unit diagonal) and R'BZ. With R = I both are whole, and hopeless for more than some
hundreds, or dozens, of points. With fewer columns both are relaxations, because they restrict B to the range
of R. So R grows: by the B = M(η)⁻¹H of the shares that were found and by its derivatives, so that each round
squares the error. R'MR = I at the best shares known scales the programs for every λ.

Bounds are computed from η and from B and Z (see `multikernel.discriminant` and `diagonal_discriminant`),
whatever Clarabel says of itself.
"""

from typing import Any, NamedTuple

import clarabel
import numpy as np
from scipy.linalg.lapack import dtrtrs

from multikernel.core.optim.loop import Options, Status
from multikernel.core.scatter import SingularScatterError, class_columns, separation_columns
from multikernel.discriminant.solver.problem import (
    JITTER,
    DiscriminantProblem,
    DiscriminantResult,
    Members,
    discriminant_result,
    relative_gap,
)

from ..diagonal_discriminant import diagonal_bound
from .program import SLIGHT, USUAL, Block, as_matrix, minimise, vectorise
from .quadratic import bounded_by_s, factor_of, weight_of

Array = np.ndarray[Any, np.dtype[Any]]

_WHOLE_BELOW = 24
_COLUMNS = 8  # of the semidefinite program, beyond two for each class
_VARIABLES = 240  # of the second-order cone program
_DEPENDENT = 1e-8
_NULL = 1e-13
_NEGATIVE = 1e-8  # relative: beyond rounding, which a positive semidefinite kernel cannot have
_PATIENCE = 5
_CORNER = 0.8
_BACK = (0.0, 0.1, 0.5)  # shares of the best point, mixed in until M is positive definite


class _Found(NamedTuple):
    """Shares and a dual point of a program; Z is None where it is the identity."""

    shares: Array
    B: Array
    Z: Array | None


class _Solved(NamedTuple):
    """B = M(η)⁻¹H and its derivatives −M⁻¹A_iB at given shares, side by side."""

    shares: Array
    B: Array
    slopes: Array


def learn_discriminant_conic(
    problem: DiscriminantProblem, *, options: Options | None = None, approximate: bool = False
) -> DiscriminantResult:
    """Learn weights, and λ where it is not given, of discriminant analysis; as ``learn_discriminant``.

    Parameters
    ----------
    problem : DiscriminantProblem
        Two classes have the same solution in both formulations, and the same objective here.
    options : Options, optional
        By default a relative gap of 1e-8; ``max_iter``, by default 100, counts the programs that are solved.
    approximate : bool
        Whether to solve (37), as ``learn_diagonal_discriminant``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(12) % 3
    >>> good, bad = rng.normal(size=(2, 12, 3))
    >>> good[:, 0] += 4 * codes
    >>> Ks = np.array([good @ good.T, bad @ bad.T])
    >>> result = learn_discriminant_conic(DiscriminantProblem(Ks, codes, 1e-2))
    >>> bool(result.shares[0] > result.shares[1]), str(result.status)
    (True, 'optimal')
    """
    options = options or Options(tol=1e-8, max_iter=100)
    members = Members(problem.Ks, problem.reg)
    diagonal = approximate and problem.codes.max() > 1
    H = class_columns(problem.codes) if diagonal else separation_columns(problem.codes)
    search = _Search(members, H, diagonal, options)
    status = search.run()
    return discriminant_result(
        members,
        search.best.shares,
        (search.upper, search.lower),
        float((search.best.B**2).sum()),
        options,
        history=search.history,
        n_iter=len(search.history),
        n_factorisations=search.n_factorisations,
        status=status,
        suspicious=search.suspicious,
    )


class _Search:
    """The best shares and the best proof so far, and the columns that the next program may use."""

    def __init__(self, members: Members, H: Array, diagonal: bool, options: Options) -> None:
        self.members, self.H, self.diagonal, self.options = members, np.asfortranarray(H), diagonal, options
        self.upper, self.lower = np.inf, 0.0
        self.least_gap, self.waited = np.inf, 0
        self.n_factorisations = 0
        self.suspicious = False
        self.history: list[dict[str, float]] = []
        middle = self._solve(members.start())
        if middle is None:
            raise SingularScatterError(members.ridge)
        self.best = middle
        self._prove(middle.B, None)
        self._take(middle)
        self.columns = self._first_columns(middle)

    # ------------------------------------------------------------------ rounds
    def run(self) -> Status:
        for _ in range(self.options.max_iter):
            # Where one regularisation gets no further, the other often does.
            self._round(SLIGHT if self.waited % 2 else USUAL)
            stopped = self._note()
            if self.gap <= self.options.tol:
                return Status.OPTIMAL
            if stopped:
                return Status.INTERRUPTED
            if self.waited >= _PATIENCE:
                return Status.STALLED
        return Status.MAX_ITER

    @property
    def gap(self) -> float:
        return relative_gap(self.upper, self.lower)

    def _round(self, regularisation: float) -> None:
        R = self._whitened()
        program = _approximate if self.diagonal else _exact
        forms = np.einsum("na,inb->iab", R, self.members.times(R))
        ridge = 0.0 if self.members.learned else self.members.ridge
        usable = self.members.usable
        found = program(forms[usable], ridge * (R.T @ R), R.T @ self.H, regularisation)
        if found is None:
            return
        shares = np.zeros(usable.size)
        shares[usable] = found.shares
        self._prove(R @ found.B, found.Z)
        solved = self._solve_near(shares)
        self.columns = [R @ found.B, self.best.B, solved.B, self.best.slopes, solved.slopes]
        self._take(solved)

    def _note(self) -> bool:
        self.waited = 0 if self.gap < 0.5 * self.least_gap else self.waited + 1
        self.least_gap = min(self.least_gap, self.gap)
        entry = {
            "iteration": len(self.history) + 1,
            "objective": self.upper,
            "lower_bound": self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(self.best.shares)),
        }
        self.history.append(entry)
        return bool(self.options.callback and self.options.callback(entry))

    # ------------------------------------------------------------------ bounds
    def _take(self, solved: _Solved) -> None:
        """An upper bound, and what B proves together with the Z of C = H'B."""
        C = self.H.T @ solved.B
        C = 0.5 * (C + C.T)
        value, Z = float(np.trace(C)), None
        if self.diagonal:
            bound = diagonal_bound(C)
            value, Z = bound.upper, bound.Z
        value *= 1.0 + JITTER if self.members.learned else 1.0
        self._prove(solved.B, Z)
        if value < self.upper:
            self.upper, self.best = value, solved

    def _prove(self, B: Array, Z: Array | None) -> None:
        """⟨Z, H'B⟩² / (λ⟨Z, B'B⟩ + max_i ⟨Z, B'A_iB⟩), Z = I where there is none."""
        B = B - B.mean(axis=0)
        Z = np.eye(B.shape[1]) if Z is None else Z
        BZ = B @ Z
        q = np.einsum("inq,nq->i", self.members.times(B), BZ)
        self.suspicious |= bool(q.min() < -_NEGATIVE * np.abs(q).max())
        ridge = 0.0 if self.members.learned else self.members.ridge
        spread = ridge * float((B * BZ).sum()) + float(q.max())
        if spread > 0.0:
            self.lower = max(self.lower, float((self.H * BZ).sum()) ** 2 / spread)

    # ------------------------------------------------------------------ columns
    def _solve(self, shares: Array) -> _Solved | None:
        L = self.members.factor(shares)
        self.n_factorisations += 1
        if L is None:
            return None
        B = self._inverse(L, self.H)
        products = self.members.times(B)[self.members.usable]
        slopes = self._inverse(L, products.transpose(1, 0, 2).reshape(self.members.n, -1))
        return _Solved(shares, B, slopes)

    def _inverse(self, L: Array, columns: Array) -> Array:
        solved = dtrtrs(L, dtrtrs(L, columns, lower=1)[0], lower=1, trans=1)[0]
        return np.asarray(solved - solved.mean(axis=0))

    def _solve_near(self, shares: Array) -> _Solved:
        for back in _BACK:
            solved = self._solve(shares + back * (self.best.shares - shares))
            if solved is not None:
                return solved
        return self.best

    def _first_columns(self, middle: _Solved) -> list[Array]:
        """All of them for few points; else B at equal shares and near each member alone."""
        n = self.members.n
        if n <= _WHOLE_BELOW:
            return [np.eye(n) - 1.0 / n]
        near = [middle]
        for i in np.flatnonzero(self.members.usable):
            corner = (1.0 - _CORNER) * middle.shares
            corner[i] += _CORNER
            solved = self._solve(corner)
            if solved is not None:
                near.append(solved)
        return [solved.B for solved in near] + [middle.slopes]

    def _whitened(self) -> Array:
        """Columns R (n, l) with R'M(η)R = I at the best shares."""
        basis = np.empty((self.members.n, 0))
        for columns in self.columns:
            basis = _extended(basis, columns)
        if self.members.n > _WHOLE_BELOW:
            k = self.H.shape[1]
            least = _COLUMNS + 2 * k
            basis = basis[:, : least if self.diagonal else max(least, _VARIABLES // k)]
        forms = np.einsum("na,inb->iab", basis, self.members.times(basis))
        form = np.tensordot(self.best.shares, forms, 1) + self.members.ridge * (basis.T @ basis)
        values, vectors = np.linalg.eigh(0.5 * (form + form.T))
        kept = values > _NULL * values[-1]
        return np.asarray(basis @ (vectors[:, kept] / np.sqrt(values[kept])))


def _extended(basis: Array, columns: Array) -> Array:
    """An orthonormal basis with the range of further columns too, the most important of them first."""
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns[:, lengths > 0.0] / lengths[lengths > 0.0]
    for _ in range(2):  # twice is orthogonal to rounding
        columns = columns - basis @ (basis.T @ columns)
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    left = left[:, sizes > _DEPENDENT]
    left -= left.mean(axis=0)  # small singular values magnify rounding, and all products rely on sums of zero
    left -= basis @ (basis.T @ left)
    return np.column_stack([basis, np.linalg.qr(left)[0]])


def _exact(forms: Array, ridge: Array, H: Array, regularisation: float) -> _Found | None:
    """The second-order cone program; forms (m, l, l), ridge (l, l) and H (l, k) in coordinates of R."""
    l, k = H.shape
    size = float(np.linalg.norm(H))
    members = [bounded_by_s(np.kron(np.eye(k), factor_of(form))) for form in forms]
    P = np.zeros((k * l + 1, k * l + 1))
    P[:-1, :-1] = np.kron(np.eye(k), 2.0 * ridge)
    P[-1, -1] = 2.0
    answer = minimise(P, np.append(-2.0 / size * H.T.ravel(), 0.0), members, regularisation)
    if answer is None:
        return None
    weights = np.array([weight_of(*pair) for pair in zip(members, answer.multipliers, strict=True)])
    weights = np.maximum(weights, 0.0)
    if not weights.sum() > 0.0:
        return None
    return _Found(weights / weights.sum(), answer.x[:-1].reshape(k, l).T, None)


def _approximate(forms: Array, ridge: Array, H: Array, regularisation: float) -> _Found | None:
    """The semidefinite program (37) in coordinates of R, for (η, t)."""
    m, (l, k) = len(forms), H.shape
    bordered = np.zeros((m + k + 1, l + k, l + k))
    bordered[:m, :l, :l] = 0.5 * (forms + forms.transpose(0, 2, 1))
    bordered[m + np.arange(k), l + np.arange(k), l + np.arange(k)] = 1.0
    bordered[-1, :l, :l] = ridge
    bordered[-1, :l, l:] = H / np.linalg.norm(H)
    bordered[-1, l:, :l] = bordered[-1, :l, l:].T
    vectors = vectorise(bordered)
    simplex = np.zeros((m + 1, m + k))
    simplex[0, :m] = 1.0
    simplex[1:, :m] = -np.eye(m)
    blocks = [
        Block(-vectors[:-1].T, vectors[-1], clarabel.PSDTriangleConeT(l + k)),
        Block(simplex[:1], np.ones(1), clarabel.ZeroConeT(1)),
        Block(simplex[1:], np.zeros(m), clarabel.NonnegativeConeT(m)),
    ]
    answer = minimise(None, np.append(np.zeros(m), np.ones(k)), blocks, regularisation)
    if answer is None:
        return None
    multiplier = as_matrix(answer.multipliers[0])
    Z = multiplier[l:, l:] + 1e-12 * np.eye(k)
    lengths = np.sqrt(np.diagonal(Z))
    if not (np.linalg.eigvalsh(Z)[0] > 0.0 and answer.x[:m].max() > 0.0):
        return None
    B = np.linalg.solve(Z, -multiplier[l:, :l]).T * lengths
    weights = np.maximum(answer.x[:m], 0.0)
    return _Found(weights / weights.sum(), B, Z / np.outer(lengths, lengths))
