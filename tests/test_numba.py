"""Compiled loops where nothing can be kept."""

import re
import warnings
from pathlib import Path

import pytest
from numba.core import caching

import multikernel
from multikernel import _numba


def test_without_a_folder_to_keep_loops_they_are_compiled_again(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    monkeypatch.setattr(_numba, "_said", set())
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        first = _numba.compiled(lambda x: x + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        _numba.kept_njit()(lambda x: x + 2)
    assert first(1) == 2


def test_every_compiled_loop_can_do_without_a_folder():
    source = Path(multikernel.__file__).parent
    direct = [
        path.name
        for path in source.rglob("*.py")
        if path.name != "_numba.py" and re.search(r"cache=True|from numba import njit", path.read_text())
    ]
    assert not direct
