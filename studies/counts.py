"""What became of each published table, figure and number, counted in the pages that are there.

``python -m studies --counts`` prints it. Nothing is computed anew and no number is typed: all comes from the
summaries in ``docs/reproduce``, the reasons from `Study.reasons`, the errata from their page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.compare import counted_cells, is_beyond, seen_places
from studies.study import Study, Summary, Table

UNEXPLAINED = "Unexplained."
NOT_COMPUTED, UNLISTED = "Not computed yet.", "No reason is listed."
PROTOCOL, FEWER, PARTLY, STAND_IN, ABSENT = (
    "by the protocol of the paper",
    "by it, on a part of the splits so far",
    "by it, and in part by stand-in",
    "by stand-in",
    "not computed",
)
_CELLS = ("published", "compared", "beyond", "doubtful", "single", "stand_in", "absent")
_NO_ERRATUM = "Not "  # what headings begin with that are no errata


def entry_state(summary: Summary | None) -> str:
    """Return how a published table or figure is reproduced.

    Parameters
    ----------
    summary : dict or None
        None if there is none.

    Returns
    -------
    str
        `PROTOCOL`, `FEWER`, `PARTLY` (if some of its rows are on other data), `STAND_IN` or `ABSENT`.
    """
    if summary is None:
        return ABSENT
    stand_ins = [bool(row.get("stand_in")) for row in summary["rows"]]
    if summary["stand_in"] or (stand_ins and all(stand_ins)):
        return STAND_IN
    if any(stand_ins):
        return PARTLY
    return PROTOCOL if summary["splits"] >= summary["published_splits"] else FEWER


def beyond_cells(study: Study, summaries: Mapping[str, Summary]) -> list[dict[str, Any]]:
    """Return the sound published numbers from which our mean differs by more than two standard errors.

    Parameters
    ----------
    study : Study
    summaries : mapping of str to dict
        By stem.

    Returns
    -------
    list of dict
        ``place``, ``difference``, ``se_difference`` and ``reason``, the text of the first of `Study.reasons`
        that fits the place, else `UNEXPLAINED`.
    """
    found = []
    for entry in _published(study):
        if entry.stem not in summaries:
            continue
        keys = [quantity.key for quantity in entry.quantities if quantity.difference]
        for row in summaries[entry.stem]["rows"]:
            for cell in counted_cells(row, keys):
                if is_beyond(cell) and not cell["doubt"]:
                    picked = {name: cell[name] for name in ("place", "difference", "se_difference")}
                    found.append(picked | {"reason": reason_of(study, cell["place"])})
    return found


def reason_of(study: Study, place: str) -> str:
    """Return why a number differs from the one printed at a place; `UNEXPLAINED` if that is not known."""
    fitting = (text for pattern, text in study.reasons.items() if re.match(pattern, place))
    return next(fitting, UNEXPLAINED)


def absent_cells(study: Study, summaries: Mapping[str, Summary]) -> list[dict[str, Any]]:
    """Return the published numbers beside which no row has a number, and why.

    Parameters
    ----------
    study : Study
    summaries : mapping of str to dict
        By stem.

    Returns
    -------
    list of dict
        ``place`` and ``reason``, the text of the first of `Study.absent` that fits the place, else
        `NOT_COMPUTED` or `UNLISTED`.
    """
    found = []
    for entry in _published(study):
        summary = summaries.get(entry.stem)
        keys = [quantity.key for quantity in entry.quantities if quantity.difference]
        seen = set() if summary is None else seen_places(summary["rows"], keys)
        last = NOT_COMPUTED if summary is None else UNLISTED
        for place in (cell.place for cell in entry.cells if cell.place not in seen):
            fitting = (text for pattern, text in study.absent.items() if re.match(pattern, place))
            found.append({"place": place, "reason": next(fitting, last)})
    return found


def count_pages(places: Sequence[str]) -> str:
    """Return how many of some places are on which page.

    Examples
    --------
    >>> count_pages(["table 1, a", "table 2, a", "table 1, b"])
    '2 in table 1, 1 in table 2'
    """
    pages = Counter(place.partition(",")[0] for place in places)
    return ", ".join(f"{number} in {page}" for page, number in pages.items())


def group_by_reason(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return reason to places, most frequent reasons first.

    Examples
    --------
    >>> group_by_reason([{"place": "a", "reason": "x"}, {"place": "b", "reason": "y"},
    ...                  {"place": "c", "reason": "y"}])
    {'y': ['b', 'c'], 'x': ['a']}
    """
    places: dict[str, list[str]] = {}
    for cell in cells:
        places.setdefault(cell["reason"], []).append(cell["place"])
    return dict(sorted(places.items(), key=lambda item: -len(item[1])))


def count_study(study: Study, summaries: Mapping[str, Summary]) -> dict[str, Any]:
    """Return the counts of a study.

    Parameters
    ----------
    study : Study
    summaries : mapping of str to dict
        By stem.

    Returns
    -------
    dict
        ``entries`` (state to the labels of the tables and figures in it), ``cells`` (sums of
        `studies.compare.cell_counts`, and ``within``) and ``beyond`` (see `beyond_cells`).
    """
    entries: dict[str, list[str]] = {state: [] for state in (PROTOCOL, FEWER, PARTLY, STAND_IN, ABSENT)}
    cells = dict.fromkeys(_CELLS, 0)
    for entry in _published(study):
        summary = summaries.get(entry.stem)
        state = entry_state(summary)
        entries[state].append(f"{entry.kind} {entry.name}" + _progress(state, summary))
        counts = {"published": len(entry.cells), "absent": len(entry.cells)} if summary is None else {}
        for key in _CELLS:
            cells[key] += counts.get(key, 0) if summary is None else summary["cells"][key]
    cells["within"] = cells["compared"] - cells["beyond"]
    return {"entries": entries, "cells": cells, "beyond": beyond_cells(study, summaries)}


def _published(study: Study) -> list[Table]:
    return [entry for entry in study.entries() if entry.kind != "own"]


def _progress(state: str, summary: Summary | None) -> str:
    if summary is None or summary["splits"] >= summary["published_splits"]:
        return ""
    return f" ({summary['splits']} of {summary['published_splits']})"


def count_errata(page: Path) -> dict[str, int]:
    """Return how many errata the page has of each paper, by the heading of its section.

    Headings of the third level that begin with "Not" (not printed, not counted) are no errata.

    Parameters
    ----------
    page : Path
        Markdown.
    """
    counts: dict[str, int] = {}
    paper = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = line.removeprefix("## ")
            counts[paper] = 0
        elif line.startswith("### ") and not line.startswith(f"### {_NO_ERRATUM}"):
            counts[paper] += 1
    return counts


def errata_of(study: Study, errata: Mapping[str, int]) -> int:
    """Return the number of errata in the section whose first author and year are those of the study."""
    return sum(number for heading, number in errata.items() if _author_and_year(heading) == _key(study))


def _key(study: Study) -> tuple[str, str]:
    return _author_and_year(study.title)


def _author_and_year(text: str) -> tuple[str, str]:
    author, year = re.match(r"\w*", text), re.search(r"\d{4}", text)
    return author[0] if author else "", year[0] if year else ""


def counts_lines(study: Study, summaries: Mapping[str, Summary], errata: int) -> list[str]:
    """Return the counts of a study as lines of text.

    Parameters
    ----------
    study : Study
    summaries : mapping of str to dict
        By stem.
    errata : int
    """
    counts = count_study(study, summaries)
    entries, cells = counts["entries"], counts["cells"]
    lines = [f"{study.title or study.name}", f"  tables and figures: {sum(map(len, entries.values()))}"]
    lines += [f"    {state}: {len(names)} ({', '.join(names)})" for state, names in entries.items() if names]
    lines += [
        f"  published numbers: {cells['published']}",
        f"    within two s.e.: {cells['within']}; beyond: {cells['beyond']}; doubtful: {cells['doubtful']}; "
        f"single: {cells['single']}; on stand-ins: {cells['stand_in']}; not compared: {cells['absent']}",
    ]
    for reason, places in group_by_reason(counts["beyond"]).items():
        lines += [f"    beyond, {len(places)}: {reason}", *(f"      {place}" for place in places)]
    if study.absent:
        for reason, places in group_by_reason(absent_cells(study, summaries)).items():
            lines.append(f"    not compared, {len(places)}: {reason} ({count_pages(places)})")
    return [*lines, f"  errata: {errata}"]
