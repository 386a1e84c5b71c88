"""Figure 3.4: the head of a motorcycle's rider in a crash, fitted by three linear kernels and their gate."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial
from multikernel.localized.estimators import LocalizedMKLRegressor
from multikernel.mkl.regressors import MKLRegressor
from multikernel.views import View
from studies.compare import compare_each, comparison_row, group_results
from studies.gonen2010.methods import copies
from studies.gonen2010.protocol import fit_quietly
from studies.points import load_points
from studies.study import Quantity, Result, Summary, Table, Unit

REPEATS, FOLDS = 5, 10
C, EPSILON = 10.0, 0.1
METHODS: dict[str, tuple[str, Kernel]] = {
    "line": ("SVR, linear", Linear()),
    "gaussian": ("SVR, Gaussian", Gaussian("median", scale=1 / 3)),
    "copies": ("LMKL, three linear, one intercept", Linear()),
    "biased": ("LMKL, three linear, each with a bias", Polynomial(1)),
}
_LOCAL = ("copies", "biased")

Array = np.ndarray


def compute_errors(method: str, repeat: int) -> dict[str, Any]:
    """Return the mean squared error of a method in one tenfold cross-validation.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    repeat : int

    Returns
    -------
    dict
        ``mse`` and ``support``, percentage of the training points, the mean over the folds.
    """
    X, y = _points()
    predicted, support = np.empty(len(y)), []
    for training, test in KFold(FOLDS, shuffle=True, random_state=repeat).split(X):
        model = fit_curve(method, X[training], y[training])
        predicted[test] = model.predict(X[test])
        support.append(100.0 * len(model.regressor_.support_) / len(training))
    return {"mse": float(np.mean((predicted - y) ** 2)), "support": float(np.mean(support))}


def fit_curve(method: str, X: Array, y: Array) -> Any:
    """Fit a method of `METHODS` to the standardised accelerations."""
    _, kernel = METHODS[method]
    view = View("kernel", kernel, None, standardize=True, normalize=None)
    if method in _LOCAL:
        machine: Any = LocalizedMKLRegressor(copies(view, 3), C=C, epsilon=EPSILON, gating_reg=0.0)
    else:
        machine = MKLRegressor([view], C=C, epsilon=EPSILON)
    return fit_quietly(TransformedTargetRegressor(machine, transformer=StandardScaler()), X, y)


def _points() -> tuple[Array, Array]:
    X, y = load_points("mcycle")
    return X, y.astype(np.float64)


def _units(repeats: int) -> list[Unit]:
    return [
        Unit(f"{method}/repeat={repeat}", compute_errors, {"method": method, "repeat": repeat}, ("mcycle",))
        for method in METHODS
        for repeat in range(repeats)
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("method"))
    return [
        comparison_row(
            "tenfold cross-validation",
            {"method": METHODS[method][0]},
            compare_each(group),
        )
        for method, group in groups.items()
    ]


def draw_figure(summary: Summary, path: Path) -> None:
    """Draw the fits with and without a bias of each piece, and below them the gates.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: all points are learned.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    X, y = _points()
    times = np.linspace(X.min() - 1.0, X.max() + 1.0, 500)[:, None]
    plain = fit_curve("gaussian", X, y).predict(times)
    figure = Figure(figsize=(11.0, 6.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(2.2, 1.0))
    for (above, below), method in zip(panels.T, _LOCAL, strict=True):
        model = fit_curve(method, X, y)
        above.plot(X[:, 0], y, "o", color="0.6", markersize=4)
        above.plot(times, plain, ":", color="black", linewidth=1.2, label=METHODS["gaussian"][0])
        above.plot(times, model.predict(times), color="#b5421a", linewidth=2.0, label="LMKL")
        above.set_title(METHODS[method][0])
        for number, gate in enumerate(model.regressor_.sample_kernel_weights(times).T):
            below.plot(times, gate, color=f"C{number}", label=f"kernel {number + 1}")
        below.set(xlabel="time, ms", ylim=(-0.03, 1.03))
    panels[0, 0].set_ylabel("acceleration, g")
    panels[0, 1].legend(loc="lower right", fontsize="small")
    panels[1, 0].set_ylabel("gate")
    figure.savefig(path, dpi=110)


FIGURE = Table(
    name="3.4",
    title="Gönen (2010), figure 3.4: a piecewise linear fit of the motorcycle data",
    version=1,
    splits=REPEATS,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("mse", "mean squared error, g²", 0, difference=False),
        Quantity("support", "support vectors, %", 1, difference=False),
    ),
    protocol=(
        "133 accelerations of the head of a rider, in g, at 94 times after a crash (Silverman 1985). Times "
        f"and accelerations are standardised by the training points; C = {C:g}, epsilon = {EPSILON:g} of the "
        "standardised accelerations, fixed beforehand. Raw kernels: of one column, a linear kernel of unit "
        "diagonal would know the sign only.",
        "Three copies of a linear kernel with a softmax gate. A linear kernel has no bias of its own, so "
        "that all pieces share one intercept; x z + 1, the polynomial kernel of degree one, gives each piece "
        "its own. The width of the Gaussian kernel is a third of the median distance.",
        "Tenfold cross-validation; the splits of the command are its repetitions.",
        "The picture has the fits to all points.",
    ),
    notes=(
        "Each piece is a line times a gate, so that the sum bends smoothly where the gates change.",
        "The descent ends in different local minima from fold to fold, which is most of the spread. The "
        "thesis shows the picture only.",
    ),
    figure=draw_figure,
    kind="figure",
)
