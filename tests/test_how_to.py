"""The pages on how to add something, tried word by word in a copy of the repository."""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(page for page in (ROOT / "docs" / "how_to").glob("*.md") if page.stem != "index")
FENCE = r"\n+ *```\w*\n(?P<body>.*?)\n *```$"
STEPS = re.compile(
    rf"New file `(?P<new>[^`]+)`:{FENCE.replace('body', 'new_body')}"
    rf"|At the end of `(?P<end>[^`]+)`:{FENCE.replace('body', 'end_body')}"
    rf"|In `(?P<after>[^`]+)`, after `(?P<line>[^`]+)`:{FENCE.replace('body', 'after_body')}"
    r"|In `(?P<changed>[^`]+)`, replace `(?P<old>.+?)` by `(?P<text>.+?)`\.$"
    r"|```sh\n(?P<commands>.*?)\n *```$",
    re.MULTILINE | re.DOTALL,
)


def body_of(step, name):
    """The lines of a block without the indent of the list that it stands in."""
    text = step[name]
    indent = len(re.search(r"^( *)```", step[0], re.MULTILINE)[1])
    return "".join(line[indent:] + "\n" for line in text.split("\n"))


def do(step, folder):
    """Do what a step says; return its commands."""
    if step["commands"] is not None:
        return textwrap.dedent(step["commands"]).split("\n")
    if step["new"]:
        path = folder / step["new"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(body_of(step, "new_body"), encoding="utf-8")
        return []
    path = folder / (step["end"] or step["after"] or step["changed"])
    text = path.read_text(encoding="utf-8")
    if step["end"]:
        text += body_of(step, "end_body")
    elif step["after"]:
        line = next(line for line in text.split("\n") if line.strip().startswith(step["line"]))
        text = text.replace(f"{line}\n", f"{line}\n{body_of(step, 'after_body')}", 1)
    else:
        assert step["old"] in text, step[0]
        text = text.replace(step["old"], step["text"], 1)
    path.write_text(text, encoding="utf-8")
    return []


@pytest.fixture
def copy(tmp_path):
    """The files of the repository that are tracked, without the published results."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in filter(None, listed):
        if (ROOT / name).is_file() and "/results/" not in name:
            target = tmp_path / "copy" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    return tmp_path / "copy"


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_works_at_once(page, copy):
    commands = []
    for step in STEPS.finditer(page.read_text(encoding="utf-8")):
        commands += do(step, copy)
    assert commands
    for command in commands:
        first, *rest = shlex.split(command)
        whole = (
            [sys.executable, "-m", "pytest", "-q", *rest] if first == "pytest" else [sys.executable, *rest]
        )
        done = subprocess.run(whole, cwd=copy, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_asks_for_fewer_than_forty_lines_of_code(page):
    found = list(STEPS.finditer(page.read_text(encoding="utf-8")))
    bodies = [step[name] or "" for step in found for name in ("new_body", "end_body", "after_body", "text")]
    assert 10 < sum(bool(line.strip()) for body in bodies for line in body.split("\n")) < 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_places_that_a_page_names_are_there(page):
    for step in STEPS.finditer(page.read_text(encoding="utf-8")):
        if path := step["end"] or step["after"] or step["changed"]:
            text = (ROOT / path).read_text(encoding="utf-8")
            lines = [line.strip() for line in text.split("\n")]
            assert not step["after"] or any(line.startswith(step["line"]) for line in lines), step["line"]
            assert not step["changed"] or step["old"] in text, step["old"]
        elif step["new"]:
            assert not (ROOT / step["new"]).exists(), step["new"]
