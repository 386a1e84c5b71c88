"""``multikernel fit``: a model from a table, kept in a folder."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel._files import check_destination
from multikernel._validation import check_choice, check_rank, check_task
from multikernel.cli import options
from multikernel.cli.app import STOPPED, err, misuse, plain_errors, say, show_lines, show_table, stopped
from multikernel.core.store import on_cluster
from multikernel.io import ModelFolder, tables
from multikernel.kernels.expressions import parse_kernels
from multikernel.registry import TASKS, list_methods
from multikernel.report import summarize
from multikernel.report.words import view_label
from multikernel.views.low_rank import GRAM_ROUTES
from multikernel.views.view import KERNEL_CHOICES

_METHODS = ", ".join(method.name for method in list_methods() if method.predicts)


def fit(
    folder: Annotated[
        Path,
        typer.Option("--out", "-o", parser=options.named, metavar="<path>", help="Folder for the model."),
    ],
    train: options.TableFile = None,
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
    method: Annotated[
        str | None,
        typer.Option(
            help=f"How to learn: {_METHODS}. If not given: mkl, or survival for censored times.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, e.g. C=10."),
    ] = None,
    gram: Annotated[
        str | None,
        typer.Option(
            help=f"Kernel representation: {', '.join(GRAM_ROUTES)}. With auto, Gram matrices (dense) up to "
            "10 000 rows; beyond, working sets of rows with exact kernels, or factors (low_rank). memmap "
            "keeps the matrices in a file."
        ),
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(metavar="N", help="Of factors: columns for each view, or, below 1, their trace error."),
    ] = None,
    task: options.Task = "auto",
    ignore: options.Ignore = None,
    one_hot: options.OneHot = None,
    keep_na: options.KeepNa = False,
    tuned: Annotated[
        bool, typer.Option("--tune", help="Choose the regularisation by cross-validation.")
    ] = False,
    folds: Annotated[int, typer.Option(min=2, help="Folds of --tune.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes of --tune.")] = 1,
    scheduler: options.Scheduler = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit a model to a table and keep it in a folder, for `predict` and `report`.

    Several tables of the same samples are given by --table, and aligned by the column that --id names.

    The folder has model.skops and fit.json. Ctrl-C stops at the next iteration and keeps the model as it
    is by then; a second one ends at once. What --tune has computed is kept in either case, and the same
    command goes on from there.
    """
    with misuse():
        parameters = _with_factors(tables.parse_parameters(settings or []), gram, rank)
        if method is not None:
            options.find_method(method)
        target, censored = options.read_target(target, time, event, entry)
        check_task(task, ("auto", *TASKS), "--task")
        if kernels not in (None, *KERNEL_CHOICES):
            parse_kernels(kernels)
        source = tables.Source(
            train,
            tables.parse_tables(several or []),
            id_column,
            target,
            target_table,
            target_file,
            join,
            tuple(ignore or []),
            tuple(one_hot or []),
            keep_na,
            censored,
        )
    with plain_errors(), stopped(f"No model was written to {folder}."):
        tables.require_free(folder, force=force)
        check_destination(ModelFolder(folder).model_path)
        data = tables.read_source(source)
        chosen = None if views is None else tables.read_views(views, data)
        plan = tables.plan_fit(
            data, method=method, views=chosen, kernels=kernels, task=task, parameters=parameters
        )
        say(*(f"Note: {note}" for note in (*plan.notes, *([] if tuned else tables.doubts_of_scale(plan)))))
        with on_cluster(scheduler if tuned else None):
            tuning = _tune(plan, folder, folds, jobs) if tuned else None
        if tuning is not None:
            best = {tuning.parameter: tuning.best}
            plan = replace(plan, model=plan.with_parameters(**best), parameters=plan.parameters | best)
        fitted = _fit(plan)
        record = tables.make_record(
            plan, fitted, sha256=source.sha256(), source=source, tuning=tuning, keep_na=keep_na
        )
        record["summary"] = summarize(fitted.model) if hasattr(fitted.model, "kernel_weights_") else None
        _save(folder, fitted, record)
    _show(record, tuning, folder, as_json)


def _with_factors(parameters: dict[str, Any], gram: str | None, rank: str | None) -> dict[str, Any]:
    """The parameters with those that --gram and --rank give."""
    given: dict[str, Any] = {}
    if gram is not None:
        given["gram"] = check_choice("--gram", gram, GRAM_ROUTES)
    if rank is not None:
        given["rank"] = check_rank("--rank", tables.parse_parameters([f"rank={rank}"])["rank"])
    for name in given.keys() & parameters.keys():
        raise ValueError(f"{name} must be given once: by --{name}, or by --set {name}.")
    found = ({"gram": "low_rank"} if rank is not None else {}) | parameters | given
    if rank is not None and found["gram"] in ("dense", "memmap"):
        raise ValueError(f"--rank is that of factors; gram {found['gram']!r} has none. Use --gram low_rank.")
    return found


def _save(folder: Path, fitted: tables.Fitted, record: dict[str, Any]) -> None:
    kept = ModelFolder(folder)
    replaces = kept.record_path.exists()
    kept.save(fitted.model, record)
    removed = tables.remove_stale(folder, tuned=record["tuning"] is not None) if replaces else []
    if removed:
        say(f"Note: removed from {folder}, as of the model before: {', '.join(removed)}.")


def _tune(plan: tables.FitPlan, folder: Path, folds: int, jobs: int) -> tables.Tuning:
    store = folder / tables.TUNING
    with options.count_fits(f"tuning {plan.method.name}", store) as progress:
        return tables.tune(plan, store, folds=folds, jobs=jobs, progress=progress)


def _fit(plan: tables.FitPlan) -> tables.Fitted:
    if not tables.takes_callback(plan.model):
        with err().status(f"fitting {plan.method.name}"):
            return tables.fit_plan(plan)
    tol = plan.model.get_params(deep=False).get("tol")
    with options.watch_fit(f"fitting {plan.method.name}", tol) as step:
        return tables.fit_plan(plan, on_step=step)


def _show(record: dict[str, Any], tuning: tables.Tuning | None, folder: Path, as_json: bool) -> None:
    say(*(f"Warning: {warning}" for warning in record["warnings"]))
    if as_json:
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        _show_results(record, tuning)
        show_lines(f"Written: {folder}")
    if record["status"] == "interrupted":
        gap = "" if record["gap"] is None else f" with a gap of {float(record['gap']):.1e}"
        say(
            f"Stopped before the end: the model as it was then{gap} is kept in {folder}. The same command "
            "fits it again from the beginning."
        )
        raise typer.Exit(STOPPED)


def _show_results(record: dict[str, Any], tuning: tables.Tuning | None) -> None:
    if tuning is not None:
        rows = [
            [f"{each['value']:g}", f"{each['score']:.4f}", f"{each['sd']:.4f}"]
            for each in tuning.to_dict()["candidates"]
        ]
        title = f"Cross-validation: {tuning.parameter} = {tuning.best:g} is taken"
        show_table(title, [tuning.parameter, tuning.metric, "s.d."], rows)
    summary = record["summary"]
    if summary is not None:
        rows = [[view_label(w), _number(w["weight"]), _number(w["share"])] for w in summary["weights"]]
        show_table("Weight of each view", ["view", "weight", "share"], rows)
        _show_factors(summary.get("approximation") or [])
    if record["gram"] not in (None, "dense"):
        show_lines(f"Memory of the fit: {record['memory']}.")
    data, gap = record["data"], record["gap"]
    solver = "optimal" if summary is None else summary["convergence"]["status"]
    ended = record["status"] if solver in ("optimal", "unknown") else f"ended as {solver!r}"
    certificate = "" if not isinstance(gap, float) else f", gap {gap:.1e}"
    show_lines(
        f"{record['model']} on {data['n_samples']} {_counted(data)} of {data['file']}: {ended} in "
        f"{record['seconds']:.1f} s{certificate}."
    )


def _counted(data: dict[str, Any]) -> str:
    return "samples" if data["kind"] == "tables" else "rows"


def _show_factors(approximation: list[dict[str, Any]]) -> None:
    """What stood for the kernel of each view, where it was not its Gram matrix."""
    rows = [
        [each["view"], str(each["approximation"]), str(each["rank"]), _number(each["trace_error"])]
        for each in approximation
    ]
    if rows:
        show_table("Factors of low rank", ["view", "approximation", "rank", "trace error"], rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
