"""What pictures are made of: chosen samples, Gram matrices in blocks, an embedding, gates of samples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from multikernel.inspection.learned_kernel import NoLearnedKernel, view_kernels
from multikernel.inspection.subject import Subject
from multikernel.localized.base import BaseLocalized
from multikernel.localized.projection_base import BaseProjection
from multikernel.nonstationary.classifier import NonstationaryClassifier
from multikernel.rules.nonlinear.local import LocalLearner
from multikernel.rules.pca import kernel_components

from .._typing import Array

Part = dict[str, Any]

LEARNED_KERNEL = "learned kernel"
_BLOCKS = 60
_MOST_MAPS = 12  # of views


# ------------------------------------------------------------------ which samples are shown
def choose_rows(y: Array | None, task: str, most: int, seed: int, n: int) -> Array:
    """At most so many row numbers, ascending: of each class in proportion, over the range of the values.

    Examples
    --------
    >>> choose_rows(np.array(["a"] * 90 + ["b"] * 10), "classes", 10, 0, 100) >= 90
    array([False, False, False, False, False, False, False, False, False,  True])
    """
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if y is None or task == "nothing":
        return np.sort(rng.choice(n, most, replace=False))
    if task == "values":
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


def marks(y: Array | None, task: str, rows: Array) -> list[dict[str, Any]]:
    """What is said of each chosen sample: its row number, and its label or value."""
    if y is None or task == "nothing":
        return [{"row": int(row), "label": None} for row in rows]
    if task == "classes":
        return [{"row": int(row), "label": str(y[row])} for row in rows]
    values = y if y.ndim == 1 else y[:, 0]
    return [{"row": int(row), "value": float(values[row])} for row in rows]


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
def heat_maps_part(subject: Subject, X: Any, y: Array | None, rows: Array, K: Array | None) -> Part:
    """Gram matrices of the chosen samples, ordered by class or value, in at most 60 × 60 blocks."""
    order, edges, groups, words = _blocks(y, subject.task, rows)
    shares = subject.shares()
    maps = [] if K is None else [_map(LEARNED_KERNEL, None, K, order, edges)]
    final = subject.final
    shown = sorted(shares, key=lambda view: -abs(shares[view]))[:_MOST_MAPS]
    if (
        shares
        and getattr(final, "_prediction_bank", None) is not None
        and list(shares) == list(final.view_names_)
    ):
        for m, part in view_kernels(final, subject.inputs(X), rows):
            name = final.view_names_[m]
            if name in shown:
                maps.append(_map(name, shares[name], part, order, edges))
    if not maps:
        raise NoLearnedKernel(f"{type(final).__name__} has no kernels of views.")
    return {"order": words, "groups": groups, "maps": maps}


def _blocks(y: Array | None, task: str, rows: Array) -> tuple[Array, Array, list[Part], str]:
    """The order of the chosen samples, the edges of the blocks, and which blocks belong together."""
    n = rows.size
    if y is None or task == "nothing":
        return np.arange(n), _edges(np.array([n]), _BLOCKS), [], "as they were given"
    if task == "values":
        values = (y if y.ndim == 1 else y[:, 0])[rows]
        order = np.argsort(values, kind="stable")
        edges = _edges(np.array([n]), _BLOCKS)
        return order, edges, _quarters(values[order], edges), "by value, the smallest first"
    classes, codes = np.unique(y[rows], return_inverse=True)
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    if classes.size > _BLOCKS:
        return order, _edges(np.array([n]), _BLOCKS), [], "by class"
    edges = _edges(counts, _BLOCKS)
    starts = np.searchsorted(edges, np.concatenate([[0], np.cumsum(counts)]))
    groups = [
        {"label": str(label), "start": int(a), "stop": int(b)}
        for label, (a, b) in zip(classes, pairwise(starts), strict=True)
    ]
    return order, edges, groups, "by class, and within a class as they were given"


def _edges(counts: Array, most: int) -> Array:
    """Where blocks begin and end: each within one group of consecutive samples, at most so many."""
    places, begin = [np.array([0])], 0
    for count, blocks in zip(counts, allot(counts, most), strict=True):
        places.append(begin + np.linspace(0, count, blocks + 1).round().astype(int)[1:])
        begin += count
    return np.concatenate(places)


def _quarters(values: Array, edges: Array) -> list[Part]:
    """Four groups of blocks, named by their range of values."""
    k = len(edges) - 1
    bounds = np.unique(np.linspace(0, k, 5).round().astype(int))
    return [
        {
            "label": f"{values[edges[a]]:.3g} to {values[edges[b] - 1]:.3g}",
            "start": int(a),
            "stop": int(b),
        }
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
    if not _has_gate(subject.final):
        return None
    what, weights = _gate_values(subject, X, np.array([point["row"] for point in points]))
    return {
        "what": what,
        "views": subject.views,
        "rows": [
            {**point, **_prediction(predicted, point["row"]), "weights": values.tolist()}
            for point, values in zip(points, weights, strict=True)
        ],
    }


def _has_gate(final: Any) -> bool:
    gated = isinstance(final, BaseLocalized | BaseProjection | NonstationaryClassifier)
    return gated or isinstance(getattr(final, "learner_", None), LocalLearner)


def _gate_values(subject: Subject, X: Any, rows: Array) -> tuple[str, Array]:
    """What the numbers are, and the numbers (n_rows, n_views)."""
    final = subject.final
    if isinstance(getattr(final, "learner_", None), LocalLearner):
        values = final.learner_._training_weights[rows]
        return "weight of each view at the sample, as learned", np.asarray(values, float)
    inputs = subject.inputs(_safe_indexing(X, rows))
    if isinstance(final, NonstationaryClassifier):
        values = np.stack(final.kernel_weights(inputs)).mean(axis=0)
        what = "weight of each view at the sample, the mean of the mixtures of a class and of the others"
    else:
        values = final.gate(inputs)
        of = "region" if isinstance(final, BaseProjection) else "view"
        what = f"value of the gate of each {of} at the sample"
    if values.ndim == 3:
        what += f", the mean over {values.shape[1]} machines"
        values = values.mean(axis=1)
    return what, np.asarray(values, float)
