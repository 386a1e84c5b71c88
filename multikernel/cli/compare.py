"""``multikernel compare``: several methods on one table, and whether learning the kernel helps there."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel._files import check_destination, write_whole
from multikernel.cli import options
from multikernel.cli.app import misuse, plain_errors, say, show_lines, show_table
from multikernel.core.store import on_cluster
from multikernel.inspection import Comparison
from multikernel.inspection import compare as compare_models
from multikernel.io import tables
from multikernel.io.tables.fitting import require_no_others
from multikernel.kernels.expressions import parse_kernels
from multikernel.views.view import KERNEL_CHOICES

STORE = "compare.jsonl"


def compare(
    data: options.TableFile = None,
    several: options.Tables = None,
    id_column: options.Id = None,
    join: options.Join = "inner",
    target: options.Target = None,
    target_table: options.TargetTable = None,
    target_file: options.TargetFile = None,
    time: options.Time = None,
    event: options.Event = None,
    entry: options.Entry = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            help="Methods with commas between them, e.g. mkl,EasyMKL,ridge. If not given: mkl, or survival "
            "for censored times.",
            show_default=False,
        ),
    ] = None,
    views: options.Views = None,
    kernels: options.Kernels = None,
    baselines: options.Baselines = "usual",
    no_baselines: Annotated[
        bool, typer.Option("--no-baselines", help="The methods alone, without baselines.")
    ] = False,
    task: options.Task = "auto",
    scoring: options.Scoring = None,
    cv: options.Folds = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    one_hot: options.OneHot = None,
    keep_na: options.KeepNa = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws the folds.")] = 0,
    jobs: options.Jobs = 1,
    scheduler: options.Scheduler = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=options.named,
            metavar="<path>",
            help="Folder of the results; compare/TABLE if not given.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a comparison on other data that is there.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare methods on a table by paired tests, and with simpler rivals: does learning the kernel help?

    All are fitted to the same ten folds. Every finished fold is kept in the folder: a run that was stopped
    goes on where it ended when the same command is given again, and one with more methods adds only those.
    """
    with misuse():
        target, censored = options.read_target(target, time, event, entry)
        if target is None:
            raise ValueError("name the target: by --target, or censored times by --time and --event.")
        names = _names(methods or ("mkl" if censored is None else "survival"))
        scores = options.read_scoring(scoring)
        rivals = options.read_baselines(baselines)
        if no_baselines and baselines != "usual":
            raise ValueError("one of --baselines and --no-baselines can be given; got both.")
        rivals = [] if no_baselines else rivals
        if kernels not in (None, *KERNEL_CHOICES):
            parse_kernels(kernels)
        source = tables.Source(
            data,
            tables.parse_tables(several or []),
            id_column,
            target,
            target_table,
            target_file,
            join,
            tuple([*(ignore or []), *(column for column in (groups, weights) if column is not None)]),
            tuple(one_hot or []),
            keep_na,
            censored,
        )
    place = folder or Path("compare") / source.label
    with plain_errors():
        require_no_others(place, "comparison", STORE, (STORE, "compare.json", "compare.md"))
        for name in (STORE, "compare.json", "compare.md"):
            check_destination(place / name)
        table = tables.read_source(source)
        about = {"file": source.name, "sha256": source.sha256(), "target": target}
        about |= {} if censored is None else {"event": censored.event}
        _require_same_data(place, about, force)
        chosen = None if views is None else tables.read_views(views, table)
        plans = {
            name: tables.plan_fit(table, method=name, views=chosen, kernels=kernels, task=task)
            for name in names
        }
        first = next(iter(plans.values()))
        _require_targets(plans)
        say(*(f"Note: {note}" for note in first.notes))
        models = {name: plan.model for name, plan in plans.items()}
        settings: dict[str, Any] = {"baselines": rivals, "random_state": seed, "n_jobs": jobs}
        columns = {"groups": groups, "sample_weight": weights}
        settings |= options.judging(scores, cv, columns, lambda name: _column(source, name, first.y))
        settings |= {"errors": "omit", "reference": None if rivals else "best"}
        label = "5×2 cv" if cv is None else "cross-validation"
        with on_cluster(scheduler), options.count_fits(label, place / STORE) as progress:
            found = compare_models(
                models, first.X, first.y, **settings, store=place / STORE, progress=progress
            )
        _write(found, about, place)
    _show(found, about, place, as_json)


def _column(source: tables.Source, name: str, y: Any) -> Any:
    """A column of the files that is no feature, of the samples that have the target."""
    ignore = (*(other for other in source.ignore if other != name), str(source.target))
    read = tables.read_source(replace(source, target=name, ignore=ignore, censored=None))
    return options.same_rows(read.y, len(y), name)


def _names(methods: str) -> list[str]:
    """The methods by the names that they have themselves."""
    names = [options.find_method(name.strip()).name for name in methods.split(",") if name.strip()]
    if not names:
        raise ValueError("--methods must name one method at least, such as mkl.")
    return list(dict.fromkeys(names))


def _require_targets(plans: dict[str, tables.FitPlan]) -> None:
    for name, plan in plans.items():
        if plan.y is None:
            raise ValueError(f"{name} is unsupervised: there is no score to compare it by.")


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
    write_whole(folder / "compare.json", (_json(found, about) + "\n").encode())
    page = found.to_markdown(f"Methods on {about['file']}")
    write_whole(folder / "compare.md", (page + "\n").encode())


def _show(found: Comparison, about: dict[str, str], folder: Path, as_json: bool) -> None:
    omitted, notes = found.about.omitted, found.about.notes
    say(*(f"{entry['part']} was left out: {entry['why']}" for entry in omitted), *notes)
    if as_json:
        typer.echo(_json(found, about))
        return
    head, *rows = found.table()
    show_table(f"Methods on {about['file']}", head, rows)
    show_lines(found.answer, found.protocol, f"Written: {folder / 'compare'}.md, .json, .jsonl")
