"""The machines of the tables: one kernel, kernels with common weights, kernels with a gate.

Kernels are scaled to a unit diagonal, k(x, z) / √(k(x, x) k(z, z)), and see standardised columns unless a
problem says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel.kernels import Kernel
from multikernel.localized.estimators import LocalizedMKLClassifier, LocalizedMKLRegressor
from multikernel.mkl.classifier import MKLClassifier
from multikernel.mkl.regressors import MKLRegressor
from multikernel.views import View
from studies.gonen2010.protocol import GRID
from studies.gonen2010.published import Figures

Array = np.ndarray


@dataclass(frozen=True)
class Sample:
    """The points of a problem.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    columns : dict of str to slice
        The columns of each representation.
    costs : ndarray of shape (n_kernels,), or None
        What a value of each kernel costs, where that is asked.
    matrices : dict of str to ndarray of shape (n, n)
        Ready-made kernels; X is then a column of positions.
    """

    X: Array
    y: Array
    columns: Mapping[str, slice]
    costs: Array | None = None
    matrices: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A row of a table: its label, how a sample and C become an estimator, and what else labels the row."""

    label: str
    build: Callable[[Sample, float], Any]
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """A section of a table.

    Attributes
    ----------
    key, label : str
        What units and the page call it.
    load : callable
        A split to its sample; the third that is the test is drawn afterwards.
    methods : mapping of str to Method
    published : mapping
        Method to the published score and percentage of support vectors, and of cost where it is compared.
    datasets : tuple of str
    is_regression : bool
    rival : str
        The method that the F test compares the others with.
    grid : tuple of float
        The values of C.
    """

    key: str
    label: str
    load: Callable[[int], Sample]
    methods: Mapping[str, Method]
    published: Figures
    datasets: tuple[str, ...] = ()
    is_regression: bool = False
    rival: str = "mkl"
    grid: tuple[float, ...] = GRID


Views = Callable[[Sample], list[View]]


def unit_view(name: str, kernel: Kernel, columns: slice | None = None, *, standardize: bool = True) -> View:
    """Return a kernel of unit diagonal on some columns."""
    return View(name, kernel, columns, "unit_diagonal", standardize=standardize)


def global_method(label: str, views: Views, epsilon: float | None = None) -> Method:
    """Return l1 MKL over the views, a plain machine if there is one only; regression if epsilon is given."""

    def build(sample: Sample, C: float) -> Any:
        if epsilon is None:
            return MKLClassifier(views(sample), C=C)
        return MKLRegressor(views(sample), C=C, epsilon=epsilon)

    return Method(label, build)


def local_method(
    label: str, views: Views, gating: str, epsilon: float | None = None, gate_on: str | None = None
) -> Method:
    """Return localized MKL over the views; `gate_on` names the columns that the gate looks at, else all."""

    def build(sample: Sample, C: float) -> Any:
        features = None if gate_on is None else sample.columns[gate_on]
        options: dict[str, Any] = dict(C=C, gating=gating, gating_features=features, gating_reg=0.0)
        if epsilon is None:
            return LocalizedMKLClassifier(views(sample), **options)
        return LocalizedMKLRegressor(views(sample), epsilon=epsilon, **options)

    return Method(label, build)


def side_by_side(tables: Mapping[str, Array], y: Array) -> Sample:
    """Return the sample whose representations stand side by side in one table.

    Examples
    --------
    >>> sample = side_by_side({"a": np.zeros((2, 3)), "b": np.ones((2, 1))}, np.array([1, -1]))
    >>> sample.X.shape, sample.columns["b"]
    ((2, 4), slice(3, 4, None))
    """
    ends = np.cumsum([0, *(table.shape[1] for table in tables.values())]).tolist()
    columns = {name: slice(a, b) for name, a, b in zip(tables, ends[:-1], ends[1:], strict=True)}
    return Sample(np.hstack([np.asarray(table, dtype=np.float64) for table in tables.values()]), y, columns)


def copies(view: View, count: int) -> list[View]:
    """Return so many views of the same kernel, by names of their own."""
    return [replace(view, name=f"{view.name} {i + 1}") for i in range(count)]
