"""Data sets by name: found in a folder, checked by their sha256, read without pickles."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel.datasets import openml
from multikernel.datasets.catalogue import VARIABLE, CatalogueEntry, data_folders, read_catalogue

_VIEW_PREFIX = "view_"
_CSR = ("csr_data", "csr_indices", "csr_indptr", "csr_shape")
_DESCRIBED = ("target", "notes", "source", "licence", "verified")


@dataclass(frozen=True)
class Dataset:
    """A data set as it was read.

    Attributes
    ----------
    name : str
    X : ndarray or csr_matrix of shape (n, d), or None
        The single table, where the set has one; None where it has views, networks or kernels only.
    y : ndarray of shape (n,) or (n, n_labels), or None
        Classes as integers from 0, numbers for regression, or a 0/1 table of several labels.
    views : dict of str to ndarray of shape (n, d_view)
        The tables of a multi-view set, without the ``view_`` of their arrays' names.
    arrays : dict of str to ndarray
        Everything that the file holds.
    fields : mapping
        What the manifest says of the set.
    sha256 : str
        The checksum of the file; for a set from OpenML its name and version there.
    """

    name: str
    X: Any
    y: np.ndarray | None
    views: dict[str, np.ndarray]
    arrays: dict[str, np.ndarray]
    fields: Mapping[str, Any]
    sha256: str

    @property
    def description(self) -> str:
        """What the manifest says of the set, in lines of text."""
        lines = [f"{self.name}: n={self.fields.get('n')}, d={self.fields.get('d')}"]
        for key in _DESCRIBED:
            value = self.fields.get(key)
            if value:
                lines.append(f"{key}: {'; '.join(map(str, value)) if isinstance(value, list) else value}")
        return "\n".join(lines)


def load_dataset(name: str) -> Dataset:
    """Load a data set: from ``$MULTIKERNEL_DATA``, else from the cache, else from OpenML where it has it.

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
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be the name of a data set, a string; got {name!r}.")
    catalogue = read_catalogue()
    if name in catalogue:
        entry = catalogue[name]
        entry.verify()
        return _as_dataset(name, _read_arrays(entry), entry.fields, entry.sha256)
    if name not in openml.OPENML:
        _raise_unknown(name, catalogue)
    source = openml.OPENML[name]
    try:
        arrays, fields = openml.fetch(name)
    except OSError as error:
        raise ValueError(
            f"data set {name!r} is in none of the folders {_folders()}, and OpenML cannot be asked "
            f"({error}). Set {VARIABLE} to a folder with a manifest.json that lists it."
        ) from error
    return _as_dataset(name, arrays, fields, f"openml:{source.name}:{source.version}")


def dataset_fingerprint(name: str) -> str:
    """Return what identifies the content of a data set: its promised sha256, or its version at OpenML.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    catalogue = read_catalogue()
    if name in catalogue:
        return catalogue[name].sha256
    if name not in openml.OPENML:
        _raise_unknown(name, catalogue)
    return f"openml:{openml.OPENML[name].name}:{openml.OPENML[name].version}"


def list_datasets() -> pd.DataFrame:
    """Return what can be loaded, one row for each set, in the order of their names.

    Returns
    -------
    DataFrame
        With the index ``name`` and the columns ``n``, ``d`` (0 without a table), ``views`` (how many),
        ``classes`` (0 without classes), ``where`` (the folder, or ``OpenML``) and ``target``.
    """
    rows: dict[str, dict[str, Any]] = {}
    for name, entry in read_catalogue().items():
        fields = entry.fields
        rows[name] = {
            "n": int(fields.get("n") or 0),
            "d": int(fields.get("d") or 0),
            "views": len(fields.get("views") or {}),
            "classes": int(fields.get("classes") or 0),
            "where": str(entry.folder),
            "target": str(fields.get("target") or ""),
        }
    for name, source in openml.OPENML.items():
        missing = {
            "n": 0,
            "d": 0,
            "views": 0,
            "classes": len(source.classes),
            "where": "OpenML",
            "target": "",
        }
        rows.setdefault(name, missing)
    columns = ["n", "d", "views", "classes", "where", "target"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).sort_index()
    return table.rename_axis("name")


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
    arrays = _read_arrays(entry)
    found = {key: {"shape": list(array.shape), "dtype": str(array.dtype)} for key, array in arrays.items()}
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


def _as_dataset(name: str, arrays: dict[str, np.ndarray], fields: Mapping[str, Any], sha256: str) -> Dataset:
    X = arrays.get("X")
    if X is None and all(key in arrays for key in _CSR):
        data, indices, indptr, shape = (arrays[key] for key in _CSR)
        X = scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(map(int, shape)))
    views = {
        key.removeprefix(_VIEW_PREFIX): array for key, array in arrays.items() if key.startswith(_VIEW_PREFIX)
    }
    return Dataset(name, X, arrays.get("y", arrays.get("Y")), views, arrays, fields, sha256)


def _raise_unknown(name: str, catalogue: Mapping[str, CatalogueEntry]) -> NoReturn:
    known = sorted(set(catalogue) | set(openml.OPENML))
    raise ValueError(
        f"data set {name!r} is in none of the folders {_folders()}. Set {VARIABLE} to a folder with a "
        f"manifest.json that lists it, or choose from: {', '.join(known)}."
    )


def _folders() -> str:
    return ", ".join(str(folder) for folder in data_folders())
