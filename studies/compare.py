"""Our mean beside the published one.

With x_1..x_n ours over n splits, mean m and standard deviation s (divisor n − 1), and p the published mean
over n_p splits of the same data:

    s.e. of m       = s / √n
    s.e. of m − p   = √(s²/n + s_p²/n_p)   where the publication prints p ± s_p
                    = s √(1/n + 1/n_p)      where it prints p alone

The last takes the published splits to vary as much as ours do. Agreement is counted once for each published
cell: in the rows that count, and not where another data set stands in for the published one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from studies.published import Published
from studies.study import Result, Unit

Key = TypeVar("Key", bound=Hashable)


def group_results(
    results: Sequence[tuple[Unit, Result]], key: Callable[[Any], Key]
) -> dict[Key, list[Result]]:
    """Return the results of each group, groups and results in the order of the units.

    Parameters
    ----------
    results : sequence of (Unit, mapping)
    key : callable
        Arguments of a unit to the group that it belongs to, e.g. ``itemgetter("method")``.

    Returns
    -------
    dict of key to list of mapping
    """
    groups: dict[Key, list[Result]] = {}
    for unit, result in results:
        groups.setdefault(key(unit.arguments), []).append(result)
    return groups


def estimate(values: Any) -> dict[str, Any]:
    """Return mean and standard error over the splits.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k)
        One value, or one vector, for each split.

    Returns
    -------
    dict
        ``n``; ``mean`` and ``se``, numbers or lists of k; None where n is too small to say.

    Examples
    --------
    >>> estimate([1.0, 2.0, 3.0, 4.0])
    {'n': 4, 'mean': 2.5, 'se': 0.645497}
    >>> estimate([])
    {'n': 0, 'mean': None, 'se': None}
    """
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    mean = array.mean(axis=0).tolist() if n else None
    se = (array.std(axis=0, ddof=1) / math.sqrt(n)).tolist() if n > 1 else None
    return {"n": n, "mean": mean, "se": se}


def compare(values: Any, published: Any = None, published_splits: int | None = None) -> dict[str, Any]:
    """Return our estimate beside a published mean.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k)
    published : Published or float, or sequence of k of them, default=None
        The published mean; None where there is none.
    published_splits : int, default=None
        Over how many splits it was taken; None if it is exact.

    Returns
    -------
    dict
        ``n``, ``mean``, ``se``, ``published``, ``difference`` (ours − published) and ``se_difference``; of a
        `Published` also ``printed`` (all digits, with ±), ``place`` and ``doubt``. Lists where values are
        vectors.

    Examples
    --------
    >>> compare([1.0, 2.0, 3.0, 4.0], 2.0, 30)["difference"]
    0.5
    >>> compare([1.0, 2.0, 3.0, 4.0], 2.0, 30)["se_difference"]
    0.687184
    >>> compare([1.0, 2.0, 3.0, 4.0], Published("2.0", "0.6", "table 1"), 30)["se_difference"]
    0.654726
    """
    ours = estimate(values)
    given = None if published is None else _floats(published).tolist()
    result = ours | {"published": given, "difference": None, "se_difference": None} | _as_printed(published)
    if ours["mean"] is None or given is None:
        return result
    result["difference"] = (np.asarray(ours["mean"]) - np.asarray(given)).tolist()
    if ours["se"] is not None:
        own = np.square(ours["se"])
        theirs = _published_variances(published, own * ours["n"], published_splits)
        result["se_difference"] = np.sqrt(own + theirs).tolist()
    return result


def _floats(published: Any) -> np.ndarray:
    return np.vectorize(float, otypes=[np.float64])(published)


def _as_printed(published: Any) -> dict[str, Any]:
    """What a page says of a printed number, or of several."""
    if isinstance(published, Published):
        return {"printed": str(published), "place": published.place, "doubt": published.doubt}
    if np.ndim(published) == 1 and all(isinstance(cell, Published) for cell in published):
        parts = [_as_printed(cell) for cell in published]
        return {key: [part[key] for part in parts] for key in ("printed", "place", "doubt")}
    return {}


def _published_variances(published: Any, variance: Any, splits: int | None) -> Any:
    """The squared standard errors of the published means: by their ±, else as much as ours vary."""
    like_ours = np.zeros_like(variance) if splits is None else variance / splits
    cells = published if np.ndim(published) == 1 else [published]
    printed = [cell.variance_of_mean(splits) if isinstance(cell, Published) else None for cell in cells]
    known = np.array([np.nan if part is None else part for part in printed]).reshape(np.shape(like_ours))
    return np.where(np.isnan(known), like_ours, known)


def compare_each(group: Sequence[Result], keys: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the estimates of several quantities that have no published mean.

    Parameters
    ----------
    group : sequence of mapping
        The results, one for each split.
    keys : iterable of str, default=None
        Which of the quantities; all that the first result has if None.

    Returns
    -------
    dict of str to dict
        See `compare`.

    Examples
    --------
    >>> compare_each([{"x": 1.0}, {"x": 3.0}])["x"]["mean"]
    2.0
    """
    return {key: compare([result[key] for result in group]) for key in (group[0] if keys is None else keys)}


def convergence_remark(group: Sequence[Result], what: str = "splits") -> str:
    """Return on how many splits the solver did not reach its tolerance; empty if on none.

    Parameters
    ----------
    group : sequence of mapping
        The results; ``status`` says how a solver ended, where there was one.
    what : str, default="splits"
        What a result is of.

    Examples
    --------
    >>> convergence_remark([{"status": "optimal"}, {"status": "max_iter"}, {}])
    'not solved to tolerance on 1 of 3 splits'
    """
    n_open = sum(result.get("status", "optimal") != "optimal" for result in group)
    return open_remark(n_open, len(group), what)


def open_remark(n_open: int, n: int, what: str) -> str:
    """Return the remark for a count of solvers that did not reach their tolerance; empty if there is none."""
    return f"not solved to tolerance on {n_open} of {n} {what}" if n_open else ""


def comparison_row(
    section: str,
    labels: Mapping[str, str],
    values: Mapping[str, Mapping[str, Any]],
    remark: str = "",
    *,
    counts: bool = True,
    stand_in: str = "",
) -> dict[str, Any]:
    """Return one row of a comparison: where it stands, what it is, and its quantities.

    Parameters
    ----------
    section : str
        The rows of a section make one table on the page, e.g. a data set.
    labels : mapping of str to str
        Head of a column to what this row has there, e.g. ``{"criterion": "SM1", "kernel": "K1"}``.
    values : mapping of str to dict
        Key of a quantity to what `compare` returned.
    remark : str, default=""
    counts : bool, default=True
        Whether this row is the one by which agreement is counted. A variant of ours, which stands beside the
        same published cell as another row, does not count.
    stand_in : str, default=""
        What stands in for which published data here, and why, in one sentence; such a row never counts.

    Returns
    -------
    dict
    """
    row = {
        "section": section,
        "labels": dict(labels),
        "values": {key: dict(value) for key, value in values.items()},
        "remark": remark,
    }
    return row | ({} if counts else {"counts": False}) | ({"stand_in": stand_in} if stand_in else {})


def sections(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the sections of the rows, each once, in order."""
    return list(dict.fromkeys(row["section"] for row in rows))


def is_beyond(value: Mapping[str, Any]) -> bool:
    """Whether a difference to a published figure exceeds two standard errors."""
    error, difference = value.get("se_difference"), value.get("difference")
    if error is None or difference is None or isinstance(difference, list):
        return False
    return bool(abs(difference) > 2.0 * error)


def agreement(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return, for each section, how many published cells are compared, and how many are beyond two s.e.

    Each cell is counted once: two rows that count must not stand beside the same place of a publication.
    Rows that do not count, and those of stand-ins, are left out. Doubtful cells are counted apart.

    Parameters
    ----------
    rows : sequence of dict
        See `comparison_row`.
    keys : sequence of str
        The quantities to look at; what has no standard error is left out.

    Returns
    -------
    list of dict
        ``section``, ``compared`` and ``beyond`` of the sound cells, ``doubtful`` and ``doubtful_beyond`` of
        the others; about one difference in twenty is beyond by chance.

    Examples
    --------
    >>> row = comparison_row("a", {"who": "b"}, {"x": compare([1.0, 2.0, 3.0, 4.0], 9.0, 30)})
    >>> agreement([row], ["x"])
    [{'section': 'a', 'compared': 1, 'beyond': 1, 'doubtful': 0, 'doubtful_beyond': 0}]
    """
    counts = []
    places: set[str] = set()
    for section in sections(rows):
        cells = [cell for row in rows if row["section"] == section for cell in counted_cells(row, keys)]
        for place in (cell["place"] for cell in cells if cell["place"]):
            if place in places:
                raise ValueError(
                    f"each published cell must be counted once; {place!r} stands in two rows that count. "
                    "Make the row of the variant with comparison_row(..., counts=False)."
                )
            places.add(place)
        sound = [cell for cell in cells if not cell["doubt"]]
        doubtful = [cell for cell in cells if cell["doubt"]]
        if cells:
            counts.append(
                {
                    "section": section,
                    "compared": len(sound),
                    "beyond": sum(map(is_beyond, sound)),
                    "doubtful": len(doubtful),
                    "doubtful_beyond": sum(map(is_beyond, doubtful)),
                }
            )
    return counts


def cell_counts(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], n_published: int = 0
) -> dict[str, int]:
    """Return how many of the published cells are compared, and how they come out.

    Parameters
    ----------
    rows : sequence of dict
    keys : sequence of str
        As for `agreement`.
    n_published : int, default=0
        How many cells the publication prints; as many as the rows stand beside if 0.

    Returns
    -------
    dict
        ``published``; of these ``compared`` (sound, with a standard error; ``beyond`` of them exceed two),
        ``doubtful``, ``single`` (compared, but a single number has no standard error), ``stand_in`` and
        ``absent`` (the rest).
    """
    found = agreement(rows, keys)
    counts = {name: sum(count[name] for count in found) for name in ("compared", "beyond", "doubtful")}
    standing = [cell for row in rows if row.get("stand_in") for cell in _cells(row, keys)]
    single = [cell for row in rows if _does_count(row) for cell in _cells(row, keys)]
    # a cell beside which several rows of stand-ins are is one cell
    places = [cell["place"] for cell in standing]
    counts["stand_in"] = len(set(filter(None, places))) + places.count("")
    counts["single"] = sum(cell["se_difference"] is None for cell in single)
    seen = counts["compared"] + counts["doubtful"] + counts["single"] + counts["stand_in"]
    published = max(n_published, seen)
    return {"published": published, **counts, "absent": published - seen}


def _does_count(row: Mapping[str, Any]) -> bool:
    return row.get("counts", True) and not row.get("stand_in")


def counted_cells(row: Mapping[str, Any], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the published cells, with a s.e. of the difference, beside which a row stands that counts.

    Parameters
    ----------
    row : mapping
        See `comparison_row`.
    keys : sequence of str
        The quantities to look at.

    Returns
    -------
    list of dict
        With ``place``, ``doubt``, ``difference`` and ``se_difference``.
    """
    if not _does_count(row):
        return []
    return [cell for cell in _cells(row, keys) if cell["se_difference"] is not None]


def seen_places(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> set[str]:
    """Return the places of the published cells beside which some row has a number, on stand-ins too."""
    shown = [row for row in rows if _does_count(row) or row.get("stand_in")]
    return {cell["place"] for row in shown for cell in _cells(row, keys)} - {""}


def _cells(row: Mapping[str, Any], keys: Sequence[str]) -> list[dict[str, Any]]:
    """The published cells beside which a row has a number, one by one."""
    cells: list[dict[str, Any]] = []
    for value in (row["values"][key] for key in keys if key in row["values"]):
        if value["difference"] is None:
            continue
        if not isinstance(value["difference"], list):
            cells.append({"place": "", "doubt": ""} | value)
        elif "place" in value:  # vectors of numbers without a place are no cells
            errors = value["se_difference"] or [None] * len(value["place"])
            entries = zip(value["difference"], errors, value["place"], value["doubt"], strict=True)
            names = ("difference", "se_difference", "place", "doubt")
            cells += [dict(zip(names, entry, strict=True)) for entry in entries]
    return cells
