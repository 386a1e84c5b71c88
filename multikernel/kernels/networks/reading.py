"""Names of nodes, edges and their weights, as they are given: checked, and put in one form.

Names are strings or whole numbers, never both in one network: an array of type ``str`` or ``int64``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import is_frame

Complain = Callable[[int, Any], Exception]


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
    listed = np.asarray(nodes) if hasattr(nodes, "__array__") else _objects(list(nodes))
    if listed.ndim != 1 or not listed.size:
        raise ValueError(f"nodes must be a list of at least one name; got shape {listed.shape}.")
    names = read_names(
        listed,
        lambda place, value: ValueError(
            f"nodes must be named by strings (not empty) or by whole numbers, all alike; node {place} is "
            f"{plain(value)}."
        ),
    )
    found, counts = np.unique(names, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"nodes must be distinct; {plain(found[counts.argmax()])} occurs more than once.")
    return names


def _objects(items: list[Any]) -> np.ndarray:
    """A 1-D array of any objects, none of them converted."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


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
            "edges must join nodes that are named by strings (not empty) or by whole numbers, all alike; "
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
            raise ValueError(f"{requirement}, all alike; edge {place} is {edge!r}.")
    return _objects([end for edge in listed for end in edge]).reshape(len(listed), width)


def _is_row(edge: Any) -> bool:
    return isinstance(edge, (tuple, list, np.ndarray))


def read_weights(weights: Any, ends: np.ndarray) -> np.ndarray:
    """One weight for each edge; a bad one is named with its edge."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
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
