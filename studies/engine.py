"""Runs the units of a table, each once: stop at any time, start again, and nothing is lost or done twice.

A unit that two tables of a study have, with the same key and fingerprint, is computed for the first of them.

The result does not depend on the number of jobs: a unit draws from a generator seeded by its own arguments,
linear algebra has one thread within a unit, and results are put in the order of the units before they are
summarised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from multikernel._files import check_destination, whole_file, write_whole
from multikernel._validation import check_positive_integer
from multikernel.core.store import Progress, Record, ResultStore, Work, run_works
from studies.compare import agreement, cell_counts
from studies.data import checksums_of, keep_checksums
from studies.render import json_text, markdown_text
from studies.study import Result, Study, Summary, Table, Unit
from studies.study_page import write_study_page


def run_table(
    study: Study,
    table: Table,
    *,
    folder: Path,
    results: Path | None = None,
    splits: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Summary:
    """Compute the units of a table that are not stored yet, summarise all of them, and write the page.

    Parameters
    ----------
    study : Study
    table : Table
    folder : Path
        Where the pages go: ``table<name>.md`` and ``.json``, and ``.png`` where the table has a figure; of a
        figure all are called ``figure<name>``, of an experiment of our own ``own-<name>``. The page of the
        study, README.md, is written anew if the study has one.
    results : Path, default=None
        Where ``table<name>.jsonl`` has every finished unit (`Table.results_name`); the folder of the pages if
        None.
    splits : int, default=None
        How many random splits; as many as the publication has if None.
    jobs : int, default=1
        How many processes work at the same time.
    progress : callable, default=None
        Called with (units done, units in all), first of all with what was stored.

    Returns
    -------
    dict
        The summary, which is also what the JSON file holds.

    Raises
    ------
    KeyboardInterrupt
        When the run is stopped: every finished unit is on disk by then.
    """
    n_splits = table.splits if splits is None else check_positive_integer("splits", splits)
    check_positive_integer("jobs", jobs)
    units = list(table.units(n_splits))
    results = folder if results is None else results
    store = ResultStore(results / table.results_name)
    for path in (store.path, *(folder / f"{table.stem}{suffix}" for suffix in (".json", ".md", ".png"))):
        check_destination(path)
    names = {name for unit in units for name in unit.datasets}
    checksums = checksums_of(names, results)
    works = _works(units, table.version, checksums)
    others = {results / entry.results_name for entry in study.entries()} - {store.path}
    _take_finished(works, store, [ResultStore(path) for path in sorted(others)])
    if not _are_stored(works, store):
        checksums = checksums_of(names, results, fetch=True)
        works = _works(units, table.version, checksums)
    found = run_works(works, store, jobs=jobs, progress=progress)
    keep_checksums(checksums, results)
    summary = summarize(study, table, n_splits, list(zip(units, found, strict=True)))
    summary["cpu_seconds"] = round(_seconds(works, store))
    write_outputs(table, summary, folder)
    write_study_page(study, folder)
    return summary


def _works(units: Sequence[Unit], version: int, checksums: Mapping[str, str]) -> list[Work]:
    return [
        Work(unit.key, unit.fingerprint(version, checksums), unit.function, unit.arguments) for unit in units
    ]


def _take_finished(works: Sequence[Work], store: ResultStore, others: Sequence[ResultStore]) -> None:
    """Copy units that another entry of the study has finished: a unit of two tables is computed once."""
    stored = {_identity(record) for record in store.read()}
    missing = {(work.key, work.fingerprint) for work in works} - stored
    if not missing:
        return
    finished = {_identity(record): record for other in others for record in other.read()}
    if copied := [finished[unit] for unit in sorted(missing & finished.keys())]:
        with store.opened() as file:
            for record in copied:
                file.append(record)


def _identity(record: Record) -> tuple[str, str]:
    return record["key"], record["fingerprint"]


def _are_stored(works: Sequence[Work], store: ResultStore) -> bool:
    stored = {_identity(record) for record in store.read()}
    return all((work.key, work.fingerprint) in stored for work in works)


def _seconds(works: Sequence[Work], store: ResultStore) -> float:
    """The processor time that the works took, whenever they were done."""
    wanted = {(work.key, work.fingerprint) for work in works}
    taken = {
        _identity(record): record.get("cpu_seconds") or record.get("seconds") or 0.0
        for record in store.read()
    }
    return float(sum(taken.get(key, 0.0) for key in wanted))


def summarize(study: Study, table: Table, splits: int, results: Sequence[tuple[Unit, Result]]) -> Summary:
    """Return what the page says, as a dictionary that JSON can hold.

    Parameters
    ----------
    study : Study
    table : Table
    splits : int
    results : sequence of (Unit, mapping)
        In the order of the units.

    Returns
    -------
    dict
        ``study``, ``citation``, ``table``, ``figure`` or ``own`` (its name), ``title``, ``splits``,
        ``published_splits``, ``protocol``, ``notes``, ``stand_in``, ``quantities``, ``agreement``, ``cells``
        and ``rows``.
    """
    rows = table.rows(results)
    if table.stand_in:
        rows = [{"stand_in": table.stand_in} | row for row in rows]
    keys = [] if table.kind == "own" else [q.key for q in table.quantities if q.difference]
    return {
        "study": study.name,
        "citation": study.citation,
        table.kind: table.name,
        "title": table.title,
        "splits": splits,
        "published_splits": table.splits,
        "protocol": list(table.protocol),
        "notes": list(table.notes),
        "quantities": [
            {"key": q.key, "label": q.label, "digits": q.digits, "difference": q.difference}
            for q in table.quantities
        ],
        "stand_in": table.stand_in,
        "agreement": agreement(rows, keys),
        "cells": cell_counts(rows, keys, len(table.cells)),
        "rows": rows,
    }


def write_outputs(table: Table, summary: Summary, folder: Path) -> None:
    """Write the page, the summary and, where the table has one, the figure."""
    if table.figure is not None:
        with whole_file(folder / f"{table.stem}.png") as part:
            table.figure(summary, part)
    page = markdown_text(summary, table.figure is not None)
    write_whole(folder / f"{table.stem}.json", json_text(summary).encode())
    write_whole(folder / f"{table.stem}.md", page.encode())
