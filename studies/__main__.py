"""``python -m studies``: a published table or figure, computed again; without arguments, the list of them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel.cli.app import Command, misuse, plain_errors, show_lines, show_table, unexpected
from multikernel.cli.options import Scheduler, count_fits
from multikernel.core.store import on_cluster
from multikernel.datasets.catalogue import MissingDataset
from studies import Study, Table, get_study, list_studies, run_table
from studies.compare import sections
from studies.counts import count_errata, counts_lines, errata_of
from studies.data import data_help, use_folder
from studies.render import agreement_text, json_text, narrow_tables, remarks, stand_ins, time_text
from studies.study import KINDS, Kind, Summary
from studies.study_page import read_summaries

ROOT = Path(__file__).parents[1]

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
    everything: Annotated[
        bool, typer.Option("--all", help="All that the study has; all of all studies if none is given.")
    ] = False,
    own: Annotated[
        str | None, typer.Option("--own", help="Which of our own experiments beside it, instead of a table.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits; as many as the publication has if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")] = 1,
    scheduler: Scheduler = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of your own files <name>.npz; 'help' says which a study takes."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder of the pages; docs/reproduce/STUDY if not given.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Folder of the finished work; studies/STUDY/results if not given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts", help="Only count, in the pages that are there, what is reproduced and what is not."
        ),
    ] = False,
) -> None:
    """Compute a published table or figure again and show our numbers beside the published ones.

    Every finished piece of work is kept: a run that was stopped goes on where it ended when the same command
    is given again, and one with more splits adds only those.
    """
    names: dict[Kind, str | None] = {"table": table, "figure": figure, "own": own}
    with misuse():
        if counts:
            _refuse_beside("--counts", _given(names) | {"--all": everything or None})
            _count([one for one in list_studies() if one.title] if study is None else [_study(study)], folder)
            return
        if study is None and not any(names.values()) and not everything:
            _list()
            return
        if data == Path("help"):
            _print(data_help(_study(study)))
            return
        if everything:
            _refuse_beside("--all", _given(names) | {"--json": as_json or None})
            chosen = list_studies() if study is None else [_study(study)]
            entries = [(one, entry) for one in chosen for entry in one.entries()]
        else:
            entries = [_find(study, names)]
        if data is not None:
            use_folder(data)
    run = partial(_run, folder=folder, results=results, splits=splits, jobs=jobs)
    with plain_errors(), on_cluster(scheduler):
        if everything:
            _run_all(entries, run)
            return
        summary, page = run(*entries[0])
    if as_json:
        typer.echo(json_text(summary), nl=False)
        return
    _show(summary)
    drawn = "" if entries[0][1].figure is None else ", .png"
    _print(f"Processor time: {time_text(summary['cpu_seconds'])}")
    _print(f"Written: {page}.md, .json{drawn}")


def _list() -> None:
    for study in list_studies():
        _print(f"{study.name}: {study.citation}")
        for entry in study.entries():
            _print(f"  --{entry.kind} {entry.name:<9} {entry.title}")
        _print("")


def _study(name: str | None) -> Study:
    if name is None:
        raise ValueError(f"study must be one of {', '.join(s.name for s in list_studies())}; got none.")
    return get_study(name)


def _find(study: str | None, names: dict[Kind, str | None]) -> tuple[Study, Table]:
    chosen = _study(study)
    given = [(kind, names[kind]) for kind in KINDS if names[kind] is not None]
    if len(given) == 1:
        ((kind, name),) = given
        assert name is not None
        return chosen, chosen.find(kind, name)
    told = " and ".join(f"--{kind} {name}" for kind, name in given) or "none"
    raise ValueError(
        f"exactly one of --table, --figure, --own and --all must be given; got {told}. Study {study!r} has "
        f"{chosen.contents()}."
    )


def _given(names: dict[Kind, str | None]) -> dict[str, Any]:
    return {f"--{kind}": name for kind, name in names.items()}


def _refuse_beside(option: str, given: dict[str, Any]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ValueError(f"{option} must stand without {', '.join(given)}; got {' and '.join(named)} too.")


def _count(chosen: list[Study], folder: Path | None) -> None:
    """Print what became of the published tables, figures and numbers, without computing anything."""
    errata = count_errata(ROOT / "docs" / "errata.md")
    for study in chosen:
        summaries = read_summaries(study, folder or ROOT / "docs" / "reproduce" / study.name)
        for line in counts_lines(study, summaries, errata_of(study, errata)):
            _print(line)


def _run(
    study: Study, table: Table, folder: Path | None, results: Path | None, splits: int | None, jobs: int
) -> tuple[Summary, Path]:
    """Compute one table; return its summary, and the path of its page without the suffix."""
    folder = folder or ROOT / "docs" / "reproduce" / study.name
    results = results or ROOT / "studies" / study.name / "results"
    store = results / table.results_name
    with count_fits(f"{study.name} {table.kind} {table.name}", store, "pieces") as progress:
        summary = run_table(
            study, table, folder=folder, results=results, splits=splits, jobs=jobs, progress=progress
        )
    return summary, folder / table.stem


def _run_all(entries: list[tuple[Study, Table]], run: Callable[[Study, Table], tuple[Summary, Path]]) -> None:
    """Compute all tables whose data are at hand, say which are not, and how much time all of it took."""
    seconds, missing = 0, []
    for study, entry in entries:
        name = f"{study.name} --{entry.kind} {entry.name}"
        try:
            summary, page = run(study, entry)
        except MissingDataset as error:
            missing.append(f"Not computed: {name}: {error}")
            continue
        seconds += 0 if entry.shares else summary["cpu_seconds"]  # counted where they were computed
        _print(f"{name}: {page}.md, {time_text(summary['cpu_seconds'])}")
    for line in missing:
        _print(line)
    _print(f"Processor time of all: {time_text(seconds)}")


def _show(summary: Summary) -> None:
    for section in sections(summary["rows"]):
        for title, head, rows in narrow_tables(summary, section):
            show_table(title, head, rows)
        for remark in remarks(summary, section):
            _print(remark)
    for line in (*stand_ins(summary), agreement_text(summary), *(f"- {note}" for note in summary["notes"])):
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
