"""The commands together, and what they share: where text goes, tables, errors without tracebacks.

Exit codes: 0 done, 1 the library refused (missing data, a checksum), 2 the command was not understood,
130 stopped by Ctrl-C.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

import multikernel

REFUSED = 1
MISUSED = 2
STOPPED = 130
TRACEBACK = "MULTIKERNEL_TRACEBACK"
_LONGEST = 3000
# What --help says of each. A command's module, named as it is, is imported when the command is asked for:
# the libraries behind take seconds.
COMMANDS = {
    "fit": "Fit a model to a table and keep it in a folder, for `predict` and `report`.",
    "predict": "Predict the rows of a new table.",
    "report": "Write a report about a model: one page that needs no network.",
    "compare": "Compare methods on a table by paired tests, and with simpler rivals: does learning the "
    "kernel help?",
    "doctor": "Check data, views and kernels for problems, and suggest remedies.",
    "data": "List, show and check data sets.",
    "warmup": "Compile what the usual fits need, so that no later fit waits for it.",
}


def err() -> Console:
    """Return the console for progress and errors: results stay clean when they are piped."""
    return Console(stderr=True, soft_wrap=True)


def show_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    table = Table(title=escape(title), title_justify="left")
    for name in head:
        table.add_column(escape(name))
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console(soft_wrap=True).print(table)


def fail(message: str, code: int) -> typer.Exit:
    """Print an error and return the exit to raise."""
    if len(message) > _LONGEST:  # what was typed or read may be long, and the remedy stands at the end
        message = f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"
    err().print(f"[bold red]Error:[/] {escape(message)}", highlight=False)
    return typer.Exit(code)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn the library's refusals into one message and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        if os.environ.get(TRACEBACK):
            raise
        notes = " ".join(getattr(error, "__notes__", []))
        raise fail(f"{error} {notes}".rstrip(), REFUSED) from None


@contextmanager
def unexpected() -> Iterator[None]:
    """Turn an unexpected error into one line; the variable TRACEBACK shows all of it."""
    try:
        yield
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        fail(
            f"this is a fault of multikernel, or memory or disk gave out: {told} Set {TRACEBACK}=1 to see "
            "where it came from, and please report it.",
            REFUSED,
        )
        raise SystemExit(REFUSED) from None


@contextmanager
def misuse() -> Iterator[None]:
    """Turn a refusal of what was typed into one message and the exit code of misuse."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise fail(str(error), MISUSED) from None


def require_folder(folder: Path) -> None:
    """Refuse a file in place of the folder of a model."""
    if folder.is_file():
        raise ValueError(f"{folder} is a file: give the folder that `multikernel fit` has written.")


@contextmanager
def stopped(message: str) -> Iterator[None]:
    """Turn Ctrl-C into a message of what is left behind, and its exit code."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"Stopped. {message}")
        raise typer.Exit(STOPPED) from None


def show_lines(*lines: str) -> None:
    """Print lines of results."""
    for line in lines:
        Console(soft_wrap=True).print(line, markup=False, highlight=False)


def say(*lines: str) -> None:
    """Print lines that are no results: notes and warnings."""
    for line in lines:
        err().print(line, markup=False, highlight=False)


# --- help pages: a flag takes no value, so that none is shown beside it -------------------------------------


class _PlainFlags:
    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and options; a flag shows nothing where others show what they take."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False) and option.metavar is None:
                option.metavar = ""
        return found


class Command(_PlainFlags, TyperCommand):
    """A command."""


class Group(_PlainFlags, TyperGroup):
    """Commands under one name."""


# --- the commands -------------------------------------------------------------------------------------------


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
