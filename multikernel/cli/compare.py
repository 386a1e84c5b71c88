"""``multikernel compare``: several methods on one table, and whether learning the kernel helps there."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel.cli.console import misuse, out, plain_errors, say, show_table
from multikernel.cli.options import (
    Ignore,
    KeepNa,
    Kernels,
    OneHot,
    Scheduler,
    TableFile,
    Task,
    Views,
    find_method,
    named,
)
from multikernel.cli.watching import count_fits
from multikernel.core.store import on_cluster
from multikernel.inspection import Comparison
from multikernel.inspection import compare as compare_models
from multikernel.io.tables import (
    FitPlan,
    encode_columns,
    file_sha256,
    find_categories,
    plan_fit,
    read_table,
    read_views,
)
from multikernel.kernels.expressions import parse_kernels

STORE = "compare.jsonl"


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
    keep_na: KeepNa = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws the folds.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")] = 1,
    scheduler: Scheduler = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=named,
            metavar="<path>",
            help="Folder of the results; compare/TABLE if not given.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a comparison on other data that is there.")
    ] = False,
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
        _require_free(place)
        raw = read_table(data, target, ignore=ignore or [], names=one_hot or [], keep_na=keep_na)
        about = {"file": data.name, "sha256": file_sha256(data), "target": target}
        _require_same_data(place, about, force)
        table = encode_columns(raw, find_categories(raw, one_hot or []))
        chosen = None if views is None else read_views(views, table)
        plans = {
            name: plan_fit(table, method=name, views=chosen, kernels=kernels, task=task) for name in names
        }
        first = next(iter(plans.values()))
        _require_targets(plans)
        say(*(f"Note: {note}" for note in first.notes))
        models = {name: plan.model for name, plan in plans.items()}
        options: dict[str, Any] = {"baselines": baselines, "random_state": seed, "n_jobs": jobs}
        options |= {"errors": "omit", "reference": None if baselines else "best"}
        with on_cluster(scheduler), count_fits("5×2 cv", place / STORE) as progress:
            found = compare_models(
                models, first.X, first.y, **options, store=place / STORE, progress=progress
            )
        _write(found, about, place)
    _show(found, about, place, as_json)


def _names(methods: str) -> list[str]:
    """The methods by the names that they have themselves."""
    names = [find_method(name.strip()).name for name in methods.split(",") if name.strip()]
    if not names:
        raise ValueError("--methods must name one method at least, such as mkl.")
    return list(dict.fromkeys(names))


def _require_targets(plans: dict[str, FitPlan]) -> None:
    for name, plan in plans.items():
        if plan.y is None:
            raise ValueError(
                f"{name} learns from the rows alone, so that there is no score to compare it by."
            )


def _require_free(folder: Path) -> None:
    """Refuse a file, and a folder with other things, which are never touched."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"the results are written to a folder; {folder} is a file. Name another by --out.")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    foreign = sorted(name for name in names if not name.startswith((".", "compare.")))
    if foreign and STORE not in names:
        raise ValueError(
            f"the folder {folder} holds other things ({', '.join(foreign[:3])}) and no comparison. Name "
            "another by --out."
        )


def _require_same_data(folder: Path, about: dict[str, str], force: bool) -> None:
    """Refuse to replace a comparison on other data, but by force."""
    try:
        before = json.loads((folder / "compare.json").read_text(encoding="utf-8"))["data"]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError):
        before = None
    if before == about or force:
        return
    known = isinstance(before, dict)
    told = (
        f"of {before.get('target')!r} in {before.get('file')}, as it was then" if known else "on other data"
    )
    raise ValueError(
        f"the folder {folder} holds a comparison {told}. Name another by --out, or replace it by --force."
    )


def _json(found: Comparison, about: dict[str, str]) -> str:
    content = {**found.to_dict(), "data": about}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _write(found: Comparison, about: dict[str, str], folder: Path) -> None:
    (folder / "compare.json").write_text(_json(found, about) + "\n", encoding="utf-8")
    page = found.to_markdown(f"Methods on {about['file']}")
    (folder / "compare.md").write_text(page + "\n", encoding="utf-8")


def _show(found: Comparison, about: dict[str, str], folder: Path, as_json: bool) -> None:
    omitted, notes = found.about.omitted, found.about.notes
    say(*(f"{entry['part']} was left out: {entry['why']}" for entry in omitted), *notes)
    if as_json:
        typer.echo(_json(found, about))
        return
    head, *rows = found.table()
    show_table(f"Methods on {about['file']}", head, rows)
    for line in (found.answer, found.protocol, f"Written: {folder / 'compare'}.md, .json, .jsonl"):
        out().print(line, markup=False, highlight=False)
