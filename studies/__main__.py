"""``python -m studies``: a published table or figure, computed again; without arguments, the list of them."""

from pathlib import Path
from typing import Annotated

import typer

from multikernel.cli.app import Command, misuse, plain_errors, show_lines, show_table, unexpected
from multikernel.cli.options import Scheduler, count_fits
from multikernel.core.store import on_cluster
from studies import Study, Table, get_study, list_studies, run_table
from studies.compare import sections
from studies.render import agreement_text, json_text, narrow_tables, remarks
from studies.study import Summary

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(cls=Command)
def compute(
    study: Annotated[
        str | None, typer.Argument(help="The published source; all of them are listed if not given.")
    ] = None,
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
    with misuse():
        if study is None and table is None and figure is None:
            _list()
            return
        chosen, entry = _find(study, table, figure)
    target = folder or Path("reproduce") / chosen.name
    with plain_errors(), on_cluster(scheduler):
        summary = _run(chosen, entry, target, splits, jobs)
    if as_json:
        typer.echo(json_text(summary), nl=False)
        return
    _show(summary)
    drawn = "" if entry.figure is None else ", .png"
    _print(f"Written: {target / entry.stem}.md, .json, .jsonl{drawn}")


def _list() -> None:
    for study in list_studies():
        _print(f"{study.name}: {study.citation}")
        for kind, entries in (("table", study.tables), ("figure", study.figures)):
            for name, entry in entries.items():
                _print(f"  --{kind} {name:<9} {entry.title}")
        _print("")


def _find(study: str | None, table: str | None, figure: str | None) -> tuple[Study, Table]:
    if study is None:
        raise ValueError(f"study must be one of {', '.join(s.name for s in list_studies())}; got none.")
    chosen = get_study(study)
    if table is not None and figure is None:
        return chosen, chosen.table(table)
    if figure is not None and table is None:
        return chosen, chosen.figure(figure)
    given = "neither" if table is None else f"--table {table} and --figure {figure}"
    raise ValueError(
        f"exactly one of --table and --figure must be given; got {given}. Study {study!r} has "
        f"{chosen.contents()}."
    )


def _run(study: Study, table: Table, folder: Path, splits: int | None, jobs: int) -> Summary:
    store = folder / f"{table.stem}.jsonl"
    with count_fits(f"{study.name} {table.kind} {table.name}", store, "pieces") as progress:
        return run_table(study, table, folder=folder, splits=splits, jobs=jobs, progress=progress)


def _show(summary: Summary) -> None:
    for section in sections(summary["rows"]):
        for title, head, rows in narrow_tables(summary, section):
            show_table(title, head, rows)
        for remark in remarks(summary, section):
            _print(remark)
    for line in (agreement_text(summary), *(f"- {note}" for note in summary["notes"])):
        if line:
            _print(line)


def _print(line: str) -> None:
    show_lines(line)


def main() -> None:
    """Run the command."""
    with unexpected():
        app(prog_name="python -m studies")


if __name__ == "__main__":
    main()
