"""An undirected network with names for its nodes, from a list of edges or an adjacency matrix; its Laplacian.

    L = D − A,   or normalised   L = I − D^{−1/2} A D^{−1/2},   D = diag(A 1)

The row of a node without edges is zero in both. Names are strings or whole numbers, never both in one
network: an array of type ``str`` or ``int64``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from multikernel._validation import as_list, check_real_matrix, is_frame
from multikernel._validation.missing import as_objects

_STATE = ("nodes", "pairs", "weights")
Complain = Callable[[int, Any], Exception]


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
    weights : array-like of shape (m,), default=None
        The strength of each edge, at least 0; 1 if there are none.
    nodes : list or array of names, default=None
        All nodes in their order, also those without edges; if not given, the ends of the edges, sorted.

    Attributes
    ----------
    nodes : ndarray of shape (N,)
        The names, of type ``str`` or ``int64``.
    pairs : ndarray of shape (m, 2)
        Positions of both ends of each edge in `nodes`, the smaller first, sorted.
    weights : ndarray of shape (m,)

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

    Notes
    -----
    It holds 24 bytes for each edge, and the names; its adjacency matrix, as soon as a kernel needs it, 24
    bytes for each edge, and a Laplacian as much again. Copies share all this; pickles and saved models hold
    nodes, pairs and weights only.
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
        nodes : list or array of N names, default=None
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
        return cls.__new__(cls)._set(names, pairs, read_weights(upper.data, names[pairs]))

    def _set(self, names: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> Network:
        pairs, weights = _distinct_edges(names, np.sort(pairs, axis=1), weights)
        for name, array in zip(_STATE, (names, pairs, weights), strict=True):
            array = np.array(array)
            array.flags.writeable = False
            self.__dict__[name] = array
        return self

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
        return Network.__new__(Network)._set(names, pairs[within], self.weights[within])

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


# --- the Laplacian, a bound of its eigenvalues, and its eigenvectors ---------------------------


def sparse_laplacian(adjacency: Any, normalized: bool) -> Any:
    """L of a symmetric, non-negative CSR array with a zero diagonal, as CSR."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    if not normalized:
        return scipy.sparse.csr_array(scipy.sparse.diags_array(degrees) - adjacency)
    connected = degrees > 0.0
    scale = np.zeros_like(degrees)
    scale[connected] = 1.0 / np.sqrt(degrees[connected])
    scaling = scipy.sparse.diags_array(scale)
    identity = scipy.sparse.diags_array(connected.astype(np.float64))
    return scipy.sparse.csr_array(identity - scaling @ adjacency @ scaling)


def largest_eigenvalue_bound(adjacency: Any, normalized: bool) -> float:
    """A number that no eigenvalue of L exceeds.

    2 for the normalised one; max_i (d_i + Σ_j A_ij d_j / d_i) for the other: the row sums of
    D^{−1} (D + A) D, whose largest eigenvalue is that of D + A, and so at least that of D − A.
    """
    if adjacency.nnz == 0:
        return 0.0
    if normalized:
        return 2.0
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    largest = float(degrees.max())
    part = degrees / largest  # products of degrees could overflow
    reached = adjacency @ part
    connected = part > 0.0
    sums = degrees[connected] + reached[connected] / part[connected]
    return float(min(2.0 * largest, np.nanmax(sums)))


def eigenvectors(laplacian: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, none below 0, and eigenvectors as columns, by a dense decomposition."""
    values, vectors = scipy.linalg.eigh(laplacian.toarray(), overwrite_a=True)
    # a Laplacian has no negative eigenvalues: what is below zero is rounding
    return np.maximum(values, 0.0), vectors


# --- names -------------------------------------------------------------------------------------------------


def read_names(values: np.ndarray, complain: Complain) -> np.ndarray:
    """1-D names as an array of strings or of int64; ``complain(place, value)`` is raised for what is none."""
    if values.dtype.kind == "i":
        return values.astype(np.int64)
    if values.dtype.kind == "U":
        _require_each(values, values != "", complain)
        return values
    listed = values.tolist()
    kinds = {type(value) for value in listed}
    if all(issubclass(kind, str) for kind in kinds):
        _require_each(values, [value != "" and "\0" not in value for value in listed], complain)
        return np.array(listed, dtype=str)
    whole = [_is_whole(value) for value in listed]
    if not all(whole) and isinstance(listed[0], str):
        whole = [isinstance(value, str) for value in listed]  # the first value decides what is expected
    _require_each(values, whole, complain)
    return np.array([int(value) for value in listed], dtype=np.int64)


def _is_whole(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, (int, np.integer)):
        return -(2**63) <= int(value) < 2**63
    return isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) < 2**53


def _require_each(values: np.ndarray, right: Any, complain: Complain) -> None:
    wrong = np.flatnonzero(~np.asarray(right, dtype=bool))
    if wrong.size:
        raise complain(int(wrong[0]), values[wrong[0]])


def plain(name: Any) -> str:
    """A name as it is written in code."""
    return repr(name.item() if isinstance(name, np.generic) else name)


def read_nodes(nodes: Any) -> np.ndarray:
    """The names of all nodes, in their order, each once."""
    listed = (
        np.asarray(nodes) if hasattr(nodes, "__array__") else as_objects(as_list("nodes", nodes, "names"))
    )
    if listed.ndim != 1 or not listed.size:
        raise ValueError(f"nodes must be a list of at least one name; got shape {listed.shape}.")
    names = read_names(
        listed,
        lambda place, value: ValueError(
            f"nodes must be named by strings (not empty) or by whole numbers, all of one type; node "
            f"{place} is "
            f"{plain(value)}."
        ),
    )
    found, counts = np.unique(names, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"nodes must be distinct; {plain(found[counts.argmax()])} occurs more than once.")
    return names


# --- edges -------------------------------------------------------------------------------------------------


def read_edges(edges: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Names of both ends, (m, 2), and weights, (m,), at least 0 and finite."""
    table = _edge_table(edges)
    if not len(table):
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    if table.shape[1] == 3 and weights is not None:
        raise ValueError("edges have weights in their third column already; leave out weights.")
    ends = read_names(
        table[:, :2].ravel(),
        lambda place, value: ValueError(
            "edges must join nodes that are named by strings (not empty) or by whole numbers, all of one "
            "type; "
            f"edge {place // 2} has an end {plain(value)}."
        ),
    ).reshape(-1, 2)
    if weights is None:
        weights = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    return ends, read_weights(weights, ends)


def _edge_table(edges: Any) -> np.ndarray:
    requirement = "edges must have two names, or two names and a weight, in each row"
    if scipy.sparse.issparse(edges):
        raise TypeError(f"{requirement}; got a sparse matrix. Use Network.from_adjacency(matrix).")
    if isinstance(edges, memoryview):
        edges = np.asarray(edges)
    if is_frame(edges) or isinstance(edges, np.ndarray):
        table = edges.to_numpy(dtype=object) if is_frame(edges) else edges
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            shown = f" with columns {list(edges.columns)}" if is_frame(edges) else ""
            raise ValueError(f"{requirement}; got shape {table.shape}{shown}. Choose the columns that do.")
        return np.asarray(table)
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise TypeError(f"{requirement}; got {type(edges).__name__}.")
    listed = list(edges)
    width = len(listed[0]) if listed and _is_row(listed[0]) else 2
    for place, edge in enumerate(listed):
        if not _is_row(edge) or len(edge) not in (2, 3) or len(edge) != width:
            raise ValueError(f"{requirement}, all of the same length; edge {place} is {edge!r}.")
    return as_objects([end for edge in listed for end in edge]).reshape(len(listed), width)


def _is_row(edge: Any) -> bool:
    return isinstance(edge, (tuple, list, np.ndarray))


def read_weights(weights: Any, ends: np.ndarray) -> np.ndarray:
    """One weight for each edge; a bad one is named with its edge."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"weights of edges must be numbers; {error}.") from error
    if values.shape != (len(ends),):
        raise ValueError(f"weights must have one entry for each of {len(ends)} edges; got {values.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if wrong.size:
        place = int(wrong[0])
        raise ValueError(
            f"weights of edges must be finite and at least 0; {edge_name(ends[place])}, edge {place}, has "
            f"{values[place]}. Leave such edges out, or give them the strength of a similarity."
        )
    return values


def edge_name(ends: Any) -> str:
    """An edge in messages."""
    return f"{plain(ends[0])}–{plain(ends[1])}"
