"""Derivatives of the scores of a model with respect to the columns of X, in the units of the columns.

A score is f(x) = Σ_m Σ_i c_mi k_m(x, s_i) over support samples, or Σ_m w_m · z_m(x) on factors. The kernels
here are functions of x · s, ‖x‖² and ‖s‖², so that

    ∂k(x, s) / ∂x = A(x, s) s + B(x, s) x,

and sums, products, multiples and powers follow by the rules of calculus. Transforms of the Gram matrix are
walked backwards: from the derivative of f with respect to what a transform returns to that with respect to
what it is given, the similarities k(x, s_i) and k(x, x). Last comes the scale of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from scipy.linalg import solve_triangular
from sklearn.utils import _safe_indexing, gen_batches

from ..._typing import Array
from ..._validation import is_frame
from ...core.fitted import DualKernels, FactorKernels, FittedKernels
from ...kernels import (
    Center,
    Chain,
    Cosine,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    PSDRepair,
    Sigmoid,
    Transform,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
)
from ...kernels._rows import Pair, Rows, dot_products
from ...kernels.base import Power, Product, Scaled, Sum
from ...rows import count_rows
from ...views import KernelBank, LowRankBank
from ...views.low_rank.maps import ColumnMap, FourierMap, LandmarkMap
from ...views.low_rank.transforms import Scale, Shift, UnitLength
from ...views.scaling import Encoding, RankScaling, Scaling
from ..subject import Subject
from .features import Data

_ENTRIES = 2**23  # of the derivatives of a batch of rows
_INSTEAD = 'Use method="permutation".'


class NoSlope(ValueError):
    """Why the scores of a model have no derivative that is known here."""


# ------------------------------------------------------------------ kernels
@dataclass(frozen=True)
class Slope:
    """k(x, s) and the A and B of its derivative A s + B x; numbers stand for constant arrays."""

    K: Any
    A: Any
    B: Any


def _linear(kernel: Linear, pair: Pair) -> Slope:
    return Slope(_products(pair), 1.0, 0.0)


def _polynomial(kernel: Polynomial, pair: Pair) -> Slope:
    gamma = float(kernel.gamma)
    inner = gamma * _products(pair) + kernel.coef0
    rest = inner ** (kernel.degree - 1)
    return Slope(rest * inner, kernel.degree * gamma * rest, 0.0)


def _sigmoid(kernel: Sigmoid, pair: Pair) -> Slope:
    gamma = float(kernel.gamma)
    K = np.tanh(gamma * _products(pair) + kernel.coef0)
    return Slope(K, gamma * (1.0 - K * K), 0.0)


def _gaussian(kernel: Gaussian, pair: Pair) -> Slope:
    K = np.empty(pair.shape)
    kernel.evaluate(pair, K)
    A = 2.0 * kernel._coefficient * K
    return Slope(K, A, -A)


def _cosine(kernel: Cosine, pair: Pair) -> Slope:
    K = np.empty(pair.shape)
    kernel.evaluate(pair, K)
    left, right = (np.sqrt(rows.sq_norms) for rows in (pair.left, pair.right))
    if not left.all():
        row = int(np.flatnonzero(left == 0.0)[0])
        raise NoSlope(f"{kernel!r} has no derivative at a row of zeros, such as row {row}. {_INSTEAD}")
    A = np.divide.outer(1.0 / left, np.where(right > 0.0, right, np.inf))
    return Slope(K, A, -K / (left * left)[:, None])


def _sum(kernel: Sum, pair: Pair) -> Slope:
    a, b = slope_of(kernel.left, pair), slope_of(kernel.right, pair)
    return Slope(a.K + b.K, a.A + b.A, a.B + b.B)


def _product(kernel: Product, pair: Pair) -> Slope:
    a, b = slope_of(kernel.left, pair), slope_of(kernel.right, pair)
    return Slope(a.K * b.K, a.K * b.A + a.A * b.K, a.K * b.B + a.B * b.K)


def _scaled(kernel: Scaled, pair: Pair) -> Slope:
    base = slope_of(kernel.base, pair)
    return Slope(kernel.factor * base.K, kernel.factor * base.A, kernel.factor * base.B)


def _power(kernel: Power, pair: Pair) -> Slope:
    base = slope_of(kernel.base, pair)
    rest = base.K ** (kernel.exponent - 1)
    outer = kernel.exponent * rest
    return Slope(rest * base.K, outer * base.A, outer * base.B)


_SLOPES: dict[type[Kernel], Callable[[Any, Pair], Slope]] = {
    Linear: _linear,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Gaussian: _gaussian,
    Cosine: _cosine,
    Sum: _sum,
    Product: _product,
    Scaled: _scaled,
    Power: _power,
}


def slope_of(kernel: Kernel, pair: Pair) -> Slope:
    """k(x, s) of the left and the right rows of a pair, and its derivative."""
    return _SLOPES[type(kernel)](kernel, pair)


def _products(pair: Pair) -> Array:
    products = np.empty(pair.shape)
    dot_products(*pair.tables, products)
    return products


def _on_diagonal(kernel: Any, norms: Array) -> tuple[Any, Any]:
    """k(x, x) and the b of its derivative b x, from ‖x‖²."""
    if isinstance(kernel, Linear):
        return norms, 2.0
    if isinstance(kernel, Polynomial | Sigmoid):
        gamma = float(kernel.gamma)
        inner = gamma * norms + kernel.coef0
        if isinstance(kernel, Sigmoid):
            return np.tanh(inner), 2.0 * gamma / np.cosh(inner) ** 2
        return inner**kernel.degree, 2.0 * gamma * kernel.degree * inner ** (kernel.degree - 1)
    if isinstance(kernel, Scaled):
        d, b = _on_diagonal(kernel.base, norms)
        return kernel.factor * d, kernel.factor * b
    if isinstance(kernel, Power):
        d, b = _on_diagonal(kernel.base, norms)
        return d**kernel.exponent, kernel.exponent * d ** (kernel.exponent - 1) * b
    if isinstance(kernel, Sum | Product):
        (d, b), (e, c) = _on_diagonal(kernel.left, norms), _on_diagonal(kernel.right, norms)
        return (d + e, b + c) if isinstance(kernel, Sum) else (d * e, d * c + e * b)
    return np.ones_like(norms), np.zeros_like(norms)  # Gaussian and Cosine


def _parts(kernel: Kernel) -> Iterator[Kernel]:
    """The kernels that one is made of, to the last."""
    inner = getattr(kernel, "_parts", ())
    yield kernel
    for part in inner:
        yield from _parts(part)


def _is_linear_kernel(kernel: Kernel) -> bool:
    if isinstance(kernel, Scaled):
        return _is_linear_kernel(kernel.base)
    if isinstance(kernel, Sum):
        return _is_linear_kernel(kernel.left) and _is_linear_kernel(kernel.right)
    if isinstance(kernel, Polynomial):
        return kernel.degree == 1
    return isinstance(kernel, Linear) or (isinstance(kernel, Power) and kernel.exponent == 1)


# ------------------------------------------------------------------ models
def additive_kernels(subject: Subject) -> FittedKernels:
    """The kernels of a model whose scores have derivatives; `NoSlope` with the reason for others."""
    final, name = subject.final, type(subject.final).__name__
    if subject.steps:
        raise NoSlope(
            "derivatives are those of the estimator on kernels, and the model is a pipeline whose steps "
            "change the columns. Give model[-1] and model[:-1].transform(X), or use "
            'method="permutation".'
        )
    fitted = getattr(final, "_fitted", None)
    known = (DualKernels, FactorKernels)
    if not isinstance(fitted, FittedKernels) or any(type(part) not in known for part in fitted.parts):
        raise NoSlope(f"the scores of {name} are no sums over kernels whose derivative is known. {_INSTEAD}")
    plain = all(type(part.bank) in (KernelBank, LowRankBank) for part in fitted.parts)
    if not plain or getattr(final, "missing_", "error") != "error":
        raise NoSlope(
            f"{name} was fitted for samples that lack views (missing={final.missing_!r}), whose kernels "
            f"have no derivative. {_INSTEAD}"
        )
    return fitted


def check_slopes(subject: Subject) -> FittedKernels:
    """The kernels of a model whose scores have a derivative that is known here."""
    fitted = additive_kernels(subject)
    for view in active_views(fitted):
        _check_view(view)
    return fitted


def active_views(fitted: FittedKernels) -> list[Any]:
    """The fitted views with weight."""
    return [part.bank.views_[m] for part in fitted.parts for m in part.bank.active_]


def _check_view(view: Any) -> None:
    for kernel in _parts(view.kernel):
        if type(kernel) not in _SLOPES:
            raise NoSlope(f"view {view.name!r}: {kernel!r} has no derivative that is known here. {_INSTEAD}")
    _column_scales(view)
    for step in _flat(getattr(view, "transforms", Chain())):
        if not isinstance(step, Center | UnitDiagonal | UnitTrace | UnitVariance | PSDRepair):
            raise NoSlope(f"view {view.name!r}: {step!r} has no derivative that is known here. {_INSTEAD}")


def is_linear(fitted: FittedKernels) -> str:
    """Why the scores are not linear in the columns; nothing where they are."""
    return next(filter(None, map(_why_not_linear, active_views(fitted))), "")


def is_linear_view(view: Any) -> bool:
    """Whether what a view adds to a score is linear in its columns, by derivatives that are known here."""
    try:
        _check_view(view)
    except NoSlope:
        return False
    return not _why_not_linear(view)


def _why_not_linear(view: Any) -> str:
    if not _is_linear_kernel(view.kernel) or isinstance(getattr(view, "map", None), FourierMap):
        return f"view {view.name!r} has the kernel {view.kernel!r}, which is not linear"
    steps = [*_flat(getattr(view, "transforms", Chain())), *getattr(view, "steps", ())]
    if any(isinstance(step, UnitDiagonal | UnitLength) for step in steps):
        return f"view {view.name!r} has a unit diagonal, by which its kernel is not linear"
    return ""


def _column_scales(view: Any) -> Any:
    """What the columns of a view are divided by before the kernel reads them."""
    scaling = view.scaling
    if isinstance(scaling, Encoding):
        if not scaling.is_plain:
            raise NoSlope(
                f"view {view.name!r} reads columns with categories or gaps, which have no derivative. "
                f"{_INSTEAD}"
            )
        scaling = scaling.scaling
    if isinstance(scaling, RankScaling):
        raise NoSlope(
            f"view {view.name!r} reads the ranks of its columns, which have no derivative. {_INSTEAD}"
        )
    return scaling.scale if isinstance(scaling, Scaling) else 1.0


def _flat(chain: Transform) -> list[Transform]:
    if isinstance(chain, Chain):
        return [step for transform in chain.transforms for step in _flat(transform)]
    return [chain]


# ------------------------------------------------------------------ derivatives of the scores
def gradients(fitted: FittedKernels, data: Data, n_rows: int | None = None) -> Iterator[Array]:
    """Derivatives of the scores at the rows of a table, or the first of them, some rows at a time.

    Yields
    ------
    array (n_batch, n_machines, n_features)
        In the units of the columns; 0 for columns that no kernel with weight reads.
    """
    n_machines, n_features = fitted.shape[0], len(data.features)
    places = {(feature.table, feature.position): place for place, feature in enumerate(data.features)}
    step = int(np.clip(_ENTRIES // (n_machines * n_features), 1, 1024))
    for rows in gen_batches(data.n if n_rows is None else n_rows, step):
        table = _safe_indexing(data.table, rows)
        total = np.zeros((count_rows(table), n_machines, n_features))
        for part in fitted.parts:
            backward = _of_duals if isinstance(part, DualKernels) else _of_factors
            for m in part.bank.active_:
                view = part.bank.views_[m]
                columns = [places[key] for key in _columns(view, data)]
                scales = _column_scales(view)
                for machine, slopes in enumerate(backward(part, m, view, table)):
                    if slopes is not None:
                        total[:, machine, columns] += slopes / scales
        yield total


def _columns(view: Any, data: Data) -> list[tuple[str | None, int]]:
    """The columns of a view, as (table, position)."""
    selection = view.selection
    part = data.table if selection.table is None else data.table[selection.table]
    if is_frame(part) and selection.names is not None:
        positions: Sequence[int] = [part.columns.get_loc(name) for name in selection.names]
    elif selection.positions is None:
        positions = range(part.shape[1])
    else:
        positions = selection.positions
    return [(selection.table, int(position)) for position in positions]


def _combined(slope: Slope, pair: Pair, of_kernel: Any, of_diagonal: Any, kernel: Kernel) -> Array:
    """Σ_i g_i ∂k(x, s_i) / ∂x + d ∂k(x, x) / ∂x, from the derivatives g (n, n_right), d (n,) of a score."""
    left, right = pair.tables
    found = np.asarray((of_kernel * slope.A) @ right)
    own = np.sum(of_kernel * slope.B, axis=1) if np.any(slope.B) else np.zeros(1)
    if np.any(of_diagonal):
        own = own + of_diagonal * _on_diagonal(kernel, pair.left.sq_norms)[1]
    if np.any(own):
        rows = left.toarray() if scipy.sparse.issparse(left) else left
        found = found + own[:, None] * rows
    return found


# ------------------------------------------------------------------ by dual coefficients
def _of_duals(part: DualKernels, m: int, view: Any, table: Any) -> Iterator[Array | None]:
    """Derivatives of what kernel m adds to the score of each machine, by scaled columns: (n or 1, d)."""
    pair = Pair(view.test_rows(table), view.rows, keep=False)
    slope = slope_of(view.kernel, pair)
    steps = _flat(view.transforms)
    diagonal = view.kernel.evaluate_diagonal(pair.left) if view.transforms.needs_diagonal else np.empty(0)
    states, K = [], slope.K
    for step in steps:
        states.append((K, diagonal))
        after = step.test_diag(K, diagonal) if diagonal.size else diagonal
        K, diagonal = step.test(K, diagonal), after
    explicit = _explicit_slopes(part, m, view)
    for machine, coefficients in enumerate(_coefficients(part, m)):
        if machine in explicit or not np.any(coefficients):
            yield explicit.get(machine)
            continue
        of_kernel, of_diagonal = coefficients[None, :], np.zeros(1)
        for step, state in zip(reversed(steps), reversed(states), strict=True):
            of_kernel, of_diagonal = _back(step, state, of_kernel, of_diagonal)
        yield _combined(slope, pair, of_kernel, of_diagonal, view.kernel)


def _coefficients(part: DualKernels, m: int) -> Array:
    """What the values of kernel m are multiplied with, (n_machines, n_support)."""
    found = part.coefficients * part.weights[:, [m]]
    for factor in part.factors:
        if factor.kernel == m:
            found[factor.machines] = 0.0
            if factor.root is not None and factor.root.size:
                places = np.ix_(factor.machines, factor.support)
                found[places] = solve_triangular(factor.root, factor.coef.T).T
    return found


def _explicit_slopes(part: DualKernels, m: int, view: Any) -> dict[int, Array]:
    """The same of machines that predict by explicit features, which are columns for a linear kernel."""
    found: dict[int, Array] = {}
    for factor in part.factors:
        if factor.kernel != m or factor.root is not None:
            continue
        if not _is_linear_kernel(view.kernel):
            raise NoSlope(
                f"view {view.name!r}: the kernel is so large that the model predicts by explicit features, "
                f"whose derivative is not known here. {_INSTEAD}"
            )
        assert factor.basis is not None
        d = view.rows.values.shape[1]
        Z = view.kernel.explicit_features(np.vstack([np.eye(d), np.zeros((1, d))]), factor.basis.shape[0])
        slopes = (Z[:-1] - Z[-1]) @ factor.basis @ factor.coef.T
        found |= {int(k): column[None, :] for k, column in zip(factor.machines, slopes.T, strict=True)}
    return found


def _back(step: Transform, state: tuple[Array, Array], of_kernel: Any, of_diagonal: Any) -> tuple[Any, Any]:
    """From derivatives with respect to what a transform returns to those with respect to what it is given."""
    K, diagonal = state
    if isinstance(step, UnitTrace | UnitVariance):
        assert step.factor is not None
        return of_kernel * step.factor, of_diagonal * step.factor
    if isinstance(step, UnitDiagonal):
        assert step.inverse_roots is not None
        roots = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 0.0)
        each = of_kernel * step.inverse_roots * roots[:, None]
        return each, -0.5 * np.sum(each * K, axis=1) * roots * roots
    if isinstance(step, Center):
        sums = np.sum(of_kernel, axis=1) + 2.0 * of_diagonal
        return _spread(of_kernel, step.support, K.shape[1]) - sums[:, None] / K.shape[1], of_diagonal
    assert isinstance(step, PSDRepair)
    if step.how == "shift":
        return of_kernel, of_diagonal
    vectors, values = step.vectors, step.values
    assert vectors is not None and values is not None
    kept = vectors if step.support is None else vectors[step.support]
    inner = of_kernel @ kept
    if np.any(of_diagonal):
        inner = inner + 2.0 * of_diagonal[:, None] * (K @ vectors) / values
    return inner @ vectors.T, np.zeros(1)


def _spread(values: Array, support: Array | None, width: int) -> Array:
    if support is None:
        return values
    full = np.zeros((len(values), width))
    full[:, support] = values
    return full


# ------------------------------------------------------------------ by factors
def _of_factors(part: FactorKernels, m: int, view: Any, table: Any) -> Iterator[Array | None]:
    """The same of a model on factors."""
    rows = view.rows(table)
    pair = view.map.pair(view.kernel, rows)
    states = _factor_states(view, pair)
    offsets = part.bank.offsets_
    slope = slope_of(view.kernel, pair) if isinstance(view.map, LandmarkMap) else None
    for coefficients in part.coefficients[:, offsets[m] : offsets[m + 1]]:
        if not np.any(coefficients):
            yield None
            continue
        of_factor, of_diagonal = coefficients[None, :], np.zeros(1)
        for step, (Z, diagonal) in zip(reversed(view.steps), reversed(states), strict=True):
            of_factor, of_diagonal = _back_factor(step, Z, diagonal, of_factor, of_diagonal)
        if slope is not None:
            yield _combined(slope, pair, of_factor @ view.map.triangle.T, of_diagonal, view.kernel)
            continue
        found = _of_map(view.map, rows, of_factor)
        if np.any(of_diagonal):
            own = rows.values.toarray() if rows.is_sparse else rows.values
            found = found + (of_diagonal * _on_diagonal(view.kernel, rows.sq_norms)[1])[:, None] * own
        yield found


def _factor_states(view: Any, pair: Pair) -> list[tuple[Array, Array]]:
    """Factors and k(x, x) before each step; empty arrays where no step needs them."""
    if not any(isinstance(step, UnitLength) for step in view.steps):
        return [(np.empty((0, 0)), np.empty(0))] * len(view.steps)
    Z = np.empty((len(pair.left), view.rank))
    view.map.write(view.kernel, pair, Z)
    diagonal, states = view.kernel.evaluate_diagonal(pair.left), []
    for step in view.steps:
        states.append((Z.copy(), diagonal))
        diagonal = step.apply(Z, diagonal)
    return states


def _back_factor(step: Any, Z: Array, diagonal: Array, of_factor: Any, of_diagonal: Any) -> tuple[Any, Any]:
    if isinstance(step, Scale):
        return of_factor * step.root, of_diagonal * step.root * step.root
    if isinstance(step, Shift):
        if not np.any(of_diagonal):
            return of_factor, of_diagonal
        beyond = diagonal > np.sum(Z * Z, axis=1)  # what is left out of a row is not below 0
        moved = np.where(beyond[:, None], -step.mean, Z - step.mean)
        return of_factor + 2.0 * of_diagonal[:, None] * moved, np.where(beyond, of_diagonal, 0.0)
    assert isinstance(step, UnitLength)
    roots = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 0.0)
    each = of_factor * roots[:, None]
    return each, -0.5 * np.sum(each * Z, axis=1) * roots * roots


def _of_map(map_: Any, rows: Rows, of_factor: Any) -> Array:
    if isinstance(map_, ColumnMap):
        return np.asarray(map_.root * of_factor)
    assert isinstance(map_, FourierMap)
    half = map_.frequencies.shape[1]
    angles = np.asarray(rows.values @ map_.frequencies)
    inner = np.cos(angles) * of_factor[:, half:] - np.sin(angles) * of_factor[:, :half]
    return np.asarray(map_.root * (inner @ map_.frequencies.T))


# ------------------------------------------------------------------ what is said of columns
@dataclass(frozen=True)
class ColumnSlopes:
    """Derivatives of the scores over the rows of a table; n_machines × n_features each."""

    mean: Array  # in the units of the columns
    root_mean_square: Array
    deviations: Array  # standard deviations of the columns, (n_features,)

    @property
    def importance(self) -> Array:
        """Root mean square over rows and machines, for one standard deviation of each column."""
        return np.asarray(np.sqrt(np.mean(self.root_mean_square**2, axis=0)) * self.deviations)


def column_slopes(fitted: FittedKernels, data: Data, n_rows: int | None = None) -> ColumnSlopes:
    """Derivatives of the scores at the rows of a table, or at the first of them where they are constant."""
    total = squares = np.zeros(())
    for block in gradients(fitted, data, n_rows):
        total = total + block.sum(axis=0)
        squares = squares + np.einsum("ijk,ijk->jk", block, block)
    n = data.n if n_rows is None else n_rows
    return ColumnSlopes(total / n, np.sqrt(squares / n), _deviations(fitted, data))


def _deviations(fitted: FittedKernels, data: Data) -> Array:
    places = {(feature.table, feature.position): place for place, feature in enumerate(data.features)}
    found = np.zeros(len(data.features))
    for view in active_views(fitted):
        taken = view.selection.take(data.table, view.label)
        values = Rows(taken, view.label, one_column=view.selection.scalar).values
        if scipy.sparse.issparse(values):
            mean = np.asarray(values.mean(axis=0)).ravel()
            variance = np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean * mean
            spread = np.sqrt(np.maximum(variance, 0.0))
        else:
            spread = values.std(axis=0)
        found[[places[key] for key in _columns(view, data)]] = spread
    return found
