"""The kinds of calls: how a target is made and asked, with what, and what of its answers is judged."""

from __future__ import annotations

import dataclasses
import inspect
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

import multikernel
from benchmarks.attack import targets, values
from benchmarks.attack.judging import Call, RefusedError, WrongError, close_figures, judge, judge_error
from benchmarks.attack.targets import KEEPS_NAN, QUICK, by_kind, parameters_of, public
from benchmarks.attack.values import Rng, hostile_stack, hostile_table, hostile_target, hostile_value
from multikernel.core.optim.loop import Status
from multikernel.io.models.archive import pack, unpack
from multikernel.kernels import Gaussian, Linear, Transform
from multikernel.rules import WeightLearner

# Asked of every estimator that has it, on new samples.
OUTPUTS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "contributions",
    "contributions_frame",
    "predict_components",
    "predict_cumulative_hazard",
    "predict_survival_function",
    "predict_survival_bands",
    "predict_interval",
    "sample_kernel_weights",
    "score_samples",
    "predict_log_proba",
    "mixture_weights",
    "active_kernels",
    "sample_machine_weights",
    "component_contributions",
    "pair_weights",
    "kernel_evaluations",
    "sample_costs",
    "pruning_bound",
    "combined_kernel",
    "self_similarities",
    "presence",
)


# --- functions and classes ----------------------------------------------------------------------------------


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
                name,
                lambda name=name: targets.sensible(name, call.rng, target),
                lambda name=name: targets.hostile(name, call.rng),
                p,
            )
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[name] = value
    return target(*positional, **named)


def attack_function(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A public function; one that reads or writes does so in a temporary folder."""
    with _inside(folder):
        found = _called(call, target)
    return {} if target.__name__ in KEEPS_NAN else {"result": _plain(found)}


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
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
    """A class that is neither kernel nor estimator: made, shown, asked for what needs no argument or data."""
    with _inside(folder):
        made = _called(call, target, p=0.5)
        repr(made)
        for name in ("to_dict", "to_markdown", "table", "to_frame", "means", "summary", "read_record"):
            if callable(getattr(made, name, None)) and not _needs(getattr(made, name)):
                getattr(made, name)()
        for name in ("fit_transform", "split", "take_rows", "subnetwork", "costs_at"):
            method = getattr(made, name, None)
            if callable(method) and call.chance(0.5):
                first = next(iter(parameters_of(method)))
                found = method(
                    call.either(
                        first,
                        lambda first=first: targets.sensible(first, call.rng, target),
                        lambda first=first: targets.hostile(first, call.rng),
                        0.6,
                    )
                )
                list(found) if name == "split" else repr(found)
    return {}


def _needs(method: Any) -> bool:
    return any(each.default is inspect.Parameter.empty for each in parameters_of(method).values())


def attack_kernel(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A kernel or a transform: made, shown, combined, computed on tables and between two."""
    made = _called(call, target, p=0.4)
    rng = call.rng
    repr(made)
    if isinstance(made, Transform):
        K = call.either(
            "K", lambda: values.stack(rng)[:, :, 0], lambda: hostile_stack(rng, values.stack(rng)), 0.5
        )
        views = [multikernel.View("line", Gaussian(), transforms=made)]
        return {"bank": multikernel.KernelBank(views).fit_transform(K)}
    X = call.either("X", lambda: np.abs(values.table(rng)), lambda: hostile_table(rng), 0.6)
    if call.chance(0.3):
        made = made + Gaussian() if call.chance(0.5) else made * Linear()
    if call.chance(0.7):
        return {"K": made(X)}
    other = call.either("Y", lambda: np.abs(values.table(rng, 5)), lambda: hostile_table(rng, 5), 0.6)
    return {"K": made(X, other), "diag": made.diag(other)}


# --- estimators ---------------------------------------------------------------------------------------------


def estimator_for(call: Call, target: Any, p: float = 0.5, **fixed: Any) -> Any:
    """An estimator that is quick, with some hostile parameters."""
    given = {name: value for name, value in QUICK.items() if name in parameters_of(target)}
    given.pop("n_samples", None)
    for name, parameter in parameters_of(target).items():
        required = parameter.default is inspect.Parameter.empty
        if name in fixed:
            given[name] = fixed[name]
        elif call.chance(p / max(len(parameters_of(target)), 1)):
            given[name] = call.give(name, targets.hostile(name, call.rng))
        elif required:
            given[name] = targets.sensible(name, call.rng, target)
    return target(**given)


def _ask(model: Any, fresh: Any) -> dict[str, Any]:
    """Everything that a fitted model can be asked on new samples."""
    outputs = {name: getattr(model, name, None) for name in ("kernel_weights_", "dual_coef_", "intercept_")}
    for name in OUTPUTS:
        if hasattr(model, name):
            outputs[name] = getattr(model, name)(fresh)
    if hasattr(model, "weights_frame"):
        model.weights_frame()
    return outputs


def _target_of(model: Any, rng: Rng, n: int = 16) -> Any:
    return values.labels(rng, n) if is_classifier(model) or not is_regressor(model) else values.values(rng, n)


def attack_estimator(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """An estimator: made, fitted to hostile data, asked for everything on new hostile data."""
    if "kernels" in parameters_of(target) and call.chance(0.2):
        return _attack_precomputed(call, target)
    model = estimator_for(call, target)
    rng = call.rng
    d = 4
    X = call.either("X", lambda: values.table(rng, d=d), lambda: hostile_table(rng, d=d), 0.4)
    sensible_y = _target_of(model, rng)
    y = call.either("y", lambda: sensible_y, lambda: hostile_target(rng, sensible_y), 0.25)
    options = {}
    if "sample_weight" in parameters_of(model.fit) and call.chance(0.2):
        options["sample_weight"] = call.give("sample_weight", hostile_target(rng, rng.random(16)))
    repr(model)
    model.fit(X, y, **options)
    fresh = call.either("X_new", lambda: values.table(rng, 5, d), lambda: hostile_table(rng, 5, d), 0.4)
    outputs = _ask(model, fresh)
    if hasattr(model, "score") and call.chance(0.2):
        model.score(fresh, call.give("y_new", hostile_target(rng, sensible_y[:6])))
    return outputs


def _attack_precomputed(call: Call, target: Any) -> dict[str, Any]:
    """The same with Gram matrices in place of a table."""
    rng = call.rng
    model = estimator_for(call, target, kernels=call.give("kernels", "precomputed"))
    Ks = values.stack(rng)
    X = call.either("X", lambda: Ks, lambda: hostile_stack(rng, Ks), 0.4)
    y = call.either("y", lambda: _target_of(model, rng, 12), lambda: hostile_target(rng, Ks[0, :, 0]), 0.1)
    model.fit(X, y)
    return _ask(model, call.either("X_new", lambda: Ks[:4], lambda: hostile_stack(rng, Ks[:4]), 0.5))


STORAGE: dict[str, tuple[Any, ...]] = {
    "standardize": (True, False, "auto"),
    "normalize": ("variance", "diagonal", "trace", None),
    "psd": ("error", "clip", "shift"),
    "gram": ("auto", "dense", "memmap", "low_rank"),
    "dtype": ("float64", "float32"),
    "rank": (2, 0.1, "auto", 100),
    "missing": ("auto", "error", "renormalize", "absent", "mean", "complete"),
    "memory_limit": (10, 10**9),
}


def attack_storage(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """An estimator on a bank with settings of storage, fitted to several tables of the same samples."""
    rng = call.rng
    settings = {}
    read = getattr(target, "_storage_options", STORAGE)
    for name, choices in STORAGE.items():
        if call.chance(0.3 if name in read else 0.02):
            settings[name] = call.either(
                name, lambda of=choices: of[rng.integers(len(of))], lambda: hostile_value(rng), 0.1
            )
    kernels = {"one": Gaussian(), "two": Linear()} if call.chance(0.8) else "auto"
    bank = multikernel.KernelBank(kernels, **settings)
    model = bank if target is multikernel.KernelBank else estimator_for(call, target, 0.1, kernels=bank)
    X = call.either("X", lambda: values.tables(rng), lambda: values.hostile_tables(rng), 0.6)
    y = _target_of(model, rng, 16 if not hasattr(X, "shape") else (X.shape or (16,))[0])
    model.fit(X, call.either("y", lambda: y, lambda: hostile_target(rng, y), 0.1))
    return _ask(
        model, call.either("X_new", lambda: values.tables(rng, 6), lambda: values.hostile_tables(rng, 6), 0.4)
    )


def attack_limits(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """An iterative estimator or learner with limits and a callback, on sensible data."""
    rng = call.rng
    known = parameters_of(target)
    given: dict[str, Any] = {}
    if "max_time" in known and call.chance(0.6):
        given["max_time"] = call.either(
            "max_time", lambda: (1e-9, 1e-4, 0.05)[rng.integers(3)], lambda: hostile_value(rng), 0.3
        )
    if "callback" in known and call.chance(0.6):
        given["callback"] = call.either(
            "callback",
            lambda: values.CALLBACKS[rng.integers(len(values.CALLBACKS))],
            lambda: hostile_value(rng),
            0.2,
        )
    if "on_interrupt" in known and call.chance(0.5):
        given["on_interrupt"] = call.either("on_interrupt", lambda: "keep", lambda: hostile_value(rng), 0.3)
    model = estimator_for(call, target, 0.05, **given)
    Ks, X = values.stack(rng, 16), values.table(rng)
    try:
        if isinstance(model, WeightLearner):
            model.fit(Ks, np.arange(16) % 2 if "classification" in model.learns_from else values.values(rng))
            return {"kernel_weights_": model.kernel_weights_, "combine": model.combine(Ks)}
        model.fit(X, _target_of(model, rng))
    except values.CallbackError:
        return {}
    if hasattr(model, "status_") and model.status_ not in {str(each) for each in Status}:
        raise WrongError(f"status_ is {model.status_!r}")
    return _ask(model, X[:5])


def attack_learner(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """A weight learner: fitted to hostile stacks, its kernel combined from others."""
    rng = call.rng
    learner = estimator_for(call, target)
    n = 12
    Ks = values.stack(rng, n)
    kernels = call.either("kernels", lambda: Ks, lambda: hostile_stack(rng, Ks), 0.3)
    sensible_y = values.labels(rng, n) if "classification" in learner.learns_from else values.values(rng, n)
    y = call.either("y", lambda: sensible_y, lambda: hostile_target(rng, sensible_y), 0.2)
    learner.fit(kernels, y)
    fresh = call.either("new", lambda: Ks[:4], lambda: hostile_stack(rng, Ks[:4]), 0.7)
    outputs = {"kernel_weights_": learner.kernel_weights_, "combine": learner.combine(fresh)}
    if hasattr(learner, "sample_kernel_weights"):
        outputs["sample_kernel_weights"] = learner.sample_kernel_weights(fresh)
    return outputs


# --- judges of models, and files ----------------------------------------------------------------------------


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
            options[name] = call.give(name, targets.hostile(name, rng))
    with _inside(folder):
        return INSPECTIONS[target.__name__](call, target, model, X, y, options)


def _evaluate(call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]) -> dict[str, Any]:
    options.setdefault("parts", [str(call.rng.choice(public("inspection.ALL_PARTS")))])
    if call.chance(0.7) and hasattr(model, "fit") and not inspect.isclass(model):
        model.fit(values.table(call.rng), values.labels(call.rng))
    return {"found": dict(target(model, X, y, **options))}


def _compare(call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]) -> dict[str, Any]:
    options.setdefault("baselines", False)
    models = call.give("models", {"one": model, "two": multikernel.MKLClassifier(max_iter=5)})
    target(models, X, y, **options).to_dict()
    return {}


def _cost_path(
    call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]
) -> dict[str, Any]:
    options = {"exponents": (0.0, 1.0), "cv": 2} | options
    found = target(model, X, y, **options)
    return {"table": found.table, "weights": found.weights}


def _weight_path(
    call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]
) -> dict[str, Any]:
    options = {"values": [0.1, 1.0]} | ({"cv": 2} if call.chance(0.3) else {}) | options
    found = target(model, X, y, **options)
    return {"weights": found.weights, "shares": found.to_frame(shares=True)}


def _diagnose(call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]) -> dict[str, Any]:
    target(X, y, **options).to_dict()
    return {}


def _summarize(
    call: Call, target: Any, model: Any, X: Any, y: Any, options: dict[str, Any]
) -> dict[str, Any]:
    target(model, **{key: value for key, value in options.items() if key != "comparison"})
    return {}


INSPECTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "evaluate": _evaluate,
    "compare": _compare,
    "cost_path": _cost_path,
    "weight_path": _weight_path,
    "diagnose": _diagnose,
    "summarize": _summarize,
}


def attack_file(call: Call, target: Any, folder: Path) -> dict[str, Any]:
    """Saving and loading: each model comes back as it was; hostile models, paths and contents are refused."""
    rng = call.rng
    with _inside(folder):
        if call.chance(0.3):
            model = call.give("model", [hostile_value(rng), estimator_for(call, target)])
            multikernel.save_model(
                model, call.either("path", lambda: "m.skops", lambda: hostile_value(rng), 0.3)
            )
            return {}
        model, X = small_model(target)
        path = call.either("path", lambda: "model.skops", lambda: hostile_value(rng), 0.2)
        written = Path(multikernel.save_model(model, path))
        _require_same(multikernel.load_model(written), model, X)
        content = written.read_bytes()
        if call.chance(0.5):
            content = values.damage(content, rng)
        else:
            members = unpack(content)
            name = call.give("member", str(rng.choice(list(members))))
            content = pack(members | {name: values.damage(members[name], rng)})
        written.write_bytes(content)
        place = call.either("read", lambda: written, lambda: hostile_value(rng), 0.1)
        if call.chance(0.3):
            public("io.describe_model")(place)
        multikernel.load_model(place)
    return {}


@cache
def small_model(target: Any) -> tuple[Any, Any]:
    """A model of this class with quick parameters, and samples to ask it for."""
    rng = np.random.default_rng(0)
    X = values.table(rng, 16, 4)
    model = target(
        **{name: QUICK[name] for name in QUICK if name in parameters_of(target) and name != "n_samples"}
    )
    return model.fit(X, np.arange(16) % 2 if not is_regressor(model) else X[:, 0]), X


def _require_same(loaded: Any, model: Any, X: Any) -> None:
    for name in ("predict", "transform", "decision_function"):
        if hasattr(model, name):
            one, other = (np.asarray(getattr(each, name)(X)) for each in (loaded, model))
            if one.shape != other.shape or not (one == other).all():
                raise WrongError(f"{name} of the loaded model differs")


# --- the command line ---------------------------------------------------------------------------------------

WORDS = (
    "",
    "kind",
    "c0",
    "nowhere.csv",
    "table.csv",
    "folder",
    "-1",
    "0",
    "10**400",
    "nan",
    "x" * 300,
    "ä=b",
    "a=",
)
OPTIONS: dict[str, tuple[str, ...]] = {
    "fit": (
        "--views",
        "--kernels",
        "--method",
        "--set",
        "--gram",
        "--rank",
        "--task",
        "--ignore",
        "--one-hot",
    )
    + ("--table", "--id", "--join", "--target-table", "--target-file", "--folds", "--tune", "--keep-na"),
    "predict": ("--table", "--id", "--join", "--out", "--proba", "--scores", "--json"),
    "report": ("--out", "--parts", "--seed", "--quick", "--json", "--table", "--target-file"),
    "compare": ("--views", "--kernels", "--task", "--ignore", "--one-hot", "--seed", "--table", "--force"),
    "doctor": (
        "--target",
        "--views",
        "--kernels",
        "--ignore",
        "--task",
        "--max-samples",
        "--table",
        "--json",
    ),
    "data": ("--json",),
}
COMPARE = ("compare", "table.csv", "--target", "kind", "--methods", "mkl,sum_rule", "--out", "compared")
FLAGS = {"--tune", "--keep-na", "--proba", "--scores", "--json", "--quick", "--force"}


@cache
def command_files() -> dict[str, bytes]:
    """The files that commands read, by their place: a table, views, a model, a comparison."""
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        targets.write_table(Path("table.csv"), np.random.default_rng(0), 24)
        Path("views.toml").write_text(targets.VIEWS, encoding="utf-8")
        Path("target.csv").write_text("id,kind\n1,up\n2,down\n", encoding="utf-8")
        np.savez("arrays.npz", X=values.table(np.random.default_rng(0)), y=np.arange(16) % 2)
        _invoke(["fit", "table.csv", "--target", "kind", "--out", "folder"])
        _invoke(list(COMPARE))
        return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def _invoke(words: list[str]) -> None:
    """Run a command within this process; its refusal is one, any other exception is a fault."""
    from typer.testing import CliRunner

    runner = CliRunner(env={"MULTIKERNEL_TRACEBACK": "1", "NO_COLOR": "1"})
    found = runner.invoke(public("cli.app"), words)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    if found.exit_code:
        raise RefusedError(f"exit code {found.exit_code}: {found.output[-150:]}")


def attack_command(call: Call, target: str, folder: Path) -> dict[str, Any]:
    """A command on files of which one may be damaged, with options that may make no sense."""
    rng = call.rng
    files = command_files()
    with _inside(folder):
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
        if call.chance(0.6):
            damaged = call.give("damaged", str(rng.choice(list(files))))
            Path(damaged).write_bytes(values.damage(files[damaged], rng))
        words = {
            "fit": ["fit", "table.csv", "--target", "kind", "--out", "new", "--set", "max_iter=5"],
            "predict": ["predict", "folder", "table.csv"],
            "report": ["report", "folder", "--data", "table.csv", "--parts", "held_out"],
            "compare": list(COMPARE),
            "doctor": ["doctor", str(rng.choice(["table.csv", "arrays.npz"]))],
            "data": [["data", "list"], ["data", "show", "what"]][rng.integers(2)],
        }[target]
        for option in rng.choice(OPTIONS[target], size=rng.integers(3)):
            words += [str(option)] + ([] if option in FLAGS else [_word(rng)])
        if call.chance(0.1):
            words[rng.integers(len(words))] = _word(rng)
        _invoke(call.give("words", words))
    return {}


def _word(rng: Rng) -> str:
    return str(rng.choice((*WORDS, "views.toml", "arrays.npz", "one=table.csv", "linear", "classes", "mkl")))


# --- one call -----------------------------------------------------------------------------------------------

ATTACKS: dict[str, Callable[[Call, Any, Path], Mapping[str, Any]]] = {
    "estimator": attack_estimator,
    "storage": attack_storage,
    "limits": attack_limits,
    "learner": attack_learner,
    "kernel": attack_kernel,
    "function": attack_function,
    "class": attack_class,
    "inspection": attack_inspection,
    "file": attack_file,
    "command": attack_command,
}
SHARES = {
    "estimator": 0.26,
    "storage": 0.13,
    "limits": 0.06,
    "learner": 0.11,
    "kernel": 0.1,
    "function": 0.14,
    "class": 0.05,
    "inspection": 0.06,
    "file": 0.04,
    "command": 0.05,
}


def attack(kind: str, rng: Rng) -> dict[str, Any]:
    """Make one call of a kind; what came of it, as a record that JSON can hold."""
    among = targets.by_kind()[kind]
    target = among[rng.integers(len(among))]
    call = Call(rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        try:
            verdict, told = judge(ATTACKS[kind](call, target, Path(folder)))
        except Exception as error:
            verdict, told = judge_error(error)
        finally:
            close_figures()
        changed = call.changed()
    if changed:
        verdict, told = "changed", f"{', '.join(changed)} ({told})"
    name = getattr(target, "__name__", str(target))
    return {"target": name, "given": ", ".join(call.said)[:400], "verdict": verdict, "told": told}


def numbered_attack(seed: int, number: int) -> dict[str, Any]:
    """The call of a number; the same numbers make the same calls."""
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    return {"number": number, "kind": kind, **attack(kind, rng)}
