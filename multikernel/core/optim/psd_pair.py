"""One semidefinite constraint of an interior point method: K = K(w) ≻ 0 and its multiplier Z ≻ 0.

The method follows KZ = tI as t falls to 0. With K = LL' and Z = RR', the direction of Helmberg, Kojima and
Monteiro for a change dw of the weights and a target t is

    dK = Σ_i dw_i K_i,    dZ = tK⁻¹ − Z − sym(K⁻¹ dK Z) − sym(K⁻¹ dK̂ dẐ),

the last term from a first direction (d̂) where there is one. The multiplier answers a change of the weights
through M_ij = tr(K_i K⁻¹ K_j Z) = ⟨A_i, A_j⟩ with A_i = L⁻¹K_iR: two triangular products for each member.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrmm, dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf, dpotri

from ..._typing import Array
from .loop import backtrack
from .weight_sets import Spectrahedron

_LANCZOS_STEPS = 48
_LANCZOS_TOLERANCE = 2e-2
_MAX_BACKTRACKS = 60
_REPAIRS = 2  # the second removes the rounding of the first


class PSDStep(NamedTuple):
    """Changes of K and Z."""

    dK: Array
    dZ: Array


def cholesky(A: Array) -> Array | None:
    """The lower factor in Fortran order (its upper part is zero), or None if A is not positive definite."""
    factor, info = dpotrf(A, lower=1, clean=1, overwrite_a=0)
    return factor if info == 0 and np.isfinite(factor[-1, -1]) else None


def smallest_ritz_value(matvec: Any, n: int) -> float:
    """A lower bound, to a few per cent, of the smallest eigenvalue of a symmetric operator, by Lanczos.

    Exact orthogonality is kept, so that at most n steps are taken. The residual is subtracted: the true
    value is rarely below the answer (never below for the eigenvalue nearest to the Ritz value).
    """
    steps = min(_LANCZOS_STEPS, n)
    basis = np.empty((steps, n))
    T = np.zeros((steps, steps))
    q = np.random.default_rng(0).standard_normal(n)
    q /= np.linalg.norm(q)
    for j in range(steps):
        basis[j] = q
        v = matvec(q)
        T[j, j] = v @ q
        for _ in range(2):
            v = v - (basis[: j + 1] @ v) @ basis[: j + 1]
        norm = float(np.linalg.norm(v))
        last = j + 1 == steps or norm < 1e-12
        if last or j % 6 == 5:
            values, vectors = np.linalg.eigh(T[: j + 1, : j + 1])
            residual = 0.0 if j + 1 == n else norm * abs(vectors[-1, 0])
            if last or residual <= _LANCZOS_TOLERANCE * max(abs(values[0]), 0.3):
                return float(values[0] - residual)
        T[j, j + 1] = T[j + 1, j] = norm
        q = v / norm
    raise AssertionError("the last step returns")


class PSDPair:
    """The matrix K of weights inside the cone, its multiplier Z, their factors, and the directions.

    It starts with KZ = target · I.
    """

    def __init__(self, cone: Spectrahedron, w: Array, target: float) -> None:
        self.cone = cone
        self.K = cone.combine(w)
        L = cholesky(self.K)
        if L is None:
            raise ValueError("the starting weights must give a positive definite matrix.")
        self.Z = target * _inverse(L)
        R = cholesky(self.Z)
        if R is None:
            raise ValueError("the starting matrix is too ill conditioned for floating point.")
        self.L, self.R = L, R
        self._curvature: Array | None = None
        self._A = np.empty((cone.n_members, cone.size, cone.size))  # transposed, as BLAS writes them

    @property
    def gap(self) -> float:
        """⟨K, Z⟩: what the constraint adds to the duality gap."""
        return float(np.vdot(self.K, self.Z))

    def prepare(self) -> Array:
        """Form what the directions of this iteration share, once; returns M (m, m)."""
        if self._curvature is not None:
            return self._curvature
        self.K_inverse = _inverse(self.L)
        for i, K in enumerate(self.cone.Ks):
            product = dtrmm(1.0, self.R, K.T, side=1, lower=1)  # symmetric: K.T is K in Fortran order
            self._A[i] = dtrsm(1.0, self.L, product, lower=1, overwrite_b=1).T
        self.inverse_traces = self.cone.traces(self.K_inverse)
        self.traces = self.cone.traces(self.Z)
        flat = self._A.reshape(len(self._A), -1)
        self._curvature = flat @ flat.T
        return self._curvature

    def correction(self, step: PSDStep) -> Array:
        """sym(K⁻¹ dK dZ) of a first direction."""
        return _symmetric(self.K_inverse @ (step.dK @ step.dZ))

    def step(self, dw: Array, target: float, correction: Array | None = None) -> PSDStep:
        """The changes of K and Z for a change of the weights."""
        dZ = target * self.K_inverse - self.Z - self._answer(dw)
        if correction is not None:
            dZ -= correction
        return PSDStep(self.cone.combine(dw), dZ)

    def _answer(self, dw: Array) -> Array:
        """sym(K⁻¹ dK Z), whose traces with the members are M dw."""
        mixed = (dw @ self._A.reshape(dw.size, -1)).reshape(self.K.shape).T  # L⁻¹ dK R
        moved = dtrmm(1.0, self.R, mixed, side=1, lower=1, trans_a=1, overwrite_b=1)
        return _symmetric(dtrsm(1.0, self.L, moved, lower=1, trans_a=1, overwrite_b=1))

    def multiplier(self, q: Array, r: Array) -> Array | None:
        """A positive definite Z near this one with q_i + tr(Z K_i) = θr_i for all i and some θ, or None."""
        # Only changes with r'v = 0: along the weights themselves M vanishes with the gap, and would drown.
        across = np.linalg.qr(r[:, None], mode="complete")[0][:, 1:]
        M = across.T @ self.prepare() @ across
        Z = self.Z
        for _ in range(_REPAIRS):
            miss = across.T @ (q + self.cone.traces(Z))
            Z = Z - self._answer(across @ np.linalg.lstsq(M, miss, rcond=None)[0])
        return Z if cholesky(Z) is not None else None

    def longest(self, step: PSDStep) -> float:
        """About how far K and Z stay positive definite along the step."""
        return min(self._longest(self.L, step.dK), self._longest(self.R, step.dZ))

    def _longest(self, factor: Array, change: Array) -> float:
        def scaled(v: Array) -> Array:
            v = dtrsv(factor, v, lower=1, trans=1)
            return dtrsv(factor, change @ v, lower=1, overwrite_x=1)

        lowest = smallest_ritz_value(scaled, len(change))
        return -1.0 / lowest if lowest < 0.0 else np.inf

    def advance(self, step: PSDStep, length: float) -> float:
        """Move, shortening the step until both factors exist; returns the length taken (0: none does)."""

        def attempt(length: float) -> float | None:
            K, Z = self.K + length * step.dK, self.Z + length * step.dZ
            L = cholesky(K)
            R = cholesky(Z) if L is not None else None
            if L is None or R is None:
                return None
            self.K, self.Z, self.L, self.R = K, Z, L, R
            self._curvature = None
            return length

        return backtrack(attempt, _MAX_BACKTRACKS, first=length, shrink=0.8) or 0.0

    def gap_after(self, step: PSDStep, length: float) -> float:
        """⟨K, Z⟩ after a step of that length."""
        return float(np.vdot(self.K + length * step.dK, self.Z + length * step.dZ))


def _inverse(factor: Array) -> Array:
    """A⁻¹ from its lower Cholesky factor, symmetric."""
    lower, _ = dpotri(factor, lower=1)
    return np.tril(lower) + np.tril(lower, -1).T


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)
