"""The command ``multikernel``: parses, calls the library, prints. No logic of its own."""

try:
    from multikernel.cli.app import app, main
except KeyboardInterrupt:  # Ctrl-C before there is a command that could say what it leaves behind
    raise SystemExit(130) from None

__all__ = ["app", "main"]
