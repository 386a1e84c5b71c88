"""What kernels between the nodes of a network have in common: names in, entries of f(L) out.

A network of few nodes is decomposed once, for all its kernels; of a large one, only the columns of f(L) that
belong to samples are computed, by an expansion.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import WHOLE_VIEWS, RowError, check_choice
from multikernel.kernels._rows import Pair, Rows, row_blocks
from multikernel.kernels.base import Kernel
from multikernel.kernels.networks.expansion import Expansion
from multikernel.kernels.networks.functions import LaplacianFunction, TooManyTermsError
from multikernel.kernels.networks.network import Network
from multikernel.kernels.networks.reading import plain, read_names

ABSENT_CHOICES = ("isolated", "error")
SMALL = 1000  # nodes up to which the Laplacian is decomposed


@dataclass(frozen=True, repr=False)
class NetworkKernel(Kernel):
    """k(i, j) = f(L)_ij for nodes i and j of a network with the Laplacian L."""

    network: Network

    _is_bounded = True
    _reads_numbers = False
    absent = "isolated"

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network):
            raise TypeError(
                f"{type(self).__name__} needs a Network; got {type(self.network).__name__}. Make one with "
                "Network(edges) or Network.from_adjacency(matrix)."
            )
        check_choice(f"{type(self).__name__} absent", self.absent, ABSENT_CHOICES)

    @property
    def _of_normalized(self) -> bool:
        """Whether L is the normalised Laplacian."""
        return True

    @property
    @abstractmethod
    def _function(self) -> LaplacianFunction:
        """f."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: self.__dict__[field.name] for field in dataclasses.fields(self)}

    def __deepcopy__(self, memo: dict[int, Any]) -> NetworkKernel:
        return self  # immutable, and what it has computed is worth sharing

    # --- names -----------------------------------------------------------------------------------

    def _resolve(self, rows: Rows) -> Kernel:
        numbers = self._numbers(rows, {})
        if not (numbers < len(self.network)).any():
            names, nodes = _column(rows, type(self).__name__), self.network.nodes
            raise ValueError(
                f"no row of {rows.label} is a node of the network: rows are named {plain(names[0])} and so "
                f"on, nodes {plain(nodes[0])} and so on. Use the same names for both."
            )
        return self

    def _numbers(self, rows: Rows, strangers: dict[Any, int]) -> np.ndarray:
        """The position of each row's node; names that no node has are numbered on from N in `strangers`."""
        label, nodes = type(self).__name__, self.network.nodes
        kind = "strings" if nodes.dtype.kind == "U" else "whole numbers"

        def complain(place: int, value: Any) -> Exception:
            return RowError(
                f"{label} needs one column of names of nodes, which are {kind} such as {plain(nodes[0])}; "
                f"{rows.label} holds {plain(value)} at row",
                place,
                f". Give every sample a name of its own, of the same kind. {WHOLE_VIEWS}",
            )

        column = _column(rows, label)
        names = read_names(column, complain)
        if len(names) and names.dtype.kind != nodes.dtype.kind:
            raise complain(0, column[0])
        positions, size = self.network.positions, len(self.network)
        numbers = np.empty(len(names), dtype=np.intp)
        for row, name in enumerate(names.tolist()):
            place = positions.get(name)
            if place is None:
                if self.absent == "error":
                    raise RowError(
                        f"{label}: {rows.label} holds {name!r}, which is no node of the network, at row",
                        row,
                        ". Leave the sample out, or use absent='isolated'.",
                    )
                place = strangers.setdefault(name, size + len(strangers))
            numbers[row] = place
        return numbers

    # --- values ----------------------------------------------------------------------------------

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        strangers: dict[Any, int] = {}
        right = self._numbers(pair.right, strangers)
        left = right if pair.symmetric else self._numbers(pair.left, strangers)
        if not strangers:
            self._fill_nodes(left, right, out)
            return
        size = len(self.network)
        rows, columns = np.flatnonzero(left < size), np.flatnonzero(right < size)
        known = np.empty((rows.size, columns.size))
        self._fill_nodes(left[rows], right[columns], known)
        out[...] = 0.0
        out[np.ix_(rows, columns)] = known
        for stranger in strangers.values():
            out[np.ix_(left == stranger, right == stranger)] = 1.0

    def _fill_nodes(self, left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
        symmetric = left is right or np.array_equal(left, right)
        if len(self.network) <= SMALL:
            rows = self._features(right)
            columns = rows.T
            np.matmul(rows if symmetric else self._features(left), columns, out=out, casting="same_kind")
        elif symmetric or self._expansion.can_keep(len(np.unique(right))) or len(right) <= len(left):
            self._fill_columns(left, right, out)
        else:
            self._fill_columns(right, left, out.T)
        if symmetric:
            _symmetrize(out)

    def _fill_columns(self, left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
        """out[i, j] = f(L)[left_i, right_j], by columns of the nodes on the right."""
        nodes, inverse = np.unique(right, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        starts = np.searchsorted(inverse[order], np.arange(len(nodes) + 1))
        for part, columns in self._expansion.columns(nodes):
            places = order[starts[part.start] : starts[part.stop]]
            values = columns[:, left][inverse[places] - part.start]
            out[:, places] = values.T

    def _diagonal(self, rows: Rows) -> np.ndarray:
        numbers = self._numbers(rows, {})
        diagonal = np.ones(len(numbers))
        known = numbers < len(self.network)
        nodes, inverse = np.unique(numbers[known], return_inverse=True)
        values = np.empty(len(nodes))
        if len(self.network) <= SMALL:
            features = self._features(nodes)
            values = np.einsum("ij,ij->i", features, features)
        else:
            for part, columns in self._expansion.columns(nodes):
                values[part] = columns[np.arange(len(columns)), nodes[part]]
        diagonal[known] = values[inverse]
        return diagonal

    def _features(self, nodes: np.ndarray) -> np.ndarray:
        """Rows whose products are the kernel: eigenvectors times √f of their eigenvalues."""
        values, vectors = self.network.spectrum(self._of_normalized)
        rows: np.ndarray = vectors[nodes] * np.sqrt(self._function.at(values))
        return rows

    @cached_property
    def _expansion(self) -> Expansion:
        normalized = self._of_normalized
        try:
            return Expansion(
                self.network.laplacian(normalized), self.network.eigenvalue_bound(normalized), self._function
            )
        except TooManyTermsError as error:
            raise ValueError(
                f"{self!r} would need {error} Use a smaller parameter, weights that are less unequal, or "
                "normalized=True."
            ) from error


def _column(rows: Rows, label: str) -> np.ndarray:
    """The only column of the rows, its values as they were given."""
    raw = rows.raw
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy()
    column = raw if isinstance(raw, np.ndarray) else np.array(_as_list(raw), dtype=object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"{label} needs one column of names of nodes; {rows.label} has shape {column.shape}. Name the "
            "column that holds them."
        )
    return column


def _as_list(raw: Any) -> list[Any]:
    return [] if scipy.sparse.issparse(raw) else list(raw)


def _symmetrize(K: np.ndarray) -> None:
    """K ← (K + K') / 2 in its own memory, which is symmetric bit by bit."""
    for block in row_blocks(*K.shape):
        stop = block.stop
        mean = (K[block, :stop] + K[:stop, block].T) / 2.0
        K[block, :stop] = mean
        K[:stop, block] = mean.T
