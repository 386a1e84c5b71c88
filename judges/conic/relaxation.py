"""Weights of any sign: the semidefinite program of the primal, seen through two subspaces.

    min t   over w, ν ≥ 0, δ ≥ 0     Σ w = 1,    U'K(w)U ⪰ 0,    ⎡ W'(K(w) + τI)W    W'v        ⎤
                                                                 ⎣ v'W               t − 2C'δ   ⎦ ⪰ 0

with v = y + y∘(ν − δ) and W of columns with sum zero. The inner maximum over β in the box has the dual
min 2C'δ + (v + λ)'(K(w) + τI)⁻¹(v + λ), and a Schur complement makes that the second matrix; the multiplier λ
of Σβ = 0 is not needed where only such β are in the range. With U = I and W a basis of all vectors with sum
zero this is the whole program; fewer columns relax it, and restrict its dual to β in the range of W and to
certain multipliers of K(w) ⪰ 0. So the duals of any relaxation are feasible for the dual of the whole: with
X and ⎡Y −g; −g' 1⎤ the multipliers of the two matrices,

    β = Wg,    Z = UXU' + W(Y − gg')W',

because the second matrix asks that W'(K(w) + τI)W ⪰ 0 as well (Y ⪰ gg'), on the labelled points.
"""

from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.linalg
import scipy.sparse

from multikernel.core.optim.weight_sets import Spectrahedron

from .machine import Problem
from .program import Block, as_matrix, minimise, vectorise

Array = np.ndarray[Any, np.dtype[Any]]

_DEPENDENT = 1e-10  # members whose combination is smaller than this are taken as dependent
_NULL = 1e-13
_WIDE = 1.5  # the bounds on the weights are this much wider than they must be, so that they never bind


class Coordinates:
    """w = origin + directions @ x, with Σ w = 1 for every x; the last x, the identity's weight, is ≥ 0.

    The other directions are orthogonal in the sense of their matrices, ‖K(Bx)‖_F = ‖x‖ × size, so that
    K(w) ⪰ 0 of trace n implies ‖x‖ ≤ 2n / size.

    Attributes
    ----------
    origin : array (n_members,)
    directions : array (n_members, d)
    n_free : int, how many directions of any sign there are
    radius : float, a bound of their coordinates
    """

    def __init__(self, cone: Spectrahedron, has_identity: bool) -> None:
        m = cone.n_members
        equal = np.full(m, 1.0 / m)
        within = scipy.linalg.null_space(np.ones((1, m)))
        size = float(np.linalg.norm(cone.combine(equal)))
        triangle = scipy.linalg.qr(cone.Ks.reshape(m, -1).T @ within, mode="r")[0][: m - 1]
        _, spread, rotation = np.linalg.svd(triangle, full_matrices=False)
        kept = spread > _DEPENDENT * size
        free = within @ (rotation[kept].T / spread[kept]) * size
        trace = float(np.trace(cone.combine(equal)))
        self.n_free, self.radius = free.shape[1], _WIDE * 2.0 * trace / size
        self.origin, self.directions = equal, free
        if has_identity:
            self.origin = np.append(equal, 0.0)
            free = np.vstack([free, np.zeros(self.n_free)])
            self.directions = np.column_stack([free, np.append(-equal, 1.0)])

    @property
    def d(self) -> int:
        return self.directions.shape[1]


class Relaxed(NamedTuple):
    """The solution of a relaxation; ``beta`` and ``Z`` are as Clarabel leaves them, not exactly feasible.

    ``U`` and ``W`` are bases of the subspaces again, the directions that carry the largest multipliers first.
    """

    w: Array
    beta: Array
    Z: Array
    value: float
    U: Array
    W: Array


def whiten(basis: Array, Q: Array) -> tuple[Array, Array]:
    """Columns of the same range: those with R'QR = I, and those where Q vanishes but for rounding.

    The basis is orthonormal, so that its values are of the size of those of Q.
    """
    form = basis.T @ Q @ basis
    values, vectors = np.linalg.eigh(0.5 * (form + form.T))
    positive = values > _NULL * float(np.trace(Q))
    return basis @ (vectors[:, positive] / np.sqrt(values[positive])), basis @ vectors[:, ~positive]


def _leading(basis: Array, multiplier: Array) -> Array:
    """A basis of the same range, the directions of the largest multipliers first."""
    return basis @ np.linalg.eigh(multiplier)[1][:, ::-1]


class Relaxation:
    """Builds and solves the program for given subspaces.

    Parameters
    ----------
    problem : Problem
    cone : Spectrahedron
    scale : float
        About the optimal value.
    """

    def __init__(self, problem: Problem, cone: Spectrahedron, scale: float) -> None:
        self.problem, self.cone, self.scale = problem, cone, scale
        self.coordinates = Coordinates(cone, problem.family.has_identity)
        m = problem.family.n_members
        self.equal = np.full(m, 1.0 / m)

    def solve(self, U: Array, W: Array, regularisation: float) -> Relaxed | None:
        """The relaxation by the columns of U (p, k) and W (N, l), these of sum zero.

        ``regularisation`` is Clarabel's.
        """
        U, _ = whiten(U, self.cone.combine(self.equal[: self.cone.n_members]))
        W, null = whiten(W, self.problem.quadratic(self.equal))
        touched = np.abs(np.column_stack([W, null])).max(axis=1) > 0.0
        blocks = [self._range_block(U, touched), self._value_block(W, touched)]
        blocks += self._linear_blocks(null, touched)
        q = np.zeros(blocks[0].A.shape[1])
        q[self.coordinates.d] = 1.0
        answer = minimise(None, q, blocks, regularisation)
        if answer is None:
            return None
        d = self.coordinates.d
        w = self.coordinates.origin + self.coordinates.directions @ answer.x[:d]
        X, M = as_matrix(answer.multipliers[0]), as_matrix(answer.multipliers[1])
        Y, g = M[:-1, :-1], -M[:-1, -1] / M[-1, -1]
        beta = W @ g + (0.5 * (null @ answer.multipliers[2]) if null.size else 0.0)
        beyond = self._on_the_range(W)
        Z = self.scale * (U @ X @ U.T + beyond @ (Y - np.outer(g, g)) @ beyond.T)
        U = _leading(U, X)
        W = np.column_stack([null, _leading(W, Y)])
        return Relaxed(w, np.sqrt(self.scale) * beta, Z, self.scale * float(answer.x[d]), U, W)

    def _on_the_range(self, W: Array) -> Array:
        """Vectors of the labelled points as vectors of the cone's range, (p, l)."""
        if self.cone.basis is not None:
            return self.cone.basis[: len(W)].T @ W
        return np.vstack([W, np.zeros((self.cone.size - len(W), W.shape[1]))])

    # ------------------------------------------------------------------ rows for (x, t, ν, δ)
    def _n_columns(self, touched: Array) -> int:
        return self.coordinates.d + 1 + int(touched.sum()) * (1 + self.problem.boxed)

    def _range_block(self, U: Array, touched: Array) -> Block:
        """U'K(w)U ⪰ 0."""
        members = np.stack([U.T @ K @ U for K in self.cone.Ks])
        m = self.cone.n_members
        directions = np.tensordot(self.coordinates.directions[:m].T, members, 1)
        A = np.zeros((U.shape[1] * (U.shape[1] + 1) // 2, self._n_columns(touched)))
        A[:, : self.coordinates.d] = -vectorise(directions).T
        b = vectorise(np.tensordot(self.coordinates.origin[:m], members, 1))
        return Block(A, b, clarabel.PSDTriangleConeT(U.shape[1]))

    def _value_block(self, W: Array, touched: Array) -> Block:
        """The matrix whose Schur complement bounds t, in units of ``scale``."""
        k, d = W.shape[1], self.coordinates.d
        members = np.zeros((self.equal.size, k, k))  # no columns where equal points have both labels
        for i, column in enumerate(W.T):
            members[:, :, i] = self.problem.family.products(column).T @ W
        members = 0.5 * (members + members.transpose(0, 2, 1))
        shift = W.T @ (self.problem.shift[:, None] * W)
        bordered = np.zeros((d + 1, k + 1, k + 1))
        bordered[:d, :k, :k] = np.tensordot(self.coordinates.directions.T, members, 1)
        bordered[d, :k, :k] = np.tensordot(self.coordinates.origin, members, 1) + shift
        bordered[d, :k, k] = bordered[d, k, :k] = W.T @ self.problem.y / np.sqrt(self.scale)
        vectors = vectorise(bordered)
        A = np.zeros((vectors.shape[1], self._n_columns(touched)))
        A[:, :d] = -vectors[:d].T
        A[-1, d] = -1.0
        A[-1 - k :, d + 1 :] = -np.sqrt(2.0) * self._moves(W, touched)
        A[-1, d + 1 :] = 0.0
        if self.problem.boxed:
            n_touched = int(touched.sum())
            A[-1, d + 1 + n_touched :] = 2.0 * self.problem.C[touched] / self.scale
        return Block(A, vectors[d], clarabel.PSDTriangleConeT(k + 1))

    def _moves(self, W: Array, touched: Array) -> Array:
        """How W'v / √scale moves with ν and δ, with a last row of zeros."""
        signed = (self.problem.y[:, None] * W)[touched].T
        columns = [signed, -signed] if self.problem.boxed else [signed]
        moves = np.hstack(columns) / np.sqrt(self.scale)
        return np.vstack([moves, np.zeros(moves.shape[1])])

    def _linear_blocks(self, null: Array, touched: Array) -> list[Block]:
        """v vanishes on directions where no kernel is seen; signs; bounds of the coordinates."""
        d, n_columns = self.coordinates.d, self._n_columns(touched)
        blocks = []
        if null.size:
            A = np.zeros((null.shape[1], n_columns))
            A[:, d + 1 :] = self._moves(null, touched)[:-1]
            b = -null.T @ self.problem.y / np.sqrt(self.scale)
            blocks.append(Block(A, b, clarabel.ZeroConeT(b.size)))
        n_signed = n_columns - d - 1
        signs = scipy.sparse.hstack(
            [scipy.sparse.csr_matrix((n_signed, d + 1)), -scipy.sparse.identity(n_signed)]
        )
        blocks.append(Block(signs, np.zeros(n_signed), clarabel.NonnegativeConeT(n_signed)))
        if d > self.coordinates.n_free:
            A = np.zeros((2, n_columns))
            A[:, d - 1] = [-1.0, 1.0]
            blocks.append(Block(A, np.array([0.0, 1.0 + _WIDE]), clarabel.NonnegativeConeT(2)))
        if self.coordinates.n_free:
            A = np.zeros((self.coordinates.n_free + 1, n_columns))
            A[1:, : self.coordinates.n_free] = -np.eye(self.coordinates.n_free)
            b = np.append(self.coordinates.radius, np.zeros(self.coordinates.n_free))
            blocks.append(Block(A, b, clarabel.SecondOrderConeT(b.size)))
        return blocks
