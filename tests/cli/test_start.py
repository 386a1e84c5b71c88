"""The start of the command line: quick where nothing is computed, quiet where it is stopped."""

import inspect
import subprocess
import sys

import pytest
import typer

import multikernel
from multikernel.cli.app import COMMANDS, load_command

_START = """
import sys, runpy
sys.argv = ["multikernel", {argument!r}]
try:
    runpy.run_module("multikernel", run_name="__main__")
except SystemExit as end:
    code = end.code
print([name for name in ("numpy", "pandas", "sklearn", "numba") if name in sys.modules], code)
"""
_STOPPED = """
import sys
class Finder:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
sys.argv = ["multikernel", "predict", "--help"]
from multikernel.cli import main
main()
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_import_no_numerics(argument):
    assert run(_START.format(argument=argument)).stdout.splitlines()[-1] == "[] 0"


@pytest.mark.parametrize("module", ["typer", "multikernel.io.models"])
def test_ctrl_c_while_starting_leaves_no_traceback(module):
    ended = run(_STOPPED.format(module=module))
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr and not ended.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(name):
    command = load_command(name)
    assert isinstance(command, typer.core.TyperGroup if name == "data" else typer.core.TyperCommand)
    assert inspect.cleandoc(command.help).split("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_names_are_imported_when_they_are_asked_for():
    assert all(getattr(multikernel, name).__name__ == f"multikernel.{name}" for name in multikernel._PACKAGES)
    assert set(multikernel.__all__) < set(dir(multikernel))
    for name in multikernel.__all__:
        assert getattr(multikernel, name).__name__ == name
    assert set(multikernel._HOMES) == set(multikernel.__all__)
    assert len(multikernel.__all__) <= 28, "the top level is for what most programs need; all else has a room"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        multikernel.nonsense  # noqa: B018


def test_a_name_that_is_gone_says_what_takes_its_place():
    with pytest.raises(ImportError, match=r'^MulticlassSVC is now MKLClassifier\(multiclass="joint"\)'):
        exec("from multikernel import MulticlassSVC")
    assert "MulticlassSVC" not in dir(multikernel)


@pytest.mark.parametrize("name", multikernel._NEW_HOMES)
def test_names_that_left_the_top_level_say_where_they_are(name):
    room = f"multikernel.{multikernel._NEW_HOMES[name]}"
    line = f"from {room} import {name}"
    with pytest.raises(ImportError, match=f"^{name} is in {room}: {line}$"):
        exec(f"from multikernel import {name}")
    with pytest.raises(AttributeError, match=line):
        getattr(multikernel, name)
    assert not hasattr(multikernel, name)
    exec(line)
    assert name not in dir(multikernel)
