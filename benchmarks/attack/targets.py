"""What is called with hostile values, and what its outcome is: a result, a refusal of ours, or a fault."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import linecache
import tempfile
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor

import multikernel
from benchmarks.attack import values
from benchmarks.attack.values import Rng, hostile_stack, hostile_table, hostile_target, hostile_value
from multikernel.kernels import Gaussian, Kernel, Linear, Transform
from multikernel.rules import TwoClassLearner, WeightLearner

Verdict = Literal["result", "refused", "unhelpful", "foreign", "NaN", "changed", "memory"]
# Parameters that make a fit long, and the values that keep it short.
QUICK = {
    "max_iter": 5,
    "n_init": 1,
    "max_columns": 4,
    "cv": 2,
    "n_screen": 2,
    "max_steps": 1,
    "n_draws": 50,
    "n_samples": 20,
    "n_proteins": 12,
    "n_steps": 5,
    "tol": 1e-2,
}
# Called with data of their own, not with values: classes that only the library makes, and calls that would
# read a file of the user, or fetch one.
LEFT_OUT = {"load_dataset", "check_dataset", "dataset_fingerprint", "list_datasets", "load_faces"}
# NaN stands for what a sample lacks, and is kept until a fit refuses it or completes it.
KEEPS_NAN = {"stack_kernels", "join_views", "view_tables", "as_views"}


# --- what there is ------------------------------------------------------------------------------------------


@cache
def exported() -> dict[str, Any]:
    """Every public object once, by its name."""
    rooms = [
        "multikernel",
        *(f"multikernel.{room}" for room in multikernel._PACKAGES if room not in ("core", "rows")),
    ]
    found: dict[str, Any] = {}
    for room in map(import_module, rooms):
        found |= {name: getattr(room, name) for name in getattr(room, "__all__", ())}
    return {name: found[name] for name in sorted(found) if name not in LEFT_OUT}


@cache
def by_kind() -> dict[str, list[Any]]:
    """The public classes and functions, by how they are attacked."""
    kinds: dict[str, list[Any]] = {kind: [] for kind in ATTACKS}
    for value in exported().values():
        if not inspect.isclass(value):
            kinds["function"] += [value] if callable(value) and not isinstance(value, type(int | str)) else []
        elif issubclass(value, Warning | Exception) or inspect.isabstract(value):
            continue
        elif issubclass(value, WeightLearner):
            kinds["learner"] += [value] if value not in (WeightLearner, TwoClassLearner) else []
        elif hasattr(value, "fit") and issubclass(value, BaseEstimator):
            kinds["estimator"].append(value)
        elif issubclass(value, Kernel | Transform):
            kinds["kernel"].append(value)
        else:
            kinds["class"].append(value)
    kinds["inspection"] = [
        multikernel.evaluate,
        multikernel.compare,
        exported()["cost_path"],
        exported()["diagnose"],
        exported()["summarize"],
    ]
    kinds["file"] = [multikernel.save_model, multikernel.load_model]
    return kinds


# --- one call -----------------------------------------------------------------------------------------------


class Call:
    """The arguments of one call, kept to see afterwards whether any of them was changed."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.said: list[str] = []
        self._given: list[tuple[str, Any, str]] = []

    def give(self, name: str, value: Any) -> Any:
        """A value, noted."""
        self.said.append(f"{name}={_short(value)}")
        self._given.append((name, value, fingerprint(value)))
        return value

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def either(self, name: str, sensible: Callable[[], Any], hostile: Callable[[], Any], p: float) -> Any:
        """A sensible value, or with this probability a hostile one."""
        return self.give(name, hostile() if self.chance(p) else sensible())

    def changed(self) -> list[str]:
        """The names of the arguments that are not what they were."""
        return [name for name, value, before in self._given if fingerprint(value) != before]


def _short(value: Any) -> str:
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{kind}{shape}{getattr(value, 'dtype', '')}"
    if isinstance(value, int) and abs(value) > 2**80:
        return "10**400" if value > 0 else "-10**400"
    try:
        return f"{value!r}"[:60]
    except Exception:
        return kind


def fingerprint(value: Any) -> str:
    """A text that differs where the content does; empty for what cannot be changed or cannot be read."""
    if isinstance(value, np.ma.MaskedArray):
        return fingerprint(value.data) + fingerprint(np.asarray(value.mask))
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()).encode() if value.dtype.hasobject else np.asarray(value).tobytes()
        return f"{value.shape}{value.dtype}{hashlib.sha1(content).hexdigest()}"
    if scipy.sparse.issparse(value):
        return fingerprint(value.tocoo().toarray())
    if isinstance(value, pd.DataFrame | pd.Series):
        return repr(value.to_dict()) + str(value.index.tolist())
    if isinstance(value, memoryview):
        return fingerprint(np.asarray(value))
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}{[fingerprint(item) for item in value]}"
    if isinstance(value, dict):
        return str([(str(key), fingerprint(item)) for key, item in value.items()])
    if isinstance(value, BaseEstimator | Kernel):
        return repr(value)
    return ""


def attack(kind: str, rng: Rng) -> dict[str, Any]:
    """Make one call of a kind; what came of it, as a record that JSON can hold."""
    targets = by_kind()[kind]
    target = targets[rng.integers(len(targets))]
    call = Call(rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        try:
            outputs = ATTACKS[kind](call, target, Path(folder))
            verdict, told = _judge(outputs)
        except Exception as error:
            verdict, told = _judge_error(error)
        finally:
            _close_figures()
        changed = call.changed()
    if changed:
        verdict, told = "changed", f"{', '.join(changed)} ({told})"
    return {"target": target.__name__, "given": ", ".join(call.said)[:400], "verdict": verdict, "told": told}


def _judge(outputs: Mapping[str, Any]) -> tuple[Verdict, str]:
    bad = [name for name, value in outputs.items() if holds_nan(value)]
    return ("NaN", f"in {', '.join(bad)}") if bad else ("result", "")


def holds_nan(value: Any, depth: int = 0) -> bool:
    """Whether there is a NaN in an array, a table, or what holds such."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, pd.DataFrame | pd.Series):
        value = value.to_numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isnan(value).any())
    if scipy.sparse.issparse(value):
        return holds_nan(value.tocoo().data)
    if isinstance(value, Mapping) and depth < 5:
        return any(holds_nan(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple) and depth < 5:
        return any(holds_nan(item, depth + 1) for item in value)
    return False


def _judge_error(error: Exception) -> tuple[Verdict, str]:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(Path(last.filename).parts[-3:]) + f":{last.lineno}"
    told = f"{type(error).__name__}: {str(error)[:200]} [{place}]"
    if isinstance(error, MemoryError):
        return "memory", told
    if not isinstance(error, ValueError | TypeError | ImportError | OSError):
        return "foreign", told
    ours = "/multikernel/" in last.filename or "/sklearn/" in last.filename
    is_raised = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise")
    return ("refused" if ours and is_raised and str(error) else "unhelpful"), told


def _close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")


# --- the kinds of calls -------------------------------------------------------------------------------------


def parameters_of(target: Any) -> dict[str, inspect.Parameter]:
    """The parameters that can be given by name, or by place where they must be."""
    try:
        found = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in found.items() if each.kind not in kinds and name != "self"}


def sensible(name: str, rng: Rng) -> Any:
    """A value that a parameter of this name takes, most of the time."""
    Ks = values.stack(rng)
    known: dict[str, Callable[[], Any]] = {
        "X": lambda: values.table(rng),
        "x": lambda: values.table(rng)[:, 0],
        "Y": lambda: (values.table(rng) > 0).astype(float),
        "y": lambda: values.labels(rng),
        "K": lambda: Ks[:, :, 0],
        "K1": lambda: Ks[:, :, 0],
        "K2": lambda: Ks[:, :, 1],
        "adjacency": lambda: (Ks[:, :, 0] > 0).astype(float),
        "kernels": lambda: [Linear(), Gaussian()] if rng.random() < 0.5 else Ks,
        "kernel": lambda: Gaussian(),
        "left": lambda: Gaussian(),
        "right": lambda: Linear(),
        "weights": lambda: np.ones(2),
        "scores": lambda: {"a": {"d": [0.5] * 10}, "b": {"d": [0.6] * 10}},
        "pvalues": lambda: [0.1, 0.01],
        "a": lambda: rng.random(10),
        "b": lambda: rng.random(10),
        "model": lambda: fitted(),
        "tables": lambda: {"a": values.table(rng), "b": values.table(rng)},
        "pairs": lambda: np.array([[0, 1], [1, 2]]),
        "columns": lambda: ["a", "b", "c"],
        "gene_sets": lambda: {"s": ["a", "b"], "t": ["c"]},
        "features": lambda: 3,
        "margin": lambda: 1.0,
        "evaluation": lambda: evaluated(),
        "summary": lambda: summarized(),
        "spec": lambda: "unit_trace",
        "name": lambda: "GAUSS4",
        "n": lambda: 10,
    }
    return known[name]() if name in known else QUICK.get(name, 1)


@cache
def fitted() -> Any:
    """A small model."""
    rng = np.random.default_rng(0)
    return multikernel.MKLClassifier([Linear(), Gaussian()]).fit(values.table(rng), values.labels(rng))


@cache
def evaluated() -> dict[str, Any]:
    """What `evaluate` says of it."""
    rng = np.random.default_rng(0)
    X, y = values.table(rng), values.labels(rng)
    found = multikernel.evaluate(fitted(), X, y, parts=["held_out", "heat_maps", "embedding", "stability"])
    return dict(found)


@cache
def summarized() -> dict[str, Any]:
    """What `summarize` says of it."""
    return dict(exported()["summarize"](fitted()))


def hostile(name: str, rng: Rng) -> Any:
    """A hostile value for a parameter: often one of the kind that it takes, with a defect."""
    if name in ("X", "tables", "Y", "x", "adjacency", "table") and rng.random() < 0.8:
        return hostile_table(rng)
    if (
        name in ("y", "a", "b", "weights", "scores", "pvalues", "labels", "rows", "pairs")
        and rng.random() < 0.7
    ):
        return hostile_target(rng, values.values(rng))
    if name in ("K", "K1", "K2", "kernels", "other_pairs") and rng.random() < 0.6:
        return hostile_stack(rng, values.stack(rng))
    return hostile_value(rng)


def _called(call: Call, target: Any, p: float = 0.35) -> Any:
    """Call the target with what it needs and some of what it may have, a part of it hostile."""
    positional, named = [], {}
    for name, parameter in parameters_of(target).items():
        required = parameter.default is inspect.Parameter.empty
        if not required and not call.chance(0.25) and name not in QUICK:
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                break
            continue
        if not required and name in QUICK and not call.chance(0.25):
            value = call.give(name, QUICK[name])
        else:
            value = call.either(
                name, lambda name=name: sensible(name, call.rng), lambda name=name: hostile(name, call.rng), p
            )
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[name] = value
    return target(*positional, **named)


def attack_function(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A public function; one that writes does so in a temporary folder."""
    with _inside(folder):
        found = _called(call, target)
    return {} if target.__name__ in KEEPS_NAN else {"result": _plain(found)}


@contextmanager
def _inside(folder: Path) -> Any:
    import os

    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _plain(found: Any) -> Any:
    """Arrays and tables of a result; what a dataclass holds may be undefined, and says so itself."""
    return {} if dataclasses.is_dataclass(found) else found


def attack_class(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A class that is neither kernel nor estimator: made, shown, and asked for what needs no argument."""
    made = _called(call, target, p=0.6)
    repr(made)
    for name in ("to_dict", "to_markdown", "table", "frame", "summary"):
        if callable(getattr(made, name, None)) and not _needs(getattr(made, name)):
            getattr(made, name)()
    return {}


def _needs(method: Any) -> bool:
    return any(each.default is inspect.Parameter.empty for each in parameters_of(method).values())


def attack_kernel(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A kernel or a transform: made, shown, combined, computed on tables."""
    made = _called(call, target, p=0.4)
    repr(made)
    if isinstance(made, Transform):
        K = call.either(
            "K",
            lambda: values.stack(call.rng)[:, :, 0],
            lambda: hostile_stack(call.rng, values.stack(call.rng)),
            0.5,
        )
        return {
            "bank": multikernel.KernelBank(
                [multikernel.View("line", Gaussian(), transforms=made)]
            ).fit_transform(K)
        }
    X = call.either("X", lambda: np.abs(values.table(call.rng)), lambda: hostile_table(call.rng), 0.6)
    if call.chance(0.3):
        made = made + Gaussian() if call.chance(0.5) else made * Linear()
    return {"K": made(X)}


def estimator_for(call: Call, target: Any, p: float = 0.5) -> Any:
    """An estimator that is quick, with some hostile parameters."""
    given = {name: value for name, value in QUICK.items() if name in parameters_of(target)}
    given.pop("n_samples", None)
    for name, parameter in parameters_of(target).items():
        required = parameter.default is inspect.Parameter.empty
        if call.chance(p / max(len(parameters_of(target)), 1)):
            given[name] = call.give(name, hostile(name, call.rng))
        elif required:
            given[name] = sensible(name, call.rng)
    return target(**given)


OUTPUTS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "contributions",
    "sample_kernel_weights",
    "score_samples",
    "predict_log_proba",
)


def attack_estimator(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """An estimator: made, fitted to hostile data, asked for everything on new hostile data."""
    model = estimator_for(call, target)
    rng = call.rng
    d = 4
    X = call.either("X", lambda: values.table(rng, d=d), lambda: hostile_table(rng, d=d), 0.4)
    sensible_y = values.labels(rng) if is_classifier(model) or not is_regressor(model) else values.values(rng)
    y = call.either("y", lambda: sensible_y, lambda: hostile_target(rng, sensible_y), 0.25)
    options = {}
    if "sample_weight" in parameters_of(model.fit) and call.chance(0.2):
        options["sample_weight"] = call.give("sample_weight", hostile_target(rng, rng.random(16)))
    repr(model)
    model.fit(X, y, **options)
    outputs = {name: getattr(model, name, None) for name in ("kernel_weights_", "dual_coef_", "intercept_")}
    fresh = call.either("X_new", lambda: values.table(rng, 5, d), lambda: hostile_table(rng, 5, d), 0.4)
    for name in OUTPUTS:
        if hasattr(model, name):
            outputs[name] = getattr(model, name)(fresh)
    if hasattr(model, "weights_frame"):
        model.weights_frame()
    return outputs


def attack_learner(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A weight learner: fitted to hostile stacks, its kernel combined from others."""
    rng = call.rng
    learner = estimator_for(call, target)
    n = 12
    Ks = values.stack(rng, n)
    kernels = call.either("kernels", lambda: Ks, lambda: hostile_stack(rng, Ks), 0.3)
    sensible_y = values.labels(rng, n) if "classes" in learner.learns_from else values.values(rng, n)
    y = call.either("y", lambda: sensible_y, lambda: hostile_target(rng, sensible_y), 0.2)
    learner.fit(kernels, y)
    fresh = call.either("new", lambda: Ks[:4], lambda: hostile_stack(rng, Ks[:4]), 0.7)
    return {"kernel_weights_": learner.kernel_weights_, "combine": learner.combine(fresh)}


def attack_inspection(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """The judges of models, on few rows."""
    rng = call.rng
    kinds = by_kind()["estimator"]
    model = call.either(
        "model",
        lambda: multikernel.MKLClassifier([("a", Linear(), [0]), ("b", Gaussian(), [1, 2])], max_iter=5),
        lambda: (
            hostile_value(rng) if call.chance(0.3) else estimator_for(call, kinds[rng.integers(len(kinds))])
        ),
        0.3,
    )
    X = call.either("X", lambda: values.table(rng), lambda: hostile_table(rng), 0.4)
    y = call.either("y", lambda: values.labels(rng), lambda: hostile_target(rng, values.labels(rng)), 0.3)
    options: dict[str, Any] = {}
    for name in parameters_of(target):
        if name not in ("model", "models", "estimator", "X", "y", "n_jobs") and call.chance(0.08):
            options[name] = call.give(name, hostile(name, rng))
    name = target.__name__
    if name == "evaluate":
        options.setdefault("parts", [str(rng.choice(exported()["ALL_PARTS"]))])
        if call.chance(0.7) and hasattr(model, "fit"):
            model.fit(values.table(rng), values.labels(rng))
        return {"evaluate": {}, "found": dict(target(model, X, y, **options))}
    if name == "compare":
        options.setdefault("baselines", False)
        models = call.give("models", {"one": model, "two": multikernel.MKLClassifier(max_iter=5)})
        target(models, X, y, **options).to_dict()
        return {}
    if name == "cost_path":
        options.setdefault("exponents", (0.0, 1.0))
        options.setdefault("cv", 2)
        return {"cost_path": target(model, X, y, **options).to_dict() if call.chance(0.5) else {}}
    if name == "diagnose":
        target(X, y, **options).to_dict()
        return {}
    target(model, **{key: value for key, value in options.items() if key != "comparison"})
    return {}


def attack_file(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """Saving and loading: hostile models, paths and contents."""
    rng = call.rng
    kinds = by_kind()["estimator"]
    with _inside(folder):
        model = call.either(
            "model",
            fitted,
            lambda: [hostile_value(rng), estimator_for(call, kinds[rng.integers(len(kinds))])],
            0.5,
        )
        path = call.either("path", lambda: "model.skops", lambda: hostile_value(rng), 0.3)
        written = multikernel.save_model(model, path)
        content = bytearray(Path(written).read_bytes())
        for place in rng.integers(len(content), size=rng.integers(0, 3)):
            content[place] = rng.integers(256)
        Path(written).write_bytes(content[: len(content) if call.chance(0.7) else rng.integers(len(content))])
        multikernel.load_model(call.either("read", lambda: written, lambda: hostile_value(rng), 0.3))
    return {}


ATTACKS: dict[str, Callable[[Call, Any, Path], dict[str, Any]]] = {
    "estimator": attack_estimator,
    "learner": attack_learner,
    "kernel": attack_kernel,
    "function": attack_function,
    "class": attack_class,
    "inspection": attack_inspection,
    "file": attack_file,
}
SHARES = {
    "estimator": 0.35,
    "learner": 0.15,
    "kernel": 0.14,
    "function": 0.2,
    "class": 0.06,
    "inspection": 0.06,
    "file": 0.04,
}


def numbered_attack(seed: int, number: int) -> dict[str, Any]:
    """The call of a number; the same numbers make the same calls."""
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    return {"number": number, "kind": kind, **attack(kind, rng)}
