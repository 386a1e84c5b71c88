"""Computes cases by the library of this revision: commands on standard input, one line of JSON for each.

A command is {"kind": …, "params": …, "arrays": file, "timed": …}. The answer has "numbers", which must be
equal between two revisions, "notes", which are shown where they differ, and the CPU time in "seconds"; or an
"error". It is a script and imports nothing of ``benchmarks``, so that it can be started for any tree.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import multikernel
from benchmarks.fixed_kernel import solve_machine
from multikernel import (
    CombinedKernelClassifier,
    KernelBank,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    MKLRidge,
    View,
    compare,
    evaluate,
)
from multikernel.bayesian import BayesianMKLClassifier, BayesianMKLRegressor
from multikernel.boosting import ColumnBoostingClassifier
from multikernel.core.one_kernel import fixed_seed
from multikernel.core.optim.loop import Options
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.core.svm.losses import Hinge, JointHinge
from multikernel.core.weights.learn import learn_weights
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import (
    Chi2,
    Cosine,
    Diffusion,
    Gappy,
    Gaussian,
    Laplacian,
    Linear,
    Mismatch,
    Network,
    Polynomial,
    RandomWalk,
    RegularizedLaplacian,
    Sigmoid,
    Spectrum,
    Tanimoto,
    WeightedDegree,
)
from multikernel.localized import ProjectionKernelClassifier
from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.learn import GatedObjective, learn_gates
from multikernel.localized.solver.machines import BinaryMachines
from multikernel.mkl import RegularizedMKLClassifier, cost_path
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projection
from multikernel.nonstationary.solver.smo import project_smo
from multikernel.nonstationary.solver.working_set import project_interior
from multikernel.pairs import PairwiseRidge
from multikernel.registry import get_method
from multikernel.rules import EasyMKL
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import SpectralKernelClassifier
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.transductive.solver.kernel_matrix import MatrixProblem, learn_kernel_matrix
from multikernel.views import as_views

Arrays = dict[str, Any]
Params = dict[str, Any]
Numbers = dict[str, Any]
Work = tuple[Callable[[], Any], Callable[[Any], Numbers]]  # what is timed, and what is told of its answer

MOST_VALUES = 2000  # of an array, that are written out beside its hash

METHOD_SETTINGS: dict[str, Params] = {"pairs": {"split": 2}, "regularized": {"cv": 3}}
# The numerics that were the defaults of 8f30f92 where they are others now.
FORMER_NUMERICS: dict[str, Params] = {
    "CappedMKL": {"tol": 1e-4},
    "EasyMKL": {"tol": 1e-4},
    "ElasticNetMKL": {"tol": 1e-4},
    "FungDiscriminant": {"tol": 1e-6, "max_iter": 200},
    "GeneralMKL": {"tol": 1e-4, "max_iter": 500},
    "GradientAlignment": {"tol": 1e-5, "max_iter": 1000},
    "GroupMKL": {"tol": 1e-4},
    "InstanceWeights": {"tol": 1e-2},
    "KLDivergence": {"tol": 1e-5, "max_iter": 100},
    "KernelDiscriminantClassifier": {"tol": 1e-8, "max_iter": 100},
    "LogPenaltyMKL": {"tol": 1e-4, "max_iter": 100},
    "LowerBoundedMKL": {"tol": 1e-4},
    "PairwiseRidge": {"tol": 1e-6},
    "PolynomialRidge": {"tol": 1e-6, "max_iter": 500},
    "RadiusMargin": {"tol": 1e-4},
    "RidgeBall": {"tol": 1e-6, "max_iter": 500},
    "TransductiveMKLClassifier": {"tol": 1e-8, "max_iter": 100},
}
# A learner that combines two kernels.
TWO_KERNELS = ("functional_form",)

# ---------------------------------------------------------------------- what is told of a fitted model
ATTRIBUTES = (
    "kernel_weights_",
    "objective_",
    "dual_gap_",
    "n_iter_",
    "n_solves_",
    "intercept_",
    "C_",
    "costs_",
    "labels_",
    "inertia_",
    "eigenvalues_",
    "transduction_",
    "transduction_scores_",
)
OUTPUTS = ("predict", "decision_function", "predict_proba", "transform")


def of_model(model: Any, X_new: Any = None) -> Numbers:
    """Weights, certificate, iterations, and what the model says of new rows."""
    found = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    if isinstance(model, BayesianMKLRegressor):
        found["intercept_"] = model.intercept_[0]  # it was a number
    if X_new is not None:
        found |= {name: getattr(model, name)(X_new) for name in OUTPUTS if hasattr(model, name)}
    learner = getattr(model, "learner_", None)
    if learner is not None:
        found |= {f"learner {name}": getattr(learner, name) for name in ATTRIBUTES if hasattr(learner, name)}
    return found | {"status": getattr(model, "status_", None), "history": getattr(model, "history_", None)}


def as_before(model: Any) -> Any:
    """The model with the numerics of 8f30f92 in place of the present defaults, those of its parts, too."""
    for part in (model, *model.get_params().values()):
        former = FORMER_NUMERICS.get(type(part).__name__, {})
        present = type(part)().get_params(deep=False) if former else {}
        plain = (name for name in former if getattr(part, name) == present[name])
        if former:
            part.set_params(**{name: former[name] for name in plain})
    return model


def of_result(found: Any, **more: Any) -> Numbers:
    """The same of a solver's answer."""
    names = ("weights", "objective", "gap", "n_iter")
    told = {name: getattr(found, name) for name in names if hasattr(found, name)}
    return told | more | {"status": found.status, "history": getattr(found, "history", None)}


# ---------------------------------------------------------------------- solvers
def mkl(data: Arrays, params: Params) -> Work:
    """MKLClassifier on a stack as a user hands it over: (n, n, m), a view that is kernels-first in memory."""
    n = int(data.get("n_train", len(data["y"])))
    stack, y = data["stack"], data["y"]
    X = np.moveaxis(stack[:, :n, :n], 0, -1)
    new = np.moveaxis(stack[:, n:, :n], 0, -1) if n < len(y) else None
    return lambda: MKLClassifier("precomputed", **params).fit(X, y[:n]), lambda model: of_model(model, new)


def weights(data: Arrays, params: Params) -> Work:
    """The solver behind it."""
    loss = Hinge(data["y"], params["C"])
    return (
        lambda: learn_weights(data["stack"], [loss], options=Options(tol=params["tol"])),
        lambda found: of_result(found, duals=found.duals, intercepts=found.intercepts, passes=found.passes),
    )


def machine(data: Arrays, params: Params) -> Work:
    """One SVM at the mean kernel."""
    K = data["stack"].mean(axis=0)
    return (
        lambda: solve_machine(K, Hinge(data["y"], params["C"]), tol=params["tol"]),
        lambda found: of_result(found, dual=found.dual, intercept=found.intercept),
    )


def joint(data: Arrays, params: Params) -> Work:
    """All classes in one SVM, on the first kernel."""
    codes = data["codes"]
    return (
        lambda: solve_multiclass(
            data["stack"][0], codes, int(codes.max()) + 1, params["C"], tol=params["tol"]
        ),
        lambda found: of_result(found, alpha=found.alpha, intercepts=found.intercepts),
    )


def joint_weights(data: Arrays, params: Params) -> Work:
    """The same with learned weights."""
    loss = JointHinge(data["codes"], int(data["codes"].max()) + 1, params["C"])
    return (
        lambda: learn_weights(data["stack"], [loss], options=Options(tol=params["tol"])),
        lambda found: of_result(found, duals=found.duals, intercepts=found.intercepts),
    )


def discriminant(data: Arrays, params: Params) -> Work:
    """Weights of kernel discriminant analysis."""
    reg = None if params["reg"] == "learn" else params["reg"]
    return (
        lambda: learn_discriminant(
            DiscriminantProblem(data["stack"], data["codes"], reg),
            options=Options(tol=params["tol"], max_iter=100),
        ),
        lambda found: of_result(found, reg=found.reg),
    )


def transductive(data: Arrays, params: Params) -> Work:
    """TransductiveMKLClassifier, with rank-one kernels of the second kernel where weights are "spectral"."""
    n, stack = int(data["n_train"]), np.moveaxis(data["stack"], 0, -1)
    if params["weights"] == "spectral":
        stack = stack[:, :, [1]]
    if params["criterion"] == "alignment":
        params = {name: value for name, value in params.items() if name != "tol"}
    words = {"criterion": "method", "weights": "weight_set"}
    settings = {words.get(name, name): value for name, value in params.items()}
    model = as_before(TransductiveMKLClassifier("precomputed", n_components=20, **settings))
    return lambda: model.fit(stack[:n], data["y"][:n], stack[n:]), of_model


def kernel_matrix(data: Arrays, params: Params) -> Work:
    """The solver behind it."""
    n, stack = int(data["n_train"]), data["stack"]
    trace = float(np.trace(stack, axis1=1, axis2=2).sum())
    problem = MatrixProblem(stack, Hinge(data["y"][:n], 1.0), params["weights"], trace)
    return (
        lambda: learn_kernel_matrix(problem, options=Options(tol=params["tol"], max_iter=100)),
        lambda found: of_result(found, dual=found.dual, intercept=found.intercept),
    )


def projection(data: Arrays, params: Params) -> Work:
    """The best mixtures of kernels for given posteriors."""
    stack, y = data["stack"], data["y"]
    m, n = stack.shape[:2]
    every = np.arange(m), np.arange(m)
    rows = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    mixtures = Mixtures(stack, every, rows, np.full(n, params["C"]), np.full(n, float(data["margin"])))
    solve = project_interior if params["solver"] == "interior" else project_smo

    def told(found: Any) -> Numbers:
        values = {"primal": found.primal, "dual": found.dual}
        pairs = {"duals": found.duals, "offsets": found.point.offsets}
        both = {f"{name} {side}": pair[side] for name, pair in pairs.items() for side in (0, 1)}
        return of_result(found, **values, **both)

    posteriors = data["positive"], data["negative"]
    return lambda: solve(Projection(mixtures, posteriors), tol=params["tol"]), told


def nonstationary(data: Arrays, params: Params) -> Work:
    """NonstationaryClassifier on a stack."""
    X = np.moveaxis(data["stack"], 0, -1)
    return (
        lambda: NonstationaryClassifier("precomputed", random_state=0, **params).fit(X, data["y"]),
        lambda model: of_model(model, X[:50]),
    )


def _gate_views(name: str, n_columns: int) -> list[View]:
    kinds: dict[str, list[tuple[str, Any, Any]]] = {
        "linear + quadratic": [("linear", Linear(), None), ("quadratic", Polynomial(2), None)],
        "3 linear": [(name, Linear(), None) for name in ("first", "second", "third")],
        "quarters": [
            (f"quarter {k}", Linear(), list(range(16 * k, 16 * (k + 1)))) for k in range(n_columns // 16)
        ],
    }
    return [View(*view, transforms="unit_diagonal", standardize=True) for view in kinds[name]]


def localized(data: Arrays, params: Params) -> Work:
    """LocalizedMKLClassifier, from points to model."""
    X, y = data["X"], data["y"]
    views = _gate_views(params["views"], X.shape[1])
    settings = {"C": params["C"], "gating": params["gating"], "random_state": params["seed"]}
    return (
        lambda: LocalizedMKLClassifier(views, gating_reg=0.0, **settings).fit(X, y),
        lambda model: of_model(model, X[:100]) | {"gate": model.gating_[0]},
    )


def gates(data: Arrays, params: Params) -> Work:
    """The descent alone, on ready kernels."""
    parts = data["stack"], data["sources"], data["features"]

    def solve() -> Any:
        machines = BinaryMachines([Hinge(data["y"], params["C"])], tol=1e-4)
        objective = GatedObjective(*parts, GATES[params["gating"]], machines)
        numbers = np.random.default_rng(fixed_seed(params["seed"])).spawn(1)[0]
        return learn_gates(objective, 1, numbers)

    return solve, lambda found: of_result(
        found, gate=found.point.V, coefficients=found.point.coefficients, n_solves=found.n_solves
    )


def low_rank(data: Arrays, params: Params) -> Work:
    """Many rows on factors of low rank; views of five columns."""
    X, loss = data["X"], params["loss"]
    parts = [(f"view {k}", Gaussian(), list(range(5 * k, 5 * k + 5))) for k in range(X.shape[1] // 5)]
    bank = KernelBank(plain(parts), gram="low_rank", rank=params["rank"])
    common = {"tol": params["tol"], "random_state": 0}

    def solve() -> Any:
        if loss == "squared":
            return MKLRidge(bank, **common).fit(X, data["values"])
        return MKLClassifier(bank, loss=loss, **common).fit(X, data["labels"])

    return solve, lambda model: of_model(model, X[:500])


# ---------------------------------------------------------------------- methods and estimators
def method(data: Arrays, params: Params) -> Work:
    """A method of the registry with its defaults, on a table."""
    name, task = params["method"], params["task"]
    found = get_method(name)
    settings = dict(METHOD_SETTINGS.get(name, {}))
    if "random_state" in found.parameters(task):
        settings["random_state"] = 0
    y = None if task == "unsupervised" else data["y"]
    return (
        lambda: as_before(found.make(task, **settings)).fit(data["X"], y),
        lambda model: of_model(model, data["X_new"]),
    )


def learner(data: Arrays, params: Params) -> Work:
    """A weight learner of the registry with its defaults under its machine, on a stack."""
    name, task = params["method"], params["task"]
    found = get_method(name)
    count = 2 if name in TWO_KERNELS else len(data["stack"])
    stack, new = (np.moveaxis(data[key][:count], 0, -1) for key in ("stack", "stack_new"))
    y = None if task == "unsupervised" else data["y"]
    return (
        # random_state=None is the seed 0, which was the default
        lambda: as_before(found.make(task, kernels="precomputed")).fit(stack, y),
        lambda model: of_model(model, new),
    )


def plain(kernels: Any) -> list[View]:
    """Kernels as they are: columns not standardised, values not normalised."""
    return [view.with_defaults(standardize=False, normalize=None) for view in as_views(kernels)]


KERNELS = [Linear(), Gaussian(), Gaussian(0.1)]
BANK = plain(KERNELS)
VIEWS = plain([("first", Gaussian(), [0, 1]), ("second", Linear(), [2, 3])])
SEED = {"random_state": 0}


def _estimators() -> dict[str, Any]:
    return _partial_models() | {
        "mkl one against rest": MKLClassifier(**SEED),
        "mkl one against one with probabilities": MKLClassifier(
            BANK, multiclass="ovo", probability=True, **SEED
        ),
        "mkl shared": MKLClassifier(BANK, multiclass="shared", loss="squared_hinge", norm=2.0, **SEED),
        "mkl joint": MKLClassifier(BANK, multiclass="joint", **SEED),
        "posterior": PosteriorSVC(BANK, **SEED),
        "localized joint": LocalizedMKLClassifier(
            BANK[:2], multiclass="joint", gating="gaussian", gating_reg=0.0, **SEED
        ),
        "localized one against one": LocalizedMKLClassifier(
            multiclass="ovo",
            gating="sigmoid",
            shared_gate=True,
            gating_features="kernel",
            gating_reg=0.0,
            **SEED,
        ),
        "projection one against rest": ProjectionKernelClassifier(
            n_regions=2,
            n_components=1,
            kernels="gaussian",
            multiclass="ovr",
            gating="sigmoid",
            projection_norm="unit",
            solver="lbfgs",
            **SEED,
        ),
        "discriminant with learned regularization": KernelDiscriminantClassifier(reg="learn", rule="knn"),
        "boosting of columns, mark": ColumnBoostingClassifier(BANK, method="mark", max_columns=10, **SEED),
        "combined, EasyMKL": CombinedKernelClassifier(BANK, EasyMKL()),
        "mkl norm 2": MKLClassifier(BANK, norm=2.0, **SEED),
        "mkl squared hinge, learned C": MKLClassifier(BANK, loss="squared_hinge", C="learn", **SEED),
        "mkl costs": MKLClassifier(BANK, costs=[1.0, 2.0, 3.0], tol=1e-6, **SEED),
        "mkl from expressions": MKLClassifier(
            plain([Linear() * Gaussian() + 0.5 * Polynomial(2), Gaussian()]), **SEED
        ),
        "nonstationary by SMO": NonstationaryClassifier(BANK[:2], solver="smo", n_init=1, **SEED),
        "nonstationary full": NonstationaryClassifier(BANK[:2], method="full", max_iter=5, n_init=1, **SEED),
        "transductive free": TransductiveMKLClassifier(BANK, weight_set="free", method="soft2"),
        "transductive spectral, learned C": TransductiveMKLClassifier(
            BANK[1:2], method="soft2", C="learn", weight_set="spectral", n_components=4
        ),
        "spectral by SVM": SpectralKernelClassifier(
            classifier="svm", gamma="mean", eig_tol="loo", reg=("relative", 1.5), **SEED
        ),
        "spectral by alignment": SpectralKernelClassifier(
            classifier="kdda", gamma="mean", method="alignment", **SEED
        ),
        "spectral by conformal factors": SpectralKernelClassifier(gamma="mean", method="conformal", **SEED),
        "localized sigmoid": LocalizedMKLClassifier(
            BANK, gating="sigmoid", gating_reg=0.0, prune=True, n_init=2, **SEED
        ),
        "posterior by windows": PosteriorSVC(BANK, posterior="parzen", norm=2.0, **SEED),
        "regularized, response surface": RegularizedMKLClassifier(BANK, cv=3, max_steps=3, **SEED),
        "regularized, eigenvalue": RegularizedMKLClassifier(BANK, method="eigenvalue", cv=3, **SEED),
        "regularized, weights": RegularizedMKLClassifier(BANK[:2], method="weights", cv=3, **SEED),
        "discriminant over KNN": KernelDiscriminantClassifier(BANK, rule="knn"),
        "bayesian sparse": BayesianMKLClassifier(BANK, sparse=True, max_iter=100, **SEED),
        "low rank, hinge": MKLClassifier(KernelBank(BANK, gram="low_rank", rank=10), **SEED),
        "low rank, squared hinge": MKLClassifier(
            KernelBank(BANK, gram="low_rank", rank=10), loss="squared_hinge", **SEED
        ),
        "float32": MKLClassifier(KernelBank(BANK, dtype="float32"), **SEED),
        "regression, norm 2": MKLRegressor(BANK, C=1.0, norm=2.0, epsilon=0.2, **SEED),
        "ridge, norm 2": MKLRidge(BANK, norm=2.0, **SEED),
        "low rank, regression": MKLRegressor(
            KernelBank(BANK, gram="low_rank", rank=10), C=1.0, epsilon=0.1, **SEED
        ),
        "low rank, ridge": MKLRidge(KernelBank(BANK, gram="low_rank", rank=10), **SEED),
        "localized regression by L-BFGS": LocalizedMKLRegressor(
            BANK[:2], solver="lbfgs", gating_reg=0.0, **SEED
        ),
        "pairs, ordered": PairwiseRidge(BANK, split=2),
        "pairs, symmetric": PairwiseRidge(BANK, method="symmetric", split=2),
        "pairs, several alphas": PairwiseRidge(BANK[:2], split=2, alphas=[0.1, 1.0, 10.0], hold_out="left"),
    }


def _partial_models() -> dict[str, Any]:
    """Those that learn from samples without some of their views."""
    words = {"renormalized": "renormalize", "absent": "absent", "mean": "mean"}
    found: dict[str, Any] = {
        f"missing views, {name}": MKLClassifier(KernelBank(VIEWS, missing=word), **SEED)
        for name, word in words.items()
    }
    return found | {"missing views, ridge": MKLRidge(KernelBank(VIEWS, missing="complete"), **SEED)}


def _without_views(X: Any) -> Any:
    """Every fifth row lacks the first view, every seventh of the others the second."""
    gappy = X[:, :4].copy()
    gappy[::5, :2] = np.nan
    second = np.arange(len(X)) % 7 == 3
    gappy[second & ~np.isnan(gappy[:, 0]), 2:] = np.nan
    return gappy


def _other_variants(data: Arrays) -> dict[str, Work]:
    """What is no estimator: functions, and Gram matrices."""

    def path() -> Any:
        return cost_path(
            MKLClassifier(BANK, costs=[1.0, 2.0, 4.0]), data["X"], data["y"], cv=3, random_state=0
        )

    def rules() -> Any:
        baselines = ["plain sum", "best single view"]
        options = {"kernels": BANK, "baselines": baselines, "random_state": 0, "progress": False}
        return compare([EasyMKL()], data["X"], data["y"], **options)

    def evaluation() -> Any:
        model = MKLClassifier(VIEWS, **SEED).fit(data["X"], data["y"])
        return evaluate(model, data["X"], data["y"], cv=3)

    def tables() -> Any:
        kernels = (*KERNELS, Polynomial(3), Laplacian(1.0), Cosine(), Chi2(1.0), Sigmoid(), Tanimoto())
        return [kernel.fit(data["X"])(data["X"]) for kernel in kernels]

    def sequences() -> Any:
        words = data["sequences"].tolist()
        kernels = (Spectrum(3), Mismatch(3, 1), Gappy(3, 1), WeightedDegree(3))
        return [kernel.fit(words)(words) for kernel in kernels]

    def networks() -> Any:
        nodes = [f"n{k}" for k in range(len(data["network"]))]
        network = Network.from_adjacency(data["network"], nodes)
        return [kernel(network)(nodes) for kernel in (Diffusion, RegularizedLaplacian, RandomWalk)]

    return {
        "cost path": (path, lambda found: flat("path", found.table)),
        "rules compared": (rules, lambda found: flat("rules", found.scores["score"].tolist())),
        "evaluation": (evaluation, lambda found: flat("evaluation", found)),
        "kernels of tables": (tables, lambda found: flat("gram", found)),
        "kernels of sequences": (sequences, lambda found: flat("gram", found)),
        "kernels of networks": (networks, lambda found: flat("gram", found)),
    }


def flat(name: str, value: Any) -> Numbers:
    """All numbers of nested dicts, lists and frames in one array, in their order."""
    found: list[float] = []

    def gather(part: Any) -> None:
        if hasattr(part, "to_dict") and not isinstance(part, dict):
            part = part.to_dict("list") if hasattr(part, "columns") else part.to_dict()
        if isinstance(part, dict):
            for key in sorted(part, key=str):
                gather(part[key])
        elif isinstance(part, list | tuple):
            for item in part:
                gather(item)
        elif isinstance(part, np.ndarray) and part.dtype.kind in "fiub":
            found.extend(part.ravel().astype(float).tolist())
        elif isinstance(part, int | float | np.number):
            found.append(float(part))

    gather(value)
    return {name: np.array(found)}


def variant(data: Arrays, params: Params) -> Work:
    """An estimator with given settings, or a function, by its name in problems.py."""
    name = params["variant"]
    others = _other_variants(data)
    if name in others:
        return others[name]
    models = _estimators()
    if name not in models:
        raise UnknownCase(name)
    model, X, new = as_before(models[name]), data["X"], data["X_new"]
    if name.startswith("missing views"):
        X, new = _without_views(X), _without_views(new)
    more = {"X_unlabeled": new} if "X_unlabeled" in inspect.signature(model.fit).parameters else {}
    return lambda: model.fit(X, data["y"], **more), lambda fitted: of_model(fitted, new)


KINDS: dict[str, Callable[[Arrays, Params], Work]] = {
    "mkl": mkl,
    "weights": weights,
    "machine": machine,
    "joint": joint,
    "joint weights": joint_weights,
    "discriminant": discriminant,
    "transductive": transductive,
    "kernel matrix": kernel_matrix,
    "projection": projection,
    "nonstationary": nonstationary,
    "localized": localized,
    "gates": gates,
    "low rank": low_rank,
    "method": method,
    "learner": learner,
    "variant": variant,
}


# ---------------------------------------------------------------------- answers
class UnknownCase(Exception):
    """This runner does not know the kind or the name."""


def encode(value: Any) -> dict[str, Any]:
    """Type, shape, hash of the bytes, and the first values, which JSON gives back exactly."""
    array = np.asarray(value)
    if array.dtype == object:
        array = array.astype(str)
    array = np.ascontiguousarray(array)
    return {
        "dtype": array.dtype.str,
        "shape": list(np.shape(value)),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest()[:32],
        "values": array.ravel()[:MOST_VALUES].tolist(),
    }


def answer(numbers: Numbers, seconds: float) -> dict[str, Any]:
    """What goes to the driver. A status is its word, without what was written behind it in brackets."""
    status, history = numbers.pop("status", None), numbers.pop("history", None)
    coded = {name: encode(value) for name, value in numbers.items() if value is not None}
    if status is not None:
        coded["status"] = encode(str(getattr(status, "value", status)).split(" (")[0])
    notes = {}
    if history and all(isinstance(entry, dict) and "objective" in entry for entry in history):
        notes["history"] = encode([float(entry["objective"]) for entry in history])
    return {"numbers": coded, "notes": notes, "seconds": seconds}


def compute(command: dict[str, Any], data: Arrays) -> dict[str, Any]:
    """One case: its numbers, and the CPU time, without that of garbage collection where it matters."""
    if command["kind"] not in KINDS:
        raise UnknownCase(command["kind"])
    solve, told = KINDS[command["kind"]](data, command["params"])
    if command["timed"]:
        gc.collect()
        gc.disable()
    try:
        start = time.process_time()
        found = solve()
        seconds = time.process_time() - start
    finally:
        gc.enable()
    return answer(told(found), seconds)


def attempt(command: dict[str, Any], data: Arrays) -> dict[str, Any]:
    """The answer, or the error."""
    try:
        return compute(command, data)
    except UnknownCase as unknown:
        return {"error": f"unknown: {unknown}", "unknown": True}
    except Exception as error:  # whatever it is, the driver compares it
        return {"error": f"{type(error).__name__}: {error}"}


def main(root: str) -> None:
    """Answer commands until there are no more; what the library prints goes to standard error."""
    if not Path(multikernel.__file__).resolve().is_relative_to(Path(root).resolve()):
        raise SystemExit(f"multikernel is imported from {multikernel.__file__}, not from {root}")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    loaded: tuple[str, Arrays] = ("", {})
    for line in sys.stdin:
        command = json.loads(line)
        if command["arrays"] != loaded[0]:
            loaded = ("", {})  # before the next ones are read
            with np.load(command["arrays"]) as file:
                loaded = (command["arrays"], dict(file))
        print(json.dumps(attempt(command, loaded[1])), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
