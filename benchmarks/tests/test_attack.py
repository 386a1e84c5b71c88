"""The hostile calls: that each fault is seen for what it is, and that some hundred calls have none."""

import time

import numpy as np
import pytest

from benchmarks.attack import __main__ as command
from benchmarks.attack import targets
from benchmarks.attack.values import NUMBERS, OTHERS, TABLES, TARGETS, hostile_stack, stack, table


def judged(monkeypatch, function):
    """The record of a call of one function."""
    monkeypatch.setattr(targets, "by_kind", lambda: {"function": [function]})
    return targets.attack("function", np.random.default_rng(0))


def refuse(X=None):
    raise ValueError("X must be something else.")


def divide(X=None):
    return 1 / 0


def convert(X=None):
    return np.asarray("a", dtype=float)


def lose(X=None):
    return np.array([1.0, np.nan])


def change(X):
    X[...] = 7.0


def take_all(X=None):
    raise MemoryError


@pytest.mark.parametrize(
    ("function", "verdict"),
    [(divide, "foreign"), (convert, "unhelpful"), (lose, "NaN"), (take_all, "memory"), (len, "unhelpful")],
)
def test_verdicts(monkeypatch, function, verdict):
    assert judged(monkeypatch, function)["verdict"] == verdict


def test_a_refusal_is_one_of_the_package(monkeypatch):
    assert judged(monkeypatch, refuse)["verdict"] == "unhelpful"  # raised here, in the tests
    assert judged(monkeypatch, targets.multikernel.load_model)["verdict"] == "refused"


def test_changed_data_are_seen(monkeypatch):
    monkeypatch.setattr(targets, "hostile", lambda name, rng: np.ones((2, 2)))
    monkeypatch.setattr(targets, "sensible", lambda name, rng: np.ones((2, 2)))
    assert judged(monkeypatch, change)["verdict"] == "changed"


def test_every_public_object_is_called():
    kinds = targets.by_kind()
    called = {each.__name__ for listed in kinds.values() for each in listed}
    assert called >= {
        "MKLClassifier",
        "KernelBank",
        "EasyMKL",
        "Gaussian",
        "evaluate",
        "compare",
        "cost_path",
    }
    assert all(kinds.values()) and sum(targets.SHARES.values()) == pytest.approx(1.0)
    assert len(called) > 200


@pytest.mark.filterwarnings("ignore")
def test_the_values_can_all_be_made():
    rng = np.random.default_rng(0)
    for make in TABLES:
        make(table(rng), rng)
    for make in TARGETS:
        make(rng.normal(size=16))
    for _ in range(100):
        hostile_stack(rng, stack(rng))
    assert len(NUMBERS) > 30 and len(OTHERS) > 30


def test_a_call_that_hangs_and_one_that_kills_its_process_are_counted(monkeypatch, tmp_path):
    program = tmp_path / "worker.py"
    program.write_text(
        "import json, os, sys, time\n"
        "first, calls = (int(sys.argv[sys.argv.index(name) + 1]) for name in ('--first', '--calls'))\n"
        "for number in range(first, first + calls):\n"
        "    print(number, flush=True)\n"
        "    if number == 1: time.sleep(60)\n"
        "    if number == 2: os.abort()\n"
        "    print(json.dumps(dict(number=number, kind='file', verdict='result')), flush=True)\n"
    )
    popen = command.subprocess.Popen

    def start(words, **options):
        return popen([words[0], str(program), *words[3:]], **options)

    monkeypatch.setattr(command.subprocess, "Popen", start)
    monkeypatch.setattr(command, "_LAST_WORDS", 0.1)
    begun = time.monotonic()
    records = list(command.run(command.parse_arguments(["--calls", "4", "--limit", "1.5"])))
    assert [record["verdict"] for record in records] == ["result", "hang", "crash", "result"]
    assert time.monotonic() - begun < 30
    assert "| all | 4 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 |" in command.table(records)


def test_the_same_number_is_the_same_call():
    one, other = (targets.numbered_attack(0, 17) for _ in range(2))
    assert one == other


def test_some_calls_have_no_fault():
    """A sample; the rest by ``python -m benchmarks.attack``."""
    found = [targets.numbered_attack(3, number) for number in range(60)]
    assert [record for record in found if record["verdict"] in command.FAULTS] == []
