"""Plain English: expressions that the texts for users avoid, and what to write instead.

Scanned are the docstrings of public objects, all other texts in the package (messages, the command line, the
table of methods), the pages of the documentation, the README and the docstrings of the examples. The short
list for authors is in CONTRIBUTING.md.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# pattern: what to write instead
BANNED = {
    r"ready-?made": "precomputed",
    r"not to be had": "not available, cannot be computed",
    r"so many\b(?! \w+ that)": "the number of, a maximum number of",
    r"doors? (?:of|to|for)": "entry point for",
    r"prices? of (?:the )?(?:errors?|slacks?|violations?)": "penalty on margin violations",
    r"at (?:half )?the price": "at the cost",
    r"dear(?:er|est)?": "costly, slower",
    r"cheap (?:kernels?|views?|columns?)": "kernels, views or columns of low cost",
    r"foreign to": "unlike, an outlier of",
    r"crawl(?:s|ed|ing)?": "converge slowly",
    r"what stands for": "the representation of, what replaces",
    r"ke(?:ep|eps|pt) (?:its|their|his) word": "calibrated",
    r"nobody": "the passive, such as 'was not requested'",
    r"t(?:old|ell|ells|elling) (?:\w+ )?apart": "distinguish",
    r"taken for": "read as, treated as, assigned to",
    r"in the place of": "instead of",
    r"by turns": "alternately",
    r"speaks? of": "is about, names",
    r"keeps? (?:a|its) say": "keeps a minimum weight",
    r"some (?:tens?|twenty|thirty|fifty|hundreds?|thousands?|\d+)\b(?! of)": "about ten, a few thousand",
    r"whoever|as ever\b|for want of|on the way to|may not be had": "plain words for it",
    r"(?:knows?|knew) (?:something|nothing|no other)": "contains, depends on",
    r"false positives, part of": "false positive rate",
    r"would not know where to go": "cannot proceed",
}
PATTERNS = {re.compile(rf"\b(?:{words})", re.IGNORECASE): instead for words, instead in BANNED.items()}
# A kernel machine of the survey is a classifier, a regressor, an SVM or an estimator here. ``machine`` is a
# parameter of the weight rules, whose texts may name it.
MACHINE = re.compile(r"(?<!vector )(?<![`_])\bmachines?\b(?![`_=])", re.IGNORECASE)
NOT_FOR_USERS = ("docs/reproduce/", "docs/benchmarks/", "docs/_", "docs/changelog.md", "docs/contributing.md")


def shown(path):
    return not path.relative_to(ROOT).as_posix().startswith(NOT_FOR_USERS)


SOURCES = [path for folder in ("multikernel", "examples") for path in sorted((ROOT / folder).rglob("*.py"))]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILES = [path for path in (*SOURCES, *PAGES) if shown(path)]


def texts_of_source(path):
    """Line number and text of each public docstring, and of each other string of several words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            text = node.body[0].value
            docstrings.add(text)
            if not getattr(node, "name", "").startswith("_"):
                yield text.lineno, text.value
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings
        if is_text and " " in node.value.strip():
            yield node.lineno, node.value


def texts(path):
    if path.suffix == ".py":
        yield from texts_of_source(path)
    else:  # code and what it prints may have any names
        text = re.sub(
            r"```.*?```", lambda code: "\n" * code[0].count("\n"), path.read_text("utf-8"), flags=re.S
        )
        yield 1, text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_banned_expression(path):
    found = []
    for first, text in texts(path):
        for number, line in enumerate(text.splitlines(), first):
            for pattern, instead in PATTERNS.items():
                hit = pattern.search(line)
                if hit:
                    found.append(f"{path.name}:{number}: {hit[0]!r}: write {instead!r}. {line.strip()[:90]}")
    assert not found, "\n".join(found)


def test_the_methods_do_not_speak_of_machines():
    """Neither in the table of the methods nor in the texts of the command line."""
    from multikernel.registry import list_methods

    for method in list_methods():
        about = method.about
        told = " ".join((method.title, about.problem, about.solver, about.cost, about.use))
        assert not MACHINE.search(told), f"{method.name}: write SVM, classifier or estimator: {told}"
    for path in sorted((ROOT / "multikernel/cli").glob("*.py")):
        for line, text in texts_of_source(path):
            assert not MACHINE.search(text), f"{path.name}:{line}: write SVM, classifier or computer: {text}"


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("Ready-made kernels go in", True),
        ("at most so many columns", True),
        ("so many kernels that memory ends", False),
        ("The price of errors.", True),
        ("which one speaks of the class", True),
        ("some ten fits", True),
        ("some of the ten fits", False),
        ("A precomputed kernel.", False),
    ],
)
def test_what_the_patterns_catch(line, caught):
    assert any(pattern.search(line) for pattern in PATTERNS) == caught
