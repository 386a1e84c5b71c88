"""Gene sets as views: GMT files, the genes of a set found among the columns, one view for each set.

A GMT file has a line for each set, separated by tabs: its name, a description, its genes (MSigDB, Enrichr
and Reactome offer such files). :func:`views_from_gene_sets` finds the genes among the names of columns and
makes a view of each set; what was found, and what was not, is in its ``report``.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from multikernel._files import checked_path
from multikernel._validation import as_list, check_choice, check_positive_integer, is_frame
from multikernel.kernels import Gaussian, Kernel
from multikernel.views.tables import MultiTable
from multikernel.views.view import View

BY = ("name", "position")
_LAYOUT = "A GMT file has a line for each set: its name, a description and its genes, separated by tabs."
_SHOWN = 5  # names in a message
_VERSIONED = re.compile(r"(ENS[A-Z]*[0-9]+)\.[0-9]+", re.IGNORECASE)  # an Ensembl identifier


class GeneSetViews(list[View]):
    """The views of gene sets, with what was found of the sets: a list that ``kernels=`` takes as it is.

    Attributes
    ----------
    report : DataFrame, one row for each set, by its name
        ``genes``, their number; ``matched``, the number of columns found for them; ``share``, the part of the
        genes that were found; ``kept``, whether there is a view of the set; ``reason``, why not; ``same_as``,
        an earlier view that reads the same columns, so that the two have one weight between them;
        ``missing``, the genes that no column has.
    missing_genes : list of str
        Genes of the sets that no column has, each once.
    columns_in_no_set : list of str
        Columns that are genes of no set, kept or not.
    summary : str
        All this in a paragraph.
    """

    report: pd.DataFrame
    missing_genes: list[str]
    columns_in_no_set: list[str]
    summary: str

    def __repr__(self) -> str:
        shown = ", ".join(repr(getattr(view, "name", view)) for view in self[:_SHOWN])
        return f"{type(self).__name__} of {len(self)} views: {shown}{', ...' if len(self) > _SHOWN else ''}"

    def __str__(self) -> str:
        return getattr(self, "summary", repr(self))


# --- GMT ---------------------------------------------------------------------------------------------------


def read_gmt(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read the gene sets of a GMT file.

    Parameters
    ----------
    path : str or path
        A text file in UTF-8 with a line for each set, separated by tabs: name, description, genes. Empty
        lines and empty fields are skipped.

    Returns
    -------
    dict of str -> list of str
        The genes of each set, each once, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no GMT file; the message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "sets.gmt"
    >>> _ = path.write_text("REPAIR\\tfrom a book\\tTP53\\tATM\\nCYCLE\\t\\tCDK1\\n")
    >>> read_gmt(path)
    {'REPAIR': ['TP53', 'ATM'], 'CYCLE': ['CDK1']}
    >>> folder.cleanup()
    """
    place = checked_path(path)
    sets: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(_read_text(place).split("\n"), start=1):
        if not line.strip():
            continue
        name, genes = _parse_line(line, f"{place.name}, line {number}")
        if name in sets:
            raise ValueError(
                f"{place.name}, line {number}: the name of a set must occur once; {name!r} is that of line "
                f"{first[name]} too. Rename or remove one of the two."
            )
        sets[name], first[name] = genes, number
    if not sets:
        raise ValueError(f"{place.name} must hold a gene set at least; it is empty. {_LAYOUT}")
    return sets


def _read_text(place: Path) -> str:
    if not place.is_file():
        what = "is a folder" if place.is_dir() else "does not exist"
        raise FileNotFoundError(
            f"gene sets must be in a GMT file; {place} {what} (looked for in {place.absolute().parent}). "
            "Check the path."
        )
    data = place.read_bytes()
    try:
        text, bad = data.decode("utf-8-sig"), data.find(b"\0")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        line = data[:bad].count(b"\n") + 1
        raise ValueError(
            f"{place.name}, line {line}: a GMT file must be text in UTF-8; got binary data. Unpack it if it "
            "is compressed, or save it as text separated by tabs."
        )
    return text


def _parse_line(line: str, label: str) -> tuple[str, list[str]]:
    entries = [entry.strip() for entry in line.split("\t")]
    if len(entries) == 1:
        raise ValueError(
            f"{label}: a set must be a name, a description and genes, separated by tabs; got no tab in "
            f"{_shortened(line.strip())!r}. {_LAYOUT}"
        )
    name, genes = entries[0], list(dict.fromkeys(filter(None, entries[2:])))
    if not name:
        raise ValueError(f"{label}: a set must have a name before the first tab; got none. {_LAYOUT}")
    if not genes:
        raise ValueError(
            f"{label}: a set must have a gene at least; {_shortened(name)!r} has none after its description. "
            "Add its genes, or remove the line."
        )
    return name, genes


def _shortened(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# --- views -------------------------------------------------------------------------------------------------


def views_from_gene_sets(
    columns: Any,
    gene_sets: Any,
    kernel: Kernel | None = None,
    *,
    min_genes: int = 5,
    max_genes: int | None = None,
    rest: bool | str = True,
    sets: Iterable[str] | None = None,
    by: str = "name",
    table: str | None = None,
    **options: Any,
) -> GeneSetViews:
    """Make one view of each gene set, of the columns that its genes are found in.

    A gene is the column of its name; else the only column that differs from it in capitals alone; else the
    only one that differs in the version of an Ensembl identifier (``ENSG00000141510.17`` and
    ``ENSG00000141510``). Sets may overlap; a view reads its columns in the order of `columns`.

    Parameters
    ----------
    columns : list of str, Index, frame or MultiTable
        Names of the columns of X, or X itself; of a MultiTable, those of the table `table`.
    gene_sets : str, path or dict of str -> list of str
        A GMT file, see :func:`read_gmt`, or the genes of each set by its name.
    kernel : Kernel, default=None
        Kernel of every view; None is ``Gaussian()``, whose width is the median distance in each view.
    min_genes : int, default=5
        Sets with fewer columns are left out.
    max_genes : int, default=None
        Sets with more columns are left out; None keeps them.
    rest : bool or str, default=True
        Whether the columns of no view become one more view, last. It is named "rest", or as `rest` says.
    sets : list of str, default=None
        Names of the sets to take, in this order; None takes them all.
    by : {"name", "position"}, default="name"
        How the views name their columns:

        - "name": for an X with column names;
        - "position": for an array or a sparse matrix whose columns are in the order of `columns`.
    table : str, default=None
        The table of a MultiTable that the views read. None is for an X that is one table.
    **options
        Other parameters of :class:`View` for every view, such as ``standardize=False``.

    Returns
    -------
    GeneSetViews
        A list of views, ready for ``kernels=``. Its ``report`` has a row for each set, its ``summary`` is a
        paragraph.

    Examples
    --------
    >>> sets = {"repair": ["TP53", "ATM", "BRCA9"], "cycle": ["cdk1", "TP53"], "other": ["XYZ"]}
    >>> views = views_from_gene_sets(["TP53", "ATM", "CDK1", "ACTB"], sets, min_genes=2)
    >>> [(view.name, view.columns) for view in views]
    [('repair', ['TP53', 'ATM']), ('cycle', ['TP53', 'CDK1']), ('rest', ['ACTB'])]
    >>> views.report[["genes", "matched", "kept"]]
            genes  matched   kept
    set
    repair      3        2   True
    cycle       2        2   True
    other       1        0  False
    """
    check_choice("by", by, BY)
    limits = _check_limits(min_genes, max_genes)
    shared = _view_options(options, table) | {"kernel": Gaussian() if kernel is None else kernel}
    names = _column_names(columns, table)
    chosen = _choose(_as_sets(gene_sets), sets)
    finder = _Finder(names)
    matches = [_match(name, genes, finder, limits) for name, genes in chosen.items()]
    kept = [match for match in matches if not match.reason]
    if not kept:
        raise ValueError(_nothing_kept(matches, chosen, names, limits))
    blocks = {match.name: match.columns for match in kept}
    _add_rest(blocks, names, rest)
    views = GeneSetViews(
        View(
            name=name,
            columns=[finder.places[c] for c in block] if by == "position" else list(block),
            **shared,
        )
        for name, block in blocks.items()
    )
    _describe(views, matches, names, None if len(blocks) == len(kept) else list(blocks)[-1])
    return views


def _check_limits(min_genes: Any, max_genes: Any) -> tuple[int, int | None]:
    least = check_positive_integer("min_genes", min_genes)
    if max_genes is None:
        return least, None
    most = check_positive_integer("max_genes", max_genes)
    if most < least:
        raise ValueError(
            f"max_genes must be at least min_genes; got max_genes={most} and min_genes={least}. Raise the "
            "one or lower the other."
        )
    return least, most


def _view_options(options: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    known = {field.name for field in fields(View)} - {"name", "kernel", "columns", "table"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(
            f"views_from_gene_sets has no parameter {unknown[0]!r}, nor has View, whose parameters can be "
            f"given too: {', '.join(sorted(known))}."
        )
    return dict(options) if table is None else {**options, "table": table}


# --- columns and sets as they are given --------------------------------------------------------------------


def _column_names(columns: Any, table: str | None) -> list[str]:
    """Names of columns, each once."""
    if isinstance(columns, MultiTable):
        if table is None:
            raise ValueError(
                f"table must name the table of X that the views read; got None. X has {columns.names}: give "
                f"table={columns.names[0]!r}, say."
            )
        columns = columns[table]
    if not is_frame(columns):
        frame = nw.from_native(columns, pass_through=True)
        is_other_frame = isinstance(frame, nw.DataFrame | nw.LazyFrame)
        columns = frame.collect_schema().names() if is_other_frame else columns
    else:
        columns = columns.columns
    if isinstance(columns, str | bytes) or len(getattr(columns, "shape", (0,))) != 1:
        given = repr(columns) if isinstance(columns, str | bytes) else f"shape {columns.shape}"
        raise TypeError(
            f"columns must be the names of the columns, or a frame that has them; got {given}. Give a list "
            "of names, and by='position' where X itself has none."
        )
    names = as_list("columns", columns, "names, or a frame that has them")
    _check_names(names)
    return [str(name) for name in names]


def _check_names(names: Sequence[Any]) -> None:
    if not names:
        raise ValueError("columns must hold the name of one column at least; got none.")
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None:
        raise TypeError(
            f"columns must be names of genes as texts; got {other!r}, of type {type(other).__name__}. Rename "
            "them, with frame.columns = frame.columns.astype(str)."
        )
    index = pd.Index(names)
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ValueError(
            f"names of columns must be distinct; {twice!r} occurs {int((index == twice).sum())} times. "
            "Average or rename columns of the same gene."
        )


def _as_sets(gene_sets: Any) -> dict[str, list[str]]:
    if isinstance(gene_sets, str | os.PathLike):
        return read_gmt(gene_sets)
    if not isinstance(gene_sets, Mapping):
        raise TypeError(
            "gene_sets must be the path of a GMT file, or a dict of the genes of each set by its name; got "
            f"{type(gene_sets).__name__}."
        )
    if not gene_sets:
        raise ValueError("gene_sets must hold a gene set at least; got an empty dict.")
    return {_set_name(name): _genes(name, genes) for name, genes in gene_sets.items()}


def _set_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of a gene set must be a text that is not empty; got {name!r}.")
    return name


def _genes(name: str, genes: Any) -> list[str]:
    listed = [] if isinstance(genes, str | bytes) or not isinstance(genes, Iterable) else list(genes)
    if not listed or not all(isinstance(gene, str) and gene for gene in listed):
        given = next((gene for gene in listed if not isinstance(gene, str) or not gene), genes)
        raise TypeError(
            f"gene set {name!r} must be a list of names of genes, one at least, each a text; got {given!r}. "
            "Leave out sets without genes."
        )
    return list(dict.fromkeys(str(gene) for gene in listed))


def _choose(known: dict[str, list[str]], sets: Any) -> dict[str, list[str]]:
    """The sets of the names asked for, in that order."""
    if sets is None:
        return known
    asked = [sets] if isinstance(sets, str) else list(sets)
    if not asked:
        raise ValueError("sets must name a gene set at least; got none. Leave sets out to take them all.")
    for name in asked:
        if name not in known:
            folded = {other.casefold(): other for other in known}
            close = difflib.get_close_matches(str(name).casefold(), folded, n=3, cutoff=0.5)
            hint = (
                f"Did you mean {' or '.join(repr(folded[match]) for match in close)}?"
                if close
                else f"The first are {list(known)[:_SHOWN]}."
            )
            raise ValueError(f"there is no gene set {name!r} among the {len(known)} given. {hint}")
    return {name: known[name] for name in asked}


# --- genes among columns -----------------------------------------------------------------------------------


class _Finder:
    """The column of a gene: by its name, without regard to capitals, without versions."""

    def __init__(self, names: Sequence[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}
        self.folded: dict[str, list[str]] = {}
        self.unversioned: dict[str, list[str]] = {}
        for name in names:
            self.folded.setdefault(name.casefold(), []).append(name)
            self.unversioned.setdefault(_unversioned(name), []).append(name)

    def find(self, gene: str, label: str) -> str | None:
        if gene in self.places:
            return gene
        found = self.folded.get(gene.casefold()) or self.unversioned.get(_unversioned(gene), [])
        if len(found) > 1:
            raise ValueError(
                f"{label}: a gene must be one column; {gene!r} may be {found[0]!r} or {found[1]!r}. Rename "
                "or leave out one of these columns, or write the gene as its column is written."
            )
        return found[0] if found else None


def _unversioned(name: str) -> str:
    versioned = _VERSIONED.fullmatch(name)
    return (name if versioned is None else versioned[1]).casefold()


@dataclass(frozen=True)
class _Match:
    """The columns of a set, its genes without one, and why there is no view of it (empty where there is)."""

    name: str
    n_genes: int
    columns: tuple[str, ...]
    missing: tuple[str, ...]
    reason: str


def _match(name: str, genes: Sequence[str], finder: _Finder, limits: tuple[int, int | None]) -> _Match:
    found = {gene: finder.find(gene, f"gene set {name!r}") for gene in genes}
    columns = tuple(sorted({c for c in found.values() if c is not None}, key=finder.places.__getitem__))
    missing = tuple(gene for gene, column in found.items() if column is None)
    least, most = limits
    reason = f"fewer than min_genes={least}" if len(columns) < least else ""
    if most is not None and len(columns) > most:
        reason = f"more than max_genes={most}"
    return _Match(name, len(genes), columns, missing, reason)


def _add_rest(blocks: dict[str, tuple[str, ...]], names: Sequence[str], rest: bool | str) -> None:
    """Add the columns of no view as one more block, where that is asked for and there are any."""
    if not isinstance(rest, bool | np.bool_) and (not isinstance(rest, str) or not rest):
        raise TypeError(f"rest must be True, False or the name of a view; got {rest!r}.")
    used = {column for block in blocks.values() for column in block}
    left = tuple(name for name in names if name not in used)
    if not rest or not left:
        return
    name = rest if isinstance(rest, str) else "rest"
    if name in blocks:
        raise ValueError(
            f"the view of the other columns must have a name of its own; a gene set is named {name!r} too. "
            "Give another, such as rest='other columns', or rest=False."
        )
    blocks[name] = left


def _nothing_kept(
    matches: Sequence[_Match],
    chosen: Mapping[str, Sequence[str]],
    names: Sequence[str],
    limits: tuple[int, int | None],
) -> str:
    most = "" if limits[1] is None else f" and at most max_genes={limits[1]}"
    sizes = sorted(matches, key=lambda match: len(match.columns))
    genes = list(dict.fromkeys(gene for listed in chosen.values() for gene in listed))
    remedy = "lower min_genes" if limits[1] is None else "lower min_genes or raise max_genes"
    return (
        f"a gene set must have at least min_genes={limits[0]} columns{most} to become a view; none of the "
        f"{len(matches)} has. They have {len(sizes[0].columns)} to {len(sizes[-1].columns)}, most of all "
        f"{sizes[-1].name!r}. Check that both use the same identifiers: columns are such as "
        f"{list(names[:_SHOWN])}, genes such as {genes[:_SHOWN]}. If they do, {remedy}."
    )


# --- report ------------------------------------------------------------------------------------------------


def _describe(views: GeneSetViews, matches: Sequence[_Match], names: Sequence[str], rest: str | None) -> None:
    """Set what the views say of the sets."""
    views.report = _report(matches)
    views.missing_genes = list(dict.fromkeys(gene for match in matches for gene in match.missing))
    inside = {column for match in matches for column in match.columns}
    views.columns_in_no_set = [name for name in names if name not in inside]
    views.summary = _summary(views, len(inside), len(names), rest)


def _report(matches: Sequence[_Match]) -> pd.DataFrame:
    first: dict[frozenset[str], str] = {}
    same = []
    for match in matches:
        earlier = match.name if match.reason else first.setdefault(frozenset(match.columns), match.name)
        same.append("" if earlier == match.name else earlier)
    n_genes = np.array([match.n_genes for match in matches])
    missing = np.array([len(match.missing) for match in matches])
    columns = {
        "genes": n_genes,
        "matched": [len(match.columns) for match in matches],
        "share": (n_genes - missing) / n_genes,
        "kept": [not match.reason for match in matches],
        "reason": [match.reason for match in matches],
        "same_as": same,
        "missing": [list(match.missing) for match in matches],
    }
    return pd.DataFrame(columns, index=pd.Index([match.name for match in matches], name="set"))


def _summary(views: GeneSetViews, n_inside: int, n_columns: int, rest: str | None) -> str:
    report = views.report
    said = [f"{int(report['kept'].sum())} of {len(report)} gene sets are views."]
    for reason, count in report.loc[~report["kept"], "reason"].value_counts().items():
        has, are = ("has", "is") if count == 1 else ("have", "are")
        said.append(f"{count} {has} {reason} columns and {are} left out.")
    repeated = int((report["same_as"] != "").sum())
    if repeated:
        said.append(f"Sets with the same columns as an earlier one: {repeated}.")
    lost = views.missing_genes
    if lost:
        shown = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
        said.append(f"Genes of the sets that no column has: {len(lost)} ({shown}).")
    said.append(f"Columns in a set: {n_inside} of {n_columns}.")
    if rest is not None:
        said.append(f"Columns of no other view, in the view {rest!r}: {len(views[-1].columns)}.")
    return " ".join(said)
