"""``multikernel predict``: what a kept model says of new rows."""

import json
from pathlib import Path
from typing import Annotated

import typer

from multikernel.cli.console import out, plain_errors, require_folder, say, stopped
from multikernel.io.models import ModelFolder
from multikernel.io.tables import predict_table, read_table, reading_options, write_csv


def predict(
    folder: Annotated[Path, typer.Argument(help="Folder that `multikernel fit` has written.")],
    new: Annotated[Path, typer.Argument(help="Table with the columns of training, in any order.")],
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the predictions; printed if not given.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Add the scores that decide.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the predictions as JSON.")] = False,
) -> None:
    """Predict the rows of a new table.

    Columns are found by their names; others may be there. The output has the number of each row, from 0, and
    its prediction.
    """
    with plain_errors(), stopped("Nothing was written."):
        require_folder(folder)
        model, record = ModelFolder(folder).load()
        data = read_table(new, **reading_options(record))
        found = predict_table(model, record, data, proba=proba, scores=scores)
        say(*(f"Note: {note}" for note in found.notes))
        if file is not None:
            write_csv(found.frame, file, keep=[new])
    if as_json:
        typer.echo(json.dumps(found.frame.to_dict(orient="records"), ensure_ascii=False))
    elif file is None:
        typer.echo(found.frame.to_csv(index=False), nl=False)
    else:
        out().print(f"Written: {file} ({len(found.frame)} rows)", markup=False, highlight=False)
