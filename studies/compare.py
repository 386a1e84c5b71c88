"""Our mean beside the published one.

With x_1..x_n ours over n splits, mean m and standard deviation s (divisor n − 1), and p the published mean
over n_p splits of the same data:

    s.e. of m       = s / √n
    s.e. of m − p   = s √(1/n + 1/n_p)

The second takes the published splits to vary as much as ours do, since the publication gives means only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

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
    published : float or sequence of k floats, default=None
        The published mean; None where there is none.
    published_splits : int, default=None
        Over how many splits it was taken; None if it is exact.

    Returns
    -------
    dict
        ``n``, ``mean``, ``se``, ``published``, ``difference`` (ours − published) and ``se_difference``.

    Examples
    --------
    >>> compare([1.0, 2.0, 3.0, 4.0], 2.0, 30)["difference"]
    0.5
    >>> compare([1.0, 2.0, 3.0, 4.0], 2.0, 30)["se_difference"]
    0.687184
    """
    ours = estimate(values)
    given = None if published is None else np.asarray(published, dtype=np.float64).tolist()
    result = ours | {"published": given, "difference": None, "se_difference": None}
    if ours["mean"] is None or given is None:
        return result
    result["difference"] = (np.asarray(ours["mean"]) - np.asarray(given)).tolist()
    if ours["se"] is not None:
        theirs = 0.0 if published_splits is None else ours["n"] / published_splits
        result["se_difference"] = (np.asarray(ours["se"]) * math.sqrt(1.0 + theirs)).tolist()
    return result


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
    section: str, labels: Mapping[str, str], values: Mapping[str, Mapping[str, Any]], remark: str = ""
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

    Returns
    -------
    dict
    """
    return {
        "section": section,
        "labels": dict(labels),
        "values": {key: dict(value) for key, value in values.items()},
        "remark": remark,
    }


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
    """Return, for each section, how many differences there are and how many exceed two standard errors.

    Parameters
    ----------
    rows : sequence of dict
        See `comparison_row`.
    keys : sequence of str
        The quantities to look at; vectors, and what has no standard error, are left out.

    Returns
    -------
    list of dict
        ``section``, ``compared`` and ``beyond``; about one difference in twenty is beyond by chance.

    Examples
    --------
    >>> row = comparison_row("a", {"who": "b"}, {"x": compare([1.0, 2.0, 3.0, 4.0], 9.0, 30)})
    >>> agreement([row], ["x"])
    [{'section': 'a', 'compared': 1, 'beyond': 1}]
    """
    counts = []
    for section in sections(rows):
        values = [
            row["values"][key]
            for row in rows
            if row["section"] == section
            for key in keys
            if key in row["values"]
        ]
        found = [
            v for v in values if v["se_difference"] is not None and not isinstance(v["difference"], list)
        ]
        if found:
            counts.append({"section": section, "compared": len(found), "beyond": sum(map(is_beyond, found))})
    return counts
