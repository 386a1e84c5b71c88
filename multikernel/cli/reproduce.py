"""``multikernel reproduce``: a published table or figure, computed again."""

from pathlib import Path
from typing import Annotated

import typer

from multikernel._resumable import on_cluster
from multikernel.cli.console import MISUSED, fail, out, plain_errors, show_table
from multikernel.cli.options import Scheduler
from multikernel.cli.watching import count_fits
from multikernel.reproduce import Study, Table, get_study, list_studies, run_table
from multikernel.reproduce.compare import sections
from multikernel.reproduce.render import agreement_text, json_text, narrow_tables, remarks
from multikernel.reproduce.study import Summary


def _described(study: Study) -> str:
    return ", ".join(
        [f"{study.name}: {', '.join(study.tables)}", *(f"figure {name}" for name in study.figures)]
    )


_STUDIES = "; ".join(map(_described, list_studies()))


def reproduce(
    study: Annotated[str, typer.Argument(help=f"The published source, with its tables ({_STUDIES}).")],
    table: Annotated[
        str | None, typer.Option("--table", "-t", help="Which of its tables or experiments.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option("--figure", "-f", help="Which of its figures, instead of a table.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits; as many as the publication has if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")] = 1,
    scheduler: Scheduler = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder of the results; reproduce/STUDY if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Compute a published table or figure again and show our numbers beside the published ones.

    Every finished piece of work is kept in the folder: a run that was stopped goes on where it ended when
    the same command is given again, and one with more splits adds only those.
    """
    chosen, chosen_table = _find(study, table, figure)
    target = folder or Path("reproduce") / chosen.name
    with plain_errors(), on_cluster(scheduler):
        summary = _run(chosen, chosen_table, target, splits, jobs)
    if as_json:
        typer.echo(json_text(summary), nl=False)
    else:
        _show(summary)
        drawn = "" if chosen_table.figure is None else ", .png"
        written = f"Written: {target / chosen_table.stem}.md, .json, .jsonl{drawn}"
        out().print(written, markup=False, highlight=False)


def _find(study: str, table: str | None, figure: str | None) -> tuple[Study, Table]:
    try:
        chosen = get_study(study)
        if table is not None and figure is None:
            return chosen, chosen.table(table)
        if figure is not None and table is None:
            return chosen, chosen.figure(figure)
        given = "neither" if table is None else f"--table {table} and --figure {figure}"
        raise ValueError(f"exactly one of --table and --figure must be given; got {given}.")
    except ValueError as error:
        raise fail(str(error), MISUSED) from None


def _run(study: Study, table: Table, folder: Path, splits: int | None, jobs: int) -> Summary:
    store = folder / f"{table.stem}.jsonl"
    with count_fits(f"{study.name} {table.kind} {table.name}", store, "pieces") as progress:
        return run_table(study, table, folder=folder, splits=splits, jobs=jobs, progress=progress)


def _show(summary: Summary) -> None:
    for section in sections(summary["rows"]):
        for title, head, rows in narrow_tables(summary, section):
            show_table(title, head, rows)
        for remark in remarks(summary, section):
            out().print(remark, markup=False, highlight=False)
    for line in (agreement_text(summary), *(f"- {note}" for note in summary["notes"])):
        if line:
            out().print(line, markup=False, highlight=False)
