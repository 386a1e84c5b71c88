"""Graphs as rows: what a column may hold, brought to one form of plain numbers and labels."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._validation import WHOLE_VIEWS, RowError
from multikernel.kernels._columns import objects_of
from multikernel.kernels._rows import Rows

_FORMS = (
    "a tuple (edges, node_labels, edge_labels) of which the labels may be left out, a graph of networkx or "
    "of grakel"
)


@dataclass(frozen=True)
class PlainGraph:
    """An undirected graph with the nodes 0 to n − 1.

    Attributes
    ----------
    edges : list of (int, int)
    node_labels : list, one for each node
    edge_labels : list, one for each edge
    """

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
    """Which position each node has, and the labels in that order; nodes without labels are all alike."""
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
    """One label for each edge; edges without labels are all alike."""
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
