"""The two tiers of tests: what runs when, and that the fast tier says what it leaves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
from hypothesis import settings

def test_plain():
    assert settings().max_examples == {examples}

@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_variants(number):
    pass

@pytest.mark.thorough
def test_long():
    pass
"""


@pytest.mark.parametrize(
    ("arguments", "examples", "passed", "left"),
    [
        ([], 20, 2, 2),
        pytest.param(["--all"], 200, 4, 0, marks=pytest.mark.thorough),
        pytest.param(["-m", "thorough"], 20, 2, 0, marks=pytest.mark.thorough),
        pytest.param(["test_it.py::test_long"], 20, 1, 0, marks=pytest.mark.thorough),
        pytest.param(["-k", "variants"], 20, 1, 1, marks=pytest.mark.thorough),
        pytest.param(["-n", "2"], 20, 2, 2, marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_thorough_tests_are_scheduled(tmp_path, arguments, examples, passed, left):
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS.format(examples=examples), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and f"{passed} passed" in done.stdout, done.stdout + done.stderr
    assert (f"fast tier: {left} tests are left to make test-all" in done.stdout) == (left > 0)
