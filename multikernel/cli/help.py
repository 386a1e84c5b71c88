"""The help pages: a flag takes no value, so that none is shown beside it."""

from typing import Any

from typer.core import TyperCommand, TyperGroup


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
