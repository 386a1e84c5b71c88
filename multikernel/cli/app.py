"""The commands together, and the options that come before them."""

from typing import Annotated

import typer

import multikernel
from multikernel.cli import compare, data, doctor, fit, predict, report, reproduce

app = typer.Typer(
    name="multikernel",
    help="Learn the kernel: models from tables, data sets, and published tables computed again.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("doctor")(doctor.doctor)
app.add_typer(data.app, name="data")
app.command("reproduce")(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"multikernel {multikernel.__version__}")
        raise typer.Exit


@app.callback()
def _before_every_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app()
