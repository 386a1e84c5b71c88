"""Columns of f(L) for a large network: sparse products only, never a matrix of all nodes.

f(L) e_j ≈ Σ_k c_k t_k,   t_0 = e_j,   t_1 = M e_j,   t_{k+1} = 2 M t_k − t_{k−1},   M = (2 / b) L − I
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from multikernel.kernels.networks.functions import LaplacianFunction

ERROR = 1e-15  # of each column, in Euclidean norm, before rounding
KEPT_BYTES = 200_000_000
_BLOCK_ELEMENTS = 1 << 19
_NARROWEST, _WIDEST = 8, 64


class Expansion:
    """Columns of f(L), each computed once as long as what is kept fits into `KEPT_BYTES`.

    A column depends on its node alone, not on what was computed before or beside it.

    Parameters
    ----------
    laplacian : csr_array of shape (N, N)
    bound : float
        At least the largest eigenvalue.
    function : LaplacianFunction
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
