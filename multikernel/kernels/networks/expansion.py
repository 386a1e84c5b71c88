"""Functions f of a Laplacian L, decreasing from f(0) = 1, and columns of f(L) for a large network.

    f(L) ≈ Σ_{k ≤ m} c_k T_k(M),   M = (2 / b) L − I,   the eigenvalues of L within [0, b]

The Chebyshev polynomials T_k(M) have eigenvalues within [−1, 1], so that the spectral norm of the error is at
most Σ_{k > m} |c_k|: m is the smallest for which this is at most the error that is asked for. Columns of f(L)
take sparse products only, never a matrix of all nodes:

    f(L) e_j ≈ Σ_k c_k t_k,   t_0 = e_j,   t_1 = M e_j,   t_{k+1} = 2 M t_k − t_{k−1}
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import scipy.special

MOST_TERMS = 20_000
ERROR = 1e-15  # of each column, in Euclidean norm, before rounding
KEPT_BYTES = 200_000_000
_BLOCK_ELEMENTS = 1 << 19
_NARROWEST, _WIDEST = 8, 64


class LaplacianFunction(ABC):
    """f with f(0) = 1, which is what a node without edges has on the diagonal."""

    @abstractmethod
    def at(self, eigenvalues: np.ndarray) -> np.ndarray:
        """f of each eigenvalue."""

    @abstractmethod
    def coefficients(self, bound: float, error: float) -> np.ndarray:
        """c_0, …, c_m for eigenvalues up to `bound`, with Σ_{k > m} |c_k| ≤ `error`."""


@dataclass(frozen=True)
class Heat(LaplacianFunction):
    """f(l) = exp(−beta l).

    c_k = (2 − [k = 0]) (−1)^k exp(−z) I_k(z) with z = beta b / 2 and the modified Bessel functions I_k.

    Examples
    --------
    >>> Heat(0.5).coefficients(2.0, 1e-3).round(4)
    array([ 0.645 , -0.3129,  0.0387, -0.0032])
    """

    beta: float

    def at(self, eigenvalues: np.ndarray) -> np.ndarray:
        values: np.ndarray = np.exp(-self.beta * eigenvalues)
        return values

    def coefficients(self, bound: float, error: float) -> np.ndarray:
        z = 0.5 * self.beta * bound
        # exp(−z) I_k(z) falls as exp(−k² / 2z), and faster where k is beyond z
        reach = 12.0 * math.sqrt(z) + 60.0
        _require_few(reach)
        sizes = 2.0 * scipy.special.ive(np.arange(math.ceil(reach) + 1), z)
        sizes[0] /= 2.0
        tails = np.append(np.cumsum(sizes[:0:-1])[::-1], 0.0)  # Σ_{k > m} |c_k|, of what is not below 1e-20
        last = int(np.argmax(tails <= error))
        return _alternating(sizes[: last + 1])


@dataclass(frozen=True)
class Resolvent(LaplacianFunction):
    """f(l) = 1 / (1 + alpha l).

    c_k = (2 − [k = 0]) (−r)^k / s with s² = 1 + alpha b and r = alpha b / (1 + s)².

    Examples
    --------
    >>> Resolvent(1.0).coefficients(2.0, 1e-2).round(4)
    array([ 0.5774, -0.3094,  0.0829, -0.0222])
    """

    alpha: float

    def at(self, eigenvalues: np.ndarray) -> np.ndarray:
        values: np.ndarray = 1.0 / (1.0 + self.alpha * eigenvalues)
        return values

    def coefficients(self, bound: float, error: float) -> np.ndarray:
        s = math.sqrt(1.0 + self.alpha * bound)
        if s == 1.0:
            return np.ones(1)
        _require_few(s)
        # r = (s − 1) / (s + 1) and 1 − r = 2 / (s + 1), so that Σ_{k > m} |c_k| = r^(m + 1) (s + 1) / s
        log_r = math.log1p(-2.0 / (s + 1.0))
        terms = max(1.0, math.log(error * s / (s + 1.0)) / log_r)  # m + 1
        _require_few(terms)
        sizes = 2.0 / s * np.exp(log_r * np.arange(math.ceil(terms)))
        sizes[0] /= 2.0
        return _alternating(sizes)


class TooManyTermsError(ValueError):
    """An expansion would take more than `MOST_TERMS` products with the Laplacian."""


def _require_few(terms: float) -> None:
    if not terms <= MOST_TERMS:
        raise TooManyTermsError(f"an expansion of {terms:.0f} terms; {MOST_TERMS} are the most.")


def _alternating(sizes: np.ndarray) -> np.ndarray:
    sizes[1::2] *= -1.0
    return sizes


class Expansion:
    """Columns of f(L), each computed once as long as what is kept fits into `KEPT_BYTES`.

    A column depends on its node alone, not on what was computed before or beside it. The eigenvalues of L are
    at most `bound`.
    """

    def __init__(self, laplacian: Any, bound: float, function: LaplacianFunction) -> None:
        self.size = laplacian.shape[0]
        self._coefficients = function.coefficients(bound, ERROR)
        self._shifted = None
        if bound > 0.0:
            identity = scipy.sparse.eye_array(self.size, format="csr")
            self._shifted = scipy.sparse.csr_array(laplacian * (2.0 / bound) - identity)
        self._kept: dict[int, np.ndarray] = {}

    def can_keep(self, count: int) -> bool:
        """Whether so many columns fit into what may be kept."""
        return count * self.size * 8 <= KEPT_BYTES

    def columns(self, nodes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Parts of `nodes`, all different, and f(L) e_j for each node j of the part, as rows."""
        if not self.can_keep(len(nodes)):
            for part in self._parts(len(nodes)):
                yield part, self._expand(nodes[part]).T
            return
        kept = self._keep(nodes)
        for part in self._parts(len(nodes)):
            yield part, np.array([kept[node] for node in nodes[part].tolist()])

    def _keep(self, nodes: np.ndarray) -> dict[int, np.ndarray]:
        kept = self._kept
        missing = [node for node in nodes.tolist() if node not in kept]
        if not self.can_keep(len(kept) + len(missing)):
            kept, missing = {}, nodes.tolist()
        for part in self._parts(len(missing)):
            values = np.ascontiguousarray(self._expand(np.array(missing[part])).T)
            values.flags.writeable = False
            kept.update(zip(missing[part], values, strict=True))
        self._kept = kept
        return kept

    def _parts(self, count: int) -> Iterator[slice]:
        width = min(_WIDEST, max(_NARROWEST, _BLOCK_ELEMENTS // self.size))
        for start in range(0, count, width):
            yield slice(start, min(start + width, count))

    def _expand(self, nodes: np.ndarray) -> np.ndarray:
        """f(L) e_j for each of the nodes, as columns (N, len(nodes))."""
        before = np.zeros((self.size, len(nodes)))
        before[nodes, np.arange(len(nodes))] = 1.0
        total: np.ndarray = self._coefficients[0] * before
        if self._shifted is None or len(self._coefficients) == 1:
            return total
        current = self._shifted @ before
        total += self._coefficients[1] * current
        for coefficient in self._coefficients[2:]:
            following = self._shifted @ current
            following *= 2.0
            following -= before
            before, current = current, following
            total += coefficient * current
        return total
