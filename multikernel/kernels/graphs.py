"""Kernels of graphs, by the library grakel, and the graphs that a column may hold."""

from __future__ import annotations

import copy
import difflib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._validation import WHOLE_VIEWS, RowError
from multikernel.kernels._columns import import_library, objects_of
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Kernel

# Values of these depend on the two graphs alone. Canonical name: short names that grakel has for it.
_KERNELS = {
    "vertex_histogram": ("VH", "subtree_wl", "ST-WL"),
    "edge_histogram": ("EH",),
    "random_walk": ("RW",),
    "shortest_path": ("SP",),
    "subgraph_matching": ("SM",),
    "neighborhood_subgraph_pairwise_distance": ("NSPD",),
    "pyramid_match": ("PM",),
    "graph_hopper": ("GH",),
    "weisfeiler_lehman_optimal_assignment": ("WL-OA",),
    "weisfeiler_lehman": ("WL",),
    "core_framework": ("CORE",),
}
# Values of these depend on chance, or on the graphs that they were fitted with.
_DEPENDENT = {
    "graphlet_sampling": ("GR",),
    "multiscale_laplacian": ("ML",),
    "lovasz_theta": ("LOVT",),
    "svm_theta": ("SVMT",),
    "neighborhood_hash": ("NH",),
    "odd_sth": ("ODD",),
    "propagation": ("PR",),
    "hadamard_code": ("HC",),
}
_FRAMEWORKS = {"weisfeiler_lehman": "vertex_histogram", "core_framework": "shortest_path"}
_NEED_EDGES = {"edge_histogram", "subgraph_matching", "neighborhood_subgraph_pairwise_distance"}
# Computed pair by pair, so that of many graphs together the diagonal would cost the whole matrix.
_BY_PAIRS = {"random_walk", "subgraph_matching", "pyramid_match", "graph_hopper"}
# Classes of grakel are called as their kernels, in capitals; besides there are these.
_CLASSES: dict[str, tuple[str, dict[str, bool]]] = {
    "RandomWalkLabeled": ("random_walk", {"with_labels": True}),
    "ShortestPathAttr": ("shortest_path", {"as_attributes": True}),
} | {name.title().replace("_", ""): (name, {}) for name in _KERNELS}
_NOT_PARAMETERS = ("normalize", "verbose", "n_jobs", "random_state", "Nystroem", "base_graph_kernel")
_INSTEAD = {
    "normalize": 'Give the view normalize="diagonal", which does it for test graphs too.',
    "base_graph_kernel": "It is called base.",
}
_DIAGONAL_BLOCK = 64
_FORMS = (
    "a tuple (edges, node_labels, edge_labels) of which the labels may be left out, a graph of networkx or "
    "of grakel"
)


@dataclass(frozen=True, repr=False, init=False)
class GraphKernel(Kernel):
    """k(G, H) of two graphs, computed by grakel: labels, paths, walks or neighbourhoods that they share.

    ``GraphKernel("weisfeiler_lehman", n_iter=4)`` counts the nodes with equal neighbourhoods up to four steps
    away; ``"vertex_histogram"`` the nodes with equal labels; ``"shortest_path"`` the pairs of nodes with
    equal labels at equal distance. It needs the library grakel, installed with
    ``pip install 'multikernel[graphs]'``.

    A column (or a list) holds the graphs, each as

    - a tuple ``(edges, node_labels, edge_labels)``: pairs of nodes of shape (n_edges, 2); a label for each of
      the nodes 0, 1, ..., or a dict of node to label; a label for each edge, or a dict of edge to label;
    - a graph of networkx, with labels in the attribute ``label`` of nodes and edges;
    - a graph of grakel.

    Graphs are undirected: an edge stands for both directions. Labels may be left out; nodes or edges without
    labels are all equal.

    Parameters
    ----------
    kernel : str or object of grakel, default="weisfeiler_lehman"
        The name that grakel has for a kernel, long or short, or an instance of one of its classes, of which
        the parameters are taken: "vertex_histogram", "edge_histogram", "shortest_path", "random_walk",
        "subgraph_matching", "neighborhood_subgraph_pairwise_distance", "pyramid_match", "graph_hopper",
        "weisfeiler_lehman", "weisfeiler_lehman_optimal_assignment" or "core_framework".
    base : str or GraphKernel, default=None
        What "weisfeiler_lehman" (default "vertex_histogram") and "core_framework" (default "shortest_path")
        compute on the graphs that they make.
    **parameters
        Of the kernel, as grakel calls them.

    Examples
    --------
    >>> chain = ([(0, 1), (1, 2)], ["C", "C", "O"])
    >>> ring = ([(0, 1), (1, 2), (2, 0)], ["C", "C", "O"])
    >>> GraphKernel("vertex_histogram")([chain, ring])
    array([[5., 5.],
           [5., 5.]])
    >>> GraphKernel("weisfeiler_lehman", n_iter=1)([chain, ring])
    array([[ 8.,  7.],
           [ 7., 10.]])

    Notes
    -----
    Larger graphs have larger values: ``normalize="diagonal"`` of the view makes graphs of any size
    comparable. Kernels of grakel that depend on chance or on the other training graphs (graphlet sampling,
    propagation, and others) are refused: a prediction would not be of the kernel that was learned. Their
    matrices can be given as precomputed kernels. Models keep the graphs and no object of grakel.

    References
    ----------
    Siglidis et al., "GraKeL: A Graph Kernel Library in Python", Journal of Machine Learning Research 2020.
    """

    kernel: str = "weisfeiler_lehman"
    base: GraphKernel | None = None
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    _reads_numbers = False
    _reads_tables = False

    def __init__(self, kernel: Any = "weisfeiler_lehman", *, base: Any = None, **parameters: Any) -> None:
        if not isinstance(kernel, str):
            kernel, base, parameters = _described(kernel, base, parameters)
        name = _canonical(kernel)
        reserved = [key for key in parameters if key in _NOT_PARAMETERS]
        if reserved:
            raise ValueError(
                f"GraphKernel takes no {reserved[0]}. {_INSTEAD.get(reserved[0], 'Leave it out.')}"
            )
        if base is not None and name not in _FRAMEWORKS:
            raise ValueError(
                f"GraphKernel base belongs to {' and '.join(map(repr, _FRAMEWORKS))}; {name!r} has none."
            )
        if name in _FRAMEWORKS:
            base = _FRAMEWORKS[name] if base is None else base
            base = base if isinstance(base, GraphKernel) else GraphKernel(base)
        object.__setattr__(self, "kernel", name)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "parameters", tuple(sorted(parameters.items())))

    def __repr__(self) -> str:
        shown = [repr(self.kernel), *(f"{name}={value!r}" for name, value in self.parameters)]
        if self.base is not None and self.base != GraphKernel(_FRAMEWORKS[self.kernel]):
            plain = self.base.base is None and not self.base.parameters
            shown.append(f"base={self.base.kernel!r}" if plain else f"base={self.base!r}")
        return f"GraphKernel({', '.join(shown)})"

    def _resolve(self, rows: Rows) -> Kernel:
        _import_grakel()  # so that it is missed before anything is computed
        return self

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left, right = pair.both(graphs_of)
        self._require_edges(pair.right, right)
        self._require_edges(pair.left, left)
        if pair.symmetric:
            K = self._compute(right)
            out[...] = np.triu(K) + np.triu(K, 1).T  # the upper half decides
        else:
            out[...] = self._compute(right, left)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        graphs = graphs_of(rows)
        step = 1 if self._is_by_pairs else _DIAGONAL_BLOCK
        blocks = [graphs[start : start + step] for start in range(0, len(graphs), step)]
        return np.concatenate([self._compute(block).diagonal() for block in blocks]).astype(np.float64)

    def _require_edges(self, rows: Rows, graphs: list[PlainGraph]) -> None:
        """Refuse graphs without edges where grakel cannot do without."""
        if self.base is not None:
            self.base._require_edges(rows, graphs)
        bare = [row for row, graph in enumerate(graphs) if not graph.edges]
        if bare and self.kernel in _NEED_EDGES:
            raise RowError(
                f"GraphKernel({self.kernel!r}) needs graphs with edges; {rows.label} holds one that has none,"
                " at row",
                bare[0],
                ". Drop it, or use a kernel that reads nodes, such as 'weisfeiler_lehman'.",
            )

    @property
    def _is_by_pairs(self) -> bool:
        return self.kernel in _BY_PAIRS or (self.base is not None and self.base._is_by_pairs)

    @property
    def _steps(self) -> list[dict[str, Any]]:
        """The kernel and its bases, as grakel wants them."""
        rest = [] if self.base is None else self.base._steps
        return [{"name": self.kernel, **dict(self.parameters)}, *rest]

    def _compute(self, train: list[PlainGraph], test: list[PlainGraph] | None = None) -> np.ndarray:
        """The matrix of the training graphs, or of test graphs with them."""
        grakel = _import_grakel()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what matters of its warnings is checked in the matrix
            try:
                model = grakel.GraphKernel(kernel=self._steps, normalize=False, random_state=0)
                if test is None:
                    K = model.fit_transform([_as_grakel(graph, grakel) for graph in train])
                else:
                    model.fit([_as_grakel(graph, grakel) for graph in train])
                    K = model.transform([_as_grakel(graph, grakel) for graph in test])
            except Exception as error:  # of whatever kind grakel raises
                raise ValueError(
                    f"{self!r} cannot be computed; grakel says: {type(error).__name__}: {error}. Check its "
                    "parameters, and that the graphs have what it reads: edges, labels of one kind."
                ) from error
        return np.asarray(K, dtype=np.float64)


def _canonical(name: str) -> str:
    for known, short in (_KERNELS | _DEPENDENT).items():
        if name != known and name not in short:
            continue
        if known in _DEPENDENT:
            raise ValueError(
                f"GraphKernel cannot use {name!r}: its values depend on chance or on the other training "
                "graphs, so that a prediction would not be of the kernel that was learned. Compute its "
                'matrices with grakel and use kernels="precomputed".'
            )
        return known
    near = difflib.get_close_matches(name, list(_KERNELS), 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise ValueError(
        f"GraphKernel kernel must be one of grakel's; got {name!r}. {hint}There are {', '.join(_KERNELS)}."
    )


def _described(kernel: Any, base: Any, parameters: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Name, base and parameters of an object of grakel, which is not kept."""
    if not type(kernel).__module__.startswith("grakel."):
        raise TypeError(f"GraphKernel kernel must be a name or an object of grakel; got {kernel!r}.")
    if parameters or base is not None:
        raise ValueError("GraphKernel takes parameters with a name; an object of grakel has its own.")
    if kernel.get_params(deep=False).get("normalize"):
        raise ValueError(f"GraphKernel needs normalize=False. {_INSTEAD['normalize']}")
    if type(kernel).__name__ == "GraphKernel":
        return _from_steps(kernel.kernel)
    return _from_class(type(kernel), kernel.get_params(deep=False))


def _from_steps(steps: Any) -> tuple[str, Any, dict[str, Any]]:
    """Of the names and dicts that grakel's own wrapper takes."""
    listed = list(steps) if isinstance(steps, (list, tuple)) else [steps]
    first, rest = listed[0], listed[1:]
    parameters = dict(first) if isinstance(first, dict) else {"name": first}
    name = parameters.pop("name")
    if not rest:
        return name, None, parameters
    inner, base, given = _from_steps(rest)
    return name, GraphKernel(inner, base=base, **given), parameters


def _from_class(kind: type, parameters: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Of a class of grakel and the parameters of an instance."""
    if kind.__name__ not in _CLASSES:
        raise ValueError(
            f"GraphKernel cannot use {kind.__name__}: it is unknown here, or its values depend on chance or "
            'on the other training graphs. Compute its matrices with grakel and use kernels="precomputed".'
        )
    name, fixed = _CLASSES[kind.__name__]
    base = parameters.get("base_graph_kernel")
    if base is not None:
        base_kind, base_parameters = base if isinstance(base, tuple) else (base, {})
        inner, base_of_base, given = _from_class(base_kind, dict(base_parameters))
        base = GraphKernel(inner, base=base_of_base, **given)
    kept = {key: value for key, value in parameters.items() if key not in _NOT_PARAMETERS}
    return name, base, {**kept, **fixed}


def _as_grakel(graph: PlainGraph, grakel: Any) -> Any:
    """A graph of grakel, new each time: its kernels write into what they are given."""
    neighbours: dict[int, dict[int, float]] = {node: {} for node in range(len(graph.node_labels))}
    labels = {}
    for (a, b), label in zip(graph.edges, graph.edge_labels, strict=True):
        neighbours[a][b] = neighbours[b][a] = 1.0
        labels[a, b] = labels[b, a] = label
    return grakel.Graph(neighbours, dict(enumerate(graph.node_labels)), labels)


def _import_grakel() -> Any:
    return import_library("grakel", "GraphKernel", "graphs")


# --- graphs as rows, brought to one form of plain numbers and labels ---------------------------


@dataclass(frozen=True)
class PlainGraph:
    """An undirected graph with the nodes 0 to n − 1, and a label for each node and edge."""

    edges: list[tuple[int, int]]
    node_labels: list[Any]
    edge_labels: list[Any]


def graphs_of(rows: Rows) -> list[PlainGraph]:
    """The graphs of one column, read once."""
    return list(rows.derived("graphs", None, lambda: _read(rows)))


def _read(rows: Rows) -> list[PlainGraph]:
    graphs = []
    for row, entry in enumerate(objects_of(rows, "GraphKernel")):
        try:
            graphs.append(as_plain_graph(entry))
        except (TypeError, ValueError) as error:
            absent = entry is None or entry is np.nan
            raise RowError(
                f"GraphKernel needs a graph in each row; {rows.label} has none at row",
                row,
                f": {error}" + f" {WHOLE_VIEWS}" * absent,
            ) from None
    return graphs


def is_foreign_graph(entry: Any) -> bool:
    """Whether an object is a graph of networkx or of grakel, which need not be installed."""
    modules = {f"{kind.__module__}.{kind.__name__}" for kind in type(entry).__mro__}
    return bool(modules & {"networkx.classes.graph.Graph", "grakel.graph.Graph"})


def as_triple(entry: Any) -> tuple[Any, Any, Any]:
    """A graph of another library as plain lists: (edges, node_labels, edge_labels)."""
    graph = as_plain_graph(entry)
    return [list(edge) for edge in graph.edges], graph.node_labels, graph.edge_labels


def as_plain_graph(entry: Any) -> PlainGraph:
    """The graph that an entry of a column stands for."""
    if is_foreign_graph(entry):
        triple = _from_networkx(entry) if hasattr(entry, "is_directed") else _from_grakel(entry)
    elif isinstance(entry, (tuple, list)) and 1 <= len(entry) <= 3:
        triple = (*entry, None, None)[:3]
    else:
        raise TypeError(f"a graph is {_FORMS}; got {_shown(entry)}.")
    edges, node_labels, edge_labels = triple
    pairs = _pairs(edges)
    names, labels = _nodes(pairs, node_labels)
    return _joined([(names[a], names[b]) for a, b in pairs], labels, _labels_of(pairs, edge_labels))


def _pairs(edges: Any) -> list[tuple[Any, Any]]:
    listed = edges.tolist() if isinstance(edges, np.ndarray) else edges
    if not isinstance(listed, (Sequence, set, frozenset)) or isinstance(listed, str):
        raise TypeError(f"its edges must be pairs of nodes, shape (n_edges, 2); got {_shown(edges)}.")
    pairs = [tuple(_plain(node) for node in pair) if _is_pair(pair) else None for pair in listed]
    if None in pairs:
        wrong = pairs.index(None)
        raise ValueError(f"its edges must be pairs of nodes; edge {wrong} is {list(listed)[wrong]!r}.")
    return pairs  # type: ignore[return-value]


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2


def _nodes(pairs: list[tuple[Any, Any]], labels: Any) -> tuple[Any, list[Any]]:
    """Which position each node has, and the labels in that order; nodes without labels are all equal."""
    if isinstance(labels, Mapping):
        names = {_plain(node): position for position, node in enumerate(labels)}
        listed = [_plain(label) for label in labels.values()]
    else:
        n = 1 + max((node for pair in pairs for node in pair if isinstance(node, int)), default=-1)
        listed = [0] * n if labels is None else [_plain(label) for label in labels]
        names = {position: position for position in range(len(listed))}
    if not listed:
        raise ValueError("it must have at least one node.")
    unknown = [node for pair in pairs for node in pair if node not in names]
    if unknown:
        raise ValueError(
            f"its edges must join nodes that have a label, of which there are {len(listed)}; one goes to "
            f"{unknown[0]!r}. Without a dict of labels, nodes are numbers from 0 on."
        )
    return names, listed


def _labels_of(pairs: list[tuple[Any, Any]], labels: Any) -> list[Any]:
    """One label for each edge; edges without labels are all equal."""
    if labels is None:
        return [0] * len(pairs)
    if isinstance(labels, Mapping):
        known = {(_plain(a), _plain(b)): _plain(label) for (a, b), label in labels.items()}
        missing = [pair for pair in pairs if pair not in known and pair[::-1] not in known]
        if missing:
            raise ValueError(f"each edge must have a label, or none; edge {missing[0]} has none.")
        return [known[pair] if pair in known else known[pair[::-1]] for pair in pairs]
    listed = [_plain(label) for label in labels]
    if len(listed) != len(pairs):
        raise ValueError(f"each edge must have a label; got {len(listed)} for {len(pairs)} edges.")
    return listed


def _joined(edges: list[tuple[int, int]], nodes: list[Any], labels: list[Any]) -> PlainGraph:
    """Every edge once, whichever of its directions were given."""
    found: dict[tuple[int, int], Any] = {}
    for (a, b), label in zip(edges, labels, strict=True):
        edge = (min(a, b), max(a, b))
        if found.setdefault(edge, label) != label:
            raise ValueError(f"the edge between {a} and {b} has two labels, {found[edge]!r} and {label!r}.")
    return PlainGraph(list(found), nodes, list(found.values()))


def _from_networkx(graph: Any) -> tuple[Any, Any, Any]:
    if graph.is_directed() or graph.is_multigraph():
        raise ValueError("it must be an undirected graph with single edges. Use networkx.Graph(graph).")
    labels = {node: data.get("label", 0) for node, data in graph.nodes(data=True)}
    edges = [(a, b, data.get("label", 0)) for a, b, data in graph.edges(data=True)]
    return [(a, b) for a, b, _ in edges], labels, [label for _, _, label in edges]


def _from_grakel(graph: Any) -> tuple[Any, Any, Any]:
    graph = copy.deepcopy(graph)  # asking it changes the form in which it keeps itself
    graph.desired_format("dictionary")
    neighbours = graph.get_edge_dictionary()
    nodes = graph.get_labels(purpose="dictionary", label_type="vertex", return_none=True)
    edges = graph.get_labels(purpose="dictionary", label_type="edge", return_none=True)
    pairs = [(a, b) for a, others in neighbours.items() for b in others]
    names = dict.fromkeys([*neighbours, *(b for _, b in pairs)], 0)
    return pairs, nodes or names, edges or None


def _plain(value: Any) -> Any:
    """Numbers and texts of Python: what NumPy's are called is not what they are equal to in a text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _shown(entry: Any) -> str:
    return f"{type(entry).__name__} {entry!r:.60}"
