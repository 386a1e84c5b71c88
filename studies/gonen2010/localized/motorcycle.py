"""Figure 3.4: the head of a motorcycle's rider in a crash, fitted by three linear kernels and their gate."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from multikernel.kernels import Kernel, Linear, Polynomial
from multikernel.localized.estimators import LocalizedMKLRegressor
from multikernel.mkl.regressors import MKLRegressor
from multikernel.views import View
from studies.compare import compare, comparison_row
from studies.gonen2010.localized.rows import Results, Rows, by_method, make_units
from studies.gonen2010.localized.setting import copies, fit_quietly
from studies.points import load_points
from studies.study import Quantity, Summary, Table, Unit

SPLITS, FOLDS = 5, 10
C, EPSILON = 1000.0, 16.0
# Method to its label, its kernel and how many of it.
METHODS: dict[str, tuple[str, Kernel, int]] = {
    "line": ("SVR (k_L)", Linear(), 1),
    "copies": ("LMKL (3 k_L and softmax)", Linear(), 3),
    "biased": ("LMKL (3 of x z + 1 and softmax)", Polynomial(1), 3),
}
_N_STEPS = 400
_SEEN = 1e-3

Array = np.ndarray


@lru_cache(maxsize=1)
def _points() -> tuple[Array, Array]:
    X, y = load_points("mcycle")
    return X, y.astype(np.float64)


def fit_curve(method: str, X: Array, y: Array, seed: int = 0) -> Any:
    """Fit a method of `METHODS` to accelerations in g."""
    _, kernel, count = METHODS[method]
    view = View("kernel", kernel, None, standardize=True, normalize=None)
    if count == 1:
        machine: Any = MKLRegressor([view], C=C, epsilon=EPSILON)
    else:
        machine = LocalizedMKLRegressor(
            copies(view, count), C=C, epsilon=EPSILON, gating_reg=0.0, random_state=seed
        )
    return fit_quietly(machine, X, y)


def compute_motorcycle(method: str, split: int) -> dict[str, Any]:
    """Return errors and support vectors of a method in one tenfold cross-validation.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    split : int
        Of the random folds.

    Returns
    -------
    dict
        ``mse`` over all points, and ``support``, in percent of the training points, the mean of the folds.
    """
    X, y = _points()
    predicted, support = np.empty(len(y)), []
    for training, test in _folds(X, split):
        model = fit_curve(method, X[training], y[training])
        predicted[test] = model.predict(X[test])
        support.append(100.0 * len(model.support_) / len(training))
    return {"mse": float(np.mean((predicted - y) ** 2)), "support": float(np.mean(support))}


def _folds(X: Array, split: int) -> list[tuple[Array, Array]]:
    return list(KFold(FOLDS, shuffle=True, random_state=split).split(X))


def _units(splits: int) -> list[Unit]:
    return make_units(compute_motorcycle, tuple(METHODS), splits, ("mcycle",))


def _rows(results: Results) -> Rows:
    return [
        comparison_row(
            "tenfold cross-validation",
            {"method": METHODS[method][0]},
            {key: compare([result[key] for result in group]) for key in ("mse", "support")},
        )
        for method, group in by_method(results).items()
    ]


def mean_fits(method: str, times: Array) -> tuple[Array, Array, Array]:
    """Return the global fit, the local fits and the gates at some times, the means over the ten folds.

    The local fit of a kernel is what it gives where its gate is one. Which kernel is which differs from fold
    to fold: they are put in the order of the times at which their gates have their mean.

    Parameters
    ----------
    method : str
    times : ndarray of shape (n, 1)

    Returns
    -------
    fit : ndarray of shape (n,)
    local, gates : ndarray of shape (n, n_kernels)
    """
    X, y = _points()
    found: list[tuple[Array, Array, Array]] = []
    for training, _ in _folds(X, 0):
        model = fit_curve(method, X[training], y[training])
        gates = np.asarray(model.sample_kernel_weights(times))
        local = _lines(times[:, 0], np.asarray(model.contributions(times)), gates)
        local += float(np.ravel(model.intercept_)[0])
        order = np.argsort((gates * times).sum(axis=0) / gates.sum(axis=0))
        found.append((model.predict(times), local[:, order], gates[:, order]))
    fit, local, gates = (np.mean([one[k] for one in found], axis=0) for k in range(3))
    return fit, local, gates


def _lines(times: Array, parts: Array, gates: Array) -> Array:
    """The straight lines that become the contributions of the kernels by their gates."""
    lines = np.empty_like(parts)
    for m, (part, gate) in enumerate(zip(parts.T, gates.T, strict=True)):
        where = gate > _SEEN * gate.max()  # elsewhere a quotient of two roundings
        slope, start = np.polyfit(times[where], part[where] / gate[where], 1)
        lines[:, m] = start + slope * times
    return lines


def draw_figure(summary: Summary, path: Path) -> None:
    """Draw the mean of global and local fits over the folds, and the gates times 50.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the folds of the first split are learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    X, y = _points()
    times = np.linspace(X.min(), X.max(), _N_STEPS)[:, None]
    figure = Figure(figsize=(13.0, 5.2), layout="constrained")
    for axes, method in zip(figure.subplots(1, 2, sharey=True), ("copies", "biased"), strict=True):
        fit, local, gates = mean_fits(method, times)
        axes.plot(X[:, 0], y, "o", color="0.65", markersize=4)
        for number, (line, gate) in enumerate(zip(local.T, gates.T, strict=True)):
            axes.plot(times, line, color=f"C{number}", linewidth=1.2, label=f"local fit {number + 1}")
            axes.plot(times, 50.0 * gate, "--", color=f"C{number}", linewidth=1.2)
        axes.plot(times, fit, color="black", linewidth=2.2, label="global fit")
        axes.set(title=METHODS[method][0], xlabel="time, ms", ylim=(-150.0, 110.0))
    figure.axes[0].set_ylabel("acceleration, g; gates × 50 (dashed)")
    figure.axes[0].legend(fontsize="small", loc="lower right")
    figure.savefig(path, dpi=110)


FIGURE = Table(
    name="3.4",
    title="Gönen (2010), figure 3.4: global and local fits of the motorcycle data",
    version=2,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("mse", "mean squared error, g²", 0, difference=False),
        Quantity("support", "support vectors, %", 1, difference=False),
    ),
    protocol=(
        "133 accelerations of the head of a rider, in g, at 94 times after a crash (Silverman 1985). Three "
        f"linear kernels, softmax gate, C = {C:g}, ε = {EPSILON:g}, tenfold cross-validation (section "
        "3.4.1); accelerations as they are, times standardised by the training points.",
        "A linear kernel has no bias of its own, so that all pieces share one intercept; of x z + 1 (right "
        "panel, ours) each piece has its own.",
        "Picture: the means over the ten folds of the first split. Kernels of different folds are matched "
        "by the mean time of their gates. The splits of the command are repetitions of the cross-validation.",
    ),
    notes=("The figure prints no numbers.",),
    figure=draw_figure,
    kind="figure",
)
