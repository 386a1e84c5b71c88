"""An undirected network with names for its nodes, from a list of edges or an adjacency matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import check_real_matrix, is_frame
from multikernel.kernels.networks.laplacian import eigenvectors, largest_eigenvalue_bound, sparse_laplacian
from multikernel.kernels.networks.reading import edge_name, plain, read_edges, read_nodes, read_weights

_STATE = ("nodes", "pairs", "weights")


class Network:
    """An undirected, weighted network: nodes with names, and the edges between them.

    It cannot be modified. What is ambiguous in a list of edges is settled like this: an edge has no
    direction, so that (a, b) and (b, a) are one; one that is given several times counts once, and must have
    the same weight each time; an edge of a node to itself makes it a node and is left out otherwise; a weight
    of 0 is no edge, but its ends are nodes. Weights that are negative, NaN or infinite are refused.

    Parameters
    ----------
    edges : array-like or DataFrame of shape (m, 2) or (m, 3), or list of tuples
        Names of two nodes in each row, strings or whole numbers, and, in a third column, the weight.
    weights : array-like of shape (m,), optional
        The strength of each edge, at least 0; 1 if there are none.
    nodes : list or array of names, optional
        All nodes in their order, also those without edges; if not given, the ends of the edges, sorted.

    Attributes
    ----------
    nodes : ndarray of shape (N,)
        The names, of type ``str`` or ``int64``.
    pairs : ndarray of shape (m, 2)
        Positions of both ends of each edge in `nodes`, the smaller first, sorted.
    weights : ndarray of shape (m,)

    Notes
    -----
    It holds 24 bytes for each edge, and the names; its adjacency matrix, as soon as a kernel needs it, 24
    bytes for each edge, and a Laplacian as much again. Copies share all this; pickles and saved models hold
    nodes, pairs and weights only.

    Examples
    --------
    >>> network = Network([("cdc28", "cln2"), ("cln2", "sic1"), ("cln2", "cdc28")])
    >>> network
    <Network of 3 nodes and 2 edges>
    >>> network.adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    >>> "sic1" in network, "far1" in network
    (True, False)
    """

    nodes: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray

    def __init__(self, edges: Any, weights: Any = None, *, nodes: Any = None) -> None:
        ends, strengths = read_edges(edges, weights)
        if nodes is None and not len(ends):
            raise ValueError("a network must have edges or nodes; got neither.")
        names = np.unique(ends) if nodes is None else read_nodes(nodes)
        self._set(names, _positions_of_ends(ends, names), strengths)

    @classmethod
    def from_adjacency(cls, adjacency: Any, nodes: Any = None) -> Network:
        """The network of an adjacency matrix.

        Parameters
        ----------
        adjacency : array-like, DataFrame or sparse matrix of shape (N, N)
            Symmetric, with entries of at least 0: A_ij is the strength of the edge i–j. The diagonal is left
            out, as edges of nodes to themselves are.
        nodes : list or array of N names, optional
            If not given, those of a DataFrame's rows and columns, else 0, 1, …

        Returns
        -------
        Network

        Examples
        --------
        >>> Network.from_adjacency([[0.0, 0.5], [0.5, 0.0]], ["a", "b"]).weights
        array([0.5])
        """
        if nodes is None and is_frame(adjacency):
            nodes = _names_of_frame(adjacency)
        upper, size = _upper_half(adjacency)
        names = np.arange(size) if nodes is None else read_nodes(nodes)
        if len(names) != size:
            raise ValueError(f"nodes must name all {size} rows of the adjacency matrix; got {len(names)}.")
        pairs = np.column_stack([upper.row, upper.col])
        network = cls.__new__(cls)
        network._set(names, pairs, read_weights(upper.data, names[pairs]))
        return network

    def _set(self, names: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> None:
        pairs, weights = _distinct_edges(names, np.sort(pairs, axis=1), weights)
        for name, array in zip(_STATE, (names, pairs, weights), strict=True):
            array = np.array(array)
            array.flags.writeable = False
            self.__dict__[name] = array

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a network cannot be modified; {name!r} is not set. Make another one.")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    # --- what it is ------------------------------------------------------------------------------

    @cached_property
    def adjacency(self) -> Any:
        """A (N, N) as a CSR array: symmetric, with a zero diagonal. Not to be modified."""
        first, second = self.pairs.T
        size = (len(self), len(self))
        values = np.concatenate([self.weights, self.weights])
        places = np.concatenate([first, second]), np.concatenate([second, first])
        matrix = scipy.sparse.coo_array((values, places), shape=size).tocsr()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        return matrix

    def subnetwork(self, nodes: Any) -> Network:
        """The network of some nodes and the edges between them.

        Parameters
        ----------
        nodes : list or array of names
            Nodes of this network, in the order that the new one shall have.

        Returns
        -------
        Network

        Examples
        --------
        >>> Network([("a", "b"), ("b", "c")]).subnetwork(["c", "b"]).pairs
        array([[0, 1]])
        """
        names = read_nodes(nodes)
        absent = [name for name in names.tolist() if name not in self]
        if absent:
            raise ValueError(f"nodes must be nodes of the network; {absent[0]!r} is none.")
        place = np.full(len(self), -1)
        place[[self.positions[name] for name in names.tolist()]] = np.arange(len(names))
        pairs = place[self.pairs]
        within = (pairs >= 0).all(axis=1)
        network = Network.__new__(Network)
        network._set(names, pairs[within], self.weights[within])
        return network

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each name in `nodes`."""
        return {name: place for place, name in enumerate(self.nodes.tolist())}

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, name: Any) -> bool:
        return name in self.positions

    def __repr__(self) -> str:
        return f"<Network of {len(self)} nodes and {len(self.pairs)} edges>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _STATE
        )

    def __hash__(self) -> int:
        return hash((Network, len(self), len(self.pairs), float(self.weights.sum())))

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in _STATE}  # the rest is derived, and large

    def __copy__(self) -> Network:
        return self  # immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> Network:
        return self

    # --- what kernels share ----------------------------------------------------------------------

    def laplacian(self, normalized: bool) -> Any:
        """L as a CSR array, computed once."""
        return self._once(f"_laplacian_{normalized}", lambda: sparse_laplacian(self.adjacency, normalized))

    def eigenvalue_bound(self, normalized: bool) -> float:
        """A number that no eigenvalue of L exceeds."""
        return largest_eigenvalue_bound(self.adjacency, normalized)

    def spectrum(self, normalized: bool) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of L, computed once for all kernels of a small network."""
        found: tuple[np.ndarray, np.ndarray] = self._once(
            f"_spectrum_{normalized}", lambda: eigenvectors(self.laplacian(normalized))
        )
        return found

    def _once(self, name: str, compute: Any) -> Any:
        if name not in self.__dict__:
            self.__dict__[name] = compute()
        return self.__dict__[name]


def _positions_of_ends(ends: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Where in `names` the ends of edges are; all of them must be there."""
    if not len(ends):
        return np.empty((0, 2), dtype=np.int64)
    if ends.dtype.kind != names.dtype.kind:
        raise ValueError(
            f"edges and nodes must have names of one kind; edges name {plain(ends[0, 0])}, nodes "
            f"{plain(names[0])}. Where edges hold positions, write names[edges]."
        )
    order = np.argsort(names)
    places = order[np.minimum(np.searchsorted(names, ends, sorter=order), len(names) - 1)]
    unknown = np.argwhere(names[places] != ends)
    if len(unknown):
        edge, end = map(int, unknown[0])
        raise ValueError(
            f"edges must join nodes that are in nodes; {edge_name(ends[edge])}, edge {edge}, has the end "
            f"{plain(ends[edge, end])}, which is not. Add it to nodes, or leave the edge out."
        )
    return places


def _distinct_edges(
    names: np.ndarray, pairs: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted edges, each once, without those of nodes to themselves and of weight 0."""
    counts = pairs[:, 0] != pairs[:, 1]
    pairs, weights = pairs[counts].astype(np.int64), weights[counts].astype(np.float64)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, weights = pairs[order], weights[order]
    again = (np.diff(pairs, axis=0) == 0).all(axis=1)
    contradicted = np.flatnonzero(again & (np.diff(weights) != 0.0))
    if contradicted.size:
        place = int(contradicted[0])
        raise ValueError(
            f"an edge that is given several times must have one weight; {edge_name(names[pairs[place]])} has "
            f"{weights[place]:g} and {weights[place + 1]:g}. Combine them first."
        )
    first = np.concatenate([[True], ~again])[: len(pairs)] & (weights > 0.0)
    _require_finite_degrees(names, pairs[first], weights[first])
    return pairs[first], weights[first]


def _require_finite_degrees(names: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> None:
    degrees = np.zeros(len(names))
    with np.errstate(over="ignore"):
        for ends in pairs.T:
            np.add.at(degrees, ends, weights)
    wrong = np.flatnonzero(~np.isfinite(degrees))
    if wrong.size:
        raise ValueError(
            f"the weights of the edges of {plain(names[wrong[0]])} add up to infinity. Rescale the weights."
        )


def _names_of_frame(frame: Any) -> Any:
    if not frame.index.equals(frame.columns):
        raise ValueError(
            "an adjacency matrix that is a DataFrame must have the same names for rows and columns, in the "
            "same order. Reorder one of them, or give nodes and the bare matrix."
        )
    return frame.index.to_numpy()


def _upper_half(adjacency: Any) -> tuple[Any, int]:
    """What is above the diagonal of a symmetric matrix, with the places of its entries."""
    if not scipy.sparse.issparse(adjacency):
        adjacency = check_real_matrix(adjacency, "an adjacency matrix")
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1] or not adjacency.shape[0]:
        raise ValueError(f"an adjacency matrix must be square, of at least one node; got {adjacency.shape}.")
    if adjacency.dtype.kind not in "fiub":
        raise ValueError(f"an adjacency matrix must hold real numbers; got {adjacency.dtype}.")
    csr = scipy.sparse.csr_array(adjacency, dtype=np.float64)
    csr.sum_duplicates()
    with np.errstate(invalid="ignore"):
        different = csr != csr.T  # NaN differs from itself, wherever it is
    if different.nnz:
        i, j = (int(places[0]) for places in different.nonzero())
        raise ValueError(
            f"an adjacency matrix must be symmetric; got {csr[i, j]:g} at ({i}, {j}) and {csr[j, i]:g} at "
            f"({j}, {i}). A network without directions is (A + A.T) / 2, or the larger of both."
        )
    return scipy.sparse.coo_array(scipy.sparse.triu(csr, 1)), csr.shape[0]
