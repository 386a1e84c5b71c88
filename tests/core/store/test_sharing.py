"""Several processes on one store: they share the work, and nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from multikernel import _files
from multikernel.core import store as store_module
from multikernel.core.store import ResultStore, Work, run_works
from tests.core.store.pieces import double

fcntl = pytest.importorskip("fcntl")
ROOT = Path(__file__).parents[3]

APPEND = """
import sys
from pathlib import Path
from multikernel.core.store import ResultStore
name, store = sys.argv[1], ResultStore(Path(sys.argv[2]))
for number in range(60):
    with store.opened() as file:
        file.append({"key": f"{name}{number}", "fingerprint": "f", "result": {"text": name * number * 50}})
"""

RUN = """
import sys
from pathlib import Path
from multikernel.core.store import ResultStore, Work, run_works
from tests.core.store.pieces import note
works = [Work(f"w{x}", "f", note, {"x": x, "log": sys.argv[1]}) for x in range(16)]
results = run_works(works, ResultStore(Path(sys.argv[2])), jobs=int(sys.argv[3]))
assert results == [{"twice": 2 * x} for x in range(16)], results
"""

COMPARE = """
import sys
from sklearn.datasets import load_iris
from multikernel import compare
from tests.core.store.pieces import NotedTree
X, y = load_iris(return_X_y=True)
found = compare(
    {"a": NotedTree(log=sys.argv[1], max_depth=1), "b": NotedTree(log=sys.argv[1], max_depth=2)},
    X, y, baselines=False, store=sys.argv[2],
)
print(found.to_markdown("compared"))
"""


def start(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def finish(*processes):
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return said


def test_processes_that_append_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "x.jsonl"
    finish(*(start(APPEND, name, path) for name in "abc"))
    keys = [record["key"] for record in ResultStore(path).read()]
    assert sorted(keys) == sorted(f"{name}{number}" for name in "abc" for number in range(60))


@pytest.mark.parametrize("jobs", [1, 2])
def test_two_runs_share_the_work(tmp_path, jobs):
    log, path = tmp_path / "log", tmp_path / "x.jsonl"
    finish(start(RUN, log, path, jobs), start(RUN, log, path, jobs))
    assert sorted(map(int, log.read_text().split())) == list(range(16))  # each once
    assert len(ResultStore(path).read()) == 16


def test_two_comparisons_share_the_fits_and_agree(tmp_path):
    log, path = tmp_path / "log", tmp_path / "x.jsonl"
    said = finish(start(COMPARE, log, path), start(COMPARE, log, path))
    assert said[0] == said[1]
    assert len(ResultStore(path).read()) == 20
    assert len(log.read_text().split()) == 20


def test_what_a_killed_process_had_claimed_is_done_by_another(tmp_path):
    log, path = tmp_path / "log", tmp_path / "x.jsonl"
    killed = start(RUN, log, path, 1)
    while not log.exists():
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    finish(start(RUN, log, path, 1))
    assert {int(line) for line in log.read_text().split()} == set(range(16))


def test_a_line_torn_by_another_process_while_this_one_has_the_store_open(tmp_path):
    store = ResultStore(tmp_path / "x.jsonl")
    record = {"key": "a", "fingerprint": "f", "result": {}}
    with store.opened() as file:
        file.append(record)
        with store.path.open("ab") as other:
            other.write(json.dumps(record).encode()[:9])
        file.append({**record, "key": "b"})
    assert [record["key"] for record in store.read()] == ["a", "b"]


def test_a_full_disk_is_named_and_leaves_whole_lines(tmp_path, monkeypatch):
    store = ResultStore(tmp_path / "x.jsonl")

    def full(file, line):
        os.write(file.fileno(), line[:7])
        raise OSError(28, "No space left on device")

    record = {"key": "a", "fingerprint": "f", "result": {}}
    with store.opened() as file:
        file.append(record)
        whole = store.path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(store_module, "_write_all", full)
            with pytest.raises(OSError, match=r"x\.jsonl cannot be written: the disk is full") as caught:
                file.append({**record, "key": "b"})
        assert caught.value.errno == 28 and "Errno" not in str(caught.value)
        assert store.path.read_bytes() == whole


@pytest.mark.parametrize("missing", ["no module", "no locks on this disk"])
def test_without_locks_a_run_goes_on(tmp_path, monkeypatch, missing):
    def refuse(*arguments):
        raise OSError(37, "No locks available")

    if missing == "no module":
        monkeypatch.setattr(_files, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "lockf", refuse)
    works = [Work(f"w{x}", "f", double, {"x": x}) for x in range(4)]
    assert run_works(works, ResultStore(tmp_path / "x.jsonl")) == [{"twice": 2 * x} for x in range(4)]
    assert len(ResultStore(tmp_path / "x.jsonl").read()) == 4
