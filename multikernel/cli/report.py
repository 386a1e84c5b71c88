"""``multikernel report``: a page about a kept model, and about what it is worth on data."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel._files import check_destination
from multikernel._validation import present_task
from multikernel.cli import options
from multikernel.cli.app import misuse, plain_errors, require_folder, say, show_lines, stopped
from multikernel.core.store import on_cluster
from multikernel.doctor import diagnose
from multikernel.inspection import ALL_PARTS, USUAL_PARTS, evaluate
from multikernel.io import ModelFolder, tables
from multikernel.io.tables.fitting import EVALUATION, REPORT
from multikernel.report import find_renderer, headline, save_report, summarize
from multikernel.rows import count_rows

# Each needs ten fits of several models; the others need fifteen of one in all.
_SLOW = ("without_view", "baselines")
# These look at the model itself, and so at the rows that it was fitted to.
_OF_THE_FIT = ("heat_maps", "embedding", "gate", "why", "cross_view")
DOCTOR = "doctor"  # what is wrong with the data; a part of the report alone


def report(
    folder: options.ModelPath,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            "-d",
            help="The table of the fit; without it, the report shows only what the model stores.",
        ),
    ] = None,
    several: options.Tables = None,
    id_column: options.Id = None,
    target_file: options.TargetFile = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File, ending in .html, .md or .json; FOLDER/report.html if not given."
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="An independent cohort with the same target: the model is scored on it. Of several tables "
            "NAME=FILE, repeated; views may be missing where the model was fitted with missing=.",
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help=f"Parts with commas between them, of {', '.join(ALL_PARTS)} and {DOCTOR}; or all. "
            f"If not given, all but {', '.join(part for part in ALL_PARTS if part not in USUAL_PARTS)}."
        ),
    ] = None,
    baselines: options.Baselines = "usual",
    scoring: options.Scoring = None,
    cv: options.Folds = None,
    groups: options.Groups = None,
    weights: options.Weights = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"Without the parts that need most fits: {', '.join(_SLOW)}.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws folds and samples.")] = 0,
    jobs: options.Jobs = 1,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a report about a model: one page that needs no network.

    With --data (or --table for each of several), copies of the model are fitted to parts of the data: how
    stable are the weights, what does each view add, did learning help? Every finished fit is kept in the
    folder of the model: a run that was stopped goes on where it ended when the same command is given again.
    """
    place = file or folder / REPORT
    with misuse():
        chosen = _parts(parts, quick, data is not None or bool(several))
        rivals = options.read_baselines(baselines)
        computed = "baselines" in chosen and (data is not None or bool(several))
        if baselines != "usual" and not computed:
            raise ValueError("--baselines goes with --data and the part baselines: give these, or drop it.")
        find_renderer(place)
        source = _source(data, several, id_column, target_file)
        judged = {"--test": test, "--scoring": scoring, "--cv": cv, "--groups": groups, "--weights": weights}
        for name, given in judged.items():
            if given is not None and source is None:
                raise ValueError(
                    f"{name} goes with data: give --data, or --table for each of several tables."
                )
        cohort = _cohort_source(test, id_column, target_file) if test else None
        scores = options.read_scoring(scoring)
    with plain_errors(), stopped("No report was written."):
        require_folder(folder)
        kept = ModelFolder(folder)
        check_destination(place, keep=[kept.record_path, *([] if source is None else source.paths)])
        model, record = kept.load()
        summary = summarize(model, title=f"What {type(model).__name__} learned")
        if source is not None:
            used = [column for column in (groups, weights) if column is not None]
            X, y, notes = _read(source, record, chosen, used)
            of_model = [part for part in chosen if part != DOCTOR]
            settings: dict[str, Any] = {"parts": of_model, "random_state": seed, "n_jobs": jobs}
            settings["baselines"] = rivals
            columns = {"groups": groups, "sample_weight": weights}
            settings |= options.judging(scores, cv, columns, partial(_column, source, record, count_rows(X)))
            if cohort is not None:
                settings["X_test"], settings["y_test"] = _read_cohort(cohort, record, used)
            store = folder / EVALUATION
            with on_cluster(scheduler), options.count_fits("fits on parts of the data", store) as progress:
                found = evaluate(model, X, y, **settings, store=store, progress=progress)
            if parts is not None:
                asked = [row for row in found["omitted"] if row["part"] in chosen]
                say(*(f"Left out: {row['part']}: {row['why']}" for row in asked))
            title = f"{summary['title']} from {source.name}"
            checked = _checked(model, X, y) if DOCTOR in chosen else None
            summary = summarize(model, title=title, notes=notes, evaluation=found, doctor=checked)
        save_report(summary, place)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        show_lines(headline(summary), f"Written: {place}")


def _checked(model: Any, X: Any, y: Any) -> Any:
    """What is wrong with the data, by the kernels of the model where it shows them."""
    try:
        return diagnose(X, y, getattr(model, "kernels", "auto"))
    except (TypeError, ValueError) as error:
        say(f"Note: the data were not checked: {error}")
        return None


def _source(
    data: Path | None, several: list[str] | None, id_column: str | None, target_file: Path | None
) -> tables.Source | None:
    """The files of the data; None where there are none."""
    if data is not None or several:
        return tables.Source(data, tables.parse_tables(several or []), id_column, target_file=target_file)
    for name, given in (("--id", id_column), ("--target-file", target_file)):
        if given is not None:
            raise ValueError(f"{name} goes with data: give --data, or --table for each of several tables.")
    return None


def _cohort_source(test: list[str], id_column: str | None, target_file: Path | None) -> tables.Source:
    """The files of the cohort: one table, or several by name."""
    if len(test) == 1 and "=" not in test[0]:
        return tables.Source(Path(test[0]), {}, id_column, target_file=target_file)
    return tables.Source(None, tables.parse_tables(test), id_column, target_file=target_file)


def _column(source: tables.Source, record: dict[str, Any], n: int, name: str) -> Any:
    """A column of the files, of the samples that have the target of the fit."""
    fit = record.get("data") or {}
    read = tables.read_new(replace(source, target=name, how=fit.get("join")), record)
    return options.same_rows(read.y, n, name)


def _read_as_fitted(source: tables.Source, record: dict[str, Any]) -> tables.TableData:
    """The samples of files, with the target of the fit."""
    fit = record.get("data") or {}
    censored = tables.Censored(fit["event"], fit.get("entry")) if fit.get("event") else None
    return tables.read_new(
        replace(source, target=fit.get("target"), how=fit.get("join"), censored=censored), record
    )


def _read_cohort(source: tables.Source, record: dict[str, Any], used: list[str]) -> tuple[Any, Any]:
    """The columns and the target of the cohort, as the model reads them."""
    fit = record.get("data") or {}
    table = _read_as_fitted(source, record)
    X, notes = tables.match_training(record, table, other_use=used)
    say(*notes)
    y = table.target_as(str(present_task(record.get("task"))))
    if y is None:
        raise ValueError(f"{source.name} must have the target {fit.get('target')!r}.")
    return X, y


def _parts(parts: str | None, quick: bool, has_data: bool) -> list[str]:
    """The parts that were asked for."""
    if not has_data and (parts is not None or quick):
        given = "--quick" if parts is None else "--parts"
        raise ValueError(f"{given} computes on a table: give one (--data train.csv).")
    if parts is not None and quick:
        raise ValueError("one of --parts and --quick can be given; got both.")
    if parts is None:
        return [*(part for part in USUAL_PARTS if not (quick and part in _SLOW)), DOCTOR]
    names = [name.strip().replace("-", "_") for name in parts.split(",") if name.strip()]
    if names == ["all"]:
        return [*ALL_PARTS, DOCTOR]
    unknown = [name for name in names if name not in (*ALL_PARTS, DOCTOR)]
    if unknown or not names:
        known = ", ".join((*ALL_PARTS, DOCTOR))
        raise ValueError(f"--parts must be of {known}, or all; got {', '.join(unknown) or 'none'}.")
    return names


def _read(
    source: tables.Source, record: dict[str, Any], parts: list[str], used: list[str]
) -> tuple[Any, Any, list[str]]:
    """The columns and the target of the fit, and what a reader of the report should know of them."""
    fit = record.get("data") or {}
    table = _read_as_fitted(source, record)
    _require_rows(table, fit["n_samples"], parts)
    X, notes = tables.match_training(record, table, other_use=used)
    say(*notes)
    y = table.target_as(str(present_task(record.get("task"))))
    if source.sha256() == fit.get("sha256"):
        return X, y, []
    other = (
        f"The model was fitted to {fit.get('file')} as it was then; what data tell here is of {source.name}."
    )
    is_not = "is not the file" if source.file is not None else "are not the files"
    say(f"Note: {source.name} {is_not} that the model was fitted to.")
    return X, y, [other]


def _require_rows(table: tables.TableData, n_fitted: int, parts: list[str]) -> None:
    """Refuse other rows than those of the fit before anything is computed, where a part needs those."""
    needy = [part for part in parts if part in _OF_THE_FIT]
    if needy and table.n_samples != n_fitted:
        others = ",".join(part for part in ALL_PARTS if part not in _OF_THE_FIT)
        raise ValueError(
            f"{', '.join(needy)} need the {n_fitted} rows that the model was fitted to; {table.name} has "
            f"{table.n_samples}. Give the table of the fit, or leave these parts out (--parts {others})."
        )
