"""Containers of omics data as several tables: AnnData and MuData.

Both packages are optional: ``pip install "multikernel[omics]"``. They are imported where a container is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import as_list, check_choice
from multikernel.views.joining import HOW
from multikernel.views.tables import MultiTable

MAIN = "X"  # the name of the table of the main matrix
SPARSE = ("auto", "keep", "dense")
_LARGEST_DENSE = 2**28  # bytes, in double precision, that a sparse matrix may take to keep its names


def from_anndata(
    adata: Any,
    y: str | None = None,
    *,
    layer: str | None = None,
    obsm: Any = None,
    use_raw: bool = False,
    sparse: str = "auto",
) -> Any:
    """Make tables of an AnnData object: its matrix, and arrays of ``obsm`` beside it.

    Parameters
    ----------
    adata : anndata.AnnData
        With distinct ``obs_names``. One that lives on disk is read into memory.
    y : str, default=None
        Column of ``adata.obs`` that holds the targets; every sample must have one.
    layer : str, default=None
        Layer to take instead of ``adata.X``.
    obsm : str or list of str, default=None
        Keys of ``adata.obsm`` that become tables of their own, such as "X_pca".
    use_raw : bool, default=False
        Whether to take ``adata.raw``, with its variables, instead of ``adata.X``.
    sparse : {"auto", "keep", "dense"}, default="auto"
        What becomes of a sparse matrix. A sparse table has no names of columns: views read it by position,
        and ``views_from_gene_sets(adata.var_names, ..., by="position")`` makes such views.

        - "auto": a frame with names, as for "dense", where it takes at most 256 MiB; else as for "keep";
        - "keep": a sparse matrix;
        - "dense": a frame with names.

    Returns
    -------
    X : MultiTable
        The table "X" has ``var_names`` as columns; each table of `obsm` has its key as name and, where it has
        no names of columns itself, columns such as "X_pca_0". ``X.ids`` are the ``obs_names``. Where
        ``adata.X`` is None, there are the tables of `obsm` only.
    y : Series
        Only if `y` is given: the targets by ``obs_names``.

    Examples
    --------
    >>> import anndata
    >>> obs = pd.DataFrame({"kind": ["T", "B", "T"]}, index=["c1", "c2", "c3"])
    >>> genes = pd.DataFrame(index=["CD3E", "CD19"])
    >>> adata = anndata.AnnData(np.eye(3, 2), obs=obs, var=genes, obsm={"X_pca": np.ones((3, 1))})
    >>> X, y = from_anndata(adata, "kind", obsm="X_pca")
    >>> X
    MultiTable of 3 samples:
      X: 2 columns
      X_pca: 1 columns
    >>> list(X["X"].columns), y.tolist()
    (['CD3E', 'CD19'], ['T', 'B', 'T'])
    """
    _require(adata, "AnnData", "anndata")
    check_choice("sparse", sparse, SPARSE)
    adata = adata.to_memory() if adata.isbacked else adata
    ids = _distinct_ids(adata.obs_names, "adata")
    tables = _tables_of(adata, "adata", layer=layer, obsm=obsm, use_raw=use_raw, sparse=sparse)
    X = MultiTable(tables, ids=ids)
    return X if y is None else (X, _targets(_column(adata.obs, y), y, f"adata[adata.obs[{y!r}].notna()]"))


def from_mudata(
    mdata: Any,
    y: str | None = None,
    *,
    modalities: Any = None,
    layer: Any = None,
    how: str = "outer",
    sparse: str = "auto",
) -> Any:
    """Make tables of a MuData object, one for each modality, its samples aligned by ``obs_names``.

    Parameters
    ----------
    mdata : mudata.MuData
        With modalities that share their samples (``axis=0``), each with distinct ``obs_names``.
    y : str, default=None
        Column of ``mdata.obs`` that holds the targets, or "modality:column" for one of
        ``mdata[modality].obs``; every sample that is kept must have one.
    modalities : list of str, default=None
        Modalities to take; None takes them all.
    layer : str or dict of modality -> str, default=None
        Layer to take instead of ``X``, for all modalities or for those named.
    how : {"outer", "inner"}, default="outer"
        Which samples to keep:

        - "outer": those that some modality has; a modality that lacks a sample has missing values in its row;
        - "inner": those that every modality has.
    sparse : {"auto", "keep", "dense"}, default="auto"
        What becomes of sparse matrices, see :func:`from_anndata`.

    Returns
    -------
    X : MultiTable
        Tables named by the modalities, samples in the order of ``mdata.obs_names``. ``X.ids`` are their
        names, ``X.counts`` says how many samples each modality had, gave and lacks.
    y : Series
        Only if `y` is given: the targets, in the same order.
    """
    _require(mdata, "MuData", "mudata")
    check_choice("how", how, HOW)
    check_choice("sparse", sparse, SPARSE)
    if mdata.axis == 1:
        raise ValueError(
            "modalities must share their samples, MuData(..., axis=0); got axis=1, where they share "
            "variables. Concatenate them with anndata.concat, and use from_anndata."
        )
    chosen = _chosen(list(mdata.mod), modalities)
    layers = _layers(chosen, layer)
    parts = {name: mdata.mod[name].to_memory() if mdata.isbacked else mdata.mod[name] for name in chosen}
    names = {name: _distinct_ids(part.obs_names, f"mdata[{name!r}]") for name, part in parts.items()}
    ids = _kept_ids(mdata.obs_names, names, how)
    tables = {}
    for name, part in parts.items():
        table = _main_table(part, f"mdata[{name!r}]", layer=layers.get(name), sparse=sparse)
        tables[name] = _aligned(table, names[name], ids)
    X = MultiTable(tables, ids=ids)
    X.note_join(names)
    remedy = "mdata[mdata.obs_names.isin(labelled)], or give them targets"
    return X if y is None else (X, _targets(_shared_column(mdata, y).reindex(ids), y, remedy))


# --- what is given -----------------------------------------------------------------------------------------


def _require(container: Any, kind: str, package: str) -> None:
    """Refuse what is no container of that kind; and a process that does not have the package."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise ImportError(
            f"from_{package} needs the package {package}, which is not installed. Install it with "
            'pip install "multikernel[omics]".'
        ) from error
    if not isinstance(container, getattr(module, kind)):
        other = {"AnnData": "from_anndata", "MuData": "from_mudata"}.get(type(container).__name__)
        remedy = f"Use {other}." if other else f"Read one with {package}."
        raise TypeError(f"from_{package} needs a {kind} object; got {type(container).__name__}. {remedy}")


def _distinct_ids(names: Any, label: str) -> pd.Index:
    index = pd.Index(names)
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ValueError(
            f"{label}.obs_names must be distinct; {twice!r} occurs {int((index == twice).sum())} times. Call "
            f"{label}.obs_names_make_unique() first."
        )
    return index


def _chosen(known: list[str], asked: Any) -> list[str]:
    """Names asked for, of those there are."""
    if asked is None:
        return known
    chosen = [asked] if isinstance(asked, str) else as_list("modalities", asked, "names")
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        raise ValueError(f"modalities must be some of {known}; got {unknown or chosen}.")
    return list(dict.fromkeys(chosen))


def _layers(modalities: list[str], layer: Any) -> dict[str, str]:
    if layer is None or isinstance(layer, str):
        return {} if layer is None else dict.fromkeys(modalities, layer)
    if not isinstance(layer, Mapping):
        raise TypeError(f"layer must be a name, or a dict by modality; got {type(layer).__name__}.")
    unknown = [name for name in layer if name not in modalities]
    if unknown:
        raise ValueError(f"layer names the modality {unknown[0]!r}; those taken are {modalities}.")
    return dict(layer)


# --- tables ------------------------------------------------------------------------------------------------


def _tables_of(
    adata: Any, label: str, *, layer: str | None, obsm: Any, use_raw: bool, sparse: str
) -> dict[str, Any]:
    keys = [] if obsm is None else [obsm] if isinstance(obsm, str) else as_list("obsm", obsm, "names")
    tables = {}
    if use_raw or layer is not None or adata.X is not None or not keys:
        tables[MAIN] = _main_table(adata, label, layer=layer, use_raw=use_raw, sparse=sparse)
    for key in keys:
        if key not in adata.obsm:
            raise ValueError(f"{label}.obsm has no array {key!r}; it has {list(adata.obsm)}.")
        if key in tables:
            raise ValueError(
                f"tables must have distinct names; {label}.obsm has the key {key!r}, the name of the main "
                f"matrix here. Rename it, as in {label}.obsm['other'] = {label}.obsm.pop({key!r})."
            )
        tables[key] = _obsm_table(adata.obsm[key], key, adata.obs_names, sparse)
    return tables


def _main_table(
    adata: Any, label: str, *, layer: str | None = None, use_raw: bool = False, sparse: str
) -> Any:
    """The matrix as a frame with the names of the variables, or sparse without."""
    if use_raw and layer is not None:
        raise ValueError(f"either layer or use_raw can be given; got layer={layer!r} and use_raw=True.")
    if use_raw and adata.raw is None:
        raise ValueError(f"use_raw=True needs {label}.raw; there is none. Leave use_raw out.")
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"{label} has no layer {layer!r}; its layers are {list(adata.layers)}.")
    source = adata.raw if use_raw else adata
    values = adata.layers[layer] if layer is not None else source.X
    if values is None:
        raise ValueError(
            f"{label}.X must hold a matrix; it is None. Take a layer, of {list(adata.layers)}, or obsm, of "
            f"{list(adata.obsm)}."
        )
    return _as_table(values, source.var_names, adata.obs_names, label, sparse)


def _obsm_table(values: Any, key: str, ids: pd.Index, sparse: str) -> Any:
    if isinstance(values, pd.DataFrame):
        return values
    width = values.shape[1] if values.ndim == 2 else 1
    names = pd.Index([f"{key}_{place}" for place in range(width)])
    if not scipy.sparse.issparse(values):
        values = np.asarray(values).reshape(len(ids), width)
    return _as_table(values, names, ids, f"obsm[{key!r}]", sparse)


def _as_table(values: Any, names: pd.Index, ids: pd.Index, label: str, sparse: str) -> Any:
    if hasattr(values, "compute"):
        raise TypeError(
            f"{label} must hold its values in memory; got {type(values).__name__}. Call to_memory() first."
        )
    if scipy.sparse.issparse(values):
        if sparse == "keep" or (sparse == "auto" and not _is_small(values)):
            return values.tocsr()
        values = values.toarray()
    return pd.DataFrame(np.asarray(values), index=ids, columns=names, copy=False)


def _is_small(values: Any) -> bool:
    return 8 * values.shape[0] * values.shape[1] <= _LARGEST_DENSE


# --- samples of several modalities -------------------------------------------------------------------------


def _kept_ids(order: Any, names: Mapping[str, pd.Index], how: str) -> pd.Index:
    ids = _distinct_ids(order, "mdata")
    has = np.array([ids.isin(own) for own in names.values()])
    kept = ids[has.any(axis=0) if how == "outer" else has.all(axis=0)]
    if not len(kept):
        firsts = "; ".join(f"{name}: {list(own[:3])}" for name, own in names.items())
        raise ValueError(
            f"the modalities must have samples in common; they have none. Their first obs_names are "
            f"{firsts}. Check that they are written alike, or use how='outer'."
        )
    return kept


def _aligned(table: Any, own: pd.Index, ids: pd.Index) -> Any:
    """The rows of some samples; those that the table lacks are missing."""
    if isinstance(table, pd.DataFrame):
        return table.reindex(ids)
    places = own.get_indexer(ids)
    if (places >= 0).all():
        return table[places]
    wide = table if table.dtype.kind == "f" else table.astype(np.float64)
    empty = scipy.sparse.csr_array(np.full((1, table.shape[1]), np.nan, dtype=wide.dtype))
    return scipy.sparse.vstack([wide, empty], format="csr")[places]  # −1, where it lacks one, is the last


# --- targets -----------------------------------------------------------------------------------------------


def _column(obs: pd.DataFrame, y: Any) -> pd.Series:
    if not isinstance(y, str):
        raise TypeError(f"y must be the name of a column of obs; got {type(y).__name__}. Put it into obs.")
    if y not in obs.columns:
        raise ValueError(f"adata.obs has no column {y!r}; its columns are {list(obs.columns)}.")
    return obs[y]


def _shared_column(mdata: Any, y: Any) -> pd.Series:
    """A column of all samples, or of those of one modality."""
    if not isinstance(y, str):
        raise TypeError(f"y must be the name of a column of obs; got {type(y).__name__}. Put it into obs.")
    if y in mdata.obs.columns:
        return mdata.obs[y]
    modality, _, column = y.partition(":")
    if modality in mdata.mod and column in mdata.mod[modality].obs.columns:
        return mdata.mod[modality].obs[column]
    known = [*mdata.obs.columns]
    known += [f"{name}:{column}" for name, part in mdata.mod.items() for column in part.obs.columns]
    raise ValueError(f"mdata has no column {y!r} of obs; it has {list(dict.fromkeys(known))}.")


def _targets(found: pd.Series, y: str, remedy: str) -> pd.Series:
    """Targets without gaps; of categories, their values."""
    lacks = found.index[found.isna()]
    if len(lacks):
        raise ValueError(
            f"every sample must have a target; {len(lacks)} of {len(found)} have none in {y!r}, such as "
            f"{list(lacks[:3])}. Leave them out, with {remedy}."
        )
    if isinstance(found.dtype, pd.CategoricalDtype):
        found = pd.Series(np.asarray(found), index=found.index)
    return found.rename(y)
