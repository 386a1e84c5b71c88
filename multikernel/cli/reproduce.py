"""``multikernel reproduce``: a published table, computed again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from multikernel.cli.console import MISUSED, STOPPED, err, fail, out, plain_errors, show_table
from multikernel.reproduce import Study, Table, get_study, list_studies, run_table
from multikernel.reproduce.compare import sections
from multikernel.reproduce.render import agreement_text, json_text, narrow_tables, remarks
from multikernel.reproduce.study import Summary

_STUDIES = "; ".join(f"{study.name}: {', '.join(study.tables)}" for study in list_studies())


def reproduce(
    study: Annotated[str, typer.Argument(help=f"The published source, with its tables ({_STUDIES}).")],
    table: Annotated[str, typer.Option("--table", "-t", help="Which of its tables or experiments.")],
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits; as many as the publication has if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")] = 1,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder of the results; reproduce/STUDY if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Compute a published table again and show our numbers beside the published ones.

    Every finished piece of work is kept in the folder: a run that was stopped goes on where it ended when
    the same command is given again, and one with more splits adds only those.
    """
    chosen, chosen_table = _find(study, table)
    target = folder or Path("reproduce") / chosen.name
    with plain_errors():
        summary = _run(chosen, chosen_table, target, splits, jobs)
    if as_json:
        typer.echo(json_text(summary), nl=False)
    else:
        _show(summary)
        out().print(
            f"Written: {target / f'table{chosen_table.name}'}.md, .json, .jsonl",
            markup=False,
            highlight=False,
        )


def _find(study: str, table: str) -> tuple[Study, Table]:
    try:
        chosen = get_study(study)
        return chosen, chosen.table(table)
    except ValueError as error:
        raise fail(str(error), MISUSED) from None


def _run(study: Study, table: Table, folder: Path, splits: int | None, jobs: int) -> Summary:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    done = [0, 0]
    try:
        with Progress(*columns, console=err(), speed_estimate_period=600.0) as bar:
            task = bar.add_task(f"{study.name} table {table.name}", total=None)

            def progress(n_done: int, n_units: int) -> None:
                done[:] = n_done, n_units
                bar.update(task, completed=n_done, total=n_units)

            return run_table(study, table, folder=folder, splits=splits, jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        kept = f"{done[0]} of {done[1]} pieces are kept in {folder / f'table{table.name}.jsonl'}"
        err().print(f"Stopped: {kept}. Give the same command again to go on.", markup=False, highlight=False)
        raise typer.Exit(STOPPED) from None


def _show(summary: Summary) -> None:
    for section in sections(summary["rows"]):
        for title, head, rows in narrow_tables(summary, section):
            show_table(title, head, rows)
        for remark in remarks(summary, section):
            out().print(remark, markup=False, highlight=False)
    for line in (agreement_text(summary), *(f"- {note}" for note in summary["notes"])):
        if line:
            out().print(line, markup=False, highlight=False)
