"""``multikernel data``: which data sets there are, what they are, and whether they are sound."""

from typing import Annotated

import typer

from multikernel.cli.console import out, plain_errors, show_table
from multikernel.datasets import check_dataset, list_datasets, load_dataset

app = typer.Typer(help="List, show and check data sets.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of a data set; `multikernel data list` shows them.")]


@app.command("list")
def list_() -> None:
    """List the data sets that can be loaded; `show` says what they are."""
    with plain_errors():
        table = list_datasets().reset_index().drop(columns="target")
        show_table("Data sets", list(table.columns), table.astype(str).to_numpy().tolist())


@app.command()
def show(name: Name) -> None:
    """Show what a data set is and which arrays it has."""
    with plain_errors():
        dataset = load_dataset(name)
        out().print(dataset.description, markup=False, highlight=False)
        rows = [[key, str(array.shape), str(array.dtype)] for key, array in dataset.arrays.items()]
        show_table("Arrays", ["name", "shape", "dtype"], rows)


@app.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of data sets; all on disk if none.")
    ] = None,
) -> None:
    """Check data sets against their checksums and the arrays that the manifest promises."""
    with plain_errors():
        table = list_datasets()
        for name in names or table.index[table["where"] != "OpenML"]:
            report = check_dataset(name)
            out().print(f"{name}: sound, sha256 {report['sha256']}", markup=False, highlight=False)
