"""``multikernel data``: which data sets there are, what they are, and whether they are sound."""

import json
from typing import Annotated, Any

import typer

from multikernel._validation import check_task
from multikernel.cli.app import REFUSED, Command, Group, fail, misuse, plain_errors, show_lines, show_table
from multikernel.datasets import check_dataset, list_datasets, load_dataset
from multikernel.datasets.catalogue import describe_arrays
from multikernel.datasets.loading import TASKS

app = typer.Typer(help="List, show and check data sets.", no_args_is_help=True, cls=Group)

Name = Annotated[str, typer.Argument(help="Name of a data set; `multikernel data list` shows them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


@app.command("list", cls=Command)
def list_(
    views: Annotated[bool, typer.Option("--views", help="Only sets with named views.")] = False,
    task: Annotated[
        str | None,
        typer.Option("--task", help="Only data sets for classification, regression, multilabel or survival."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the data sets that can be loaded; `show` says what they are."""
    with misuse():
        if task is not None:
            check_task(task, TASKS, "--task")
    with plain_errors():
        table = list_datasets(views=views, task=task).reset_index()
    if as_json:
        _print_json([_known(row) for row in table.to_dict(orient="records")])
        return
    # short enough for 80 columns: how many classes, or else what the target is
    table["classes"] = table["classes"].where(table["classes"] > 0, table["task"])
    shown = table[["name", "n", "d", "views", "classes", "source"]].astype(str)
    shown["source"] = shown["source"].replace("scikit-learn", "sklearn")
    shown.loc[table["n"] == 0, ["n", "d"]] = "?"  # a manifest need not say
    show_table("Data sets", list(shown.columns), shown.to_numpy().tolist())


@app.command(cls=Command)
def show(name: Name, as_json: AsJson = False) -> None:
    """Show what a data set is and which arrays it has."""
    with plain_errors():
        dataset = load_dataset(name)
    if as_json:
        about = {key: value for key, value in dataset.fields.items() if key != "arrays"}
        found = {
            "name": name,
            "sha256": dataset.sha256,
            "views": {view: len(columns) for view, columns in dataset.view_columns.items()},
            "kernels": list(dataset.kernels),
            "arrays": describe_arrays(dataset.arrays),
        }
        _print_json({**about, **found})
        return
    show_lines(dataset.description)
    rows = [[key, str(array.shape), str(array.dtype)] for key, array in dataset.arrays.items()]
    show_table("Arrays", ["name", "shape", "dtype"], rows)


@app.command(cls=Command)
def check(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of data sets; all on disk if none.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check data sets against their checksums and the arrays that the manifest promises.

    All are checked; the exit code is 1 if one of them is not sound.
    """
    with plain_errors():
        chosen = names or list(list_datasets(on_disk=True).index)
    reports = [_check(name, as_json) for name in chosen]
    if as_json:
        _print_json(reports)
    if not all(report["sound"] for report in reports):
        raise typer.Exit(REFUSED)


def _check(name: str, as_json: bool) -> dict[str, Any]:
    try:
        _require_on_disk(name)
        report = check_dataset(name)
    except (ValueError, OSError) as error:
        fail(str(error), REFUSED)
        return {"name": name, "sound": False, "error": str(error)}
    if not as_json:
        show_lines(f"{name}: sound, sha256 {report['sha256']}")
    return {"name": name, "sound": True, **report}


def _require_on_disk(name: str) -> None:
    """What is known but not on disk has nothing to check."""
    known = list_datasets()
    if name in known.index and name not in list_datasets(on_disk=True).index:
        source = known.loc[name, "source"]
        raise ValueError(
            f"data set {name!r} comes from {source} and is not on disk: there is nothing to check. "
            f"`multikernel data show {name}` loads it."
        )


def _known(row: dict[Any, Any]) -> dict[Any, Any]:
    """A row of the list; a manifest need not say how large a set is."""
    return row if row["n"] else {**row, "n": None, "d": None}


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))
