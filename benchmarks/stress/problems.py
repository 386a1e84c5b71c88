"""The problems: tables, targets and kernels of twelve categories, all of them from a seed and a number.

Kernels read the columns as they are (``standardize=False, normalize=None``) or are precomputed. Where a
category says "standardized", the table is generated that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from judges.margin_gap import gram, monomials
from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge, View
from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial

FloatArray = NDArray[np.float64]
Rng = np.random.Generator

COSTS = (1e-3, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e6)
NORMS = (1.0, 1.5, 2.0, np.inf)
SHARES = (0.01, 0.05, 0.1, 0.3, 0.5, 0.9)  # nu
LOSSES = ("hinge", "squared_hinge", "epsilon", "ridge", "one_class", "shared", "ovr")
CLASSIFIERS = ("hinge", "squared_hinge")
SMALLEST, LARGE, LARGEST = 50, 1000, 2000
LARGE_SHARE = 0.36  # of the categories whose sizes are drawn: a third of all
MAX_ENTRIES = 6e7  # of a stack of kernels
TOL = 1e-3


@dataclass(frozen=True)
class KernelOf:
    """A kernel on some columns (all: None), times a factor where it is precomputed."""

    kind: str
    columns: tuple[int, ...] | None = None
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    factor: float = 1.0

    def gram(self, X: FloatArray) -> FloatArray:
        """Its matrix, made by the judge."""
        part = X if self.columns is None else X[:, list(self.columns)]
        settings = {"degree": self.degree, "gamma": self.gamma, "coef0": self.coef0}
        return gram(np.ascontiguousarray(part), self.kind, factor=self.factor, **settings)

    def features(self, X: FloatArray) -> FloatArray | None:
        """Its explicit features, made by the judge; None of a Gaussian."""
        part = np.ascontiguousarray(X if self.columns is None else X[:, list(self.columns)])
        if self.kind == "gaussian" or self.factor != 1.0:
            return None
        degree, coef0 = (1, 0.0) if self.kind == "linear" else (self.degree, self.coef0)
        return monomials(part, degree, gamma=1.0 if self.kind == "linear" else self.gamma, coef0=coef0)

    def kernel(self) -> Kernel:
        """The kernel of the package."""
        if self.kind == "linear":
            return Linear()
        if self.kind == "polynomial":
            return Polynomial(degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        return Gaussian(gamma=self.gamma)


@dataclass(frozen=True)
class Problem:
    """A fit: data, kernels and parameters. ``C`` is 1 / alpha for the ridge and nu for one class."""

    category: str
    name: str
    X: FloatArray
    y: NDArray[Any]
    kernels: tuple[KernelOf, ...]
    loss: str
    C: float
    norm: float
    precomputed: bool = False
    epsilon: float = 0.1

    @property
    def n(self) -> int:
        return len(self.X)

    def grams(self) -> Iterator[FloatArray]:
        """The kernels' matrices, one at a time, made by the judge."""
        return (kernel.gram(self.X) for kernel in self.kernels)

    def features(self, kernel: int) -> FloatArray | None:
        """The explicit features of a kernel, made by the judge."""
        return None if self.precomputed else self.kernels[kernel].features(self.X)

    def samples(self) -> FloatArray:
        """What is handed to ``fit``: the table, or the stack of precomputed kernels."""
        if not self.precomputed:
            return self.X
        stack = np.empty((self.n, self.n, len(self.kernels)))
        for m, K in enumerate(self.grams()):
            stack[:, :, m] = K
        return stack

    def estimator(self) -> Any:
        """The estimator, not fitted."""
        bank: Any = "precomputed"
        if not self.precomputed:
            views = [
                View(f"k{m}", of.kernel(), None if of.columns is None else list(of.columns))
                for m, of in enumerate(self.kernels)
            ]
            bank = KernelBank(views, standardize=False, normalize=None)
        settings: dict[str, Any] = {"norm": self.norm, "tol": TOL}
        if self.loss == "epsilon":
            return MKLRegressor(bank, C=self.C, epsilon=self.epsilon, **settings)
        if self.loss == "ridge":
            return MKLRidge(bank, alpha=1.0 / self.C, **settings)
        if self.loss == "one_class":
            return MKLOneClass(bank, nu=self.C, **settings)
        if self.loss in CLASSIFIERS:
            return MKLClassifier(bank, C=self.C, loss=self.loss, **settings)
        return MKLClassifier(bank, C=self.C, multiclass=self.loss, **settings)

    def targets(self) -> NDArray[Any] | None:
        """y of ``fit``."""
        return None if self.loss == "one_class" else self.y


# ---------------------------------------------------------------------- tables and targets
def standard_table(n: int, d: int, rng: Rng) -> FloatArray:
    """Correlated columns of mean 0 and deviation 1."""
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)) / np.sqrt(d))
    return standardized(X)


def standardized(X: FloatArray) -> FloatArray:
    """Columns of mean 0 and deviation 1; constant ones are 0."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def raw_table(n: int, d: int, rng: Rng) -> FloatArray:
    """Columns as they are measured: amounts, counts, ages, shares and marks, of units from 0.01 to 1000."""
    hidden = standard_table(n, d, rng)
    X = np.empty((n, d))
    for j, z in enumerate(hidden.T):
        unit = 10.0 ** rng.uniform(-2.0, 3.0)
        X[:, j] = [
            unit * (rng.uniform(1.0, 10.0) + z),
            unit * np.exp(0.8 * z),
            np.round(np.exp(rng.uniform(0.0, 3.0) + 0.7 * z)),
            unit * np.clip(0.5 + 0.2 * z, 0.0, 1.0),
            z > rng.uniform(-1.0, 1.0),
        ][rng.choice(5, p=[0.35, 0.25, 0.2, 0.1, 0.1])]
    X[0, np.ptp(X, axis=0) == 0.0] += 1.0  # no column is constant
    return X


def _columns(n: int, middles: Sequence[float], spreads: Sequence[float], digits: int, rng: Rng) -> FloatArray:
    """Positive columns of given means and deviations, a little skewed and rounded as tables are."""
    z = standard_table(n, len(middles), rng)
    skewed = (np.exp(0.4 * z) - np.exp(0.08)) / 0.45
    X = np.asarray(middles) + np.asarray(spreads) * skewed
    return np.round(np.maximum(X, 0.1 * np.asarray(middles)), digits)


def wines(rng: Rng, n: int = 4898) -> FloatArray:
    """A table of the scales of white wines: acids, sugar, salt, sulphur dioxide, density, pH, alcohol."""
    middles = (6.85, 0.278, 0.334, 6.39, 0.0458, 35.3, 138.4, 0.994, 3.19, 0.49, 10.5)
    spreads = (0.84, 0.101, 0.121, 5.07, 0.0218, 17.0, 42.5, 0.003, 0.15, 0.114, 1.23)
    return _columns(n, middles, spreads, 4, rng)


def patients(rng: Rng, n: int = 768) -> FloatArray:
    """A table of eight columns of the scales of blood tests: counts, glucose, pressure, insulin, age."""
    middles = (3.8, 121.0, 69.0, 20.5, 79.8, 32.0, 0.47, 33.2)
    spreads = (3.4, 32.0, 19.4, 16.0, 115.2, 7.9, 0.33, 11.8)
    return _columns(n, middles, spreads, 3, rng)


def signal_of(X: FloatArray, rng: Rng) -> FloatArray:
    """A function of the columns with products, and noise; of deviation 1."""
    Z = standardized(X)
    d = Z.shape[1]
    a, b = rng.integers(0, d, size=(2, 2))
    values = Z @ rng.normal(size=d) / np.sqrt(d) + 0.7 * Z[:, a[0]] * Z[:, b[0]] + np.sin(Z[:, a[1]])
    noise = rng.choice([0.0, 0.2, 0.6])
    return np.asarray(standardized((values + noise * rng.normal(size=len(X)))[:, None])[:, 0])


def targets_of(X: FloatArray, loss: str, rng: Rng) -> NDArray[Any]:
    """Values, or two classes, or three to five for the machines of several classes."""
    signal = signal_of(X, rng)
    if loss in ("epsilon", "ridge", "one_class"):
        return 10.0 ** rng.uniform(0.0, 2.0) * (signal + rng.uniform(0.0, 5.0))
    n_classes = 2 if loss in CLASSIFIERS else int(rng.integers(3, 6 if loss == "joint" else 5))
    cuts = np.linspace(0.0, 1.0, n_classes + 1)[1:-1]
    y = np.digitize(signal, np.quantile(signal, cuts))
    flipped = rng.random(y.size) < rng.choice([0.0, 0.05, 0.15])
    y = np.where(flipped, rng.integers(0, n_classes, size=y.size), y)
    y[:n_classes] = np.arange(n_classes)
    return y


def gaussians(X: FloatArray, widths: Sequence[float]) -> list[KernelOf]:
    """Gaussians of these multiples of the median distance."""
    part = X[np.linspace(0, len(X) - 1, min(len(X), 300)).astype(int)]
    squares = (part**2).sum(axis=1)
    distances = (squares[:, None] + squares - 2.0 * part @ part.T)[np.triu_indices(len(part), 1)]
    middle = float(np.median(distances))
    middle = middle if middle > 0.0 else 1.0
    return [KernelOf("gaussian", gamma=1.0 / (width**2 * middle)) for width in widths]


def blocks(d: int, rng: Rng) -> list[tuple[int, ...] | None]:
    """All columns, and up to three blocks of some of them."""
    chosen: list[tuple[int, ...] | None] = [None]
    for _ in range(rng.integers(0, 4)):
        size = int(rng.integers(1, d + 1))
        chosen.append(tuple(int(j) for j in np.sort(rng.choice(d, size=size, replace=False))))
    return chosen


# ---------------------------------------------------------------------- categories
@dataclass(frozen=True)
class Draw:
    """What every category starts from."""

    rng: Rng
    n: int
    loss: str
    C: float
    norm: float


def _problem(draw: Draw, X: FloatArray, kernels: Sequence[KernelOf], **changes: Any) -> Problem:
    changes.setdefault("y", targets_of(X, changes.get("loss", draw.loss), draw.rng))
    settings = {"loss": draw.loss, "C": draw.C, "norm": draw.norm, "name": ""} | changes
    spread = float(np.std(settings["y"]))
    epsilon = settings.pop("epsilon", 0.1 * float(draw.rng.choice([1.0, spread])))
    return Problem("", X=X, kernels=tuple(kernels), epsilon=epsilon, **settings)


def raw_linear(draw: Draw) -> Problem:
    d = int(draw.rng.integers(3, 21))
    return _problem(
        draw, raw_table(draw.n, d, draw.rng), [KernelOf("linear", c) for c in blocks(d, draw.rng)]
    )


def _raw_polynomial(draw: Draw, degree: int) -> Problem:
    d = int(draw.rng.integers(3, 13 if degree == 2 else 9))
    chosen = blocks(d, draw.rng)
    coef0 = float(draw.rng.choice([0.0, 1.0, 1.0]))
    kernels = [KernelOf("polynomial", columns, degree, coef0=coef0) for columns in chosen]
    return _problem(draw, raw_table(draw.n, d, draw.rng), kernels)


def raw_quadratic(draw: Draw) -> Problem:
    return _raw_polynomial(draw, 2)


def raw_cubic(draw: Draw) -> Problem:
    return _raw_polynomial(draw, 3)


def raw_mixed(draw: Draw) -> Problem:
    rng = draw.rng
    d = int(rng.integers(3, 13))
    X = raw_table(draw.n, d, rng)
    widths = rng.choice([0.1, 0.3, 1.0, 3.0], size=rng.integers(1, 4), replace=False)
    degree = int(rng.choice([2, 2, 3]))
    kernels = [KernelOf("linear"), KernelOf("polynomial", degree=degree), *gaussians(X, widths)]
    return _problem(draw, X, kernels)


def far_scales(draw: Draw) -> Problem:
    rng = draw.rng
    d = int(rng.integers(3, 16))
    X = standard_table(draw.n, d, rng)
    plain = [KernelOf("linear"), KernelOf("polynomial"), *gaussians(X, [0.3, 1.0, 3.0])]
    chosen = [plain[i] for i in rng.choice(5, size=rng.integers(2, 6), replace=False)]
    factors = np.array([1.0, rng.choice([1e-8, 1e-4, 1e4, 1e8]), *rng.choice([1e-4, 1.0, 1e4], size=3)])
    return _problem(
        draw, X, [replace(of, factor=float(f)) for of, f in zip(chosen, factors, strict=False)],
        precomputed=True,
    )  # fmt: skip


def rank_one(draw: Draw) -> Problem:
    rng = draw.rng
    d = int(min(rng.integers(5, 41), MAX_ENTRIES // draw.n**2))
    X = (standard_table if rng.random() < 0.5 else raw_table)(draw.n, d, rng)
    return _problem(draw, X, [KernelOf("linear", (j,)) for j in range(d)])


def _plain_kernels(X: FloatArray, rng: Rng) -> list[KernelOf]:
    """Some of a linear, a quadratic and three Gaussian kernels."""
    every = [KernelOf("linear"), KernelOf("polynomial"), *gaussians(X, [0.3, 1.0, 3.0])]
    return [every[i] for i in np.sort(rng.choice(5, size=rng.integers(1, 6), replace=False))]


def duplicates(draw: Draw) -> Problem:
    rng = draw.rng
    n_distinct = max(draw.n // int(rng.integers(2, 11)), 8)
    distinct = standard_table(n_distinct, int(rng.integers(2, 11)), rng)
    rows = np.concatenate([np.arange(n_distinct), rng.integers(0, n_distinct, size=draw.n - n_distinct)])
    y = targets_of(distinct, draw.loss, rng)[rows]
    changed = rng.permutation(draw.n)[: draw.n // 20]  # the same sample with another target
    y[changed] = rng.permutation(y[changed])
    X = distinct[rows]
    return _problem(draw, X, _plain_kernels(distinct, rng), y=y, precomputed=bool(rng.random() < 0.5))


def imbalance(draw: Draw) -> Problem:
    rng = draw.rng
    X = (standard_table if rng.random() < 0.5 else raw_table)(draw.n, int(rng.integers(2, 11)), rng)
    signal = signal_of(X, rng)
    rare = max(2, draw.n // 201)
    y = np.zeros(draw.n, dtype=int)
    order = np.argsort(signal + rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=draw.n))
    y[order[-rare:]] = 1
    if draw.loss == "joint":
        y[order[: draw.n // 2]] = 2
    return _problem(draw, X, _plain_kernels(X, rng), y=y)


def near_singular(draw: Draw) -> Problem:
    rng = draw.rng
    d = int(rng.integers(2, 9))
    X = standard_table(draw.n, d, rng)
    size = 10.0 ** rng.uniform(-10.0, -5.0)
    how = int(rng.integers(3))
    if how == 0:  # nearly equal columns
        X = np.hstack([X, X + size * rng.normal(size=X.shape)])
        kernels = [*_plain_kernels(X, rng), KernelOf("linear", tuple(range(d)))]
    elif how == 1:  # nearly equal samples
        half = X[: (draw.n + 1) // 2]
        X = np.vstack([half, half + size * rng.normal(size=half.shape)])[: draw.n]
        kernels = _plain_kernels(X, rng)
    else:
        kernels = [*gaussians(X, rng.choice([30.0, 100.0, 300.0, 1000.0], size=2, replace=False)), *(
            gaussians(X, [1.0]) if rng.random() < 0.5 else []
        )]  # fmt: skip
    return _problem(draw, X, kernels, precomputed=bool(rng.random() < 0.3))


def extreme_C(draw: Draw) -> Problem:
    rng = draw.rng
    C = draw.C if draw.loss == "one_class" else float(rng.choice([COSTS[0], COSTS[-1]]))
    X = standard_table(draw.n, int(rng.integers(2, 16)), rng)
    return _problem(draw, X, _plain_kernels(X, rng), C=C)


def joint(draw: Draw) -> Problem:
    rng = draw.rng
    raw = rng.random() < 0.4
    X = (raw_table if raw else standard_table)(draw.n, int(rng.integers(2, 9)), rng)
    return _problem(draw, X, _plain_kernels(X, rng))


def named(draw: Draw) -> Problem:
    """The problems that an audit found: their tables are generated at the scales of those it used."""
    rng = draw.rng
    which = str(rng.choice(list(NAMED)))
    return replace(NAMED[which](draw), name=which)


def _named(
    draw: Draw, X: FloatArray, kernels: Sequence[KernelOf], loss: str, C: float, norm: float = 1.0
) -> Problem:
    y = targets_of(X, loss, draw.rng)
    if loss == "epsilon":
        y = np.clip(np.round(6.0 + signal_of(X, draw.rng)), 3, 9).astype(float)  # marks, as wines have
    return _problem(draw, X, kernels, y=y, loss=loss, C=C, norm=norm, epsilon=0.1)


def _some_wines(draw: Draw, n: int) -> FloatArray:
    return wines(draw.rng)[draw.rng.permutation(4898)[:n]]


def _two(rng: Rng) -> str:
    return str(rng.choice(["epsilon", "hinge"]))


def _diabetes(draw: Draw) -> Problem:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    order = draw.rng.permutation(len(X))
    settings: dict[str, Any] = {"loss": "ridge", "C": 1.0, "norm": 1.0, "y": y[order].astype(float)}
    return _problem(draw, X[order], [KernelOf("polynomial", degree=3)], **settings)


def _three(X: FloatArray) -> list[KernelOf]:
    return [KernelOf("linear"), KernelOf("polynomial"), *gaussians(X, [1.0])]


def _on_wines(
    loss: str, C: float, norm: float, kernels: Callable[[FloatArray], list[KernelOf]], n: int
) -> Any:
    def make(draw: Draw) -> Problem:
        X = _some_wines(draw, n)
        return _named(draw, X, kernels(X), loss or _two(draw.rng), C, norm)

    return make


def _on_patients(
    C: float, loss: str, kernels: Callable[[FloatArray], list[KernelOf]], *, standard: bool = False
) -> Any:
    def make(draw: Draw) -> Problem:
        X = patients(draw.rng)
        X = standardized(X) if standard else X
        return _named(draw, X, kernels(X), loss, C)

    return make


NAMED: dict[str, Callable[[Draw], Problem]] = {
    "raw quadratic SVR, C=100": _on_wines("epsilon", 100.0, 1.0, lambda X: [KernelOf("polynomial")], 600),
    "raw sum of three, norm=inf, C=100": _on_wines("", 100.0, np.inf, _three, 600),
    "raw quadratic, C=1e4": _on_wines("", 1e4, 1.0, lambda X: [KernelOf("polynomial")], 600),
    "standardized linear squared hinge, C=1e5": _on_patients(
        1e5, "squared_hinge", lambda X: [KernelOf("linear")], standard=True
    ),
    "columns SVR, norm=1.5, C=1e6": _on_wines(
        "epsilon", 1e6, 1.5, lambda X: [KernelOf("linear", (j,)) for j in range(X.shape[1])], 2000
    ),
    "raw quadratic SVR, C=1": _on_wines("epsilon", 1.0, 1.0, lambda X: [KernelOf("polynomial")], 1000),
    "raw cubic ridge, diabetes": _diabetes,
    "raw quadratic and Gaussian, C=1": _on_patients(
        1.0, "hinge", lambda X: [KernelOf("polynomial"), *gaussians(X, [1.0])]
    ),
}

CATEGORIES: dict[str, Callable[[Draw], Problem]] = {
    "raw linear": raw_linear,
    "raw polynomial 2": raw_quadratic,
    "raw polynomial 3": raw_cubic,
    "raw mixed": raw_mixed,
    "scales apart": far_scales,
    "rank one": rank_one,
    "duplicates": duplicates,
    "imbalance": imbalance,
    "near singular": near_singular,
    "C extremes": extreme_C,
    "joint": joint,
    "named": named,
}

LOSSES_OF: dict[str, tuple[str, ...]] = {"imbalance": (*CLASSIFIERS, "joint"), "joint": ("joint",)}


def category_of(number: int) -> str:
    """The categories take turns."""
    return list(CATEGORIES)[number % len(CATEGORIES)]


def make_problem(seed: int, number: int) -> Problem:
    """The problem of a number: the same on every call."""
    rng = np.random.default_rng([seed, number])
    if rng.random() < LARGE_SHARE:
        n = int(rng.integers(LARGE, LARGEST + 1))
    else:
        n = int(np.exp(rng.uniform(*np.log([SMALLEST, LARGE]))))
    category = category_of(number)
    loss = str(rng.choice(LOSSES_OF.get(category, LOSSES)))
    C = float(rng.choice(SHARES if loss == "one_class" else COSTS))
    problem = CATEGORIES[category](Draw(rng, n, loss, C, float(rng.choice(NORMS))))
    return replace(problem, category=category)
