"""``multikernel doctor``: what is wrong with a table, its views and its kernels, and what to do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from multikernel._validation import check_choice
from multikernel.cli import options
from multikernel.cli.app import REFUSED, misuse, plain_errors, show_lines, show_table, stopped
from multikernel.doctor import Diagnosis, diagnose
from multikernel.doctor.diagnose import TASKS
from multikernel.doctor.diagnosis import KERNEL_HEAD, kernel_rows
from multikernel.doctor.kernels import kernels_in
from multikernel.io import tables
from multikernel.io.tables.data import require_column, views_in_names
from multikernel.io.tables.planning import choose_kernels
from multikernel.views.memory import readable_size

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def doctor(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table (.csv, .tsv, .parquet), or an .npz file with a table, views or kernels."
        ),
    ],
    target: options.Target = None,
    views: options.Views = None,
    kernels: options.Kernels = None,
    ignore: options.Ignore = None,
    one_hot: options.OneHot = None,
    task: options.Task = "auto",
    max_samples: Annotated[
        int,
        typer.Option("--max-samples", min=2, help="Maximum number of rows on which kernels are examined."),
    ] = 1000,
    as_json: options.AsJson = False,
) -> None:
    """Say what is wrong with data, views and kernels, and what to do about it.

    Looks for kernels that are not finite, symmetric or positive semidefinite, of different scale, doubled,
    flat or an identity; for missing and extreme values, constant, doubled and numbering columns, text and
    dates; for columns, views and kernels that give the target away; for rare classes; and says what memory a
    fit needs.

    Exit code 0: no errors (there may be warnings and notes); 1: errors, or a file that cannot be read.
    """
    with misuse():
        check_choice("--task", task, TASKS)
    with plain_errors(), stopped("Nothing was changed."):
        X, y, chosen = _open(file, target, views, kernels, ignore=ignore or [], one_hot=one_hot or [])
        found = diagnose(X, y, chosen, task=task, max_samples=max_samples)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
    else:
        _show(found)
    if not found.ok:
        raise typer.Exit(REFUSED)


def _open(
    file: Path, target: str | None, views: Path | None, kernels: str | None, **columns: list[str]
) -> tuple[Any, Any, Any]:
    """X, y and kernels as `diagnose` takes them."""
    matrices = kernels_in(file, target)
    if matrices is not None:
        return (*matrices, "precomputed")
    data = _read(file, target, **columns)
    listed = None if views is None else tables.read_views(views, data)
    return data.X, data.y, choose_kernels(data, listed, kernels)


def _read(file: Path, target: str | None, ignore: list[str], one_hot: list[str]) -> tables.TableData:
    """A table with its target, which may be missing in some rows: a fit would refuse that, a doctor tells."""
    if target is None or file.suffix.lower() == ".npz":
        data = tables.read_table(file, target, ignore=ignore)
    else:
        whole = tables.read_table(file, ignore=ignore)
        require_column(target, whole.columns, whole.name)
        X = whole.X.drop(columns=target)
        views = views_in_names(list(X.columns))
        data = replace(whole, X=X, y=whole.X[target].to_numpy(), view_columns=views, target=target)
    return tables.encode_columns(data, tables.find_categories(data, one_hot))


def _show(found: Diagnosis) -> None:
    show_lines(found.headline)
    for finding in found.findings:
        colour = _COLOURS[finding.level]
        told = f"{escape(finding.subject)}: {escape(finding.what)}"
        remedy = escape(finding.command or finding.remedy)
        Console(soft_wrap=True).print(f"[{colour}]{finding.level}[/] {told}\n    {remedy}", highlight=False)
    if found.kernels:
        show_table("Kernels", KERNEL_HEAD, kernel_rows(found))
    if found.memory:
        show_lines(f"Memory of a fit: {found.memory['text']}.")
        if found.memory["chosen"] != "dense" or any(each.subject == "memory" for each in found.findings):
            _show_choices(found.memory)


def _show_choices(memory: dict[str, Any]) -> None:
    """What can stand for the kernels, for mkl and ridge."""
    chosen = next(each for each in memory["choices"] if each["gram"] == memory["chosen"])
    rows = [
        [
            f"{each['gram']}{' (auto)' if each is chosen else ''}",
            each["dtype"],
            readable_size(each["memory"]),
            readable_size(each["disk"]) if each["disk"] else "",
            "yes" if each["fits"] else "no",
        ]
        for each in memory["choices"]
    ]
    show_table("What may stand for the kernels", ["--gram", "dtype", "memory", "disk", "fits"], rows)
