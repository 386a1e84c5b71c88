"""What `load_dataset` returns: a table or named views, targets, precomputed kernels, all arrays of a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

_VIEW, _NAMES, _KERNEL = "view_", "names_", "K_"
_CSR = ("csr_data", "csr_indices", "csr_indptr", "csr_shape")
_DESCRIBED = ("target", "notes", "source", "licence", "verified")

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Dataset:
    """A data set as it was read.

    A set of one table has it as `X`. A set of several views has all their columns in the DataFrame `X`, and
    the columns of each view in `view_columns`, as `load_digits_views` has them, so that it goes straight into
    an estimator: ``[(name, kernel, columns) for name, columns in data.view_columns.items()]``. Precomputed
    kernels are in `kernels`, for `multikernel.stack_kernels`; graphs are in `graphs`, for
    `multikernel.kernels.GraphKernel`; networks and sequences are in `arrays` only, and `description` says how
    they are to be read.

    Attributes
    ----------
    name : str
    X : ndarray or csr_matrix of shape (n, d), DataFrame of shape (n, d), or None
        The single table, or the columns of all views; None where the set has networks, kernels or sequences.
    y : ndarray of shape (n,) or (n, n_labels), or None
        Classes as integers from 0, numbers for regression, or a 0/1 table of several labels.
    views : dict of str to ndarray of shape (n, d_view)
        The tables of a multi-view set, without the ``view_`` of their arrays' names.
    arrays : dict of str to ndarray
        Everything that the file holds.
    fields : mapping
        What the manifest says of the set.
    sha256 : str
        The checksum of the file; for a set from OpenML its name and version there, for one that scikit-learn
        ships the checksum of its numbers.
    view_columns : dict of str to list of str
        The columns of each view in `X`, called ``view:column``; empty where the set has no views.
    """

    name: str
    X: Any
    y: np.ndarray | None
    views: dict[str, np.ndarray]
    arrays: Arrays
    fields: Mapping[str, Any]
    sha256: str
    view_columns: dict[str, list[str]] = field(default_factory=dict)

    @property
    def kernels(self) -> dict[str, np.ndarray]:
        """The precomputed kernels of the set by name, without the ``K_`` of their arrays' names."""
        return {key.removeprefix(_KERNEL): K for key, K in self.arrays.items() if key.startswith(_KERNEL)}

    @property
    def graphs(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """The graphs of a set of graphs, one for each sample: (edges, node_labels, edge_labels).

        Nodes of each graph are numbers from 0 on. They go into a column for
        `multikernel.kernels.GraphKernel`: ``X = pd.DataFrame({"graph": data.graphs})``. Empty where the set
        has no graphs.
        """
        return [] if "graph_id" not in self.arrays else _graphs(self.arrays)

    @property
    def description(self) -> str:
        """What the manifest says of the set, in lines of text."""
        lines = [f"{self.name}: n={self.fields.get('n')}, d={self.fields.get('d')}"]
        if self.views:
            widths = ", ".join(f"{name} ({table.shape[1]})" for name, table in self.views.items())
            lines.append(f"views: {widths}")
        for key in _DESCRIBED:
            value = self.fields.get(key)
            if value:
                lines.append(f"{key}: {'; '.join(map(str, value)) if isinstance(value, list) else value}")
        return "\n".join(lines)


def make_dataset(name: str, arrays: Arrays, fields: Mapping[str, Any], sha256: str) -> Dataset:
    """Give the arrays of a file their places."""
    X = arrays.get("X")
    if X is None and all(key in arrays for key in _CSR):
        data, indices, indptr, shape = (arrays[key] for key in _CSR)
        X = scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(map(int, shape)))
    views = {key.removeprefix(_VIEW): array for key, array in arrays.items() if key.startswith(_VIEW)}
    columns: dict[str, list[str]] = {}
    if X is None and views:
        columns = {view: _column_names(view, table, arrays) for view, table in views.items()}
        tables = [_frame(table, columns[view]) for view, table in views.items()]
        X = pd.concat(tables, axis="columns")
    return Dataset(name, X, arrays.get("y", arrays.get("Y")), views, arrays, fields, sha256, columns)


def _column_names(view: str, table: np.ndarray, arrays: Arrays) -> list[str]:
    """``view:name`` where the file names the columns, each once, else ``view:position``."""
    names = [str(name) for name in arrays.get(f"{_NAMES}{view}", np.array([])).ravel()]
    if len(set(names)) != table.shape[1] or len(names) != table.shape[1]:
        names = [str(position) for position in range(table.shape[1])]
    return [f"{view}:{name}" for name in names]


def _graphs(arrays: Arrays) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Cut the nodes and edges of all graphs, numbered through, into graphs."""
    owner, edges = arrays["graph_id"].astype(np.int64), arrays["edges"].astype(np.int64)
    n_graphs = int(owner.max()) + 1
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(n_graphs + 1))
    position = np.empty(len(owner), dtype=np.int64)  # of each node within its graph
    position[order] = np.arange(len(owner)) - starts[owner[order]]
    labels = arrays.get("node_label", np.zeros(len(owner), dtype=np.int64))
    edge_order = np.argsort(owner[edges[:, 0]], kind="stable")
    edge_starts = np.searchsorted(owner[edges[edge_order, 0]], np.arange(n_graphs + 1))
    edge_labels = arrays.get("edge_label")
    found = []
    for graph in range(n_graphs):
        nodes = order[starts[graph] : starts[graph + 1]]
        own = edge_order[edge_starts[graph] : edge_starts[graph + 1]]
        marks = None if edge_labels is None else edge_labels[own]
        found.append((position[edges[own]], labels[nodes], marks))
    return found


def _frame(table: np.ndarray, columns: list[str]) -> pd.DataFrame:
    # of objects: looking up thousands of names in pandas' own strings is slow
    return pd.DataFrame(table, columns=pd.Index(columns, dtype=object))
