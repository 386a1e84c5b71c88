"""Arguments and options that several commands have, worded once."""

from pathlib import Path
from typing import Annotated

import typer

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
