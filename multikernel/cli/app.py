"""The commands together, and the options that come before them."""

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

import multikernel
from multikernel.cli.console import Command, Group, unexpected

# What --help says of each. A command's module, named as it is, is imported when the command is asked for:
# the libraries behind take seconds.
COMMANDS = {
    "fit": "Fit a model to a table and keep it in a folder, for `predict` and `report`.",
    "predict": "Predict the rows of a new table.",
    "report": "Write a report about a model: one page that needs no network.",
    "compare": "Compare methods on a table by paired tests, and with simpler rivals: does learning the "
    "kernel help?",
    "doctor": "Say what is wrong with data, views and kernels, and what to do about it.",
    "data": "List, show and check data sets.",
}


@cache
def load_command(name: str) -> Any:
    """The command of a name, with its options."""
    module = import_module(f"multikernel.cli.{name}")
    if isinstance(getattr(module, "app", None), typer.Typer):
        return typer.main.get_group(module.app)
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=Command)(getattr(module, name))
    return typer.main.get_command(alone)


class _Commands(Group):
    """All commands by name and first sentence; the one that is run is imported."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands.update({name: Command(name, help=text) for name, text in COMMANDS.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that is asked for."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in COMMANDS else command, rest


app = typer.Typer(
    name="multikernel",
    help="Learn the kernel: models from tables, comparisons and reports, data sets.",
    no_args_is_help=True,
    cls=_Commands,
    pretty_exceptions_enable=False,
)


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
