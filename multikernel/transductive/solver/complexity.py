"""Complexity of a family of kernel matrices: how well its members fit random signs.

    C(𝒦) = E max_{K ∈ 𝒦} s'Ks,    s uniform over {−1, +1}^N

where N counts all points, training and test. A member Σ_j μ_j K_j of trace c has weights w_j = μ_j r_j / c
with Σ w = 1 and r_j = tr K_j, so that everything follows from the ratios

    q_j(s) = s'K_j s / r_j,    s'K(μ)s = c Σ_j w_j q_j(s),    E q_j = 1.

Nonnegative weights put all on the best kernel: C = c E max_j q_j, between c and c · min(m, N max_j λ_j / r_j)
with λ_j the largest eigenvalue of K_j. Rank-one matrices v_j v_j' of orthonormal vectors have r_j = λ_j = 1.
The expectation is a mean over draws of s.

Weights of any sign that keep K positive semidefinite (`largest_over_spectrahedron`) need for each draw

    max_w  Σ_j w_j q_j      Σ w = 1,   Σ_j w_j K_j / r_j ⪰ 0.

The set of weights is the same for all draws, and has few dimensions. In the coordinates x of a basis of the
weights with Σ w = 0, around equal weights and scaled so that these give the identity, the set is

    F(x) = I + Σ_j x_j D_j ⪰ 0,      tr(D_i D_j) = δ_ij.

Only few eigenvectors of F matter at an optimum. So F is compressed to U'F(x)U ⪰ 0 with U (p, k), k about 12:
a larger set, whose optimum and multipliers bound the value from above. The smallest eigenvalue −l of F there
says how far the point must be pulled back, x / (1 + l), to lie in the set: a bound from below. Its
eigenvectors are added to U until both agree. Draws in similar directions have similar eigenvectors, so U
starts from those of the nearest draws that are done; most draws need one eigenvalue problem of size p.

The compressed programs of many draws are solved at once (`SmallPrograms`), by a primal-dual interior point
method over arrays:

    max g'x      F(x) = I + Σ_j x_j D_j ⪰ 0,   f(x) = 1 + Rx ≥ 0
    min tr Z + Σ z      tr(Z D_j) + (R'z)_j = −g_j,   Z ⪰ 0,  z ≥ 0

They have their own D and g and share the rows R of a box, which keeps every one of them bounded. The
direction is that of Helmberg, Kojima and Monteiro with Mehrotra's correction. Multipliers that do not fulfil
the equations yet are completed by multipliers of the box, so that every iterate gives an upper bound. About
ten iterations of about 20 products of k × k matrices for each program.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.weight_sets import Spectrahedron

_BLOCK = 256  # draws at a time: 2 · 256 · N numbers of work space, besides one kernel in double precision
_DRAWS_AT_A_TIME = 64  # draws that are solved together
_NEIGHBOURS = 6
_KEPT = 2  # eigenvectors that a draw leaves to others
_ADDED = 3  # eigenvectors that a round adds
_SHARE = 0.2  # of the tolerance, for the compressed programs
_DEPENDENT = 1e-10
_TO_THE_BOUNDARY = 0.95
_MAX_ITER = 60  # of the compressed programs


def stack_ratios(Ks: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """q_j(s) = s'K_j s / tr K_j for random signs s, (n_draws, m): two products for each kernel and block.

    The first draws do not depend on how many follow.
    """
    traces = np.array([np.trace(K, dtype=float) for K in Ks])
    ratios = np.empty((n_draws, len(Ks)))
    for block, S in _sign_blocks(Ks.shape[1], n_draws, rng):
        for j, K in enumerate(Ks):
            ratios[block, j] = np.einsum("bi,bi->b", S @ K, S)
    return ratios / traces


def vector_ratios(V: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """q_j(s) = (v_j's)² of the rank-one matrices of orthonormal columns, for random signs s (n_draws, m)."""
    ratios = np.empty((n_draws, V.shape[1]))
    for block, S in _sign_blocks(V.shape[0], n_draws, rng):
        np.square(S @ V, out=ratios[block])
    return ratios


def nonnegative_limit(Ks: Array) -> float:
    """min(m, N max_j λ_j / r_j): what E max_j q_j cannot exceed (by their sum, and by their range)."""
    n_points = Ks.shape[1]
    shares = []
    last = [n_points - 1, n_points - 1]
    for K in Ks:
        top = scipy.linalg.eigh(np.asarray(K, float), eigvals_only=True, subset_by_index=last)
        shares.append(float(top[0]) / float(np.trace(K, dtype=float)))
    return min(float(len(Ks)), n_points * max(shares))


class Brackets(NamedTuple):
    """Bounds of the optimum of each draw, (n_draws,)."""

    lower: Array
    upper: Array


def largest_over_spectrahedron(Ks: Array, ratios: Array, tol: float = 1e-4) -> Brackets:
    """Bracket max_w Σ_j w_j q_j over Σ w = 1, Σ_j w_j K_j / tr K_j ⪰ 0, for every row q of ``ratios``.

    The brackets are at most tol · max(1, optimum) wide, unless rounding prevents it. The common range of the
    kernels is cut off at 1e-10 of the largest eigenvalue of their mean at equal traces; what is below cannot
    be told from rounding, and is not asked to be positive semidefinite.

    Memory: about four times the stack, and 16 N bytes for each draw. Time: one to two eigenvalue problems of
    size N and about ten iterations on matrices of size 12 to 30, for each draw.

    Examples
    --------
    Weights (1 + t, −t) of the identity and a projection keep their matrix positive semidefinite up to t = 1:

    >>> Ks = np.array([np.eye(2), np.diag([1.0, 0.0])])
    >>> lower, upper = largest_over_spectrahedron(Ks, np.array([[1.0, 0.25], [1.0, 3.0]]))
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([1.75, 3.0], [1.75, 3.0])
    """
    shape = _Coordinates(Ks)
    base = ratios.mean(axis=1)
    if shape.n_dimensions == 0:
        return Brackets(base, base.copy())
    search = _Search(shape, base, ratios @ shape.to_weights, tol)
    for start in range(0, len(base), _DRAWS_AT_A_TIME):
        search.bracket(start, min(start + _DRAWS_AT_A_TIME, len(base)))
    return Brackets(search.lower, search.upper)


def _sign_blocks(n_points: int, n_draws: int, rng: np.random.Generator) -> Iterator[tuple[slice, Array]]:
    for start in range(0, n_draws, _BLOCK):
        stop = min(start + _BLOCK, n_draws)
        yield slice(start, stop), rng.choice([-1.0, 1.0], size=(stop - start, n_points))


class _Coordinates:
    """The set of weights in coordinates x around equal weights.

    Attributes
    ----------
    D : array (d, p, p), orthonormal in the inner product of matrices
    to_weights : array (m, d), w = 1/m + to_weights @ x
    box : Box, which holds the set
    """

    def __init__(self, Ks: Array) -> None:
        m = len(Ks)
        cone = Spectrahedron(Ks, np.array([1.0 / np.trace(K, dtype=float) for K in Ks]))
        self.size = cone.size
        self.D, self.to_weights = _orthonormal_changes(cone)
        self.n_dimensions = len(self.D)
        if self.n_dimensions:
            # K ⪰ 0 and tr K = 1 give ‖K‖_F ≤ 1, half the width of the box: its sides are never reached
            R = np.linalg.qr(cone.Ks.reshape(m, -1).T, mode="r")
            self.box = Box(R @ self.to_weights, R @ np.full(m, 1.0 / m), 2.0)

    def lowest(self, x: Array, count: int) -> tuple[Array, Array]:
        """The smallest eigenvalues of Σ_j x_j D_j and their eigenvectors in columns."""
        D = (x @ self.D.reshape(x.size, -1)).reshape(self.size, self.size)
        last = min(count, self.size) - 1
        values, vectors = scipy.linalg.eigh(
            D, subset_by_index=[0, last], overwrite_a=True, check_finite=False
        )
        return values, vectors

    def compressed(self, U: Array) -> Array:
        """U'D_jU for every basis of U (b, p, k): (b, d, k, k)."""
        small = np.empty((len(U), self.n_dimensions, U.shape[2], U.shape[2]))
        for j, D in enumerate(self.D):
            product = np.swapaxes(U, 1, 2) @ (D @ U)
            small[:, j] = 0.5 * (product + np.swapaxes(product, 1, 2))
        return small


def _orthonormal_changes(cone: Spectrahedron) -> tuple[Array, Array]:
    """D (d, p, p) and the changes of the weights (m, d) that give them; d = 0 if all kernels are alike."""
    m = cone.n_members
    if m == 1:
        return np.empty((0, cone.size, cone.size)), np.empty((1, 0))
    values, vectors = scipy.linalg.eigh(cone.combine(np.full(m, 1.0 / m)), check_finite=False)
    whitening = vectors / np.sqrt(values)
    balanced = scipy.linalg.helmert(m)  # orthonormal rows with Σ w = 0
    changes = balanced @ cone.Ks.reshape(m, -1)
    for row in changes:
        row[:] = (whitening.T @ row.reshape(cone.size, -1) @ whitening).ravel()
    left, norms, right = np.linalg.svd(changes, full_matrices=False)
    # dependent kernels: some changes of the weights change nothing but what rounding leaves, scaled as all is
    rounding = 10.0 * np.finfo(float).eps * values[-1] / values[0]
    kept = norms > max(_DEPENDENT, rounding) * max(1.0, norms[0])
    return right[kept].reshape(-1, cone.size, cone.size), balanced.T @ (left[:, kept] / norms[kept])


class _Search:
    """The draws, their brackets, and the eigenvectors that those done leave to the others."""

    def __init__(self, shape: _Coordinates, base: Array, slopes: Array, tol: float) -> None:
        self.shape, self.base, self.slopes, self.tol = shape, base, slopes, tol
        lengths = np.linalg.norm(slopes, axis=1, keepdims=True)
        self.directions = slopes / np.where(lengths > 0.0, lengths, 1.0)
        self.lower, self.upper = base.copy(), np.full(len(base), np.inf)
        self.kept = min(_KEPT, shape.size)
        self.pool = np.empty((len(base), shape.size, self.kept))

    def bracket(self, start: int, stop: int) -> None:
        """Close the brackets of the draws from ``start`` to ``stop``; all before must be closed."""
        draws = np.arange(start, stop)
        U = self._first_bases(draws, start)
        while draws.size:
            programs = SmallPrograms(self.shape.compressed(U), self.slopes[draws], self.shape.box)
            programs.solve(_SHARE * self.tol * np.maximum(1.0, self.base[draws]))
            self.upper[draws] = np.minimum(self.upper[draws], self.base[draws] + programs.upper)
            vectors = np.stack([self._pull(int(i), x) for i, x in zip(draws, programs.x, strict=True)])
            self.pool[draws] = vectors[:, :, : self.kept]
            wide = self.upper[draws] - self.lower[draws] > self.tol * np.maximum(1.0, self.lower[draws])
            if U.shape[2] == self.shape.size:  # nothing is left to add: what is still open is rounding
                return
            draws = draws[wide]
            U = np.linalg.qr(np.concatenate([U[wide], vectors[wide]], axis=2))[0]

    def _first_bases(self, draws: Array, n_done: int) -> Array:
        """Orthonormal bases (b, p, k), from the nearest draws done, or along each draw's direction."""
        k = min(_NEIGHBOURS * _KEPT, self.shape.size)
        if n_done * self.kept < k:
            return np.stack([self.shape.lowest(self.directions[draw], k)[1] for draw in draws])
        closeness = self.directions[draws] @ self.directions[:n_done].T
        nearest = np.argsort(-closeness, axis=1, kind="stable")[:, :_NEIGHBOURS]
        vectors = np.moveaxis(self.pool[nearest], 1, 2).reshape(len(draws), self.shape.size, -1)
        return np.linalg.qr(vectors)[0]

    def _pull(self, draw: int, x: Array) -> Array:
        """Improve the lower bound by x pulled into the set; returns the lowest eigenvectors there."""
        values, vectors = self.shape.lowest(x, _ADDED)
        gained = float(self.slopes[draw] @ x) / max(1.0, -float(values[0]))
        self.lower[draw] = max(self.lower[draw], self.base[draw] + gained)
        return vectors


class Box:
    """|c_i + (Yx)_i| ≤ width, |c_i| < width, Y (l, d) of full column rank, as rows 1 + Rx ≥ 0, R (2l, d)."""

    def __init__(self, Y: Array, c: Array, width: float) -> None:
        self._room = np.concatenate([width + c, width - c])
        self.rows = np.concatenate([Y, -Y]) / self._room[:, None]
        self._inverse = np.linalg.pinv(Y)

    def multipliers(self, r: Array) -> Array:
        """Nonnegative z with R'z = r, for every row of r (b, d): (b, 2l)."""
        a = r @ self._inverse
        return np.concatenate([np.maximum(a, 0.0), np.maximum(-a, 0.0)], axis=1) * self._room


class _Step(NamedTuple):
    """Changes of x, F, f, Z and z; one program in each row."""

    x: Array
    F: Array
    f: Array
    Z: Array
    z: Array


class SmallPrograms:
    """The iterates of all programs.

    Parameters
    ----------
    D : array (b, d, k, k), symmetric matrices
    g : array (b, d)
    box : Box, of d coordinates

    Attributes
    ----------
    x : array (b, d), feasible
    upper : array (b,), upper bounds of the optima
    """

    def __init__(self, D: Array, g: Array, box: Box) -> None:
        b, d, k, _ = D.shape
        self.D, self.g, self.box = D, g, box
        self._flat = D.reshape(b, d, k * k)
        self.n_products = k + len(box.rows)
        self.x = np.zeros((b, d))
        size = np.maximum(np.linalg.norm(g, axis=1), 1e-3) / np.sqrt(k)
        self.F = np.tile(np.eye(k), (b, 1, 1))
        self.f = np.ones((b, len(box.rows)))
        self.Z = size[:, None, None] * self.F
        self.z = size[:, None] * self.f
        self.upper = self._bound()

    def solve(self, tolerance: Array) -> None:
        """Iterate until ``upper`` exceeds g'x by at most ``tolerance`` (b,), or floating point ends it."""
        for _ in range(_MAX_ITER):
            open_ = self.upper - _dots(self.g, self.x) > tolerance
            if not open_.any():
                return
            try:
                step, primal, dual = self._direction()
            except np.linalg.LinAlgError:  # rounding: the bounds so far are what there is
                return
            self._move(step, np.where(open_, primal, 0.0), np.where(open_, dual, 0.0))
            self.upper = np.minimum(self.upper, self._bound())

    def _bound(self) -> Array:
        """The dual value, with what the box must add for the equations to hold."""
        missing = -self.g - _traces(self.Z, self._flat) - self.z @ self.box.rows
        added = self.box.multipliers(missing).sum(axis=1)
        return np.trace(self.Z, axis1=1, axis2=2) + self.z.sum(axis=1) + added

    def _direction(self) -> tuple[_Step, Array, Array]:
        """The corrected direction, and how far F, f and Z, z may follow it."""
        self._factor()
        gap = _dots(self.F, self.Z) + _dots(self.f, self.z)
        first = self._step(np.zeros(len(gap)), 0.0, 0.0)
        primal, dual = self._lengths(first)
        after = self._gap_after(first, np.minimum(primal, 1.0), np.minimum(dual, 1.0))
        target = np.clip(after / gap, 1e-6, 1.0) ** 3 * gap / self.n_products
        matrix = _symmetric(self._F_inverse @ first.F @ first.Z)
        step = self._step(target, matrix, first.f * first.z / self.f)
        primal, dual = self._lengths(step)
        return step, np.minimum(_TO_THE_BOUNDARY * primal, 1.0), np.minimum(_TO_THE_BOUNDARY * dual, 1.0)

    def _factor(self) -> None:
        L, R = np.linalg.cholesky(self.F), np.linalg.cholesky(self.Z)
        self._L_inverse, self._R_inverse = np.linalg.inv(L), np.linalg.inv(R)
        self._F_inverse = _transposed(self._L_inverse) @ self._L_inverse
        mixed = (self._L_inverse[:, None] @ self.D @ R[:, None]).reshape(self._flat.shape)
        rows = self.box.rows * np.sqrt(self.z / self.f)[:, :, None]
        self._M = mixed @ _transposed(mixed) + _transposed(rows) @ rows

    def _step(self, target: Array, matrix: Any, vector: Any) -> _Step:
        """The direction to products equal to ``target``; ``matrix`` and ``vector`` are the corrections."""
        to_Z = target[:, None, None] * self._F_inverse - matrix
        to_z = target[:, None] / self.f - vector
        slope = self.g + _traces(to_Z, self._flat) + to_z @ self.box.rows
        dx = np.linalg.solve(self._M, slope[:, :, None])[:, :, 0]
        dF = (dx[:, None, :] @ self._flat).reshape(self.F.shape)
        df = dx @ self.box.rows.T
        dZ = to_Z - self.Z - _symmetric(self._F_inverse @ dF @ self.Z)
        dz = to_z - self.z - self.z / self.f * df
        return _Step(dx, dF, df, dZ, dz)

    def _lengths(self, step: _Step) -> tuple[Array, Array]:
        """Where F or f, and where Z or z, cease to be positive."""
        primal = np.minimum(_lowest(self._L_inverse, step.F), (step.f / self.f).min(axis=1))
        dual = np.minimum(_lowest(self._R_inverse, step.Z), (step.z / self.z).min(axis=1))
        return 1.0 / np.maximum(-primal, 1e-9), 1.0 / np.maximum(-dual, 1e-9)

    def _gap_after(self, step: _Step, primal: Array, dual: Array) -> Array:
        F, Z = self.F + primal[:, None, None] * step.F, self.Z + dual[:, None, None] * step.Z
        f, z = self.f + primal[:, None] * step.f, self.z + dual[:, None] * step.z
        return _dots(F, Z) + _dots(f, z)

    def _move(self, step: _Step, primal: Array, dual: Array) -> None:
        self.x += primal[:, None] * step.x
        self.F += primal[:, None, None] * step.F
        self.f += primal[:, None] * step.f
        self.Z += dual[:, None, None] * step.Z
        self.z += dual[:, None] * step.z


def _dots(A: Array, B: Array) -> Array:
    """The inner product of each pair."""
    return np.einsum("bi,bi->b", A.reshape(len(A), -1), B.reshape(len(B), -1))


def _traces(Z: Array, flat: Array) -> Array:
    """tr(Z D_j) for every program and member."""
    return np.einsum("bi,bji->bj", Z.reshape(len(Z), -1), flat)


def _lowest(inverse_factor: Array, change: Array) -> Array:
    """The smallest eigenvalue of each change, relative to the matrix whose factor is given inverted."""
    return np.linalg.eigvalsh(inverse_factor @ change @ _transposed(inverse_factor))[:, 0]


def _transposed(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + _transposed(A))
