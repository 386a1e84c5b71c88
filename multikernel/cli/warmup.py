"""``multikernel warmup``: compile the loops of the library now, and not during the first fits."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from multikernel import KernelBank
from multikernel._numba import seconds_compiling
from multikernel.cli.app import show_lines, stopped
from multikernel.core.store import progress_bar
from multikernel.kernels import (
    Chi2,
    Gaussian,
    Linear,
    LocalAlignment,
    Mismatch,
    Spectrum,
    WeightedDegree,
)
from multikernel.registry import get_method, list_methods

_N = 320  # so many rows that a fit begins on a part of them
_FEW = 60  # for methods that take their time


def warmup(
    everything: Annotated[
        bool, typer.Option("--all", help="Every method of the library and the kernels on sequences, too.")
    ] = False,
) -> None:
    """Compile what the usual fits need, so that no later fit waits for it.

    The results are kept for all later processes, in the folder of the package or, where that cannot be
    written to, in the user's cache; NUMBA_CACHE_DIR names another. What is there already is loaded.
    """
    begun, small_fits = seconds_compiling(), fits(everything)
    with stopped("What was compiled is kept."), progress_bar("Compiling") as move:
        for n_done, (name, fit) in enumerate(small_fits.items()):
            move(n_done, len(small_fits))
            before = seconds_compiling()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the data are made up
                fit()
            show_lines(f"{seconds_compiling() - before:6.1f} s  {name}")
        move(len(small_fits), len(small_fits))
    show_lines(f"{seconds_compiling() - begun:6.1f} s  in all")


def fits(everything: bool = False) -> dict[str, Callable[[], Any]]:
    """Small fits by name, which together compile what the usual fits need, or what all need."""
    found: dict[str, Callable[[], Any]] = {
        "two classes": partial(_fit, "mkl", "classification"),
        "three classes": partial(_fit, "mkl", "classification", n_classes=3),
        "three classes, joint": partial(_fit, "multiclass", "classification", n_classes=3),
        "regression": partial(_fit, "mkl", "regression"),
        "regression, squared error": partial(_fit, "ridge", "regression"),
        "no targets": partial(_fit, "mkl", "unsupervised"),
        "two classes, float32": partial(_fit, "mkl", "classification", dtype="float32"),
    }
    if not everything:
        return found
    for method in list_methods():
        for task in method.tasks:
            if method.learner is None and method.name not in ("mkl", "multiclass", "ridge"):
                found[f"{method.name}, {task}"] = partial(_fit, method.name, task, n=_FEW)
    for name, task in (
        ("mkl", "regression"),
        ("ridge", "regression"),
        ("mkl", "unsupervised"),
        ("multiclass", "classification"),
    ):
        found[f"{name}, {task}, float32"] = partial(_fit, name, task, dtype="float32", n_classes=3)
    for kernel in (Spectrum(2), Mismatch(3), WeightedDegree(2), LocalAlignment()):
        found[f"{type(kernel).__name__} kernel"] = partial(_compute, kernel, _sequences())
    found["Chi2 kernel"] = partial(_compute, Chi2(), np.abs(_table(_FEW)))
    return found


def _fit(name: str, task: str, *, n: int = _N, n_classes: int = 2, dtype: str | None = None) -> Any:
    X = _table(n)
    model = get_method(name).make(task)
    if dtype is not None:
        model.set_params(kernels=KernelBank([Gaussian(), Linear()], dtype=dtype))
    noisy = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    if name == "pairs":
        objects = np.arange(12)
        X = np.stack(np.meshgrid(objects, objects), axis=-1).reshape(-1, 2).astype(float)
        noisy = np.sin(X[:, 0]) + X[:, 1]
    if task == "unsupervised":
        return model.fit(X)
    return model.fit(X, _targets(noisy, task, n_classes))


def _targets(noisy: np.ndarray, task: str, n_classes: int) -> Any:
    if task == "survival":
        return {"event": np.arange(noisy.size) % 3 > 0, "time": np.exp(noisy)}
    return noisy if task == "regression" else _labels(noisy, n_classes)


def _compute(kernel: Any, X: Any) -> Any:
    return kernel.fit(X)(X)


def _labels(values: np.ndarray, n_classes: int) -> np.ndarray:
    return np.searchsorted(np.quantile(values, np.arange(1, n_classes) / n_classes), values)


def _table(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 4))


def _sequences() -> list[str]:
    letters = np.random.default_rng(0).choice(list("ACGT"), size=(6, 12))
    return ["".join(row) for row in letters]
