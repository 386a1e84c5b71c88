"""``multikernel compare``: several methods on one table, and whether learning the kernel helps there."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel._resumable import progress_bar
from multikernel.cli.console import STOPPED, misuse, out, plain_errors, say, show_table
from multikernel.cli.options import Ignore, Kernels, OneHot, TableFile, Task, Views
from multikernel.evaluation import compare_models, comparison_markdown, comparison_table
from multikernel.kernels.expressions import parse_kernels
from multikernel.methods import get_method
from multikernel.tables import encode_columns, find_categories, plan_fit, read_table, read_views


def compare(
    data: TableFile,
    target: Annotated[str, typer.Option("--target", "-y", help="The column (or array) to learn to predict.")],
    methods: Annotated[
        str, typer.Option("--methods", "-m", help="Methods with commas between them, e.g. mkl,EasyMKL,ridge.")
    ] = "mkl",
    views: Views = None,
    kernels: Kernels = None,
    baselines: Annotated[
        bool, typer.Option(help="Also the best single view, the plain sum and a tuned RBF machine.")
    ] = True,
    task: Task = "auto",
    ignore: Ignore = None,
    one_hot: OneHot = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the folds.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")] = 1,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the results; compare/TABLE if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare methods on a table by paired tests, and with simpler rivals: does learning the kernel help?

    All are fitted to the same ten folds. Every finished fold is kept in the folder: a run that was stopped
    goes on where it ended when the same command is given again, and one with more methods adds only those.
    """
    with misuse():
        names = _names(methods)
        if kernels not in (None, "auto", "precomputed"):
            parse_kernels(kernels)
    place = folder or Path("compare") / data.name.split(".")[0]
    with plain_errors():
        raw = read_table(data, target, ignore=ignore or [])
        table = encode_columns(raw, find_categories(raw, one_hot or []))
        chosen = None if views is None else read_views(views, table)
        plans = {
            name: plan_fit(table, method=name, views=chosen, kernels=kernels, task=task) for name in names
        }
        first = next(iter(plans.values()))
        say(*first.notes)
        models = {name: plan.model for name, plan in plans.items()}
        options = {"baselines": baselines, "random_state": seed, "n_jobs": jobs}
        found = _run(models, (first.X, first.y), options, place / "compare.jsonl")
        _write(found, place, f"Methods on {data.name}")
    _show(found, place, data.name, as_json)


def _names(methods: str) -> list[str]:
    """The methods by the names that they have themselves."""
    names = [get_method(name.strip()).name for name in methods.split(",") if name.strip()]
    if not names:
        raise ValueError("--methods must name one method at least, such as mkl.")
    return list(dict.fromkeys(names))


def _run(
    models: dict[str, Any], data: tuple[Any, Any], options: dict[str, Any], store: Path
) -> dict[str, Any]:
    done = [0, 0]
    try:
        with progress_bar("5×2 cv") as move:

            def progress(n_done: int, n_units: int) -> None:
                done[:] = n_done, n_units
                move(n_done, n_units)

            return compare_models(models, *data, **options, store=store, progress=progress)
    except KeyboardInterrupt:
        kept = f"{done[0]} of {done[1]} fits are kept in {store}"
        say(f"Stopped: {kept}. Give the same command again to go on.")
        raise typer.Exit(STOPPED) from None


def _write(found: dict[str, Any], folder: Path, title: str) -> None:
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "compare.json").write_text(text + "\n", encoding="utf-8")
    (folder / "compare.md").write_text(comparison_markdown(found, title), encoding="utf-8")


def _show(found: dict[str, Any], folder: Path, name: str, as_json: bool) -> None:
    say(*(f"{entry['part']} was left out: {entry['why']}" for entry in found["omitted"]), *found["notes"])
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
        return
    show_table(f"Methods on {name}", *comparison_table(found))
    for line in (found["answer"], found["protocol"], f"Written: {folder / 'compare'}.md, .json, .jsonl"):
        out().print(line, markup=False, highlight=False)
