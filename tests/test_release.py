"""What is published beside the code says the same as pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import multikernel
from release.oldest import main as print_oldest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "release" / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == multikernel.__version__
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f'\n  version: "{PROJECT["version"]}"\n' in RECIPE


def test_the_recipe_requires_what_pyproject_requires():
    run = RECIPE.partition("  run:\n")[2].partition("\ntests:")[0].replace("matplotlib-base", "matplotlib")
    stated = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines() if line]
    assert stated == ["python>=${{python_min}}", *PROJECT["dependencies"]]


def test_every_requirement_has_a_lowest_version(capsys):
    assert print_oldest() == 0
    pins = capsys.readouterr().out.splitlines()
    assert len(pins) >= len(PROJECT["dependencies"])
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9.]*", pin) for pin in pins)
