"""``multikernel doctor``: what is wrong with a table, its views and its kernels, and what to do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape

from multikernel._validation import check_task
from multikernel.cli import options
from multikernel.cli.app import REFUSED, misuse, plain_errors, show_lines, show_table, stopped
from multikernel.doctor import Diagnosis, diagnose
from multikernel.doctor.diagnose import TASKS
from multikernel.doctor.diagnosis import KERNEL_HEAD, TABLE_HEAD, kernel_rows, table_rows
from multikernel.doctor.kernels import kernels_in
from multikernel.io import tables
from multikernel.io.tables.data import require_column, views_in_names
from multikernel.io.tables.planning import choose_kernels
from multikernel.views.memory import readable_size

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def doctor(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A table (.csv, .tsv, .parquet), or an .npz file with a table, views or kernels; or give "
            "several tables by --table."
        ),
    ] = None,
    several: options.Tables = None,
    id_column: options.Id = None,
    join: options.Join = "inner",
    target: options.Target = None,
    target_table: options.TargetTable = None,
    target_file: options.TargetFile = None,
    time: options.Time = None,
    event: options.Event = None,
    entry: options.Entry = None,
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
    """Check data, views and kernels for problems, and suggest remedies.

    Looks for kernels that are not finite, symmetric or positive semidefinite, of different scale, doubled,
    flat or an identity; for missing and extreme values, constant, doubled and numbering columns, text and
    dates; for columns, views and kernels that give the target away; for rare classes; and says what memory a
    fit needs.

    Exit code 0: no errors (there may be warnings and notes); 1: errors, or a file that cannot be read.
    """
    with misuse():
        check_task(task, TASKS, "--task")
        target, censored = options.read_target(target, time, event, entry)
        source = tables.Source(
            file,
            tables.parse_tables(several or []),
            id_column,
            target,
            target_table,
            target_file,
            join,
            tuple(ignore or []),
            tuple(one_hot or []),
            censored=censored,
        )
    with plain_errors(), stopped("Nothing was changed."):
        X, y, chosen = _open(source, views, kernels)
        found = diagnose(X, y, chosen, task=task, max_samples=max_samples)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
    else:
        _show(found)
        if views is None and kernels is None:
            _tell_of_texts(X)
    if not found.ok:
        raise typer.Exit(REFUSED)


def _open(source: tables.Source, views: Path | None, kernels: str | None) -> tuple[Any, Any, Any]:
    """X, y and kernels as `diagnose` takes them."""
    matrices = None if source.file is None else kernels_in(source.file, source.target)
    if matrices is not None:
        return (*matrices, "precomputed")
    data = tables.read_source(source) if source.file is None else _read(source.file, source)
    listed = None if views is None else tables.read_views(views, data)
    return data.X, data.y, choose_kernels(data, listed, kernels)


def _read(file: Path, source: tables.Source) -> tables.TableData:
    """A table with its target, which may be missing in some rows: a fit would refuse that, a doctor tells."""
    if source.target is None or file.suffix.lower() == ".npz":
        return tables.read_source(source)
    whole = tables.read_source(replace(source, target=None, censored=None))
    require_column(source.target, whole.columns, whole.name)
    if source.censored is not None:
        return _with_times(whole, source.target, source.censored)
    X = whole.X.drop(columns=source.target)
    views = views_in_names(list(X.columns))
    y = whole.X[source.target].to_numpy()
    return replace(whole, X=X, y=y, view_columns=views, target=source.target)


def _with_times(whole: tables.TableData, time: str, censored: tables.Censored) -> tables.TableData:
    """A table with the times and events as they stand in it."""
    event, value = censored.event_column(whole.columns, whole.name)
    own = [time, *censored.columns(whole.columns, whole.name)]
    seen = whole.X[event]
    y: dict[str, Any] = {
        "event": (seen if value is None else seen.astype(str).str.strip() == value).to_numpy()
    }
    y["time"] = whole.X[time].to_numpy()
    if censored.entry is not None:
        y["entry"] = whole.X[censored.entry].to_numpy()
    X = whole.X.drop(columns=own)
    views = views_in_names(list(X.columns))
    return replace(whole, X=X, y=y, view_columns=views, target=time, censored=censored)  # type: ignore[arg-type]


def _show(found: Diagnosis) -> None:
    show_lines(found.headline)
    if found.tables:
        show_table("Tables", TABLE_HEAD, table_rows(found))
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


def _tell_of_texts(X: Any) -> None:
    """Models in Python encode text by themselves; the commands ask for it."""
    if not isinstance(X, pd.DataFrame):
        return
    texts = [str(name) for name, dtype in X.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    if texts:
        named = ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")
        show_lines(
            f"`multikernel fit` needs numbers, not text or dates ({named}): give "
            "them to --one-hot or --ignore, or to a view whose kernel reads them (--views)."
        )


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
    show_table("Kernel representations", ["--gram", "dtype", "memory", "disk", "fits"], rows)
