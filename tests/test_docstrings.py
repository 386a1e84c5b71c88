"""Docstrings of everything public: each parameter states its default, and shapes are written in one way."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re

import pytest

from tests.methods_page import estimators, learners
from tests.public import exported

HEADER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.*))?$")
OLD_SHAPE = re.compile(
    r"\b(?:array|array-like|matrix|DataFrame|ndarray)s?(?: of (?!shape)\w+)? \((?:n|d|P|n_\w+)\b[^()]*\)"
)


def with_methods():
    """Public classes and functions, and the methods that classes have from this package, each once."""
    found = {}
    for name, obj in exported().items():
        if not (inspect.isclass(obj) or inspect.isfunction(obj)):
            continue
        found[obj] = name
        for base in obj.__mro__ if inspect.isclass(obj) else ():
            if base.__module__.startswith("multikernel."):
                own = {key: getattr(value, "__func__", value) for key, value in vars(base).items()}
                found |= {
                    value: f"{base.__name__}.{key}"
                    for key, value in own.items()
                    if inspect.isfunction(value) and not key.startswith("_")
                }
    return {name: obj for obj, name in found.items()}


EVERY = with_methods()


def documented(obj):
    """``(names, type)`` of each entry under Parameters, without further keyword arguments."""
    text = inspect.getdoc(obj) or ""
    found = re.search(r"(?:^|\n)Parameters\n-{3,}\n(.*?)(?=\n\n[A-Z][\w ]+\n-{3,}|\Z)", text, re.DOTALL)
    for line in found[1].splitlines() if found else ():
        entry = HEADER.match(line)
        if entry and not line.startswith("*"):
            yield entry[1].split(", "), entry[2] or ""


def stated(kind):
    """The default as a docstring writes it, as a value where it is a literal."""
    written = kind.partition("default=")[2].strip()
    try:
        return ast.literal_eval(re.sub(r"\b(?:numpy\.)?inf\b", "1e999", written))
    except (ValueError, SyntaxError):  # a function or a class, by its name
        return written


@pytest.mark.parametrize("name", EVERY)
def test_parameters_state_their_defaults(name):
    obj = EVERY[name]
    try:
        parameters = inspect.signature(obj).parameters
    except (TypeError, ValueError):  # of exceptions, which take what Exception takes
        return
    for names, kind in documented(obj):
        for parameter in (parameters[n] for n in names if n in parameters):
            default = parameter.default
            if default is inspect.Parameter.empty:
                continue
            assert "default=" in kind, f"{name}: {parameter.name} has no default= in its docstring"
            said = stated(kind)
            same = said == default or said == getattr(default, "__name__", repr(default))
            same = same or (isinstance(said, str) and getattr(inspect.getmodule(obj), said, None) == default)
            assert same, f"{name}: {parameter.name} is documented with default={said!r}, and has {default!r}"


@pytest.mark.parametrize("name", EVERY)
def test_shapes_are_written_in_one_way(name):
    found = OLD_SHAPE.search(inspect.getdoc(EVERY[name]) or "")
    assert found is None, f"{name}: write 'array of shape (n_samples, n_features)' in place of {found[0]!r}"


SECTIONS = ["Parameters", "Attributes", "Examples", "Notes", "References"]
ESTIMATORS = [*estimators(), *learners()]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_sections_are_in_one_order(cls):
    lines = inspect.getdoc(cls).splitlines()
    found = [line for line, rule in itertools.pairwise(lines) if line in SECTIONS and set(rule) == {"-"}]
    assert found == sorted(found, key=SECTIONS.index)
    assert "Examples" in found


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_the_first_parameter_is_near_the_top(cls):
    assert inspect.getdoc(cls).splitlines().index("Parameters") < 13


def test_the_first_classifier_is_documented_on_one_page():
    lines = inspect.getdoc(importlib.import_module("multikernel").MKLClassifier).splitlines()
    assert len(lines) <= 100
    assert lines.index("Parameters") < 15
