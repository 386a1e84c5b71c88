"""Problems for gates: GAUSS4 with simple kernels, and handwritten digits with one kernel for each view.

* "gauss4": points of ``multikernel.datasets.make_gauss``, C = 10, with a linear and a quadratic kernel, or
  with three copies of the linear one.
* "multifeat": the small digits (0 to 4) against the large ones of the multiple features data set, six views,
  one linear kernel each, C = 10. Where no folder has the file, scikit-learn's digits take its place, their
  quarters as views ("digits").

Columns are standardised on the points drawn, kernels have unit diagonal, the gate reads the standardised
columns. A start draws the gate's parameters from the numbers that the estimator takes for that
``random_state``, and sets sigmoid gates over copies apart as it does, so that all contestants start at the
same gate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from multikernel.core.one_kernel import fixed_seed
from multikernel.core.svm.losses import Hinge
from multikernel.datasets import load_dataset
from multikernel.datasets.generators import make_gauss
from multikernel.kernels import Linear, Polynomial
from multikernel.localized.solver.copies import part_copies
from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.learn import GatedObjective
from multikernel.localized.solver.machines import BinaryMachines
from multikernel.views import View

FloatArray = NDArray[np.float64]

_SEED = 0
_C = 10.0
_START_SCALE = 0.01
MACHINE_TOL = 1e-4  # relative duality gap of the machines at each gate


@dataclass(frozen=True)
class LocalizedTask:
    """Learn a gate over kernels, and the machine on the kernel that it combines.

    Attributes
    ----------
    dataset : str
    points : array (n, d), as they are
    views : list of View, what the estimator is given; copies of one kernel are views of their own
    build : callable, features and kernels of points in plain NumPy, for whoever is not given them
    kernels : array (m, n, n), the distinct kernels
    sources : array (P,), which of them each gate reads
    features : array (n, D), what the gate reads
    y : array (n,), ±1
    C : float
    gating : "softmax" or "sigmoid"
    """

    dataset: str
    points: FloatArray
    views: list[Any]
    build: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    kernels: FloatArray
    sources: NDArray[np.intp]
    features: FloatArray
    y: FloatArray
    C: float
    gating: str

    def start(self, seed: int) -> FloatArray:
        """The gate (P, D + 1) from which a descent of this seed starts, biases last."""
        rng = start_numbers(seed).spawn(1)[0]
        drawn = rng.uniform(-_START_SCALE, _START_SCALE, (self.sources.size, self.features.shape[1] + 1))
        if self.gating != "sigmoid" or np.unique(self.sources).size == self.sources.size:
            return drawn
        return part_copies(self.objective(), drawn)

    def objective(self) -> GatedObjective:
        """The objective of the package over these kernels."""
        machines = BinaryMachines([Hinge(self.y, self.C)], tol=MACHINE_TOL)
        return GatedObjective(self.kernels, self.sources, self.features, GATES[self.gating], machines)


def start_numbers(seed: int) -> np.random.Generator:
    """The generator that an estimator of this ``random_state`` has for its starts."""
    return np.random.default_rng(fixed_seed(seed)).spawn(1)[0]


def standardised(points: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1; constant ones are 0."""
    spread = points.std(axis=0)
    return np.asarray((points - points.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def unit_diagonal(kernel: FloatArray) -> FloatArray:
    """The kernel of the normalised images; an image 0 stays 0."""
    squares = np.diag(kernel)
    inverse = 1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0))
    scaled = inverse[:, None] * inverse
    scaled *= kernel
    return np.asarray(scaled)


def _view(name: str, kernel: Any, columns: Any = None) -> View:
    return View(name, kernel, columns, transforms="unit_diagonal", standardize=True)


@cache
def gauss_task(n: int, kernels: str, gating: str = "softmax") -> LocalizedTask:
    """GAUSS4 with the kernels "linear + quadratic" or "3 linear"."""
    points, labels = make_gauss("GAUSS4", n, random_state=_SEED)
    y = labels.astype(np.float64)
    if kernels == "3 linear":
        views = [_view(name, Linear()) for name in ("first", "second", "third")]
        build, sources = _linear, np.zeros(3, np.intp)
    else:
        views = [_view("linear", Linear()), _view("quadratic", Polynomial(2))]
        build, sources = _linear_and_quadratic, np.arange(2)
    features, stack = build(points)
    return LocalizedTask("gauss4", points, views, build, stack, sources, features, y, _C, gating)


def _linear(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    features = standardised(points)
    return features, unit_diagonal(features @ features.T)[None]


def _linear_and_quadratic(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    features = standardised(points)
    inner = features @ features.T
    stack = np.empty((2, *inner.shape))
    stack[0] = unit_diagonal(inner)
    inner += 1.0
    inner *= inner
    stack[1] = unit_diagonal(inner)
    return features, stack


def _linear_of_blocks(points: FloatArray, columns: list[slice]) -> tuple[FloatArray, FloatArray]:
    features = standardised(points)
    stack = np.empty((len(columns), len(points), len(points)))
    for kernel, block in zip(stack, columns, strict=True):
        kernel[:] = unit_diagonal(features[:, block] @ features[:, block].T)
    return features, stack


@cache
def digit_views() -> tuple[str, dict[str, FloatArray], NDArray[np.int64]]:
    """Name, views and digits of the data that this machine has."""
    try:
        found = load_dataset("mfeat")
    except ValueError:  # no folder has the file
        images, digits = load_digits(return_X_y=True)
        images = images.reshape(-1, 2, 4, 2, 4)
        quarters = {
            f"quarter {row}{column}": images[:, row, :, column].reshape(len(images), -1)
            for row in (0, 1)
            for column in (0, 1)
        }
        return "digits", quarters, np.asarray(digits, np.int64)
    views = {name: np.asarray(table, np.float64) for name, table in found.views.items()}
    return "multifeat", views, np.asarray(found.y, np.int64)


@cache
def digits_task(n: int, gating: str) -> LocalizedTask:
    """Small against large digits, n of them drawn at random, one linear kernel for each view."""
    dataset, tables, digits = digit_views()
    drawn = np.random.default_rng(_SEED).permutation(digits.size)[:n]
    blocks = {name: table[drawn] for name, table in tables.items()}
    ends = np.cumsum([block.shape[1] for block in blocks.values()]).tolist()
    begins = [0, *ends[:-1]]
    columns = [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]
    views = [_view(name, Linear(), block) for name, block in zip(blocks, columns, strict=True)]
    build = partial(_linear_of_blocks, columns=columns)
    points = np.hstack(list(blocks.values()))
    features, kernels = build(points)
    y = np.where(digits[drawn] < 5, -1.0, 1.0)
    sources = np.arange(len(kernels))
    return LocalizedTask(dataset, points, views, build, kernels, sources, features, y, _C, gating)
