"""What is called with hostile values: every public name, and what its parameters sensibly are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

import multikernel
from benchmarks.attack import values
from benchmarks.attack.values import Rng, hostile_stack, hostile_table, hostile_target, hostile_value
from multikernel.kernels import Gaussian, Kernel, Linear, Transform
from multikernel.rules import WeightLearner

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
# Public names that are not called, and why.
_READS = "reads files of the user, or fetches them"
_WORD = "a constant or a type, nothing to call"
_BASE = "there to derive from"
_INNER = "called by estimators with what they have checked; no parameter of a user leads here unchecked"
_RESULT = "what a function of its room returns, made from what that function has checked"
NOT_CALLED = {
    **{
        f"inspection.{name}": _RESULT
        for name in (
            *("AucCurve", "BrierCurve", "ConcordanceInterval", "CrossViewMap", "Enrichment", "Evaluation"),
            *("Explanation", "FeatureImportance", "KaplanMeier", "LogRankTest", "SupportOverlap"),
            *("ViewSelection", "ViewShapley"),
        )
    },
    "datasets.load_dataset": _READS,
    "datasets.check_dataset": _READS,
    "datasets.dataset_fingerprint": _READS,
    "datasets.list_datasets": _READS,
    "datasets.load_faces": _READS,
    "inspection.ALL_PARTS": _WORD,
    "registry.TASKS": _WORD,
    "views.GatingFeatures": _WORD,
    "kernels.Kernel": _BASE,
    "kernels.Transform": _BASE,
    "rules.WeightLearner": _BASE,
    "rules.TwoClassLearner": _BASE,
    "cli.main": "the program itself, which ends its process; its commands are called",
    **{
        f"rows.{name}": _INNER
        for name in (
            "Block",
            "DaskRows",
            "LocalRows",
            "RowBlocks",
            "cluster_memory",
            "count_rows",
            "features_in_chunks",
            "fits_cluster",
            "is_dask",
            "join_rows",
            "map_chunks",
            "rows_unlike",
            "take_rows",
            "tree_sum",
        )
    },
}
# NaN stands for what a sample lacks, and is kept until a fit refuses it or completes it.
KEEPS_NAN = {"stack_kernels", "join_views", "view_tables", "as_views", "from_anndata", "from_mudata"}
KINDS = (
    "estimator",
    "storage",
    "limits",
    "learner",
    "kernel",
    "function",
    "class",
    "inspection",
    "file",
    "command",
)


# --- what there is ------------------------------------------------------------------------------------------


@cache
def exported() -> dict[str, Any]:
    """Every public object once, by room and name; what several rooms export, by the first of them."""
    found: dict[str, Any] = {}
    for room in (*multikernel._PACKAGES, "cli", ""):
        module = import_module(f"multikernel.{room}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not any(value is known for known in found.values()):
                found[f"{room}.{name}".lstrip(".")] = value
    return dict(sorted(found.items()))


def public(name: str) -> Any:
    """A public object, by room and name."""
    return exported()[name]


@cache
def by_kind() -> dict[str, list[Any]]:
    """The public classes and functions, by how they are attacked."""
    kinds: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for name, value in exported().items():
        if name in NOT_CALLED or is_error(value):
            continue
        if name == "cli.app":
            kinds["command"] = ["fit", "predict", "report", "compare", "doctor", "data"]
        elif not inspect.isclass(value):
            kinds["function"].append(value)
        elif issubclass(value, WeightLearner):
            kinds["learner"].append(value)
        elif hasattr(value, "fit") and issubclass(value, BaseEstimator):
            kinds["estimator"].append(value)
        elif issubclass(value, Kernel | Transform):
            kinds["kernel"].append(value)
        else:
            kinds["class"].append(value)
    kinds["storage"] = [
        each
        for each in kinds["estimator"]
        if "kernels" in parameters_of(each) and not each.__name__.startswith("Projection")
    ]
    iterative = (*kinds["estimator"], *kinds["learner"])
    kinds["limits"] = [each for each in iterative if {"max_time", "callback"} & parameters_of(each).keys()]
    kinds["inspection"] = [
        public(f"{room}.{name}")
        for room, name in (
            ("inspection", "evaluate"),
            ("inspection", "compare"),
            ("mkl", "cost_path"),
            ("mkl", "weight_path"),
            ("doctor", "diagnose"),
            ("report", "summarize"),
        )
    ]
    kinds["file"] = [each for each in kinds["estimator"] if each.__name__ != "KernelBank"]
    return kinds


def is_error(value: Any) -> bool:
    """Whether a public object is a warning or an exception: raised, not called."""
    return inspect.isclass(value) and issubclass(value, Warning | Exception)


# --- their parameters ---------------------------------------------------------------------------------------


def parameters_of(target: Any) -> dict[str, inspect.Parameter]:
    """The parameters that can be given by name, or by place where they must be."""
    try:
        found = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in found.items() if each.kind not in kinds and name != "self"}


def sensible(name: str, rng: Rng, target: Any = None) -> Any:
    """A value that a parameter of this name takes, most of the time; else its default."""
    own = OWN.get((getattr(target, "__name__", ""), name))
    if own is not None:
        return own(rng)
    if name in SENSIBLE:
        return SENSIBLE[name](rng)
    if name in QUICK:
        return QUICK[name]
    parameter = parameters_of(target).get(name)
    has_default = parameter is not None and parameter.default is not inspect.Parameter.empty
    return parameter.default if parameter is not None and has_default else 1


def _first(rng: Rng) -> Any:
    return values.stack(rng)[:, :, 0]


SENSIBLE: dict[str, Callable[[Rng], Any]] = {
    "X": values.table,
    "x": lambda rng: values.table(rng)[:, 0],
    "Y": lambda rng: (values.table(rng) > 0).astype(float),
    "y": values.labels,
    "K": _first,
    "K1": _first,
    "K2": _first,
    "adjacency": lambda rng: (_first(rng) > 0).astype(float),
    "edges": lambda rng: np.array([[0, 1], [1, 2], [2, 3]]),
    "kernels": lambda rng: [Linear(), Gaussian()] if rng.random() < 0.5 else values.stack(rng),
    "kernel": lambda rng: Gaussian(),
    "left": lambda rng: Gaussian(),
    "right": lambda rng: Linear(),
    "weights": lambda rng: np.ones(2),
    "scores": lambda rng: {"a": {"d": [0.5] * 10}, "b": {"d": [0.6] * 10}},
    "pvalues": lambda rng: [0.1, 0.01],
    "a": lambda rng: rng.random(10),
    "b": lambda rng: rng.random(10),
    "model": lambda rng: fitted(),
    "tables": values.tables,
    "ids": lambda rng: [f"s{k}" for k in range(16)],
    "adata": values.annotated,
    "mdata": values.modalities,
    "pairs": lambda rng: np.array([[0, 1], [1, 2]]),
    "columns": lambda rng: ["a", "b", "c"],
    "gene_sets": lambda rng: {"s": ["a", "b"], "t": ["c"]},
    "min_genes": lambda rng: 1,
    "features": lambda rng: 3,
    "margin": lambda rng: 1.0,
    "factors": lambda rng: {"u": (0.0, 0.5, 1.0), "v": (0.0, 0.5, 1.0)},
    "evaluation": lambda rng: evaluated(),
    "summary": lambda rng: summarized(),
    "comparison": lambda rng: compared(),
    "data": lambda rng: table_data(),
    "plan": lambda rng: public("io.plan_fit")(table_data()),
    "record": lambda rng: {"classes": None},
    "spec": lambda rng: "unit_trace",
    "name": lambda rng: "GAUSS4",
    "n": lambda rng: 10,
    "values": lambda rng: [0.1, 1.0],
    "exponents": lambda rng: (0.0, 1.0),
    "sample": values.table,
    "views": lambda rng: [multikernel.View("line", Linear())],
    "positions": lambda rng: [0, 2],
}
# Where a name means different things, by function and name; functions are called in a folder of their own.
OWN: dict[tuple[str, str], Callable[[Rng], Any]] = {
    ("read_table", "path"): lambda rng: write_table(Path("table.csv"), rng),
    ("read_gmt", "path"): lambda rng: _write("sets.gmt", "s\twhat\ta\tb\nt\twhat\tc\n"),
    ("read_views", "path"): lambda rng: _write("views.toml", VIEWS),
    ("describe_model", "path"): lambda rng: multikernel.save_model(fitted(), "model.skops"),
    ("load_model", "path"): lambda rng: multikernel.save_model(fitted(), "model.skops"),
    ("save_model", "path"): lambda rng: "model.skops",
    ("save_report", "path"): lambda rng: f"report{rng.choice(['.html', '.md', '.json'])}",
    ("find_renderer", "path"): lambda rng: "report.html",
    ("cost", "path"): lambda rng: path_of("cost_path"),
    ("weight_path", "path"): lambda rng: path_of("weight_path"),
    ("gauss_bayes", "X"): lambda rng: values.table(rng)[:, :2],
    ("gauss_log_odds", "X"): lambda rng: values.table(rng)[:, :2],
    ("get_method", "name"): lambda rng: "mkl",
    ("generalization_bound", "kernels"): values.stack,
    ("generalization_bound", "y"): lambda rng: np.arange(12) % 2,
    ("generalization_bound", "scores"): lambda rng: rng.normal(size=12),
    ("kernel_complexity", "kernels"): values.stack,
    ("combine_kernels", "kernels"): values.stack,
    ("stack_kernels", "kernels"): values.stack,
    ("components", "model"): lambda rng: components(),
    ("decision_regions", "model"): lambda rng: planar(),
    ("decision_regions", "X"): lambda rng: values.table(rng)[:, :2],
    ("ModelFolder", "folder"): lambda rng: "folder",
    ("CompletedBank", "bank"): lambda rng: multikernel.KernelBank([Linear(), Gaussian()]),
    ("NamedStack", "stack"): values.stack,
    ("NamedStack", "names"): lambda rng: ["a", "b"],
}
VIEWS = """
[[views]]
name = "line"
columns = ["c0", "c1"]
kernel = "linear"

[[views]]
name = "bumps"
columns = ["c2"]
kernel = "gaussian"
"""


def _write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def write_table(path: Path, rng: Rng, n: int = 16) -> str:
    """A CSV file with a column of labels."""
    frame = pd.DataFrame(values.table(rng, n), columns=["c0", "c1", "c2"])
    frame.assign(kind=np.where(np.arange(n) % 2, "up", "down")).to_csv(path, index=False)
    return str(path)


# --- models and results to ask ------------------------------------------------------------------------------


def _small() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return values.table(rng), np.arange(16) % 2


@cache
def fitted() -> Any:
    """A small model."""
    return multikernel.MKLClassifier([Linear(), Gaussian()]).fit(*_small())


@cache
def planar() -> Any:
    """A small model of two columns."""
    X, y = _small()
    return multikernel.MKLClassifier([Linear(), Gaussian()]).fit(X[:, :2], y)


@cache
def components() -> Any:
    """Principal components."""
    return multikernel.CombinedKernelPCA([Linear(), Gaussian()]).fit(*_small())


@cache
def evaluated() -> dict[str, Any]:
    """What `evaluate` says of a model."""
    parts = ["held_out", "heat_maps", "embedding", "stability"]
    return dict(multikernel.evaluate(fitted(), *_small(), parts=parts))


@cache
def summarized() -> dict[str, Any]:
    """What `summarize` says of it."""
    return dict(public("report.summarize")(fitted()))


@cache
def compared() -> Any:
    """Two models compared."""
    models = {
        "one": multikernel.MKLClassifier(max_iter=5),
        "two": multikernel.MKLClassifier(C=10, max_iter=5),
    }
    return multikernel.compare(models, *_small(), progress=False)


@cache
def path_of(name: str) -> Any:
    """What `cost_path` or `weight_path` returns."""
    views = [multikernel.View("a", Linear(), [0]), multikernel.View("b", Gaussian(), [1, 2])]
    model = multikernel.MKLClassifier(views, costs=[1.0, 2.0], max_iter=5)
    if name == "cost_path":
        return public("mkl.cost_path")(model, *_small(), exponents=(0.0, 1.0), cv=2)
    return public("mkl.weight_path")(model, *_small(), values=[0.1, 1.0])


@cache
def table_data() -> Any:
    """A table as the command line reads it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write_table(Path(folder) / "table.csv", np.random.default_rng(0))
        return public("io.read_table")(path, "kind")


# --- hostile parameters -------------------------------------------------------------------------------------


def hostile(name: str, rng: Rng) -> Any:
    """A hostile value for a parameter: often one of the kind that it takes, with a defect."""
    if name in ("X", "Y", "x", "adjacency", "table", "sample") and rng.random() < 0.8:
        return hostile_table(rng)
    if name in ("tables", "adata", "mdata") and rng.random() < 0.8:
        return values.hostile_tables(rng)
    series = ("y", "a", "b", "weights", "scores", "pvalues", "labels", "rows", "pairs", "ids", "edges")
    if name in series and rng.random() < 0.7:
        return hostile_target(rng, values.values(rng))
    if name in ("K", "K1", "K2", "kernels", "other_pairs", "stack") and rng.random() < 0.6:
        return hostile_stack(rng, values.stack(rng))
    return hostile_value(rng)
