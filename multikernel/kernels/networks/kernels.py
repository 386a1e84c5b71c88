"""Kernels between the nodes of a network: functions f(L) of its Laplacian, with f(0) = 1.

    Diffusion               K = exp(−beta L)
    RegularizedLaplacian    K = (I + alpha L)^{−1}
    RandomWalk              K = restart · (I − (1 − restart) D^{−1/2} A D^{−1/2})^{−1}

A node without edges, and a sample that is not in the network, is similar to itself alone, with 1. A network
of few nodes is decomposed once, for all its kernels; of a large one, only the columns of f(L) that belong to
samples are computed, by an expansion

    f(L) ≈ Σ_{k ≤ m} c_k T_k(M),   M = (2 / b) L − I,   the eigenvalues of L within [0, b].

The Chebyshev polynomials T_k(M) have eigenvalues within [−1, 1], so that the spectral norm of the error is at
most Σ_{k > m} |c_k|: m is the smallest for which this is at most the error that is asked for. Columns of f(L)
take sparse products only, never a matrix of all nodes:

    f(L) e_j ≈ Σ_k c_k t_k,   t_0 = e_j,   t_1 = M e_j,   t_{k+1} = 2 M t_k − t_{k−1}
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special

from multikernel._validation import (
    WHOLE_VIEWS,
    RowError,
    check_choice,
    check_flag,
    check_gram,
    check_number,
    check_square,
)
from multikernel.kernels._rows import Pair, Rows, row_blocks
from multikernel.kernels.base import Kernel, checked
from multikernel.kernels.networks.network import Network, plain, read_names

ABSENT_CHOICES = ("isolated", "error")
SMALL = 1000  # nodes up to which the Laplacian is decomposed
MOST_TERMS = 20_000
ERROR = 1e-15  # of each column, in Euclidean norm, before rounding
KEPT_BYTES = 200_000_000
_BLOCK_ELEMENTS = 1 << 19
_NARROWEST, _WIDEST = 8, 64


@dataclass(frozen=True, repr=False)
class NetworkKernel(Kernel):
    """k(i, j) = f(L)_ij for nodes i and j of a network with the Laplacian L."""

    network: Network

    _is_bounded = True
    _reads_numbers = False
    _reads_tables = False
    _reads_strings = True
    normalized = True  # whether L is the normalised Laplacian
    absent = "isolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.network, Network):
            raise TypeError(
                f"{type(self).__name__} needs a Network; got {type(self.network).__name__}. Make one with "
                "Network(edges) or Network.from_adjacency(matrix)."
            )
        check_choice(f"{type(self).__name__} absent", self.absent, ABSENT_CHOICES)
        check_flag(f"{type(self).__name__} normalized", self.normalized)

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
        left, right = pair.both(lambda rows: self._numbers(rows, strangers))
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
            np.matmul(rows if symmetric else self._features(left), rows.T, out=out, casting="same_kind")
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
        values, vectors = self.network.spectrum(bool(self.normalized))
        rows: np.ndarray = vectors[nodes] * np.sqrt(self._function.at(values))
        return rows

    @cached_property
    def _expansion(self) -> Expansion:
        normalized = bool(self.normalized)
        try:
            return Expansion(
                self.network.laplacian(normalized), self.network.eigenvalue_bound(normalized), self._function
            )
        except TooManyTermsError as error:
            raise ValueError(
                f"{self!r} would need {error} Use a smaller parameter, weights that are less unequal, or "
                "normalized=True."
            ) from error


@dataclass(frozen=True, repr=False)
class Diffusion(NetworkKernel):
    """K = exp(−beta L), L = I − D^{−1/2} A D^{−1/2} or D − A: heat that gets from node to node in time beta.

    A is the network's adjacency matrix and D = diag(A 1). Rows of `X` are names of nodes, one column of
    strings or whole numbers, so that cross-validation takes the right rows and columns of K. The network may
    hold nodes that are no samples: similarity goes through them all the same.

    Parameters
    ----------
    network : Network
    beta : float, default=1.0
        The time, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A.
    absent : "isolated" or "error", default="isolated"
        A sample whose name no node has is like a node without edges: similar to itself alone, with 1. Rows of
        the same unknown name are the same sample. Or it is an error. `fit` refuses rows of which none is in
        the network: their names are of another kind.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> Diffusion(network, beta=0.5)(["a", "b", "c", "d"]).round(2)
    array([[0.65, 0.22, 0.04, 0.  ],
           [0.22, 0.68, 0.22, 0.  ],
           [0.04, 0.22, 0.65, 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])

    Notes
    -----
    Up to 1000 nodes, L is decomposed once for all kernels of the network, and they share the eigenvectors,
    8 N² bytes. A larger network is never made a matrix of all nodes: of K, only the columns of samples are
    computed, by Chebyshev polynomials of L. The spectral norm of what they leave out is at most 1e-15, so
    that entries are right and eigenvalues not below 0 up to rounding; with the normalised Laplacian they take
    13 products with L for a beta of 1, and 82 for one of 100. 32 N b bytes are in use meanwhile, b between 8
    and 64 columns; columns are kept for the next call, up to 200 MB for each kernel, and when there are more
    samples, nothing is. Copies of a kernel share what is kept, pickles and saved models are without it.

    References
    ----------
    R. I. Kondor and J. Lafferty (2002). Diffusion kernels on graphs and other discrete input spaces.
    A. J. Smola and R. Kondor (2003). Kernels and regularization on graphs.
    """

    beta: float = checked(1.0, check_number, above=0.0)
    normalized: bool = True
    absent: str = "isolated"

    @property
    def _function(self) -> LaplacianFunction:
        return Heat(self.beta)


@dataclass(frozen=True, repr=False)
class RegularizedLaplacian(NetworkKernel):
    """K = (I + alpha L)^{−1}, L = I − D^{−1/2} A D^{−1/2} or D − A: all paths, where each step is discounted.

    f = K y is the function on the nodes that minimises Σ_i (f_i − y_i)² + alpha f'Lf: near y, and smooth
    along edges. With L = D − A, K_ij is also the share of spanning forests with i in the tree of root j.

    Parameters
    ----------
    network : Network
    alpha : float, default=1.0
        The weight of smoothness, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A.
    absent : "isolated" or "error", default="isolated"
        As for `Diffusion`.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> RegularizedLaplacian(network, alpha=1.0, normalized=False)(["a", "b", "c"]) * 8
    array([[5., 2., 1.],
           [2., 4., 2.],
           [1., 2., 5.]])

    Notes
    -----
    Names, small and large networks and their memory are as for `Diffusion`. The expansion of a large network
    takes about 18 √(1 + alpha b) products with L, where b is 2 for the normalised Laplacian and at most twice
    the largest degree for the other.

    References
    ----------
    A. J. Smola and R. Kondor (2003). Kernels and regularization on graphs.
    P. Chebotarev and E. Shamis (1997). The matrix-forest theorem and measuring relations in small social
    groups.
    """

    alpha: float = checked(1.0, check_number, above=0.0)
    normalized: bool = True
    absent: str = "isolated"

    @property
    def _function(self) -> LaplacianFunction:
        return Resolvent(self.alpha)


@dataclass(frozen=True, repr=False)
class RandomWalk(NetworkKernel):
    """K = restart · (I − (1 − restart) D^{−1/2} A D^{−1/2})^{−1}: a random walk that returns to its start.

    A walker who starts at node j goes back to j with probability `restart` at each step, and else along one
    of the edges, chosen by its weight. P_ij, the share of time that is spent at i in the end, is not
    symmetric: hubs are met from everywhere. K is P made symmetric,

        K = D^{−1/2} P D^{1/2},   K_ij = √(P_ij P_ji),

    the geometric mean of both ways. It is positive semidefinite, since it is also (I + alpha L)^{−1} with the
    normalised Laplacian L and alpha = (1 − restart) / restart: `RegularizedLaplacian` in other units. At a
    node without edges, a walker stays there.

    Parameters
    ----------
    network : Network
    restart : float, default=0.5
        The probability of a return, between 0 and 1: as it falls, farther nodes become similar.
    absent : "isolated" or "error", default="isolated"
        As for `Diffusion`.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> RandomWalk(network, restart=0.5)(["a", "b"]).round(3)
    array([[0.583, 0.236],
           [0.236, 0.667]])

    Notes
    -----
    Names, small and large networks and their memory are as for `Diffusion`. The expansion of a large network
    takes about 25 / √restart products with L.

    References
    ----------
    J.-Y. Pan, H.-J. Yang, C. Faloutsos and P. Duygulu (2004). Automatic multimedia cross-modal correlation
    discovery.
    S. Köhler, S. Bauer, D. Horn and P. N. Robinson (2008). Walking the interactome for prioritization of
    candidate disease genes.
    """

    restart: float = checked(0.5, check_number, above=0.0, below=1.0)
    absent: str = "isolated"

    @property
    def _function(self) -> LaplacianFunction:
        return Resolvent((1.0 - self.restart) / self.restart)


def _column(rows: Rows, label: str) -> np.ndarray:
    """The only column of the rows, its values as they were given."""
    raw = rows.raw
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy()
    listed = [] if scipy.sparse.issparse(raw) else raw
    column = raw if isinstance(raw, np.ndarray) else np.array(list(listed), dtype=object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"{label} needs one column of names of nodes; {rows.label} has shape {column.shape}. Name the "
            "column that holds them."
        )
    return column


def _symmetrize(K: np.ndarray) -> None:
    """K ← (K + K') / 2 in its own memory, which is symmetric bit by bit."""
    for block in row_blocks(*K.shape):
        stop = block.stop
        mean = (K[block, :stop] + K[:stop, block].T) / 2.0
        K[block, :stop] = mean
        K[:stop, block] = mean.T


# --- functions of a Laplacian, and columns of f(L) for a large network --------------------------


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
        """Whether this many columns fit into what may be kept."""
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


# --- the diffusion kernel of an adjacency matrix -----------------------------------------------


def diffusion_kernel(adjacency: Any, beta: float = 1.0, *, normalized: bool = True) -> np.ndarray:
    """Return exp(−beta L) of the Laplacian L of an undirected network, by its eigenvectors.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n_samples, n_samples)
        Symmetric, with entries of at least 0 and a zero diagonal: A_ij is the strength of the edge i–j.
    beta : float, default=1.0
        The time of the diffusion, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A. A node
        without edges is similar to itself alone.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Symmetric bit by bit and positive semidefinite: with eigenvalues exp(−beta l), l those of L.

    Examples
    --------
    >>> diffusion_kernel([[0.0, 1.0], [1.0, 0.0]], beta=1.0).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """
    A = _check_adjacency(adjacency)
    beta = check_number("beta", beta, above=0.0)
    values, vectors = scipy.linalg.eigh(_laplacian(A, normalized))
    # A Laplacian has no negative eigenvalues: what is below zero is rounding.
    half = vectors * np.exp(-0.5 * beta * np.maximum(values, 0.0))
    K = half @ half.T
    symmetric: np.ndarray = (K + K.T) / 2.0
    return symmetric


def _laplacian(A: np.ndarray, normalized: bool) -> np.ndarray:
    degrees = A.sum(axis=1)
    if not normalized:
        plain: np.ndarray = np.diag(degrees) - A
        return plain
    connected = degrees > 0.0
    scale = np.zeros_like(degrees)
    scale[connected] = 1.0 / np.sqrt(degrees[connected])
    laplacian: np.ndarray = np.diag(connected.astype(np.float64)) - scale[:, np.newaxis] * A * scale
    return laplacian


def _check_adjacency(adjacency: Any) -> np.ndarray:
    A = check_square(adjacency, "adjacency").astype(np.float64)
    check_gram(A, "adjacency")
    if A.min() < 0.0:
        i, j = map(int, np.argwhere(A < 0.0)[0])
        raise ValueError(
            f"adjacency must not be negative; got {A[i, j]:g} at ({i}, {j}). "
            "Give the strength of an edge as a number of at least 0."
        )
    loops = np.flatnonzero(A.diagonal())
    if loops.size:
        raise ValueError(
            f"adjacency must have a zero diagonal; node {loops[0]} has an edge to itself. "
            "Remove such edges with numpy.fill_diagonal(adjacency, 0)."
        )
    return A
