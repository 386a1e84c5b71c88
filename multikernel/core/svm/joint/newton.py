"""Newton's equations of the joint multiclass machine, without a factorization of all its coordinates.

A coordinate is a pair of a sample i and a class l other than its own, with its turn t_il; there are n d of
them, d = n_classes − 1. With the kernel K = R + QWQ', W = GG', the equations of the interior-point method are

    (T(R ⊗ I)T' + D) x + T(Q ⊗ I) e = r,     G⁻¹e − G'(Q ⊗ I)'T'x = −mismatch,

D diagonal. A Cholesky factor costs (n d)³/3; a product with the matrix 2n²d. So they are solved by conjugate
gradients, with the matrix of a simpler kernel as the preconditioner:

- R ≈ LL', L from pivoted Cholesky, so that only a matrix of the size of the rank is factorized;
- what LL' leaves of R counts in full for the pairs with the smallest D, which are those that are not at a
  bound, and by its diagonal for the others.

Far from the solution D is large and a rough L is enough; near to it few pairs have a small D. How many pivots
and pairs are taken is what costs least; for few samples these are all pairs, and no step is needed.

Kernels of low rank stay apart as in the module :mod:`..interior_point`: e is carried along with x.
"""

from typing import Any

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, qr, solve_triangular

from ...._typing import Array
from ..barrier import Task

_RESIDUAL = 1e-4  # of conjugate gradients, relative, in the norm of the inverse of the preconditioner
_MOST_STEPS = 150
_REFINEMENTS = 2
_PRECISE = 1e-8  # of the solution: a larger last correction says that the elimination is too rough
_MOST_PIVOTS, _MOST_RANK = 500, 2400  # columns of L; of L for all classes but one
_MOST_PAIRS = 2000
_SMALL_PIVOT = 1e-9  # of the largest diagonal element
_CLEAR = 0.3  # pairs whose D is as large as this share of what L leaves are not factorized
_STALE = 4.0  # times what the pivots left at first: they are chosen anew


def greedy_pivots(R: Array, most: int) -> Array:
    """Samples whose columns hold most of R, in the order of pivoted Cholesky."""
    left = np.array(np.diagonal(R), float)
    L, pivots = np.zeros((most, len(R))), []
    smallest = _SMALL_PIVOT * float(left.max(initial=0.0))
    for j in range(most):
        i = int(np.argmax(left))
        if not left[i] > smallest:
            break
        L[j] = (R[i] - L[:j, i] @ L[:j]) / np.sqrt(left[i])
        left -= L[j] ** 2
        left[i] = 0.0
        pivots.append(i)
    return np.array(pivots, np.intp)


class PairSystem:
    """The equations at one point; see the module."""

    def __init__(self, R: Array | None, task: Task, Q: Array, G: Array, D: Array) -> None:
        self.R, self.Q, self.G = R, Q, G
        self.moves = np.isfinite(D)
        self.D = np.where(self.moves, D, 0.0)
        self.n, self.d = task.n, task.d
        self.task = task
        self.turns = task.turn.reshape(self.n, self.d, self.d)
        self.back = np.ascontiguousarray(self.turns.transpose(0, 2, 1))
        self.low = Q @ G
        L = np.zeros((self.n, 0)) if R is None else self._pivoted(R)
        self._choose(L)
        self._factorize()

    # ------------------------------------------------------------------ preconditioner
    def _pivoted(self, R: Array) -> Array:
        """L (n, rank), with the pivots of an earlier point where they still serve."""
        task, most = self.task, min(_MOST_PIVOTS, _MOST_RANK // self.d, self.n // 2)
        for _ in range(2):
            is_new = task.pivots is None
            if task.pivots is None:
                task.pivots = greedy_pivots(R, most)
            if not task.pivots.size:
                return np.zeros((self.n, 0))
            root = cholesky(R[np.ix_(task.pivots, task.pivots)])[0]
            L = solve_triangular(root, R[:, task.pivots].T, lower=True, check_finite=False).T
            left = float(np.trace(R) - np.vdot(L, L)) / float(np.trace(R))
            if is_new:
                task.left = left
            if left <= _STALE * task.left + 1e-6:
                break
            task.pivots = None
        return np.asarray(L)

    def _choose(self, L: Array) -> None:
        """Pivots and pairs by the least cost."""
        n, d, D = self.n, self.d, np.where(self.moves, self.D, np.inf)
        if self.R is None:
            self.L, self.left, self.pairs = L, np.zeros(n), np.zeros(0, np.intp)
            return
        diagonal, order = np.diagonal(self.R), np.sort(D)
        left = diagonal.mean() - np.cumsum((L**2).mean(axis=0))
        moving = int(np.count_nonzero(self.moves))
        best, least = (L.shape[1], min(_MOST_PAIRS, moving)), np.inf
        if moving <= _MOST_PAIRS:
            best, least = (0, moving), moving**3 / 3.0
        for rank in range(0, L.shape[1] + 1, 25):
            rest = max(float(left[rank - 1] if rank else diagonal.mean()), 0.0)
            s = min(int(np.searchsorted(order, _CLEAR * np.sqrt(n) * 2.0 * rest)), moving)
            q = (rank + self.low.shape[1]) * d
            cost = 2.0 * n * q**2 / d + q**3 / 3.0 + s**3 / 3.0 + s * s * q + 2.0 * s * q**2
            if s <= _MOST_PAIRS and cost < least:
                best, least = (rank, s), cost
        rank, s = best
        self.L = L[:, :rank]
        self.left = np.maximum(diagonal - (self.L**2).sum(axis=1), 0.0)
        self.pairs = np.sort(np.argpartition(D, s - 1)[:s]) if s else np.zeros(0, np.intp)

    def _factorize(self) -> None:
        task, S, d = self.task, self.pairs, self.d
        self.base_diagonal = self.D + (task.turn**2).sum(axis=1) * np.repeat(self.left, d)
        self.base_diagonal[~self.moves] = np.inf
        self.L_all = np.hstack([self.low, self.L])
        q = self.L_all.shape[1]
        if S.size and self.R is not None:
            samples = task.sample[S]
            H = self.R[np.ix_(samples, samples)]
            if self.L.shape[1]:
                H -= self.L[samples] @ self.L[samples].T
            H *= task.turn[S] @ task.turn[S].T
            H.flat[:: S.size + 1] += self.D[S]
            self.factor = cholesky(H)
        if not q:
            return
        weights = 1.0 / self.base_diagonal
        weights[S] = 0.0
        V = np.zeros((0, q * d))
        if S.size:
            Z = (self.L_all[task.sample[S], :, None] * task.turn[S, None, :]).reshape(S.size, -1)
            V = below(self.factor[0], Z)
        if task.by_rows:
            self.unit = np.ones(q * d)
            self.small = root_of(np.concatenate([self._rows(weights), V])), False
            return
        N = self._grams(weights)
        if S.size:
            N += blas.dsyrk(1.0, V, trans=1, lower=1)
        N.flat[:: len(N) + 1] += 1.0
        self.unit = 1.0 / np.sqrt(np.diagonal(N))
        N *= self.unit
        N *= self.unit[:, None]
        self.small = cholesky(N)

    def _grams(self, weights: Array) -> Array:
        """Σ of weight · (L_i ⊗ t)(L_i ⊗ t)' over the pairs: all pairs of two classes have one turn."""
        codes, d, q = self.task.codes, self.d, self.L_all.shape[1]
        assert codes is not None
        grams, turns = [], []
        for own in np.unique(codes):
            rows = np.flatnonzero(codes == own)
            L, roots = self.L_all[rows], np.sqrt(weights.reshape(self.n, d)[rows])
            for j in range(d):
                grams.append(blas.dsyrk(1.0, (L * roots[:, j : j + 1]).T, lower=0).T)
                t = self.turns[rows[0], j]
                turns.append(np.outer(t, t).ravel())
        mixed = np.array(turns).T @ np.array(grams).reshape(len(grams), -1)
        return np.ascontiguousarray(mixed.reshape(d, d, q, q).transpose(2, 0, 3, 1)).reshape(q * d, q * d)

    def _rows(self, weights: Array) -> Array:
        """Few rows whose products are those of :meth:`_grams`."""
        codes, d, q = self.task.codes, self.d, self.L_all.shape[1]
        assert codes is not None
        parts = [np.zeros((0, q * d))]
        for own in np.unique(codes):
            rows = np.flatnonzero(codes == own)
            L, roots = self.L_all[rows], np.sqrt(weights.reshape(self.n, d)[rows])
            for j in np.flatnonzero(roots.any(axis=0)):
                short = triangle(L * roots[:, j : j + 1])
                parts.append((short[:, :, None] * self.turns[rows[0], j]).reshape(len(short), q * d))
        return np.concatenate(parts)

    def _down(self, v: Array) -> Array:
        """(L ⊗ I)'T'v."""
        beta = (self.back @ v.reshape(self.n, self.d, -1)).reshape(self.n, -1)
        return np.asarray(self.L_all.T @ beta).reshape(-1, v.shape[1])

    def _up(self, x: Array) -> Array:
        """T(L ⊗ I)x."""
        scores = self.L_all @ x.reshape(self.L_all.shape[1], -1)
        return np.asarray((self.turns @ scores.reshape(self.n, self.d, -1)).reshape(-1, x.shape[1]))

    def _base(self, r: Array) -> Array:
        out = r / self.base_diagonal[:, None]
        if self.pairs.size:
            out[self.pairs] = cho_solve(self.factor, r[self.pairs], check_finite=False)
        return np.asarray(out)

    def _precondition(
        self, r: Array, asked: Array | None = None, refinements: int = 0
    ) -> tuple[Array, Array]:
        p = self._base(r)
        q = self.low.shape[1] * self.d
        if not self.L_all.shape[1]:
            return p, np.zeros((0, r.shape[1]))
        right = self._down(p)
        if asked is not None:
            right[:q] -= asked
        x = self._small(right)
        p, more = p - self._base(self._up(x)), x
        for _ in range(refinements if q else 0):  # what the elimination lost
            more = self._down(p) - x
            if asked is not None:
                more[:q] -= asked
            more = self._small(more)
            x, p = x + more, p - self._base(self._up(more))
        if q and refinements and not (self.task.by_rows or is_negligible(more, x)):
            self.task.by_rows = True
            self._factorize()
            return self._precondition(r, asked, refinements)
        return p, (self.G @ x[:q].reshape(len(self.G), self.d * r.shape[1])).reshape(q, r.shape[1])

    def _small(self, right: Array) -> Array:
        scaled = cho_solve(self.small, self.unit[:, None] * right, check_finite=False)
        return np.asarray(self.unit[:, None] * scaled)

    # ------------------------------------------------------------------ conjugate gradients
    def product(self, x: Array, e: Array) -> Array:
        """The left side of the first equation."""
        assert self.R is not None
        scores = self.R @ (self.back @ x.reshape(self.n, self.d, -1)).reshape(self.n, -1)
        if len(self.Q.T):
            scores += self.Q @ e.reshape(self.Q.shape[1], -1)
        turned = (self.turns @ scores.reshape(self.n, self.d, -1)).reshape(x.shape)
        return np.where(self.moves[:, None], turned + self.D[:, None] * x, 0.0)

    def solve(self, r: Array, mismatch: Array | None = None) -> tuple[Array, Array]:
        """x and e for the columns of r."""
        asked = None if mismatch is None else mismatch.reshape(-1, 1)
        r = np.where(self.moves[:, None], r, 0.0)
        x, e = self._precondition(r, asked, _REFINEMENTS)
        self.n_steps = 0
        if self.R is None or self.pairs.size == np.count_nonzero(self.moves):
            return x, e
        size = np.maximum((r * x).sum(axis=0), np.finfo(float).tiny)
        residual = r - self.product(x, e)
        p, ep = z, ez = self._precondition(residual)
        rz = (residual * z).sum(axis=0)
        for _ in range(_MOST_STEPS):
            if not (rz > _RESIDUAL**2 * size).any():
                break
            Ap = self.product(p, ep)
            curvature = (p * Ap).sum(axis=0)
            step = np.where(curvature > 0.0, rz / np.where(curvature > 0.0, curvature, 1.0), 0.0)
            x, e, residual = x + step * p, e + step * ep, residual - step * Ap
            z, ez = self._precondition(residual)
            rz, old = (residual * z).sum(axis=0), rz
            share = np.where(old > 0.0, rz / np.where(old > 0.0, old, 1.0), 0.0)
            p, ep = z + share * p, ez + share * ep
            self.n_steps += 1
        return x, e


def is_negligible(more: Array, x: Array) -> bool:
    """Whether the last corrections of the columns of x were small; NaN is not."""
    sizes, corrections = np.linalg.norm(x, axis=0), np.linalg.norm(more, axis=0)
    return bool((corrections <= _PRECISE * sizes).all())


def below(factor: Array, right: Array) -> Array:
    """L⁻¹ times the right side, L lower triangular."""
    return np.asarray(solve_triangular(factor, right, lower=True, check_finite=False))


def triangle(rows: Array) -> Array:
    """An upper triangular U (r, r), or fewer rows, with U'U = rows'rows, without this product.

    The largest rows first: the small ones keep their own precision beside them.
    """
    order = np.argsort(-np.abs(rows).max(axis=1, initial=0.0), kind="stable")
    return np.asarray(qr(rows[order], mode="r", check_finite=False)[0][: rows.shape[1]])


def root_of(rows: Array) -> Array:
    """The upper triangular root of N = I + rows'rows.

    Rows differ by the roots of D, of free dual variables and of those at their bounds, by ten and more powers
    of ten: in the sum of their squares, of which a Cholesky factor is made, the small ones are lost, and
    what is left of the directions that they alone determine is rounding.
    """
    return triangle(np.concatenate([rows, np.eye(rows.shape[1])]))


def cholesky(matrix: Array) -> Any:
    """A Cholesky factor; a growing ridge makes definite what rounding left indefinite."""
    ridge, size = 0.0, float(np.abs(np.diagonal(matrix)).mean())
    for _ in range(8):
        lifted = matrix if ridge == 0.0 else matrix + ridge * size * np.eye(len(matrix))
        try:
            return cho_factor(lifted, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            ridge = max(100.0 * ridge, 1e-16)
    raise np.linalg.LinAlgError("the matrix has no Cholesky factor.")
