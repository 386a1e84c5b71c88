"""Kernel alignment: the cosine between matrices, A(K, L) = ⟨K, L⟩ / (‖K‖ ‖L‖), and what it is made of.

For a stack K_1 … K_m over n points of which the first N have labels y = ±1, with T = yy' on their block
and zero elsewhere,

    q_i = ⟨K_i, T⟩ = y'K_i,tr y,     S_ij = ⟨K_i, K_j⟩ over all n rows,     A(K(μ), T) = q'μ / (‖T‖ √(μ'Sμ)).

Centred, every K_i is replaced by HK_iH with H = I − 11'/n, and T by HTH.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_gram, check_square
from ...kernels._rows import row_blocks
from ...kernels.transforms import Center

_BLOCK_ELEMENTS = 1 << 17
_FLAT = 1e-12  # relative to the entries: what centring a constant matrix leaves is rounding
_HUGE = 1e280


def alignment(K1: Any, K2: Any, *, centered: bool = False) -> float:
    """The alignment of two kernels, ⟨K1, K2⟩ / (‖K1‖ ‖K2‖): the cosine of their angle, in Frobenius norm.

    Parameters
    ----------
    K1, K2 : array-like of shape (n, n)
        Symmetric; for the alignment with labels y in {−1, 1}, give ``np.outer(y, y)``.
    centered : bool
        Whether to centre both matrices first (HKH with H = I − 11ᵀ/n), which takes away what a constant
        added to a kernel, or classes of unequal size, would add to the alignment.

    Returns
    -------
    float in [−1, 1]; in [0, 1] if both are positive semidefinite

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> alignment(np.eye(3), np.outer(y, y))
    0.577350
    >>> alignment(5.0 + np.outer(y, y), np.outer(y, y), centered=True)
    1.0
    """
    first, second = _direction(K1, "K1", centered), _direction(K2, "K2", centered)
    if first.shape != second.shape:
        raise ValueError(
            f"K1 and K2 must be over the same samples; got shapes {first.shape} and {second.shape}."
        )
    return float(np.clip(np.vdot(first, second), -1.0, 1.0))


def _direction(K: Any, label: str, centered: bool) -> Array:
    """K, centred if asked for, as float64 of Frobenius norm 1."""
    K = check_square(K, label)
    if check_gram(K, label).degenerate == "all zero":
        raise ValueError(f"an alignment needs matrices that are not zero; {label} is.")
    K = K / np.float64(np.abs(K).max())  # in double precision, and squares neither overflow nor underflow
    if centered:
        K = Center().fit_train(K)[1]
    norm = float(np.linalg.norm(K))
    if centered and norm <= _FLAT * len(K):
        raise ValueError(f"a centred alignment needs matrices that are not constant; {label} is.")
    K /= norm
    return K


def label_alignment(K: Array, y: Array, *, centered: bool = False) -> float:
    """The alignment of K (n, n) with yy' for labels y (n,), without forming yy'; 0 for a K that vanishes."""
    if centered:
        K, y = Center().fit_train(K)[1], y - y.mean()
    size = float(np.linalg.norm(K)) * float(y @ y)
    return float(y @ (K @ y)) / size if size > 0.0 else 0.0


def alignment_slope(K: Array, T: Array, *, centered: bool = False) -> tuple[float, Array]:
    """A(K, TT') and its derivatives in the entries of K (n, n), for T (n, k); K is not modified.

    ∂A/∂K = TT' / (‖K‖ ‖TT'‖) − A K / ‖K‖², of HKH and HT if centred. nan where K vanishes.
    """
    if centered:
        K, T = Center().fit_train(K)[1], T - T.mean(axis=0)
    size, target = float(np.linalg.norm(K)), float(np.linalg.norm(T.T @ T))
    if not size > 0.0 or not target > 0.0:
        return np.nan, np.full(K.shape, np.nan)
    value = float(np.vdot(T, K @ T)) / (size * target)
    return value, T @ T.T / (size * target) - (value / size**2) * K


@dataclass(frozen=True, eq=False)
class StackAlignment:
    """The inner products of a stack with the labels and with itself, as cosines.

    Attributes
    ----------
    target : array (m,), q_i / (‖K_i‖ ‖T‖)
    pairs : array (m, m), S_ij / (‖K_i‖ ‖K_j‖)
    norms : array (m,), ‖K_i‖
    target_norm : float, ‖T‖
    """

    target: Array
    pairs: Array
    norms: Array
    target_norm: float

    @property
    def q(self) -> Array:
        """⟨K_i, T⟩, (m,)."""
        return self.target * self.norms * self.target_norm

    @property
    def S(self) -> Array:
        """⟨K_i, K_j⟩, (m, m)."""
        return self.pairs * np.outer(self.norms, self.norms)

    def value_and_gradient(self, mu: Array) -> tuple[float, Array]:
        """A(K(μ), T) and its derivatives in μ, (m,).

        With w_i = μ_i ‖K_i‖, t the cosines to the labels and P those between kernels, A = t'w / √(w'Pw)
        and ∂A/∂w = t / √(w'Pw) − A Pw / w'Pw.
        """
        w = mu * self.norms
        Pw = self.pairs @ w
        size = float(np.sqrt(w @ Pw))
        value = float(self.target @ w) / size
        return value, (self.target / size - value * Pw / size**2) * self.norms

    def dual_factor(self, w: Array) -> float:
        """The smallest c with cPw ≥ t, for weights w ≥ 0 (m,) of kernels of norm one.

        No weights ≥ 0 have an alignment above c √(w'Pw): t'v ≤ c w'Pv ≤ c √(w'Pw) for v'Pv = 1.
        """
        wanted = self.target > 0.0
        if not wanted.any():
            return 0.0
        Pw = self.pairs[wanted] @ w
        return float((self.target[wanted] / np.maximum(Pw, 1e-300)).max())


def align_stack(Ks: Array, y: Array, *, centered: bool = False) -> StackAlignment:
    """All cosines of a stack; it is read once (twice if centred), a block of rows at a time.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric positive semidefinite, float64 or float32
    y : array (N,) or (N, k), N ≤ n
        Labels ±1 of the first rows; or a matrix whose yy' is the kernel to align with.
    centered : bool

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> table = align_stack(np.stack([np.eye(2), np.outer(y, y)]), y)
    >>> table.q.round(6).tolist(), table.S.round(6).tolist()
    ([2.0, 4.0], [[2.0, 2.0], [2.0, 4.0]])
    """
    m, n = Ks.shape[0], Ks.shape[1]
    units = np.array([float(K.diagonal().max()) for K in Ks])  # no entry is larger: nothing overflows
    _require_moderate(units)
    means = np.zeros((m, n))
    if centered:
        means = np.stack([K.mean(axis=1, dtype=np.float64) / unit for K, unit in zip(Ks, units, strict=True)])
        means -= 0.5 * means.mean(axis=1, keepdims=True)  # twice half of the grand mean comes back
    labels = np.zeros((n, *y.shape[1:]))
    labels[: len(y)] = y
    q, S = np.zeros(m), np.zeros((m, m))
    for rows in row_blocks(n, m * n, _BLOCK_ELEMENTS):
        block = Ks[:, rows] / units[:, None, None]
        if centered:
            block -= means[:, rows, None]
            block -= means[:, None, :]
        q += ((block @ labels) * labels[rows]).reshape(m, -1).sum(axis=1)
        flat = block.reshape(m, -1)
        S += flat @ flat.T
    return _cosines(q, S, units, labels - labels.mean(axis=0) if centered else labels)


def _require_moderate(largest: Array) -> None:
    """Refuse kernels that vanish, and those whose weights or norms might overflow."""
    for index, value in enumerate(largest):
        if not value > 0.0:
            raise ValueError(f"kernels must not vanish; kernel {index} has no positive diagonal entry.")
        if not 1.0 / _HUGE < value < _HUGE:
            raise ValueError(
                f"the entries of kernel {index} are as large as {value:.1e}, so that its weight would "
                "overflow or vanish. Scale it to trace n first."
            )


def _cosines(q: Array, S: Array, units: Array, labels: Array) -> StackAlignment:
    sizes = np.sqrt(np.diag(S))
    flat = np.flatnonzero(sizes <= _FLAT * len(labels))
    if flat.size:
        raise ValueError(
            f"a centred alignment needs kernels that are not constant; kernel {flat[0]} is. Remove it."
        )
    target_norm = float(np.linalg.norm(labels.T @ labels))
    pairs = S / np.outer(sizes, sizes)
    np.fill_diagonal(pairs, 1.0)
    return StackAlignment(q / (sizes * target_norm), pairs, sizes * units, target_norm)
