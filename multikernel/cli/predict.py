"""``multikernel predict``: what a kept model says of new rows."""

import json
from pathlib import Path
from typing import Annotated

import typer

from multikernel._files import check_destination
from multikernel.cli import options
from multikernel.cli.app import misuse, plain_errors, require_folder, say, show_lines, stopped
from multikernel.io import ModelFolder, tables


def predict(
    folder: options.ModelPath,
    new: Annotated[
        Path | None,
        typer.Argument(
            help="Table with the columns of training, in any order; of several tables, --table for each."
        ),
    ] = None,
    several: options.Tables = None,
    id_column: options.Id = None,
    join: Annotated[
        str | None,
        typer.Option(
            "--join",
            help="Samples that not all tables have: outer (if not given) predicts them, where the model "
            "can; inner leaves them out.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the predictions; printed if not given.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add the scores that decide.")] = False,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIMES", help="Of survival: add the probability to live longer, e.g. 12,60."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Predict the rows of a new table.

    Columns are found by their names; others may be there. The output has the number of each row, from 0, or
    the id of each sample where --id names them, and its prediction.
    """
    with misuse():
        times = [] if at is None else _times(at)
        given = tables.Source(new, tables.parse_tables(several or []), id_column, how=join)
    with plain_errors(), stopped("Nothing was written."):
        require_folder(folder)
        if file is not None:
            check_destination(file, keep=given.paths)
        model, record = ModelFolder(folder).load()
        data = tables.read_new(given, record)
        found = tables.predict_table(model, record, data, proba=proba, scores=scores, at=times)
        say(*(f"Note: {note}" for note in found.notes))
        if file is not None:
            tables.write_csv(found.frame, file, keep=given.paths)
    if as_json:
        typer.echo(json.dumps(found.frame.to_dict(orient="records"), ensure_ascii=False))
    elif file is None:
        typer.echo(found.frame.to_csv(index=False), nl=False)
    else:
        show_lines(f"Written: {file} ({len(found.frame)} rows)")


def _times(text: str) -> list[float]:
    """Times with commas between them."""
    try:
        times = sorted({float(part) for part in text.split(",")})
    except ValueError:
        times = []
    if not times or not all(0.0 <= time < float("inf") for time in times):
        raise ValueError(
            f"--at must be times of at least 0 with commas between them, such as 12,60; got {text[:40]!r}."
        )
    return times
