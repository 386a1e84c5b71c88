"""What a fitted model predicts with: each kernel by dual coefficients or by a factor, behind one interface.

A part answers ``kernel_scores(X)``: pairs (m, scores), the scores (n_samples, n_machines) that kernel m adds
at new rows. :class:`FittedKernels` holds the parts of a model, so that some kernels may be kept by their
support samples and others by their factors. Families add parts of their own (gates, columns of kernels).

The cost of predicting one sample is the number of kernel values times the cost of each of them:

    c = #SV · Σ_{m active} d_m / Σ_k d_k,   m active: η_m / Σ_k η_k > 1/100,

with the costs d_m and the weights η_m: one unit is all the kernels between the sample and one support
sample. Where several machines have weights of their own, a kernel value that two of them need is computed
once:

    c = Σ_m (d_m / Σ_k d_k) · |∪ over the machines in which m is active of their support samples|.

A model on factors has no support samples: the columns of the factor of kernel m stand in their place.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from joblib import Parallel

from .._typing import Array
from .._validation import check_number, warn_caller
from ..rows import count_rows
from .stack.low_rank import features

ACTIVE_SHARE = 0.01


# ---------------------------------------------------------------------- kernels of a model
class Part(Protocol):
    """Some kernels of a model."""

    bank: Any

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The number of each kernel in use and the scores (n_samples, n_machines) that it adds."""


@dataclass(frozen=True)
class FittedKernels:
    """The kernels of a fitted model."""

    parts: list[Any]  # each a Part
    shape: tuple[int, int]  # (n_machines, n_kernels), kernels in use or not

    @property
    def bank(self) -> Any:
        """The bank of a model that has one part; None where no bank holds all its kernels."""
        return self.parts[0].bank if len(self.parts) == 1 else None

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The scores of all kernels in use, part by part."""
        for part in self.parts:
            yield from part.kernel_scores(X)

    def scores(self, X: Any) -> Any:
        """Scores without intercept (n_samples, n_machines)."""
        total = np.zeros((count_rows(X), self.shape[0]))
        return sum((scores for _, scores in self.kernel_scores(X)), start=total)

    def contributions(self, X: Any) -> Array:
        """What each kernel adds, (n_samples, n_machines, n_kernels)."""
        block = np.zeros((count_rows(X), *self.shape))
        for m, scores in self.kernel_scores(X):
            block[:, :, m] = scores
        return block


@dataclass(frozen=True)
class KernelFactor:
    """A kernel that predicts by a factor, in place of dual coefficients.

    For kernels that are so large that dual coefficients do not hold the function in double
    precision. The factor is Z basis with the explicit features Z of the kernel
    (:meth:`multikernel.kernels.Kernel.explicit_features`) where it has some, else K[:, support] root⁻¹ with
    upper triangular root.
    """

    kernel: int
    machines: Array  # (n_machines,), the numbers of the machines whose kernel it is
    support: Array  # (r,), places in the support samples; empty with explicit features
    root: Array | None  # (r, r)
    basis: Array | None  # (n_features, r), orthonormal columns
    coef: Array  # (n_machines, r)

    def scores(self, K: Array, explicit: Callable[[], Array]) -> Array:
        """What the kernel adds to the scores of its machines (n, n_machines)."""
        if self.root is None:
            return np.asarray(explicit() @ (self.basis @ self.coef.T))
        return np.asarray(features(K[:, self.support], self.root) @ self.coef.T)


@dataclass(frozen=True)
class DualKernels:
    """Kernels by dual coefficients over support samples."""

    bank: Any  # fitted bank of the support samples and the kernels in use
    coefficients: Array  # (n_machines, n_support)
    weights: Array  # (n_machines, n_kernels)
    # (n_machines, n_kernels) with missing="renormalize": the weights that scale samples that lack views
    reference: Array | None = None
    # whether rows may lack views, and those that lack all with weight are warned of
    notes_absent: bool = False
    # kernels of some machines that predict by a factor
    factors: tuple[KernelFactor, ...] = ()

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        scales = self._sample_scales(X)
        for m, K in self.bank.iter_kernels(X):
            scores = (K @ self.coefficients.T) * self.weights[:, m]
            for factor in self.factors:
                if factor.kernel == m:
                    scores[:, factor.machines] = factor.scores(K, partial(self._explicit, m, X))
            yield m, scores if scales is None else scores * scales

    def _explicit(self, m: int, X: Any) -> Array:
        return np.asarray(self.bank.explicit_features(m, X))

    def _sample_scales(self, X: Any) -> Array | None:
        if not self.notes_absent:
            return None
        has = self.bank.presence(X)
        warn_of_no_view(has, self.weights)
        return None if self.reference is None else sample_scales(has, self.reference)


@dataclass(frozen=True)
class FactorKernels:
    """Kernels by low-rank factors: scores are linear in the columns of the factors."""

    bank: Any  # fitted low-rank bank of the kernels in use
    coefficients: Array  # (n_machines, n_columns)

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        offsets = self.bank.offsets_
        for m, Z in self.bank.iter_factors(X):
            yield m, Z @ self.coefficients[:, offsets[m] : offsets[m + 1]].T


@dataclass(frozen=True)
class ColumnKernels:
    """Kernels by dual coefficients of their own, (n_machines, n_kernels, n_support)."""

    bank: Any
    coefficients: Array

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        for m, K in self.bank.iter_kernels(X):
            yield m, K @ self.coefficients[:, m].T


# ---------------------------------------------------------------------- samples that lack views
def sample_scales(has: Array, weights: Array) -> Array:
    """c of samples that have some views, (n,) for weights (n_kernels,) and (n, k) for (k, n_kernels).

    Examples
    --------
    >>> sample_scales(np.array([[True, True], [False, True]]), np.array([1.0, 3.0])).round(3).tolist()
    [1.0, 1.155]
    """
    lacked = (~has).astype(float) @ weights.T
    total = weights.T.sum(axis=0)
    share = 1.0 - lacked / np.where(total > 0.0, total, 1.0)
    at_equal_weights = has.mean(axis=1).reshape(-1, *[1] * (share.ndim - 1))
    return np.asarray(1.0 / np.sqrt(np.maximum(share, at_equal_weights)))


def warn_of_no_view(has: Array, weights: Array) -> None:
    """Warn of samples that lack every view with weight in some machine; weights (n_machines, n_kernels)."""
    used = weights > 0.0
    nothing = ~(has.astype(int) @ used.T.astype(int) > 0) & used.any(axis=1)
    rows = np.flatnonzero(nothing.any(axis=1))
    if rows.size:
        warn_caller(
            f"{rows.size} sample(s), the first of them in row {rows[0]}, lack every view that has weight: "
            "their score is the intercept alone. Use norm=2, which gives weight to all views, or "
            "missing='complete'."
        )


# ---------------------------------------------------------------------- cost of a prediction
def active_kernels(machine_weights: Array) -> Array:
    """Which kernels have more than a hundredth of the weight of a machine, (n_machines, n_kernels)."""
    return np.asarray(machine_weights > ACTIVE_SHARE * machine_weights.sum(axis=1, keepdims=True))


def prediction_cost(
    machine_weights: Array, dual_coef: Array, costs: Array, factors: Sequence[KernelFactor] = ()
) -> float:
    """The cost of predicting one sample, from 0 to the number of support samples.

    ``dual_coef`` (n_machines, n_support) is zero where a sample is not a support sample of the machine; of
    kernels that predict by ``factors`` their pivots are.

    Examples
    --------
    >>> prediction_cost(np.array([[0.9, 0.1]]), np.array([[1.0, -1.0, 0.0]]), np.array([1.0, 3.0]))
    2.0
    >>> prediction_cost(np.array([[1.0, 0.0]]), np.array([[1.0, -1.0, 0.0]]), np.array([1.0, 3.0]))
    0.5
    """
    if factors:
        used = active_kernels(machine_weights)[:, :, None] & (dual_coef != 0.0)[:, None]
        for factor in factors:
            used[factor.machines, factor.kernel] = False
            used[factor.machines[:, None], factor.kernel, factor.support] = True
        return _priced(used.any(axis=0).sum(axis=1), costs)
    needed = active_kernels(machine_weights).T.astype(float) @ (dual_coef != 0.0)
    return _priced((needed > 0.0).sum(axis=1), costs)


def factor_cost(machine_weights: Array, ranks: Array, costs: Array) -> float:
    """The cost of predicting one sample from factors: as many values of kernel m as its factor has columns.

    Examples
    --------
    >>> factor_cost(np.array([[0.9, 0.1], [1.0, 0.0]]), np.array([20, 4]), np.array([1.0, 3.0]))
    8.0
    """
    return _priced(np.where(active_kernels(machine_weights).any(axis=0), ranks, 0), costs)


def _priced(values: Array, costs: Array) -> float:
    """What so many values of each kernel cost, where one of all kernels costs 1."""
    prices = costs / costs.max()  # their sum cannot overflow
    return float(values @ prices / prices.sum())


def efficient_points(costs: Any, scores: Any) -> Array:
    """The Pareto-efficient points: no other is as good at a lower cost, or better at the same cost.

    Examples
    --------
    >>> efficient_points([1.0, 2.0, 2.0, 3.0], [0.5, 0.9, 0.8, 0.9]).tolist()
    [True, True, False, False]
    """
    c, s = np.asarray(costs, float), np.asarray(scores, float)
    no_worse = (c[:, None] <= c) & (s[:, None] >= s)
    better = (c[:, None] < c) | (s[:, None] > s)
    return ~np.asarray((no_worse & better).any(axis=0))


# ---------------------------------------------------------------------- accuracy against cost
class CostFront:
    """What a model scores and costs at several settings, on the same folds: the base of what families find.

    Attributes
    ----------
    table : DataFrame, one row for each setting, with ``score``, ``cost`` and ``efficient`` among its columns
    scores : DataFrame (n_settings, n_folds)
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    _made_by: ClassVar[str]  # the function that makes it, for messages
    _settings: ClassVar[str]  # what the rows are
    _series: ClassVar[tuple[str, ...]] = ()  # the fields that are no frames

    def cheapest(self, within: float = 0.01) -> float:
        """The setting with the lowest cost of those whose score is at most ``within`` below the best.

        Of equal costs the better score decides, then the smaller setting.
        """
        within = check_number("within", within, at_least=0.0)
        rows = self.table[self.table["score"] >= self.table["score"].max() - within]
        order = np.lexsort((rows.index.to_numpy(), -rows["score"], rows["cost"]))
        return float(rows.index[order[0]])

    def plot(self, ax: Any = None) -> Any:
        """Draw the score against the cost, with standard deviations, settings and the efficient front.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure without.

        Returns
        -------
        matplotlib Axes
        """
        from ..viz import cost

        return cost(self, ax=ax)

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            given, kind = getattr(self, field.name), pd.Series if field.name in self._series else pd.DataFrame
            if not isinstance(given, kind):
                raise TypeError(
                    f"{field.name} must be a {kind.__name__}, as {self._made_by} makes it; got "
                    f"{type(given).__name__}."
                )

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name} of {len(self.table)} {self._settings}:\n{self.table.round(4).to_string()}"


def measure_settings(
    values: Sequence[float],
    jobs_at: Callable[[float], Iterable[Any]],
    n_jobs: int | None,
    tell: Callable[[float, pd.DataFrame, float], str] | None = None,
) -> list[pd.DataFrame]:
    """What the jobs of each setting find, a row for each fold; ``tell`` makes lines for standard error."""
    measured = []
    for value in values:
        started = time.perf_counter()
        measured.append(pd.DataFrame(Parallel(n_jobs=n_jobs, prefer="threads")(jobs_at(value))))
        if tell is not None:
            line = tell(value, measured[-1], time.perf_counter() - started)
            sys.stderr.write(f"[multikernel] {line}\n")
    return measured


def front_tables(name: str, values: list[float], measured: Sequence[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The ``table`` of a front, means over the folds, and its ``scores`` fold by fold."""
    index = pd.Index(values, name=name)
    table = pd.DataFrame([folds.mean(numeric_only=True) for folds in measured], index=index)
    for column in ("score", "cost"):
        spread = [folds[column].std(ddof=1) if len(folds) > 1 else 0.0 for folds in measured]
        table.insert(int(table.columns.get_indexer([column])[0]) + 1, f"{column}_sd", spread)
    table["efficient"] = efficient_points(table["cost"], table["score"])
    return {"table": table, "scores": pd.DataFrame([f["score"].to_numpy() for f in measured], index=index)}
