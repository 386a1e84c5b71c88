"""The base classes name every hook that a family overrides."""

import importlib
import pkgutil
import re

import pytest

import multikernel
from multikernel.core.estimator import BaseMKL, KernelEstimator

BASES = [KernelEstimator, BaseMKL]


def families(base):
    """Every class of the package below a base class."""
    for found in pkgutil.walk_packages(multikernel.__path__, "multikernel."):
        if not found.name.startswith("multikernel.cli") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    classes, todo = set(), [base]
    while todo:
        below = [kind for kind in todo.pop().__subclasses__() if kind.__module__.startswith("multikernel.")]
        classes.update(below)
        todo += below
    return classes


def documented(base):
    """The names in the list of a docstring, before the colon of each entry."""
    entries = re.findall(r"^ *- (``.*?) : ", base.__doc__, re.MULTILINE)
    return {name for entry in entries for name in re.findall(r"``(\w+)", entry)}


def is_hook(name):
    return not name.startswith("__") or name == "__sklearn_tags__"


@pytest.mark.parametrize("base", BASES)
def test_what_families_override_is_documented(base):
    overridden = {name for kind in families(base) for name in vars(kind)} & set(vars(base))
    overridden = set(filter(is_hook, overridden))
    assert overridden
    above = documented(KernelEstimator)
    assert overridden <= documented(base) | above


@pytest.mark.parametrize("base", BASES)
def test_documented_hooks_are_in_use(base):
    used = {name for kind in families(base) for name in vars(kind)}
    assert documented(base)
    assert documented(base) <= used
