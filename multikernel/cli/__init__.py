"""The command ``multikernel``: parses, calls the library, prints. No logic of its own."""

from multikernel.cli.app import app, main

__all__ = ["app", "main"]
