"""Data sets by name: from a folder, checked by their sha256 and read without pickles, or from OpenML."""

import contextlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import check_task
from multikernel.datasets.catalogue import (
    VARIABLE,
    CatalogueEntry,
    MissingDataset,
    cache_folder,
    data_folders,
    describe_arrays,
    keep_fetched,
    read_catalogue,
)
from multikernel.datasets.openml import OPENML, fetch
from multikernel.datasets.shipped import SHIPPED, describe_shipped, load_shipped

TASKS = ("classification", "regression", "multilabel", "survival")
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
    X : ndarray or csr_matrix of shape (n_samples, n_features)
        DataFrame of shape (n_samples, n_features), or None.
        The single table, or the columns of all views; None where the set has networks, kernels or sequences.
    y : ndarray of shape (n_samples,) or (n_samples, n_labels), or None
        Classes as integers from 0, numbers for regression, a 0/1 table of several labels, or a structured
        array with the fields ``event`` and ``time`` of censored times.
    views : dict of str to ndarray of shape (n_samples, d_view)
        The tables of a multi-view set, without the ``view_`` of their arrays' names.
    arrays : dict of str to ndarray
        Everything that the file holds.
    fields : mapping
        What the manifest says of the set.
    sha256 : str
        The checksum of the file; for a set from OpenML its number there, for one that scikit-learn ships the
        checksum of its numbers.
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


def load_dataset(name: str) -> Dataset:
    """Load a data set: from ``$MULTIKERNEL_DATA``, else from the cache, else from OpenML where it has it.

    Files are checked against the sha256 of their manifest. What comes from OpenML is kept in the cache with
    the sha256 of what was fetched, which guards the copy from then on. ``"digits"``, ``"iris"``,
    ``"monks3"``, ``"wdbc"`` and ``"wine"`` are there always.

    Parameters
    ----------
    name : str
        One of the names that `list_datasets` shows.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If no folder has the set (the message says what to set), or if its file does not match its sha256.

    Examples
    --------
    A set of several views goes straight into an estimator:

    >>> digits = load_dataset("digits")
    >>> {name: len(columns) for name, columns in digits.view_columns.items()}
    {'pixels': 64, 'row_profile': 8, 'column_profile': 8, 'fourier': 34, 'orientations': 32}
    >>> from multikernel import MKLClassifier
    >>> from multikernel.kernels import Gaussian
    >>> views = [(name, Gaussian(), columns) for name, columns in digits.view_columns.items()]
    >>> rows = digits.y < 2
    >>> model = MKLClassifier(views).fit(digits.X[rows][:60], digits.y[rows][:60])
    >>> model.view_names_ == list(digits.view_columns)
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be the name of a data set, a string; got {name!r}.")
    catalogue = read_catalogue()
    entry = catalogue.get(name)
    if entry is not None and not (entry.is_fetched and not entry.path.is_file()):
        entry.verify()
        return make_dataset(name, _read_arrays(entry), entry.fields, entry.fingerprint)
    if name in SHIPPED:
        return make_dataset(name, *load_shipped(name))
    if name not in OPENML:
        _raise_unknown(name, catalogue)
    return _fetch(name)


def _fetch(name: str) -> Dataset:
    """Fetch a set from OpenML and keep it in the cache."""
    source = OPENML[name]
    try:
        arrays, fields = fetch(name)
    except OSError as error:
        raise MissingDataset(
            f"data set {name!r} is in none of the folders {_folders()}, and OpenML, where it is data set "
            f"{source.data_id} ({source.name}), cannot be asked: {error}. Connect to the network, or set "
            f"{VARIABLE} to a folder with a manifest.json that lists it."
        ) from error
    with contextlib.suppress(OSError):  # a cache that cannot be written to is no reason to refuse the data
        keep_fetched(name, arrays, fields, source.fingerprint)
    return make_dataset(name, arrays, fields, source.fingerprint)


def dataset_fingerprint(name: str) -> str:
    """Return what identifies the content of a data set: its promised sha256, or its number at OpenML.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    catalogue = read_catalogue()
    if name in catalogue:
        return catalogue[name].fingerprint
    if name in SHIPPED:
        return load_shipped(name)[2]
    if name not in OPENML:
        _raise_unknown(name, catalogue)
    return OPENML[name].fingerprint


def list_datasets(*, views: bool = False, task: str | None = None, on_disk: bool = False) -> pd.DataFrame:
    """Return what can be loaded, one row for each set, in the order of their names.

    Parameters
    ----------
    views : bool, default=False
        Whether to leave out sets without named views.
    task : {"classification", "regression", "multilabel", "survival"}, default=None
        Leave out sets for anything else: classes, a number to predict, a 0/1 table of several labels, or the
        times of events with whether they were observed.
    on_disk : bool, default=False
        Whether to leave out what would be fetched or made when it is loaded.

    Returns
    -------
    DataFrame
        With the index ``name`` and the columns ``n``, ``d`` (0 without a table), ``views`` (how many),
        ``classes`` (0 without classes), ``task``, ``source`` (``"folder"``, ``"cache"``, ``"scikit-learn"``
        or ``"OpenML"``), ``where`` (the folder, or the source again) and ``target``.

    Examples
    --------
    >>> list_datasets(views=True).loc["digits", ["n", "d", "views", "classes"]].tolist()
    [1797, 146, 5, 10]
    """
    if task is not None:
        check_task(task, TASKS)
    cache = cache_folder()
    rows = {
        name: _row(entry.fields, "cache" if entry.folder == cache else "folder", str(entry.folder))
        for name, entry in read_catalogue().items()
    }
    if not on_disk:
        for name in SHIPPED:
            rows.setdefault(name, _row(describe_shipped(name), "scikit-learn", "scikit-learn"))
        for name, source in OPENML.items():
            rows.setdefault(name, _row(source.fields, "OpenML", "OpenML"))
    columns = ["n", "d", "views", "classes", "task", "source", "where", "target"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).sort_index().rename_axis("name")
    kept = (table["views"] > 0) | (not views)
    return table[kept & ((table["task"] == task) | (task is None))]


def _row(fields: Mapping[str, Any], source: str, where: str) -> dict[str, Any]:
    return {
        "n": int(fields.get("n") or 0),
        "d": int(fields.get("d") or 0),
        "views": len(fields.get("views") or {}),
        "classes": int(fields.get("classes") or 0),
        "task": _task(fields),
        "source": source,
        "where": where,
        "target": str(fields.get("target") or ""),
    }


def _task(fields: Mapping[str, Any]) -> str:
    """What the targets are, by what the manifest promises; empty where it does not say."""
    arrays = fields.get("arrays") or {}
    if fields.get("classes"):
        return "classification"
    if "y" in arrays:
        return "regression" if np.dtype(arrays["y"]["dtype"]).kind == "f" else "classification"
    if {"time", "event"} <= arrays.keys():
        return "survival"
    return "multilabel" if "Y" in arrays else ""


def check_dataset(name: str) -> dict[str, Any]:
    """Check a data set on disk against its manifest: file, sha256, and the shape and dtype of each array.

    Parameters
    ----------
    name : str

    Returns
    -------
    dict
        ``name``, ``file``, ``sha256`` and ``arrays`` (name to shape and dtype), all of them checked.

    Raises
    ------
    ValueError
        If something does not match; the message names what, and both values.
    """
    catalogue = read_catalogue()
    if name not in catalogue:
        _raise_unknown(name, catalogue)
    entry = catalogue[name]
    entry.verify()
    found = describe_arrays(_read_arrays(entry))
    promised = entry.fields.get("arrays", {})
    for key in sorted(set(found) | set(promised)):
        # dtypes are compared as NumPy understands them: "<i8" and "int64" are the same
        if _shape_and_dtype(found.get(key)) != _shape_and_dtype(promised.get(key)):
            raise ValueError(
                f"data set {name!r}: array {key!r} of {entry.path} must be {promised.get(key, 'absent')}, as "
                f"the manifest says; got {found.get(key, 'no such array')}. Correct the manifest or the file."
            )
    return {"name": name, "file": str(entry.path), "sha256": entry.sha256, "arrays": found}


def _shape_and_dtype(array: Mapping[str, Any] | None) -> tuple[list[int], np.dtype[Any]] | None:
    return None if array is None else (list(array["shape"]), np.dtype(array["dtype"]))


def _read_arrays(entry: CatalogueEntry) -> dict[str, np.ndarray]:
    try:
        with np.load(entry.path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, OSError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"data set {entry.name!r}: {entry.path} must be an .npz file of plain arrays; NumPy says: "
            f"{error} Save it again with numpy.savez_compressed, without arrays of objects."
        ) from error


def _raise_unknown(name: str, catalogue: Mapping[str, CatalogueEntry]) -> NoReturn:
    known = sorted({*catalogue, *OPENML, *SHIPPED})
    raise MissingDataset(
        f"data set {name!r} is in none of the folders {_folders()}. Set {VARIABLE} to a folder with a "
        f"manifest.json that lists it, or choose from: {', '.join(known)}."
    )


def _folders() -> str:
    return ", ".join(str(folder) for folder in data_folders())


# --- the arrays of a file in their places -------------------------------------------------------------------


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
        # of objects: looking up thousands of names in pandas' own strings is slow
        names = {view: pd.Index(listed, dtype=object) for view, listed in columns.items()}
        tables = [pd.DataFrame(table, columns=names[view]) for view, table in views.items()]
        X = pd.concat(tables, axis="columns")
    return Dataset(name, X, _target(arrays), views, arrays, fields, sha256, columns)


def _target(arrays: Arrays) -> np.ndarray | None:
    """Classes, numbers or labels; of censored times one array with the fields ``event`` and ``time``."""
    if not {"time", "event"} <= arrays.keys():
        return arrays.get("y", arrays.get("Y"))
    y = np.empty(arrays["time"].shape, dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = arrays["event"], arrays["time"]
    return y


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
