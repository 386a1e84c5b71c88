"""The kernel that a model has learned, as a matrix, and the parts of an evaluation that show samples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..bayesian.estimators import BayesianMKL
from ..boosting.estimators import ColumnMachine
from ..core.estimator import KernelEstimator
from ..core.inputs import distinct_samples
from ..core.missing_views import FILL_OF
from ..hyperkernels import HyperkernelClassifier, HyperkernelRegressor
from ..localized.base import BaseLocalized
from ..localized.projection_base import BaseProjection
from ..nonstationary.classifier import NonstationaryClassifier
from ..parametric import InfiniteMKLClassifier, InfiniteMKLOneClass, InfiniteMKLRegressor
from ..rows import count_rows
from ..rules.combined import CombinedKernel
from ..rules.pca import kernel_components
from ..spectral.classifier import SpectralKernelClassifier
from ..spectral.conformal import ConformalKernel
from ..transductive.classifier import TransductiveMKLClassifier
from ..views import make_bank
from ..viz.fitted import sample_weights
from .judging.answers import Part
from .subject import Subject, subject_of

LEARNED_KERNEL = "learned kernel"
_BLOCKS = 60  # along each side of a heat map
_MOST_MAPS = 12  # views with a heat map

_INFINITE = (InfiniteMKLClassifier, InfiniteMKLRegressor, InfiniteMKLOneClass)


class NoLearnedKernel(ValueError):
    """The model has learned something else than one kernel of two samples."""


def learned_kernel(model: Any, X: Any, rows: Any = None) -> Array:
    """The kernel that a model has learned, between samples that it was fitted to.

    For global weights this is Σ_m μ_m K_m, with the mean of the weights where several machines have their
    own; for a gate, Σ_m η_m(x) K_m(x, z) η_m(z), again with the mean of several gates; for combined kernels
    whatever the learner makes of them.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one.
    X : as for ``fit``
        The samples that the model was fitted to: widths, means and scales of its views are found anew (any
        samples for a model on factors, which knows them).
    rows : array-like of int, default=None
        Of which samples; all if None. No more than one kernel of all samples is in memory at a time.

    Returns
    -------
    array of shape (n_rows, n_rows), symmetric

    Raises
    ------
    NoLearnedKernel
        If the model has none, with the reason.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[50:], y[50:]
    >>> model = MKLClassifier().fit(X, y)
    >>> K = learned_kernel(model, X)
    >>> scores = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    >>> bool(np.allclose(scores, model.decision_function(X)))
    True
    """
    subject = subject_of(model)
    check_is_fitted(model)
    chosen = np.arange(count_rows(X)) if rows is None else np.asarray(rows)
    require_samples_of_fit(subject.final, count_rows(X))
    K = _kernel_of(subject.final, subject.inputs(X), chosen)
    return np.asarray((K + K.T) / 2.0)


def require_samples_of_fit(final: Any, n: int) -> None:
    """Equal samples are one in the bank of a machine, so that it may know of less than there are."""
    known = final.learner_.n_train_ if isinstance(final, CombinedKernel) else _n_in_bank(final, n)
    if known > n or (known != n and isinstance(final, CombinedKernel)):
        raise ValueError(f"X must hold the {known} samples that the model was fitted to; got {n}.")


def _n_in_bank(final: Any, n: int) -> int:
    """How many samples the bank of the model was fitted to; `n` if it has no bank."""
    return int(getattr(getattr(final, "_prediction_bank", None), "n_train_", n))


def _kernel_of(final: Any, X: Any, rows: Array) -> Array:
    name = type(final).__name__
    if isinstance(final, BaseProjection):
        return _of_projections(final, _safe_indexing(X, rows))
    if isinstance(final, CombinedKernel):
        return _of_learner(final, X, rows)
    if isinstance(final, ConformalKernel) and not hasattr(final, "kernel_"):  # it is not saved
        return np.asarray(final.transform(_safe_indexing(X, rows))[:, rows])
    if isinstance(final, TransductiveMKLClassifier) and not hasattr(final, "kernel_"):
        return _of_views(final, X, rows)
    if isinstance(final, TransductiveMKLClassifier | SpectralKernelClassifier | ConformalKernel):
        kernel = final.kernel_ if final.kernel_.ndim == 2 else final.kernel_.mean(axis=0)
        return np.asarray(kernel[np.ix_(rows, rows)])
    if isinstance(final, HyperkernelClassifier | HyperkernelRegressor):
        raise NoLearnedKernel(f"{name} learns a sum of powers of kernels: it is not a sum of the views.")
    if isinstance(final, ColumnMachine):
        raise NoLearnedKernel(f"{name} chooses columns of kernels: there is no one kernel.")
    if isinstance(final, NonstationaryClassifier):
        raise NoLearnedKernel(f"{name} takes the ratio of two mixtures of kernels: there is no one kernel.")
    if not isinstance(final, KernelEstimator) or not hasattr(final, "kernel_weights_"):
        raise NoLearnedKernel(f"{name} learns no kernel of several views.")
    return _of_views(final, X, rows)


def _of_learner(final: Any, X: Any, rows: Array) -> Array:
    """The combined kernel; by views fitted again to the samples, where the model was loaded without them."""
    if hasattr(final, "_bank"):
        return np.asarray(final.combined_kernel(_safe_indexing(X, rows))[:, rows])
    active = set(final.learner_.active_kernels.tolist())
    K = final.learner_.combine_rows((m, part) for m, part in view_kernels(final, X, rows) if m in active)
    return np.asarray(K * final.scale_)


def _of_views(final: Any, X: Any, rows: Array) -> Array:
    """Σ_m w_m(x) K_m(x, z) w_m(z), with the square roots of global weights kept out of it."""
    gates = None
    if isinstance(final, BaseLocalized):
        local = final.sample_machine_weights(_safe_indexing(X, rows))
        gates = np.moveaxis(local, 1, 0)  # (n_machines, n_samples, n_kernels)
    weights = final.kernel_weights_
    if isinstance(final, BayesianMKL):
        weights = weights / final.kernel_scales_
    K = np.zeros((rows.size, rows.size))
    for m, part in view_kernels(final, X, rows):
        K += weights[m] * part if gates is None else gates[:, :, m].T @ gates[:, :, m] / len(gates) * part
    return K


def _of_projections(final: Any, X: Any) -> Array:
    K = np.zeros((count_rows(X), count_rows(X)))
    kernel = final._model.kernel
    parts = list(final._parts(X))
    Z, eta = np.concatenate([z for z, _ in parts], axis=1), np.concatenate([gate for _, gate in parts])
    for z, gate in zip(Z, eta.T, strict=True):
        K += gate[:, None] * kernel.apply(z, z, np.diag(gate))
    return K


def view_kernels(final: Any, X: Any, rows: Array) -> Iterator[tuple[int, Array]]:
    """The kernel of each view between some of the samples of fit, (n_rows, n_rows), one at a time.

    The views are fitted to all the samples, so that their widths and scales are those of the model, which
    has thrown away what it does not need. Of a model on factors they are the products of its factors, of
    one on working sets those of its own bank; views without weight have none.
    """
    X = final._validate_table(X, reset=False)
    if getattr(final, "gram_", None) == "low_rank":
        for m, Z in final._prediction_bank.iter_factors(_safe_indexing(X, rows)):
            yield m, Z @ Z.T
        return
    if getattr(final, "gram_", None) == "working_set" or (
        isinstance(final, _INFINITE) and not final._precomputed
    ):
        table = _safe_indexing(X, rows)
        yield from final._prediction_bank.moved(table).iter_kernels(table)
        return
    fill = FILL_OF[getattr(final, "missing_", "error")]
    bank = make_bank(final.kernels, gram="dense", fill=fill, **final._bank_options)
    fitted, positions = _distinct(final, X, rows)
    bank.fit(fitted)
    named = range(bank.n_kernels_) if final._precomputed else bank.view_names_
    known = range(len(final.view_names_)) if final._precomputed else final.view_names_
    if list(named) != list(known):
        raise ValueError(
            f"X must hold the samples that the model was fitted to; its views would be {bank.view_names_}, "
            f"and those of the model are {final.view_names_}."
        )
    every = np.arange(len(bank.view_names_))
    yield from bank.restrict(positions, every).iter_kernels(_safe_indexing(X, rows))


def _distinct(final: Any, X: Any, rows: Array) -> tuple[Any, Array]:
    """The samples that the bank of the model was fitted to, and which of them the rows are.

    Machines merge equal samples before they fit the views.
    """
    n = count_rows(X)
    if _n_in_bank(final, n) == n or final._precomputed:
        return X, rows
    samples = distinct_samples(X, np.zeros((n, 1)), np.ones(n))
    if samples.rows.size != _n_in_bank(final, n):
        return X, rows
    return samples.take(X), samples.group[rows]


# ------------------------------------------------------------------ which samples are shown
def choose_rows(y: Array | None, task: str, most: int, seed: int, n: int) -> Array:
    """Up to `most` row numbers, ascending: each class in proportion, over the range of the values."""
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if y is None or task == "unsupervised":
        return np.sort(rng.choice(n, most, replace=False))
    if task == "regression":
        order = np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")
        edges = np.linspace(0, n, most + 1).astype(int)
        return np.sort([order[rng.integers(a, b)] for a, b in pairwise(edges)])
    _, codes = np.unique(y, return_inverse=True)
    sizes = allot(np.bincount(codes), most)
    chosen = [rng.choice(np.flatnonzero(codes == c), size, replace=False) for c, size in enumerate(sizes)]
    return np.sort(np.concatenate(chosen))


def allot(counts: Array, total: int) -> Array:
    """Share out places in proportion to counts: one at least for each, none more than it counts.

    Where there are more counts than places, the largest get one each.

    Examples
    --------
    >>> allot(np.array([50, 48, 2]), 10)
    array([5, 4, 1])
    """
    counts = np.asarray(counts)
    if counts.sum() <= total:
        return counts
    if counts.size > total:
        given = np.zeros_like(counts)
        given[np.argsort(-counts, kind="stable")[:total]] = 1
        return given
    given = np.ones_like(counts)
    while given.sum() < total:  # the next place to whom it is due most
        due = np.where(given < counts, counts / counts.sum() * total - given, -np.inf)
        given[int(np.argmax(due))] += 1
    return given


def marks(y: Array | None, task: str, rows: Array, ids: list[str] | None = None) -> list[dict[str, Any]]:
    """What is said of each chosen sample: its row number, its id if it has one, and its label or value."""
    named = [named_row(row, ids) for row in rows]
    if y is None or task == "unsupervised":
        return [{**own, "label": None} for own in named]
    if task == "classification":
        return [{**own, "label": str(y[own["row"]])} for own in named]
    values = y if y.ndim == 1 else y[:, 0]
    return [{**own, "value": float(values[own["row"]])} for own in named]


def named_row(row: Any, ids: list[str] | None) -> dict[str, Any]:
    """Which sample it is: its row number, and its id if it has one."""
    return {"row": int(row)} if ids is None else {"row": int(row), "id": ids[int(row)]}


# ------------------------------------------------------------------ embedding
def embedding_part(K: Array, points: list[Part], predicted: Any) -> Part:
    """The first two principal components of the learned kernel of the chosen samples."""
    found = kernel_components(K, min(2, len(K)))
    scores = np.zeros((len(K), 2))
    scores[:, : found.scores.shape[1]] = found.scores
    shares = [*map(float, found.shares), 0.0][:2]
    return {
        "method": f"kernel PCA of the {LEARNED_KERNEL}",
        "explained": shares,
        "points": [
            {**mark, "x": float(a), "y": float(b), **_prediction(predicted, mark["row"])}
            for mark, (a, b) in zip(points, scores, strict=True)
        ],
    }


def _prediction(predicted: Any, row: int) -> Part:
    return {"predicted": None if predicted is None else predicted[row]}


# ------------------------------------------------------------------ heat maps
def heat_maps_part(subject: Subject, X: Any, y: Array | None, rows: Array, K: Array | None) -> Part | None:
    """Gram matrices of the chosen samples, ordered by class or value, in at most 60 × 60 blocks.

    None where the model has neither a learned kernel nor kernels of views.
    """
    order, edges, groups, words = _blocks(y, subject.task, rows)
    shares = subject.shares()
    maps = [] if K is None else [_map(LEARNED_KERNEL, None, K, order, edges)]
    final = subject.final
    shown = sorted(shares, key=lambda view: -abs(shares[view]))[:_MOST_MAPS]
    has_bank = getattr(final, "_prediction_bank", None) is not None
    if shares and has_bank and list(shares) == list(final.view_names_):
        for m, part in view_kernels(final, subject.inputs(X), rows):
            name = final.view_names_[m]
            if name in shown:
                maps.append(_map(name, shares[name], part, order, edges))
    return {"order": words, "groups": groups, "maps": maps} if maps else None


def _blocks(y: Array | None, task: str, rows: Array) -> tuple[Array, Array, list[Part], str]:
    """The order of the chosen samples, the edges of the blocks, and which blocks belong together."""
    edges = _edges(np.array([rows.size]))
    if y is None or task == "unsupervised":
        return np.arange(rows.size), edges, [], "as they were given"
    if task == "regression":
        values = (y if y.ndim == 1 else y[:, 0])[rows]
        order = np.argsort(values, kind="stable")
        return order, edges, _quarters(values[order], edges), "by value, the smallest first"
    classes, codes = np.unique(y[rows], return_inverse=True)
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    if classes.size > _BLOCKS:
        return order, edges, [], "by class"
    edges = _edges(counts)
    starts = np.searchsorted(edges, np.concatenate([[0], np.cumsum(counts)]))
    groups = [
        {"label": str(label), "start": int(a), "stop": int(b)}
        for label, (a, b) in zip(classes, pairwise(starts), strict=True)
    ]
    return order, edges, groups, "by class, and within a class as they were given"


def _edges(counts: Array) -> Array:
    """Where blocks begin and end: each within one group of consecutive samples."""
    places, begin = [np.array([0])], 0
    for count, blocks in zip(counts, allot(counts, _BLOCKS), strict=True):
        places.append(begin + np.linspace(0, count, blocks + 1).round().astype(int)[1:])
        begin += count
    return np.concatenate(places)


def _quarters(values: Array, edges: Array) -> list[Part]:
    """Four groups of blocks, named by their range of values."""
    k = len(edges) - 1
    bounds = np.unique(np.linspace(0, k, 5).round().astype(int))
    return [
        {"label": f"{values[edges[a]]:.3g} to {values[edges[b] - 1]:.3g}", "start": int(a), "stop": int(b)}
        for a, b in pairwise(bounds)
    ]


def _map(name: str, share: float | None, K: Array, order: Array, edges: Array) -> Part:
    ordered = np.asarray(K, float)[np.ix_(order, order)]
    sizes = np.diff(edges)
    sums = np.add.reduceat(np.add.reduceat(ordered, edges[:-1], axis=0), edges[:-1], axis=1)
    means = sums / np.outer(sizes, sizes)
    low, high = float(means.min()), float(means.max())
    scaled = (means - low) / (high - low) if high > low else np.zeros_like(means)
    return {"name": name, "share": share, "low": low, "high": high, "values": scaled.round(4).tolist()}


# ------------------------------------------------------------------ gate
def gate_part(subject: Subject, X: Any, points: list[Part], predicted: Any) -> Part | None:
    """How much each view counts at each of the chosen samples; None for models without a gate."""
    rows = np.array([point["row"] for point in points])
    found = sample_weights(subject.final, subject.inputs(_safe_indexing(X, rows)), rows)
    if found is None:
        return None
    what, weights = found
    return {
        "what": what,
        "views": subject.views,
        "rows": [
            {**point, **_prediction(predicted, point["row"]), "weights": values.tolist()}
            for point, values in zip(points, weights, strict=True)
        ],
    }
