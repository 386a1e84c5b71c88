"""The commands together, and the options that come before them."""

from typing import Annotated

import typer

import multikernel
from multikernel.cli import compare, data, doctor, fit, predict, report, reproduce
from multikernel.cli.console import unexpected
from multikernel.cli.help import Command, Group

app = typer.Typer(
    name="multikernel",
    help="Learn the kernel: models from tables, data sets, and published tables computed again.",
    no_args_is_help=True,
    cls=Group,
    pretty_exceptions_enable=False,
)
app.command("fit", cls=Command)(fit.fit)
app.command("predict", cls=Command)(predict.predict)
app.command("report", cls=Command)(report.report)
app.command("compare", cls=Command)(compare.compare)
app.command("doctor", cls=Command)(doctor.doctor)
app.add_typer(data.app, name="data")
app.command("reproduce", cls=Command)(reproduce.reproduce)


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
    with unexpected():
        app()
