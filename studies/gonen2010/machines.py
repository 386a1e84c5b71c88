"""Figures 1.1 to 1.3: support vector machines of one kernel for classes, numbers and novelties, on toys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.datasets import make_gauss
from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial
from multikernel.mkl.classifier import MKLClassifier
from multikernel.mkl.one_class import MKLOneClass
from multikernel.mkl.regressors import MKLRegressor
from multikernel.views import View
from studies.compare import compare_each, comparison_row, group_results
from studies.gonen2010.protocol import fit_quietly
from studies.plots import draw_points, draw_rings, plane
from studies.study import Quantity, Result, Summary, Table, Unit

SPLITS = 20
C, EPSILON, NU = 10.0, 0.2, 0.1
N_POINTS = {"1.1": 120, "1.2": 40, "1.3": 80}
_SEED = 2010
_TOY = "A toy of our own stands in for that of the thesis, whose points are not printed."

Array = np.ndarray


@dataclass(frozen=True)
class Machine:
    """A machine of a figure: its label, its kernel, and how the view of that becomes an estimator."""

    label: str
    kernel: Kernel
    make: Callable[[list[View]], Any]

    def estimator(self) -> Any:
        """The estimator, of the kernel on the columns as they are."""
        return self.make([View("kernel", self.kernel, None, standardize=False, normalize=None)])


MACHINES = {
    "1.1": {
        "linear": Machine("SVM, k_L", Linear(), partial(MKLClassifier, C=C)),
        "quadratic": Machine("SVM, k_P (q = 2)", Polynomial(2), partial(MKLClassifier, C=C)),
        "Gaussian": Machine("SVM, k_G (s = 1)", Gaussian(s=1.0), partial(MKLClassifier, C=C)),
    },
    "1.2": {
        "Gaussian": Machine("SVR, k_G (s = 1)", Gaussian(s=1.0), partial(MKLRegressor, C=C, epsilon=EPSILON)),
    },
    "1.3": {"Gaussian": Machine("OCSVM, k_G (s = 2)", Gaussian(s=2.0), partial(MKLOneClass, nu=NU))},
}


def draw_toy(figure: str, split: int) -> tuple[Array, Array]:
    """Return a draw of the points of a figure: GAUSS3, a noisy wave, or one round cloud.

    Parameters
    ----------
    figure : str
        A key of `MACHINES`.
    split : int

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Of the cloud 1 everywhere.
    """
    rng = np.random.default_rng([_SEED, split])
    n = N_POINTS[figure]
    if figure == "1.1":
        X, y = make_gauss("GAUSS3", n, random_state=rng)
        return X, y
    if figure == "1.2":
        x = np.sort(rng.uniform(-4.0, 4.0, n))
        return x[:, None], np.sin(2.0 * x) + 0.5 * x + 0.2 * rng.standard_normal(n)
    return rng.standard_normal((n, 2)), np.ones(n)


def compute_machine(figure: str, machine: str, split: int) -> dict[str, Any]:
    """Return the support vectors of a machine, and how it fits the points that it was learned from.

    Parameters
    ----------
    figure, machine : str
    split : int

    Returns
    -------
    dict
        ``support``, in percent of the points, and ``outside``: the percentage of the points that are on the
        wrong side, out of the tube, or novelties.
    """
    X, y = draw_toy(figure, split)
    model = fit_quietly(MACHINES[figure][machine].estimator(), X, y)
    predicted = model.predict(X)
    wrong = np.abs(predicted - y) > 1.001 * EPSILON if figure == "1.2" else predicted != y
    return {"support": 100.0 * len(model.support_) / len(y), "outside": 100.0 * float(np.mean(wrong))}


def _units(figure: str, splits: int) -> list[Unit]:
    return [
        Unit(
            f"{machine}/draw={split:02d}",
            compute_machine,
            {"figure": figure, "machine": machine, "split": split},
        )
        for machine in MACHINES[figure]
        for split in range(splits)
    ]


def _rows(figure: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    return [
        comparison_row("Draws", {"machine": MACHINES[figure][machine].label}, compare_each(group))
        for machine, group in group_results(results, itemgetter("machine")).items()
    ]


def draw_figure(figure: str, summary: Summary, path: Path) -> None:
    """Draw what each machine of a figure learns of the first draw, with rings around its support vectors.

    Parameters
    ----------
    figure : str
        A key of `MACHINES`.
    summary : dict
        Of which nothing is needed: the first draw is learned again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    machines = MACHINES[figure]
    X, y = draw_toy(figure, 0)
    drawing = Figure(figsize=(4.8 * len(machines), 4.4), layout="constrained")
    for axes, machine in zip(np.ravel(drawing.subplots(1, len(machines))), machines.values(), strict=True):
        model = fit_quietly(machine.estimator(), X, y)
        if figure == "1.2":
            _draw_fit(axes, model, X, y)
        else:
            levels = {-1.0: "dashed", 0.0: "solid", 1.0: "dashed"} if figure == "1.1" else {0.0: "solid"}
            _draw_levels(axes, model, X, y, levels)
        axes.set_title(f"{machine.label}: {len(model.support_)} support vectors")
    drawing.savefig(path, dpi=100)


def _draw_levels(axes: Any, model: Any, X: Array, y: Array, levels: dict[float, str]) -> None:
    first, second, points = plane(X)
    scores = np.asarray(model.decision_function(points)).reshape(len(second), len(first))
    axes.contour(
        first, second, scores, list(levels), colors="black", linestyles=list(levels.values()), linewidths=1.1
    )
    draw_points(axes, X, y)
    draw_rings(axes, X[model.support_])


def _draw_fit(axes: Any, model: Any, X: Array, y: Array) -> None:
    at = np.linspace(X.min(), X.max(), 300)[:, None]
    fit = model.predict(at)
    axes.plot(at, fit, color="black", linewidth=1.4)
    for side in (-EPSILON, EPSILON):
        axes.plot(at, fit + side, color="black", linewidth=0.9, linestyle="dashed")
    axes.plot(X[:, 0], y, "o", color="#1f5f9e", markersize=4)
    draw_rings(axes, np.column_stack([X[:, 0], y])[model.support_])


def _figure(name: str, title: str, protocol: str) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=1,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(
            Quantity("support", "support vectors, %", 1, difference=False),
            Quantity("outside", "outside, %", 1, difference=False),
        ),
        protocol=(
            protocol,
            "The splits of the command are draws. The picture has the first draw: support vectors are "
            "ringed.",
        ),
        notes=("The thesis prints no number with this picture.",),
        figure=partial(draw_figure, name),
        kind="figure",
        stand_in=_TOY,
    )


FIGURES = (
    _figure(
        "1.1",
        "support vector machines with three kernels",
        f"{N_POINTS['1.1']} points of GAUSS3 (table 2.2); a linear, a quadratic and a Gaussian kernel, "
        f"exp(−‖x − z‖²/s²) with s = 1, on the columns as they are; C = {C:g}. Solid: the boundary; dashed: "
        "the margin. Outside: on the wrong side of the boundary.",
    ),
    _figure(
        "1.2",
        "support vector regression",
        f"{N_POINTS['1.2']} points of sin(2x) + x/2 with noise of standard deviation 0.2; Gaussian kernel, "
        f"s = 1; C = {C:g}, ε = {EPSILON:g}. Solid: the fit; dashed: the tube. Outside: out of the tube.",
    ),
    _figure(
        "1.3",
        "a one-class support vector machine",
        f"{N_POINTS['1.3']} points of one round cloud of standard deviation 1; Gaussian kernel, s = 2; "
        f"ν = {NU:g}, which is C = 1/(ν n) in (1.7). Outside: on the outer side of the line.",
    ),
)
