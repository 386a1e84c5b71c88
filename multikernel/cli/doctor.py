"""``multikernel doctor``: what is wrong with a table, its views and its kernels, and what to do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from multikernel._validation import check_choice
from multikernel.cli.console import REFUSED, misuse, out, plain_errors, show_table
from multikernel.cli.options import Ignore, Kernels, Target, Task, Views
from multikernel.doctor import Diagnosis, diagnose
from multikernel.doctor.diagnose import TASKS
from multikernel.doctor.diagnosis import KERNEL_HEAD, kernel_rows
from multikernel.doctor.files import kernels_in
from multikernel.tables import TableData, read_table, read_views
from multikernel.tables.data import views_in_names
from multikernel.tables.planning import choose_kernels
from multikernel.tables.reading import require_column

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def doctor(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table (.csv, .tsv, .parquet), or an .npz file with a table, views or kernels."
        ),
    ],
    target: Target = None,
    views: Views = None,
    kernels: Kernels = None,
    ignore: Ignore = None,
    task: Task = "auto",
    max_samples: Annotated[
        int, typer.Option("--max-samples", min=2, help="Kernels are examined on at most so many rows.")
    ] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what is wrong with data, views and kernels, and what to do about it.

    Looks for kernels that are not finite, symmetric or positive semidefinite, of different scale, doubled,
    flat or an identity; for missing values, constant, doubled and numbering columns, text and dates; for
    columns, views and kernels that give the target away; for rare classes; and says what memory a fit needs.

    Exit code 0: no errors (there may be warnings and notes); 1: errors, or a file that cannot be read.
    """
    with misuse():
        check_choice("--task", task, TASKS)
    with plain_errors():
        found = _examine(file, target, views, kernels, ignore or [], task, max_samples)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
    else:
        _show(found)
    if not found.ok:
        raise typer.Exit(REFUSED)


def _examine(
    file: Path,
    target: str | None,
    views: Path | None,
    kernels: str | None,
    ignore: list[str],
    task: str,
    max_samples: int,
) -> Diagnosis:
    options: dict[str, Any] = {"task": task, "max_samples": max_samples}
    matrices = kernels_in(file, target)
    if matrices is not None:
        return diagnose(*matrices, "precomputed", **options)
    data = _read(file, target, ignore)
    chosen = choose_kernels(data, None if views is None else read_views(views, data), kernels)
    return diagnose(data.X, data.y, chosen, **options)


def _read(file: Path, target: str | None, ignore: list[str]) -> TableData:
    """A table with its target, which may be missing in some rows: a fit would refuse that, a doctor tells."""
    if target is None or file.suffix.lower() == ".npz":
        return read_table(file, target, ignore=ignore)
    whole = read_table(file, ignore=ignore)
    require_column(target, whole.columns, whole.name)
    X = whole.X.drop(columns=target)
    views = views_in_names(list(X.columns))
    return replace(whole, X=X, y=whole.X[target].to_numpy(), view_columns=views, target=target)


def _show(found: Diagnosis) -> None:
    console = out()
    console.print(found.headline, markup=False, highlight=False)
    for finding in found.findings:
        colour = _COLOURS[finding.level]
        told = f"{escape(finding.subject)}: {escape(finding.what)}"
        console.print(f"[{colour}]{finding.level}[/] {told}\n    {escape(finding.remedy)}", highlight=False)
    if found.kernels:
        show_table("Kernels", KERNEL_HEAD, kernel_rows(found))
    if found.memory:
        console.print(f"Memory of a fit: {found.memory['text']}.", markup=False, highlight=False)
