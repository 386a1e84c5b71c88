"""Arguments and options that several commands have, worded once."""

import difflib
from pathlib import Path
from typing import Annotated

import typer

from multikernel.registry import Method, get_method, list_methods

TableFile = Annotated[Path, typer.Argument(help="The table: .csv, .tsv, .csv.gz, .parquet or .npz.")]
Target = Annotated[
    str | None, typer.Option("--target", "-y", help="The column (or array) to learn to predict.")
]
Views = Annotated[
    Path | None, typer.Option("--views", help="TOML file of views: name, columns and kernel of each.")
]
Kernels = Annotated[
    str | None,
    typer.Option(
        "--kernels", help="Kernels with commas between them, e.g. 'linear, gaussian(scale=2)', or auto."
    ),
]
Task = Annotated[
    str, typer.Option("--task", help="What the target is: classes or values; found from it if not given.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="A column to leave out, such as an id; may be repeated."),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        "--one-hot", metavar="COLUMN", help="A column of names: one of 0 and 1 for each; may be repeated."
    ),
]
KeepNa = Annotated[
    bool,
    typer.Option(
        "--keep-na", help="NA, None, null and the like are names, in the target and in --one-hot columns."
    ),
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="A dask scheduler, e.g. tcp://10.0.0.7:8786: all its workers do the work, in place of --jobs.",
    ),
]


def find_method(name: str) -> Method:
    """The method of a name; of one that is not there, what may have been meant."""
    try:
        return get_method(name)
    except ValueError:
        known = [method.name for method in list_methods() if method.predicts]
        near = difflib.get_close_matches(name.casefold().replace("-", "_"), known, 3, 0.4)
        hint = f"Did you mean {', '.join(near)}? " if near else ""
        raise ValueError(
            f"there is no method {name[:40]!r}. {hint}`multikernel fit --help` has all of them."
        ) from None


def named(text: str) -> Path:
    """The folder of a name; an empty one would mean the folder one is in."""
    if not text.strip():
        raise typer.BadParameter("name a folder; got an empty text.")
    return Path(text)
