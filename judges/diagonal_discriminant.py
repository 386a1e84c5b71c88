"""The approximation (37) of Ye et al. (2007): one matrix inequality with a diagonal instead of one a class.

    min 1't   over η in the simplex, t:    ⎡ M(η)   H       ⎤ ⪰ 0,        M(η) = λI + Σ_i η_i A_i
                                           ⎣ H'     Diag(t) ⎦

By the Schur complement its value is v(C(η)), C = H'M⁻¹H, v the smallest diagonal matrix above a matrix. It is
always larger than tr C, what the exact problem minimises: v(C) = tr C needs a diagonal C, but
C√(n_1 … n_k) = 0. For two classes the ratio is constant, (√n_1 + √n_2)²/n, and the solution the same; for
more both differ.

*The smallest diagonal matrix above a symmetric matrix C (k, k)*, from both sides:

    v(C)   =  min {1't : Diag(t) − C ⪰ 0}  =  max {⟨Z, C⟩ : Z ⪰ 0, Z_jj = 1}
    v_σ(C) =  max {⟨Z, C⟩ + σ log det Z : Z_jj = 1},      its gradient is Z

The maximiser of the smooth form has ZS = σI with S = Diag(t) − C ≻ 0, so that ⟨Z, C⟩ = 1't − kσ: together
they enclose v(C) to kσ. A primal-dual interior point method solves for t and Z; the diagonal of Z is one and
S is what t makes of it at every step.

*The value as a function of the shares η*, with its derivatives: with B = M⁻¹H, E_i = B'A_iB = −∂C/∂η_i and Z
the maximiser in the smooth form v_σ,

    ∂_i v_σ = −⟨Z, E_i⟩,     ∂²_ij v_σ = 2 tr(Z B'A_iM⁻¹A_jB) + ⟨R_i, R_j⟩ / σ

where R_i is what is left of L'E_iL, Z = LL', after projection on the span of l_j l_j', l_j' the rows of L: a
change of C that a change of t undoes costs nothing.

*Lower bound*: for every Z ⪰ 0 of unit diagonal v(C) ≥ ⟨Z, C⟩ = tr Q'M⁻¹Q with Q = HL, and what the exact
problem has for its columns H holds for Q: ⟨Z, H'B⟩² / (λ⟨Z, B'B⟩ + max_i ⟨Z, B'A_iB⟩) ≤ min v for every B.

*The search*: the optimum is often a kink of v, where the Z of v(C(η)) jumps with η. So η, t and Z are found
together: Newton steps for

    SZ = σI,   Z_jj = 1,   η the minimiser of a model of ⟨Z, C(·)⟩ over the simplex,    S = Diag(t) − C(η),

while σ goes to nothing. They hold near the solution for a σ only; Newton's method over the simplex for
v_σ(C(η)) gets there at first, and again wherever a step fails.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from multikernel.core.optim.loop import Options, Recorder, Status, armijo, backtrack
from multikernel.core.optim.simplex import minimise_over_simplex, minimize_step
from multikernel.core.scatter import SingularScatterError, class_columns
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.discriminant.solver.learn import learn_discriminant
from multikernel.discriminant.solver.problem import (
    JITTER,
    DiscriminantProblem,
    DiscriminantResult,
    Members,
    discriminant_result,
    relative_gap,
)

Array = np.ndarray[Any, np.dtype[Any]]

_FIRST = 0.1  # kσ of the first problem, relative to tr C
_NEAR_OPTIMUM = 0.3  # of kσ: the gap at which the solution for a σ is near enough
_LAST = 0.05  # of tol: kσ relative to v of the last problem
_SHRINK = 0.1  # of σ, from one step to the next
_KEEP = 0.9  # of the way to the boundary
_ROUNDING = 1e-13
_TRIALS = 3
_SHORT = 0.3
_RETURNS = 25
_CRUMB = 1e-3  # of σ relative to v: shares that go to zero and cannot matter any more
_NEGATIVE = 1e-8  # relative: beyond rounding
_ROUNDS = 100  # of centring
_CENTERED = 1e-10  # of ‖Z½SZ½/σ − I‖, where rounding lets it go so far
_NEAR = 1e-2


class DiagonalDiscriminantClassifier(KernelDiscriminantClassifier):
    """The classifier of the package, with the weights and λ of (37)."""

    def _learn(self, Ks: Array, problem: DiscriminantProblem) -> DiscriminantResult:
        return learn_diagonal_discriminant(problem, options=Options(tol=self.tol, max_iter=self.max_iter))


def learn_diagonal_discriminant(
    problem: DiscriminantProblem, *, options: Options | None = None
) -> DiscriminantResult:
    """Learn weights, and λ where it is not given, by (37); as ``learn_discriminant``.

    Parameters
    ----------
    problem : DiscriminantProblem
        Two classes have the weights of the exact problem, which is what is solved.
    options : Options, optional
        ``max_iter`` counts all Newton steps.
    """
    options = options or Options(tol=1e-8, max_iter=100)
    if problem.codes.max() == 1:
        return learn_discriminant(problem, options=options)
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


# ------------------------------------------------------------------ the value, as a function of the shares
@dataclass(frozen=True)
class Between:
    """C(η) and what its derivatives are made of.

    Attributes
    ----------
    C : array (k, k)
    E : array (m, k, k), E_i = B'A_iB = −∂C/∂η_i
    W : array (m, n, k), W_i = R⁻ᵀA_iB with M = R'R, so that ∂²C/∂η_i∂η_j = W_i'W_j + W_j'W_i
    squares : array (k, k), B'B
    ridge : float, λ; zero when it is learned
    """

    C: Array
    E: Array
    W: Array
    squares: Array
    ridge: float

    @property
    def suspicious(self) -> bool:
        """Whether some E_i has a negative trace beyond rounding, which a positive semidefinite A_i cannot."""
        traces = np.trace(self.E, axis1=1, axis2=2)
        return bool(traces.min() < -_NEGATIVE * np.abs(traces).max())

    def lower_bound(self, Z: Array) -> float:
        """What Z and B = M⁻¹H prove."""
        q = np.einsum("iab,ab->i", self.E, Z)
        return float((Z * self.C).sum()) ** 2 / (
            self.ridge * float((Z * self.squares).sum()) + float(q.max())
        )

    def curvature(self, L: Array) -> Array:
        """2 tr(Z B'A_iM⁻¹A_jB) for Z = LL', (m, m)."""
        WL = (self.W @ L).reshape(len(self.W), -1)
        return np.asarray(2.0 * (WL @ WL.T))


def between_classes(members: Members, H: Array, shares: Array) -> Between | None:
    """C(η); None if M is not positive definite to rounding.

    Parameters
    ----------
    members : Members
    H : array (n, k), Fortran-contiguous, columns of sum zero
    shares : array (m,)
    """
    solved = members.solve(H, shares)
    if solved is None:
        return None
    Y, B = solved.Y, solved.B
    E = np.einsum("na,inb->iab", B, solved.products)
    given = 0.0 if members.learned else members.ridge
    return Between(Y.T @ Y, 0.5 * (E + E.transpose(0, 2, 1)), solved.half_solved(), B.T @ B, given)


@dataclass(frozen=True)
class SmoothSeparation:
    """v_σ(C(η)) with its derivatives, and the lower bound of its Z; the gap leaves out what σ costs."""

    value: float
    lower_bound: float
    gap: float
    gradient: Array
    hessian: Array


def smooth_separation(between: Between, sigma: float) -> SmoothSeparation:
    """Value, gradient and Hessian of v_σ(C(η)) in η."""
    found = smooth_bound(between.C, sigma)
    L = np.linalg.cholesky(found.Z)
    left = beyond_diagonals(L, between.E, L)[0]
    lower = between.lower_bound(found.Z)
    return SmoothSeparation(
        value=found.value,
        lower_bound=lower,
        gap=1.0 - lower / float((found.Z * between.C).sum()),
        gradient=-np.einsum("iab,ab->i", between.E, found.Z),
        hessian=between.curvature(L) + (left @ left.T) / sigma,
    )


def beyond_diagonals(L: Array, E: Array, half: Array) -> tuple[Array, Array, Array]:
    """Split the matrices L'E_i half into a part L' Diag(·) half and a rest orthogonal to all such.

    Returns the rest (m, k²), the coordinates (m, k) of the other part in an orthonormal basis, and the upper
    triangle (k, k) that turns a diagonal into those coordinates.
    """
    turned = (L.T @ E @ half).reshape(len(E), -1)
    diagonals = np.einsum("ja,jb->abj", L, half).reshape(-1, len(L))
    basis, triangle = scipy.linalg.qr(diagonals, mode="economic", check_finite=False)
    along = turned @ basis
    return turned - along @ basis.T, along, triangle


# ------------------------------------------------------------------ the search
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
            self.options,
            tol=_NEAR_OPTIMUM * rest,
            max_iter=self.options.max_iter - self.n_iter,
            callback=None,
        )
        found = minimise_over_simplex(evaluate, start, options)
        self.n_iter += found.n_iter
        between = self._at(found.point)
        assert between is not None
        bound = smooth_bound(between.C, sigma)
        return _Point(found.point, between, bound.t, bound.Z)

    def _advance(self, point: _Point, sigma: float) -> _Point | None:
        """One step of shares, t and Z together; None if it does not bring much."""
        step = _share_directions(point, sigma)
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


def _share_directions(point: _Point, sigma: float) -> _Directions | None:
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


# ------------------------------------------------------------------ the smallest diagonal matrix above
class SmoothBound(NamedTuple):
    """v_σ(C), and what its derivatives are made of.

    Attributes
    ----------
    value : float
    t : array (k,)
    Z : array (k, k), positive definite with a diagonal of ones: the gradient of v_σ
    """

    value: float
    t: Array
    Z: Array


class DiagonalBound(NamedTuple):
    """v(C) enclosed.

    Attributes
    ----------
    upper : float, 1't
    lower : float, ⟨Z, C⟩
    t : array (k,), with Diag(t) − C positive semidefinite
    Z : array (k, k), positive semidefinite with a diagonal of ones
    """

    upper: float
    lower: float
    t: Array
    Z: Array


def smooth_bound(C: Array, sigma: float) -> SmoothBound:
    """v_σ(C).

    Parameters
    ----------
    C : array (k, k), symmetric
    sigma : float
        Greater than 0; below about 1e-12 ‖C‖ rounding takes over.

    Examples
    --------
    >>> C = np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> found = smooth_bound(C, 1e-6)
    >>> round(found.value, 4), found.Z.round(4).tolist()
    (5.0, [[1.0, 1.0], [1.0, 1.0]])
    """
    t, Z = _center(C, sigma)
    return SmoothBound(float((Z * C).sum()) + sigma * float(np.linalg.slogdet(Z)[1]), t, Z)


def diagonal_bound(C: Array, tol: float = 1e-10) -> DiagonalBound:
    """Enclose v(C).

    Parameters
    ----------
    C : array (k, k), symmetric
    tol : float
        Bound of (upper − lower) / ‖C‖ to aim at.

    Examples
    --------
    >>> bound = diagonal_bound(np.array([[2.0, 1.0], [1.0, 1.0]]))
    >>> round(bound.upper, 8), round(bound.lower, 8), bound.t.round(6).tolist()
    (5.0, 5.0, [3.0, 2.0])
    """
    k, size = len(C), float(np.linalg.norm(C))
    if not size > 0.0:
        return DiagonalBound(0.0, 0.0, np.zeros(k), np.eye(k))
    scaled = C / size
    t, Z = _center(scaled, tol / k)
    beneath = float(np.linalg.eigvalsh(np.diag(t) - scaled)[0])
    t = size * (t + max(0.0, -beneath))
    return DiagonalBound(float(t.sum()), float((Z * C).sum()), t, Z)


def _center(C: Array, sigma: float) -> tuple[Array, Array]:
    """t and Z with ZS = σI."""
    k, size = len(C), max(float(np.abs(C).max()), sigma)
    t, Z = np.abs(C).sum(axis=1) + size, np.eye(k)
    best, least = (t, Z), np.inf
    for _ in range(_ROUNDS):
        try:
            R = np.linalg.cholesky(Z)
        except np.linalg.LinAlgError:
            break  # rounding
        values, vectors = np.linalg.eigh(R.T @ (np.diag(t) - C) @ R)  # R'SR, which is σI at the end
        off = float(np.linalg.norm(values / sigma - 1.0)) if values[0] > 0.0 else np.inf
        if not np.isfinite(off) or (least <= _NEAR and off > 0.5 * least):
            break  # rounding
        best, least = (t, Z), off
        if off <= _CENTERED:
            break
        half = R @ (vectors / np.sqrt(values))
        dt, dZ = _directions(Z, half @ half.T, max(sigma, _SHRINK * float(values.mean())))
        # S + a dS = half⁻ᵀ(I + a half' dS half)half⁻¹, and Z + a dZ likewise with R.
        t = t + step_inside(half.T @ (dt[:, None] * half)) * dt
        Z = Z + step_inside(congruent(R, dZ)) * dZ
    return best


def _directions(Z: Array, inverse: Array, aim: float) -> tuple[Array, Array]:
    """Newton's step for Z = aim S⁻¹, the diagonal of Z unchanged."""
    dt = np.linalg.solve(Z * inverse, aim * np.diag(inverse) - 1.0)
    turned = (Z * dt) @ inverse
    dZ = aim * inverse - Z - 0.5 * (turned + turned.T)
    np.fill_diagonal(dZ, 0.0)
    return dt, dZ


def congruent(R: Array, M: Array) -> Array:
    """R⁻¹MR⁻ᵀ."""
    once = scipy.linalg.solve_triangular(R, M, lower=True, check_finite=False)
    return np.asarray(scipy.linalg.solve_triangular(R, once.T, lower=True, check_finite=False))


def step_inside(relative: Array) -> float:
    """The length at which I + a·relative stays well positive definite; one if that does."""
    lowest = float(np.linalg.eigvalsh(relative)[0])
    return min(1.0, _KEEP / max(-lowest, 1e-300))
