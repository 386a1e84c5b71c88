"""The problems of the comparison: arrays, made once in the driver's process, and the cases on them.

A case has a kind, which the runner of each revision knows how to compute, and parameters in words of no
revision: the tasks are "classification", "regression" and "unsupervised". The arrays come from data that ship
with scikit-learn and from generators, so that every machine compares the same problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from benchmarks.datasets.bank import kernel_bank
from benchmarks.datasets.classes import class_task
from benchmarks.datasets.discrimination import draw_waveforms, gaussian_bank
from benchmarks.datasets.localized import gauss_task
from benchmarks.datasets.mixtures import kernels_of, projection_task
from benchmarks.datasets.points import DATASETS, available
from benchmarks.datasets.transduction import unit_diagonal_kernels
from benchmarks.scale.data import make_rows

FloatArray = NDArray[np.float64]
Arrays = dict[str, Any]

_TIGHT_TOL = 1e-6  # of the floor, the passes and the growth
_ALL_C = (1.0, 10.0, 100.0)
TASKS = ("classification", "regression", "unsupervised")


@dataclass(frozen=True)
class Case:
    """One computation.

    Attributes
    ----------
    name : str
    kind : str, what the runner does with the arrays
    params : dict, of plain values
    timed : bool, whether its time is compared in a full run
    quick : bool, whether a quick run has it
    """

    name: str
    kind: str
    params: dict[str, Any] = field(default_factory=dict)
    timed: bool = False
    quick: bool = True


@dataclass(frozen=True)
class Problem:
    """Arrays, and the cases that read them."""

    name: str
    make: Callable[[], Arrays]
    cases: tuple[Case, ...]

    def write(self, folder: Path) -> Path:
        """Make the arrays and write them into one file of the folder."""
        file = folder / f"{self.name.replace('/', '-')}.npz"
        np.savez(file, **self.make())
        return file


def problems() -> list[Problem]:
    """All of them, the small ones first."""
    return [
        *_golden(),
        *_methods(),
        *_variants(),
        *_discriminants(),
        *_multiclass(),
        *_matrices(),
        *_mixtures(),
        *_gates(),
        *_grid(),
        *_growth(),
    ]


# ---------------------------------------------------------------------- golden problems
_WIDTHS = {"breast_cancer": 3.0, "wine": 5.0}  # σ of the Gaussian
_MARGIN = {  # loss, C in the paper's units, c
    "HM": ("hinge", np.inf, 3.0),
    "SM1": ("hinge", 1.0, 3.0),
    "SM1_C0.1": ("hinge", 0.1, 3.0),
    "SM2": ("squared_hinge", 1.0, 3.0),
    "SM2_C10": ("squared_hinge", 10.0, 3.0),
    "SM2C": ("squared_hinge", "learn", 4.0),
}
_MATRIX = {
    "HM": ("hard", 1.0),
    "SM1": ("soft1", 1.0),
    "SM1_C0.1": ("soft1", 0.1),
    "SM2": ("soft2", 1.0),
    "SM2_C10": ("soft2", 10.0),
    "SM2C": ("soft2", "learn"),
    "alignment": ("alignment", 1.0),
}
_MATRIX_TOL = {"nonnegative": 1e-11, "free": 1e-10, "spectral": 1e-11}


def _golden_rows(name: str) -> tuple[FloatArray, NDArray[np.int64], int]:
    """Rows and labels as ``tests/golden/margin.json`` describes them, the training rows first."""
    if name == "breast_cancer":
        X, target = load_breast_cancer(return_X_y=True)
        X, y = X[:200], np.where(target[:200] == 1, 1, -1)
        train = np.arange(200) < 150
    else:
        X, target = load_wine(return_X_y=True)
        X, y = X[target < 2], np.where(target[target < 2] == 0, 1, -1)
        train = np.arange(len(X)) % 4 != 3
    order = np.concatenate([np.flatnonzero(train), np.flatnonzero(~train)])
    n_train = int(train.sum())
    X, y = X[order], y[order]
    return (X - X[:n_train].mean(axis=0)) / X[:n_train].std(axis=0), y, n_train


def _golden_arrays(name: str) -> Arrays:
    X, y, n_train = _golden_rows(name)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    inner = X @ X.T
    grams = [_unit(1.0 + inner, 2), np.exp(-0.5 * squares / _WIDTHS[name]), _unit(inner, 1)]
    return {"stack": np.stack(grams), "y": y, "n_train": n_train}


def _unit(inner: FloatArray, degree: int) -> FloatArray:
    gram = inner**degree
    norms = np.sqrt(np.diagonal(gram))
    return gram / np.outer(norms, norms)


def _golden() -> list[Problem]:
    made = []
    for name in _WIDTHS:
        cases = [
            Case(
                f"golden/{name}/mkl/{criterion}",
                "mkl",
                {"loss": loss, "C": C if isinstance(C, str) else c * C, "tol": 1e-8},
            )
            for criterion, (loss, C, c) in _MARGIN.items()
        ]
        cases += [
            Case(
                f"golden/{name}/{weights}/{criterion}",
                "transductive",
                {"criterion": words, "C": C, "weights": weights, "tol": _MATRIX_TOL[weights]},
            )
            for weights in _MATRIX_TOL
            for criterion, (words, C) in _MATRIX.items()
            if (name, weights, criterion) != ("breast_cancer", "spectral", "HM")  # not separable
        ]
        made.append(Problem(f"golden/{name}", partial(_golden_arrays, name), tuple(cases)))
    return made


# ---------------------------------------------------------------------- every method, and settings of them
# The weight learners of the registry and the tasks that they learn from (C: classes, R: values, U: nothing).
_LEARNERS = {
    "accuracy_rule": "C",
    "alignment_qp": "CR",
    "alignment_rule": "CR",
    "best_single": "CR",
    "capped_mkl": "CRU",
    "centered_alignment": "CR",
    "cluster_weights": "CR",
    "dirichlet_weights": "CR",
    "discriminant_mkl": "C",
    "easy_mkl": "C",
    "elastic_net_mkl": "CRU",
    "feature_space_measure": "C",
    "functional_form": "CRU",
    "fung_discriminant": "C",
    "general_mkl": "CR",
    "gradient_alignment": "CR",
    "group_mkl": "CRU",
    "ideal_distance": "CR",
    "instance_weights": "CR",
    "kernel_boosting": "C",
    "kim_discriminant": "C",
    "kl_divergence": "CR",
    "log_penalty_mkl": "CRU",
    "lower_bounded_mkl": "CRU",
    "margin_mkl": "CRU",
    "mean_rule": "CRU",
    "mse_rule": "R",
    "pearson_rule": "R",
    "polynomial_ridge": "CR",
    "product_rule": "CRU",
    "radius_margin": "CR",
    "ridge_ball": "CR",
    "sum_rule": "CRU",
}
_METHODS = {
    "mkl": "CRU",
    "ridge": "R",
    "pairs": "R",
    "multiclass": "C",
    "regularized": "CR",
    "posterior": "C",
    "transductive": "C",
    "localized": "CRU",
    "localized_ridge": "CR",
    "projection": "CRU",
    "nonstationary": "C",
    "compositional": "C",
    "column_boosting": "CR",
    "bayesian": "CR",
    "discriminant": "C",
    "kdda": "C",
    "knn": "C",
    "spectral": "C",
    "conformal": "C",
    "lfda": "C",
    "kmeans": "U",
    "pca": "CRU",
    "combined": "CRU",
}
_LETTER = dict(zip("CRU", TASKS, strict=True))


def methods() -> dict[str, tuple[str, ...]]:
    """The methods that are compared with their default parameters, and their tasks."""
    return {name: tuple(_LETTER[c] for c in letters) for name, letters in (_METHODS | _LEARNERS).items()}


def _split(X: FloatArray, y: Any) -> Arrays:
    """Every third row is new."""
    new = np.arange(len(X)) % 3 == 2
    return {"X": X[~new], "y": y[~new], "X_new": X[new], "y_new": y[new]}


def _stacked(arrays: Arrays) -> Arrays:
    """Four Gaussian kernels of standardised columns, between the old rows and from the new ones to them."""
    mean, spread = arrays["X"].mean(axis=0), arrays["X"].std(axis=0)
    old, new = ((arrays[key] - mean) / np.where(spread > 0, spread, 1.0) for key in ("X", "X_new"))
    widths = np.array([0.05, 0.2, 1.0, 4.0]) / old.shape[1]
    between = ((old[:, None] - old[None]) ** 2).sum(axis=2)
    across = ((new[:, None] - old[None]) ** 2).sum(axis=2)
    stacks = (np.exp(-widths[:, None, None] * distances) for distances in (between, across))
    return arrays | dict(zip(("stack", "stack_new"), stacks, strict=True))


def _task_arrays(task: str, n_classes: int = 2) -> Arrays:
    if task == "classification":
        X, y = load_iris(return_X_y=True)
        X, y = X + 0.01 * np.random.default_rng(0).normal(size=X.shape), y  # no row twice
        chosen = (y > 0) if n_classes == 2 else (y >= 0)
        return _stacked(_split(X[chosen], y[chosen]))
    if task == "regression":
        X, y = load_diabetes(return_X_y=True)
        return _stacked(_split(X[:120], (y[:120] - y[:120].mean()) / y[:120].std()))
    X, y = load_iris(return_X_y=True)
    return _stacked(_split(X[:100] + 0.01 * np.random.default_rng(1).normal(size=(100, 4)), y[:100]))


def _methods() -> list[Problem]:
    made = []
    for task in TASKS:
        cases = [
            Case(f"methods/{name}/{task}", "method", {"method": name, "task": task})
            for name, tasks in methods().items()
            if task in tasks and name in _METHODS
        ]
        cases += [
            Case(f"learners/{name}/{task}", "learner", {"method": name, "task": task})
            for name, tasks in methods().items()
            if task in tasks and name in _LEARNERS
        ]
        made.append(Problem(f"methods/{task}", partial(_task_arrays, task), tuple(cases)))
    return made


# Estimators with other settings, built by the runner under these names, and the data that they learn from.
_VARIANTS = {
    "three classes": (
        "mkl one against rest",
        "mkl one against one with probabilities",
        "mkl shared",
        "mkl joint",
        "posterior",
        "localized joint",
        "localized one against one",
        "projection one against rest",
        "discriminant with learned regularization",
        "boosting of columns, mark",
        "combined, EasyMKL",
    ),
    "two classes": (
        "mkl norm 2",
        "mkl squared hinge, learned C",
        "mkl costs",
        "mkl from expressions",
        "nonstationary by SMO",
        "nonstationary full",
        "transductive free",
        "transductive spectral, learned C",
        "spectral by SVM",
        "spectral by alignment",
        "spectral by conformal factors",
        "localized sigmoid",
        "posterior by windows",
        "regularized, response surface",
        "regularized, eigenvalue",
        "regularized, weights",
        "discriminant over KNN",
        "bayesian sparse",
        "low rank, hinge",
        "low rank, squared hinge",
        "float32",
        "missing views, renormalized",
        "missing views, absent",
        "missing views, mean",
        "cost path",
        "rules compared",
        "evaluation",
    ),
    "values": (
        "regression, norm 2",
        "ridge, norm 2",
        "low rank, regression",
        "low rank, ridge",
        "localized regression by L-BFGS",
        "missing views, ridge",
    ),
    "pairs": ("pairs, ordered", "pairs, symmetric", "pairs, several alphas"),
    "gram matrices": ("kernels of tables", "kernels of sequences", "kernels of networks"),
}


def _pairs() -> Arrays:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(20, 2)), rng.normal(size=(15, 2))
    i, j = rng.integers(0, 20, 300), rng.integers(0, 15, 300)
    X = np.hstack([left[i], right[j]])
    return _split(X, X[:, 0] * X[:, 2] + 0.1 * rng.normal(size=300))


def _objects() -> Arrays:
    rng = np.random.default_rng(0)
    sequences = np.array(["".join(rng.choice(list("ACGT"), 40)) for _ in range(20)])
    upper = np.triu(rng.random((20, 20)) < 0.2, 1).astype(float)
    return {"X": rng.random((20, 5)), "sequences": sequences, "network": upper + upper.T}


_SLOW_VARIANTS = ("evaluation", "rules compared")


def _variants() -> list[Problem]:
    sources: dict[str, Callable[[], Arrays]] = {
        "three classes": partial(_task_arrays, "classification", 3),
        "two classes": partial(_task_arrays, "classification"),
        "values": partial(_task_arrays, "regression"),
        "pairs": _pairs,
        "gram matrices": _objects,
    }
    return [
        Problem(
            f"variants/{data}",
            sources[data],
            tuple(
                Case(f"variants/{name}", "variant", {"variant": name}, quick=name not in _SLOW_VARIANTS)
                for name in names
            ),
        )
        for data, names in _VARIANTS.items()
    ]


# ---------------------------------------------------------------------- problems of the benchmarks
def _waves(n: int) -> Arrays:
    points, codes = draw_waveforms(n)
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return {"stack": gaussian_bank(points, 10), "codes": codes}


def _discriminants() -> list[Problem]:
    return [
        Problem(
            f"discriminant/n{n}",
            partial(_waves, n),
            tuple(
                Case(f"discriminant/n{n}/reg {reg}", "discriminant", {"reg": reg, "tol": 1e-8}, quick=n < 200)
                for reg in (1e-4, "learn")
            ),
        )
        for n in (100, 400)
    ]


def _classes(dataset: str, n: int, n_classes: int) -> Arrays:
    task = class_task(dataset, n, n_classes)
    return {"stack": np.stack(list(task.kernels.values())), "codes": task.codes}


def _multiclass() -> list[Problem]:
    made = []
    for dataset, n, n_classes in (("mc", 40, 5), ("digits", 60, 3), ("mc", 500, 3), ("digits", 111, 10)):
        name = f"multiclass/{dataset}/n{n}"
        small = n < 100
        cases = [
            Case(f"{name}/C{C:g}/tol{tol:g}", "joint", {"C": C, "tol": tol}, quick=small)
            for C in (0.1, 1.0, 10.0)
            for tol in (1e-3, 1e-6)
        ]
        cases += [Case(f"{name}/weights", "joint weights", {"C": 1.0, "tol": 1e-3}, quick=small)]
        made.append(Problem(name, partial(_classes, dataset, n, n_classes), tuple(cases)))
    return made


def _labelled(n: int) -> Arrays:
    points, target = load_breast_cancer(return_X_y=True)
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    drawn = np.random.default_rng(0).permutation(len(points))[:n]
    y = np.where(target[drawn] == 1, 1.0, -1.0)
    return {"stack": unit_diagonal_kernels(points[drawn], 5), "y": y, "n_train": int(0.8 * n)}


def _matrices() -> list[Problem]:
    return [
        Problem(
            f"matrix/n{n}",
            partial(_labelled, n),
            tuple(
                Case(
                    f"matrix/n{n}/{weights}",
                    "kernel matrix",
                    {"weights": weights, "tol": 1e-8},
                    quick=n < 100,
                )
                for weights in ("free", "nonnegative")
            ),
        )
        for n in (50, 300)
    ]


_BOUNDS = {"mc": 10.0, "piecewise": 1e4}


def _projection(dataset: str, n: int, posteriors: str) -> Arrays:
    task = projection_task(dataset, n, posteriors)
    names = {"positive": task.posteriors[0], "negative": task.posteriors[1]}
    return {"stack": task.kernels, "y": task.y, "margin": task.margin} | names


def _mixture_stack(dataset: str, n: int) -> Arrays:
    stack, y = kernels_of(dataset, n)
    return {"stack": stack, "y": y}


def _mixtures() -> list[Problem]:
    made = []
    for dataset, C in _BOUNDS.items():
        for n in (150, 500):
            for posteriors in ("uniform", "random", "converged"):
                name = f"nonstationary/{dataset}/n{n}/{posteriors}"
                cases = tuple(
                    Case(
                        f"{name}/{solver}",
                        "projection",
                        {"C": C, "solver": solver, "tol": 1e-8},
                        timed=n == 500,
                        quick=n < 500,
                    )
                    for solver in ("interior", "smo")
                )
                made.append(Problem(name, partial(_projection, dataset, n, posteriors), cases))
    for n in (100, 500):
        name = f"nonstationary/fit/mc/n{n}"
        cases = (Case(name, "nonstationary", {"C": 10.0}, timed=n == 500, quick=n < 500),)
        made.append(Problem(name, partial(_mixture_stack, "mc", n), cases))
    return made


def _gauss(n: int, kernels: str) -> Arrays:
    task = gauss_task(n, kernels)
    parts = {"stack": task.kernels, "sources": task.sources, "features": task.features}
    return {"X": task.points, "y": task.y} | parts


def _quarters(n: int) -> Arrays:
    images, digits = load_digits(return_X_y=True)
    drawn = np.random.default_rng(0).permutation(digits.size)[:n]
    parts = images[drawn].reshape(-1, 2, 4, 2, 4)
    X = np.hstack([parts[:, row, :, column].reshape(n, -1) for row in (0, 1) for column in (0, 1)])
    return {"X": X, "y": np.where(digits[drawn] < 5, -1.0, 1.0)}


def _gates() -> list[Problem]:
    made = []
    for n in (200, 800):
        for kernels in ("linear + quadratic", "3 linear"):
            name = f"localized/gauss4/n{n}/{kernels.replace(' ', '')}"
            settings = {"C": 10.0, "gating": "softmax", "views": kernels}
            sizes = {"timed": n == 800, "quick": n < 800}
            cases = [
                Case(f"{name}/start{seed}", "localized", settings | {"seed": seed}, **sizes)
                for seed in (0, 1, 2)
            ]
            cases += [Case(f"{name}/ready", "gates", {"C": 10.0, "gating": "softmax", "seed": 0}, **sizes)]
            made.append(Problem(name, partial(_gauss, n, kernels), tuple(cases)))
    for n in (150, 667):
        name = f"localized/digits/n{n}"
        cases = [
            Case(
                f"{name}/{gating}",
                "localized",
                {"C": 10.0, "gating": gating, "views": "quarters", "seed": 0},
                timed=n > 150,
                quick=n <= 150,
            )
            for gating in ("softmax", "sigmoid")
        ]
        made.append(Problem(name, partial(_quarters, n), tuple(cases)))
    return made


def _bank(dataset: str, n: int, m: int) -> Arrays:
    stack, y = kernel_bank(dataset, n, m)
    return {"stack": stack, "y": y}


def _grid() -> list[Problem]:
    """The floor (m ≤ 20) and the passes (m = 100); the machine alone at the mean kernel of the floor's."""
    made = []
    sizes = [(d, n, m) for d in DATASETS for n in (500, 1000) for m in (5, 20) if available(d, n)]
    sizes += [("mc", 2000, 20), ("digits", 1000, 100), ("mc", 1000, 100)]
    for dataset, n, m in sizes:
        size = f"{dataset}/n{n}/m{m}"
        section = "passes" if m == 100 else "floor"
        small = n == 500 and dataset != "breast_cancer"
        cases = [
            Case(
                f"{section}/{size}/C{C:g}",
                "mkl",
                {"loss": "hinge", "C": C, "tol": _TIGHT_TOL},
                timed=True,
                quick=small and C == 10.0,
            )
            for C in _ALL_C
        ]
        if section == "floor":
            cases += [
                Case(
                    f"smo/{size}/C{C:g}",
                    "machine",
                    {"C": C, "tol": 1e-3},
                    timed=True,
                    quick=small and C == 10.0,
                )
                for C in _ALL_C
            ]
            cases += [
                Case(f"solver/{size}/C10", "weights", {"C": 10.0, "tol": _TIGHT_TOL}, quick=small),
            ]
        made.append(Problem(f"grid/{size}", partial(_bank, dataset, n, m), tuple(cases)))
    return made


def _rows(n: int) -> Arrays:
    rows = make_rows(n)
    return {"X": rows.X, "labels": rows.labels, "values": rows.values}


def _growth() -> list[Problem]:
    return [
        Problem(
            f"growth/n{n}",
            partial(_rows, n),
            tuple(
                Case(
                    f"growth/n{n}/{loss}",
                    "low rank",
                    {"loss": loss, "rank": rank, "tol": 1e-3},
                    timed=n == 10**5,
                    quick=n < 10**5,
                )
                for loss in ("hinge", "squared_hinge", "squared")
            ),
        )
        for n, rank in ((2000, 20), (10**5, 50))
    ]
