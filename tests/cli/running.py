"""The command line within this process, for tests."""

from typer.testing import CliRunner

from multikernel.cli import app


def call(*arguments, code=0):
    """What a command prints, wide enough that rich breaks no line that a test looks for."""
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result
