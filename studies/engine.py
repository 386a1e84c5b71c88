"""Runs the units of a table, each once: stop at any time, start again, and nothing is lost or done twice.

The result does not depend on the number of jobs: a unit draws from a generator seeded by its own arguments,
linear algebra has one thread within a unit, and results are put in the order of the units before they are
summarised.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multikernel._files import check_destination, whole_file, write_whole
from multikernel._validation import check_positive_integer
from multikernel.core.store import Progress, ResultStore, Work, run_works
from multikernel.datasets import dataset_fingerprint
from studies.compare import agreement
from studies.render import json_text, markdown_text
from studies.study import Result, Study, Summary, Table, Unit


def run_table(
    study: Study,
    table: Table,
    *,
    folder: Path,
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
        Where ``table<name>.jsonl`` (every finished unit), ``.md`` and ``.json`` go, and ``.png`` where the
        table has a figure; of a figure all are called ``figure<name>``.
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
    store = ResultStore(folder / f"{table.stem}.jsonl")
    for suffix in (".jsonl", ".json", ".md", ".png"):
        check_destination(folder / f"{table.stem}{suffix}")
    results = run_works(_works(units, table.version, store), store, jobs=jobs, progress=progress)
    summary = summarize(study, table, n_splits, list(zip(units, results, strict=True)))
    write_outputs(table, summary, folder)
    return summary


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
        ``study``, ``citation``, ``table`` or ``figure`` (its name), ``title``, ``splits``,
        ``published_splits``, ``protocol``, ``notes``, ``quantities``, ``agreement`` and ``rows``.
    """
    rows = table.rows(results)
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
        "agreement": agreement(rows, [q.key for q in table.quantities if q.difference]),
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


def _works(units: Sequence[Unit], version: int, store: ResultStore) -> list[Work]:
    names = {name for unit in units for name in unit.datasets}
    checksums = {name: dataset_fingerprint(name) for name in sorted(names)}
    stored = {(record["key"], record["fingerprint"]) for record in store.read()}
    works = []
    for unit in units:
        fingerprint = unit.earlier_fingerprint(version, checksums)
        if (unit.key, fingerprint) not in stored:
            fingerprint = unit.fingerprint(version, checksums)
        works.append(Work(unit.key, fingerprint, unit.function, unit.arguments))
    return works
