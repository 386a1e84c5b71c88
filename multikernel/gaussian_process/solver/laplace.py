"""The evidence of labels under a logistic likelihood, by Laplace's method.

Of one output with signs t = ±1, p(t | f) = Π σ(t_i f_i) and f ~ N(0, K), K = Σ_j θ_j C_j:

    f̂ = argmax log p(t | f) − ½ f'K⁻¹f,    a = K⁻¹f̂ = ∇ log p(t | f̂),    W = −∇² log p(t | f̂), diagonal
    L = −½ a'f̂ + log p(t | f̂) − ½ log det B,    B = I + W^½ K W^½
    ∂L/∂θ_j = ½ a'C_ja − ½ tr(R C_j) + u'C_ja,    R = (K + W⁻¹)⁻¹ = W^½ B⁻¹ W^½,
    u = (I − R K) s,    s = ½ diag(K − K R K) ∇³ log p(t | f̂)

(Rasmussen & Williams 2006, algorithms 3.1 and 5.1; the part with u is how L moves with f̂). The curvature is
taken as ½ (C_ia)'R(C_ja), that of a regression with noise W⁻¹. Several outputs share θ: their L are added.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.special import expit, log_expit

from ..._typing import Array
from .components import Components

_NEWTON = 100
_SETTLED = 1e-8  # of the last step of f, whose end is nearer by its square
_ROUNDING = 1e-14  # of the height: falls below it cannot be told from none
_HALVINGS = 20


class Mode(NamedTuple):
    """One output at its mode."""

    f: Array  # (n,)
    a: Array  # (n,)
    root_w: Array  # (n,), W^½
    root_b: Array  # (n, n), lower, of B
    value: float  # L


class LaplaceState(NamedTuple):
    """What is known at a θ."""

    K: Array
    modes: list[Mode]


class LaplaceEvidence:
    """The sum of L over the outputs, for signs (n_outputs, n)."""

    def __init__(self, terms: Components, signs: Array) -> None:
        self.terms, self.signs = terms, signs
        self.n, self.n_kernels = terms.n, len(terms.Ks)

    def evaluate(self, theta: Array, near: Any = None) -> tuple[float, LaplaceState]:
        """L(θ), and what the derivatives need; the modes are sought from those nearby."""
        K = self.terms.total(theta)
        starts = [None] * len(self.signs) if near is None else [mode.a for mode in near.modes]
        modes = [find_mode(K, signs, start) for signs, start in zip(self.signs, starts, strict=True)]
        value = sum(mode.value for mode in modes)
        if not np.isfinite(value):
            raise LinAlgError("the evidence is not finite")
        return float(value), LaplaceState(K, modes)

    def derivatives(self, theta: Array, state: LaplaceState) -> tuple[Array, Array]:
        """Gradient, and the curvature of the regression that each mode looks like."""
        slope, curvature = np.zeros(self.terms.size), np.zeros((self.terms.size, self.terms.size))
        for mode in state.modes:
            half = inverse_half(mode)
            R = half.T @ half
            variance = np.diagonal(state.K) - np.square(half @ state.K).sum(axis=0)
            p = expit(mode.f)
            s = 0.5 * variance * p * (1.0 - p) * (2.0 * p - 1.0)
            u = s - R @ (state.K @ s)
            parts = self.terms.apply(mode.a)
            slope += parts @ (0.5 * mode.a + u) - 0.5 * self.terms.inner(R)
            curvature += 0.5 * parts @ R @ parts.T
        return slope, curvature


def inverse_half(mode: Mode) -> Array:
    """A (n, n), lower, with A'A = R."""
    inverse, _ = dtrtri(mode.root_b, lower=1)
    return np.tril(inverse) * mode.root_w


def find_mode(K: Array, signs: Array, start: Array | None = None) -> Mode:
    """The mode of the posterior of f, by Newton's steps from ``start`` (a) or from 0.

    Examples
    --------
    >>> mode = find_mode(np.eye(2), np.array([1.0, -1.0]))
    >>> mode.f.round(6).tolist()  # f = sigma(-f) for the first
    [0.401058, -0.401058]
    """
    a = np.zeros(signs.size) if start is None else start
    f = K @ a
    height = _height(a, f, signs)
    at_zero = -signs.size * np.log(2.0)
    if not height >= at_zero:
        a, f, height = np.zeros(signs.size), np.zeros(signs.size), at_zero
    for _ in range(_NEWTON):
        root_w, root_b = _curvature(K, f)
        pull = root_w**2 * f + signs * expit(-signs * f)
        inner = solve_triangular(root_b, root_w * (K @ pull), lower=True, check_finite=False)
        inner = solve_triangular(root_b, inner, lower=True, trans=1, check_finite=False)
        step = pull - root_w * inner - a
        moved = K @ step
        length = _length(a, f, step, moved, height, signs)
        a, f = a + length * step, f + length * moved
        height = _height(a, f, signs)
        if np.abs(length * moved).max() <= _SETTLED * (1.0 + np.abs(f).max()):
            break
    a = signs * expit(-signs * f)  # at the mode; kept where K is singular, too
    root_w, root_b = _curvature(K, f)
    value = height - float(np.log(np.diagonal(root_b)).sum())
    return Mode(f, a, root_w, root_b, value)


def _length(a: Array, f: Array, step: Array, moved: Array, height: float, signs: Array) -> float:
    """Of a step that is halved until it does not lead down; 0 where rounding allows none."""
    least = height - _ROUNDING * (signs.size + abs(height))
    length = 1.0
    for _ in range(_HALVINGS):
        if _height(a + length * step, f + length * moved, signs) >= least:
            return length
        length *= 0.5
    return 0.0


def _height(a: Array, f: Array, signs: Array) -> float:
    """log p(t | f) − ½ a'f."""
    return float(log_expit(signs * f).sum() - 0.5 * a @ f)


def _curvature(K: Array, f: Array) -> tuple[Array, Array]:
    """W^½ and the lower root of B."""
    root_w = np.sqrt(expit(f) * expit(-f))
    B = K * np.outer(root_w, root_w)
    B.flat[:: len(B) + 1] += 1.0
    return root_w, cholesky(B, lower=True, overwrite_a=True, check_finite=False)
