"""The hostile calls: that each fault is seen for what it is, and that some hundred calls have none."""

import inspect
import pkgutil
import time
import warnings
from importlib import import_module

import numpy as np
import pytest

import multikernel
from benchmarks.attack import __main__ as command
from benchmarks.attack import calls, targets
from benchmarks.attack.judging import RefusedError, WrongError
from benchmarks.attack.values import (
    NUMBERS,
    OTHERS,
    SEVERAL,
    TABLES,
    TARGETS,
    damage,
    hostile_stack,
    stack,
    table,
    tables,
)


def judged(monkeypatch, function):
    """The record of a call of one function."""
    monkeypatch.setattr(targets, "by_kind", lambda: {"function": [function]})
    return calls.attack("function", np.random.default_rng(0))


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
    monkeypatch.setattr(targets, "hostile", lambda name, rng: None)
    monkeypatch.setattr(targets, "sensible", lambda name, rng, target: None)
    assert judged(monkeypatch, multikernel.load_model)["verdict"] == "refused"


def test_changed_data_are_seen(monkeypatch):
    monkeypatch.setattr(targets, "hostile", lambda name, rng: np.ones((2, 2)))
    monkeypatch.setattr(targets, "sensible", lambda name, rng, target: np.ones((2, 2)))
    assert judged(monkeypatch, change)["verdict"] == "changed"


def public_names():
    """Every name that a room or the package exports, with its object."""
    rooms = [
        room.name for room in pkgutil.iter_modules(multikernel.__path__) if not room.name.startswith("_")
    ]
    for room in ["", *rooms]:
        module = import_module(f"multikernel.{room}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            yield f"{room}.{name}".lstrip("."), getattr(module, name)


def test_every_public_name_is_called_or_has_a_reason():
    kinds = targets.by_kind()
    called = {id(target) for listed in kinds.values() for target in listed}
    missing = []
    for name, value in public_names():
        room, _, last = name.rpartition(".")
        if hasattr(multikernel, last) and not room and isinstance(value, type(multikernel)):
            continue  # the rooms themselves
        known = id(value) in called or targets.is_error(value) or name == "cli.app"
        same = [other for other, its in targets.exported().items() if its is value]
        if not known and not targets.NOT_CALLED.keys() & {name, *same}:
            missing.append(name)
    assert missing == []


def test_what_is_not_called_exists_and_has_a_reason():
    assert targets.NOT_CALLED.keys() <= targets.exported().keys()
    assert all(len(reason) > 10 for reason in targets.NOT_CALLED.values())


def test_every_kind_of_call_has_targets_and_a_share():
    kinds = targets.by_kind()
    assert tuple(kinds) == targets.KINDS == tuple(calls.ATTACKS) == tuple(calls.SHARES)
    assert all(kinds.values()) and sum(calls.SHARES.values()) == pytest.approx(1.0)
    assert {each.__name__ for each in kinds["inspection"]} == calls.INSPECTIONS.keys()
    iterative = {"MKLClassifier", "EasyMKL", "DirichletWeights", "MultipleKernelKMeans"}
    assert {each.__name__ for each in kinds["limits"]} >= iterative


def test_every_method_that_is_asked_on_samples_is_asked():
    """Beside those of fitting, of scikit-learn, and of banks on their way into a fit."""
    others = {"fit", "fit_transform", "fit_predict", "score", "fit_stack", "fit_on_demand", "moved"}
    others |= {"iter_kernels", "get_n_splits", "explicit_features", "score_by_view"}
    for target in targets.by_kind()["estimator"]:
        for name, method in inspect.getmembers(target, inspect.isfunction):
            if not name.startswith(("_", "set_", "get_")) and "X" in inspect.signature(method).parameters:
                assert name in (*calls.OUTPUTS, *others), f"{target.__name__}.{name}"


@pytest.mark.filterwarnings("ignore")
def test_the_values_can_all_be_made():
    rng = np.random.default_rng(0)
    for make in TABLES:
        make(table(rng), rng)
    for make in TARGETS:
        make(rng.normal(size=16))
    for _ in range(100):
        hostile_stack(rng, stack(rng))
        damage(b"some content", rng)
    damage(b"", rng)
    one, two = tables(rng).values()
    for make in SEVERAL:
        make(one, two, rng)
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
    one, other = (calls.numbered_attack(0, 17) for _ in range(2))
    assert one == other


def test_some_calls_have_no_fault():
    """A sample; the rest by ``python -m benchmarks.attack``."""
    found = [calls.numbered_attack(3, number) for number in range(60)]
    assert [record for record in found if record["verdict"] in command.FAULTS] == []


def test_a_refusal_of_a_command_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError, match="exit code 2"):
        calls._invoke(["fit", "--what"])
    with pytest.raises(ValueError, match="nowhere"):  # as it was raised, to see by whom
        calls._invoke(["predict", "nowhere", "nowhere.csv"])


def test_a_model_that_changes_in_its_file_is_a_fault(monkeypatch):
    class Other:
        def predict(self, X):
            return np.zeros(len(X))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples
        model, X = calls.small_model(multikernel.MKLClassifier)
    with pytest.raises(WrongError, match="predict of the loaded model differs"):
        calls._require_same(Other(), model, X)
