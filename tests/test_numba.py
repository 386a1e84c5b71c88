"""Compiled loops: where nothing can be kept, which processes compile, and what is said about it."""

import logging
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
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


LOOP = """
import json, sys, time
from numba.core import event
from multikernel._numba import compiled, seconds_compiling

@compiled
def _inner(x):
    return x + 1.0

@compiled
def outer(x):
    return 2.0 * _inner(x)

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        name = event.data["dispatcher"].py_func.__name__
        self.names += [name] if name in ("_inner", "outer") else []
        time.sleep(0.5)  # so that the other process comes meanwhile
    def on_end(self, event):
        pass

if __name__ == "__main__":
    event.register("numba:compile", Compiled())
    import loop_of_the_test
    print("ready", flush=True)
    sys.stdin.readline()
    assert loop_of_the_test.outer(1.0) == 4.0 and seconds_compiling() > 0.0
    print(json.dumps(Compiled.names))
"""


def test_two_processes_compile_a_loop_once(tmp_path):
    (tmp_path / "loop_of_the_test.py").write_text(LOOP)
    package = str(Path(multikernel.__file__).parents[1])
    found = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": f"{package}:{tmp_path}"}
    both = [
        subprocess.Popen(
            [sys.executable, str(tmp_path / "loop_of_the_test.py")],
            env=found, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(said) == ['["outer", "_inner"]', "[]"]


def test_a_lock_that_is_never_released_is_waited_for_within_limits(tmp_path, monkeypatch):
    from multikernel import _files

    monkeypatch.setattr(_files, "lock_byte", lambda *_, **__: False)
    began = time.monotonic()
    with _files.locked_file(tmp_path / "lock", 0.1):
        assert time.monotonic() >= began + 0.1


def test_without_a_folder_for_the_lock_nobody_waits(tmp_path):
    from multikernel import _files

    (tmp_path / "file").touch()
    with _files.locked_file(tmp_path / "file" / "lock", 1e9):
        pass


@pytest.mark.parametrize("fits", [1, 2])
def test_compiling_is_said_once_in_a_fit_whatever_the_route(monkeypatch, caplog, fits):
    """The notice counts the seconds of all compilations, each of which may be short."""
    monkeypatch.setattr(_numba, "_SILENT_SECONDS", 0.0)
    notice = _numba._Notice()
    _numba.event.unregister("numba:compile", _numba._notice)
    _numba.event.register("numba:compile", notice)
    try:
        with caplog.at_level(logging.WARNING, "multikernel"):
            for turn in range(4):
                if turn in (0, 2)[:fits]:
                    notice.begin()

                @_numba.compiled
                def loop(x):
                    total = 0.0
                    for t in range(x.size):
                        total += x[t]
                    return total

                loop._cache = caching.NullCache()  # compiled in every run of the test
                loop.py_func.__module__ = "multikernel.core"
                loop(np.ones(3))
    finally:
        _numba.event.unregister("numba:compile", notice)
        _numba.event.register("numba:compile", _numba._notice)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == fits and "compiling the solvers" in said[0] and notice.depth == 0
