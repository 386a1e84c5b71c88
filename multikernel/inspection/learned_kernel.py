"""The kernel that a model has learned, as a matrix over samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from multikernel.bayesian.estimators import BayesianMKL
from multikernel.boosting.estimators import ColumnMachine
from multikernel.core.estimator import KernelEstimator
from multikernel.core.missing import FILL_OF
from multikernel.core.samples import distinct_samples
from multikernel.inspection.subject import n_samples, subject_of
from multikernel.localized.base import BaseLocalized
from multikernel.localized.projection_base import BaseProjection
from multikernel.nonstationary.classifier import NonstationaryClassifier
from multikernel.rules.combined import CombinedKernel
from multikernel.spectral.classifier import SpectralKernelClassifier
from multikernel.spectral.conformal import ConformalKernel
from multikernel.transductive.classifier import TransductiveMKLClassifier
from multikernel.views import as_views, make_bank

from .._typing import Array


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
    rows : array-like of int, optional
        Of which samples; all if None. No more than one kernel of all samples is in memory at a time.

    Returns
    -------
    array (n_rows, n_rows), symmetric

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
    check_is_fitted(model)
    subject = subject_of(model)
    chosen = np.arange(n_samples(X)) if rows is None else np.asarray(rows)
    require_samples_of_fit(subject.final, n_samples(X))
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
    gates = _gates(final, _safe_indexing(X, rows)) if isinstance(final, BaseLocalized) else None
    weights = final.kernel_weights_
    if isinstance(final, BayesianMKL):
        weights = weights / final.kernel_scales_
    K = np.zeros((rows.size, rows.size))
    for m, part in view_kernels(final, X, rows):
        K += weights[m] * part if gates is None else gates[:, :, m].T @ gates[:, :, m] / len(gates) * part
    return K


def _gates(final: Any, X: Any) -> Array:
    """η of every gate, (n_gates, n_samples, n_kernels)."""
    gates = final.gate(X)
    return gates[None] if gates.ndim == 2 else np.moveaxis(gates, 1, 0)


def _of_projections(final: Any, X: Any) -> Array:
    K = np.zeros((n_samples(X), n_samples(X)))
    kernel = final._model.kernel
    parts = list(final._parts(X))
    Z, eta = np.concatenate([z for z, _ in parts], axis=1), np.concatenate([gate for _, gate in parts])
    for z, gate in zip(Z, eta.T, strict=True):
        K += gate[:, None] * kernel.apply(z, z, np.diag(gate))
    return K


def view_kernels(final: Any, X: Any, rows: Array) -> Iterator[tuple[int, Array]]:
    """The kernel of each view between some of the samples of fit, (n_rows, n_rows), one at a time.

    The views are fitted to all the samples, so that their widths and scales are those of the model, which
    has thrown away what it does not need. Of a model on factors they are the products of its factors; views
    without weight have none.
    """
    X = final._validate_table(X, reset=False)
    if getattr(final, "gram_", None) == "low_rank":
        for m, Z in final._prediction_bank.iter_factors(_safe_indexing(X, rows)):
            yield m, Z @ Z.T
        return
    views = final.kernels if isinstance(final.kernels, str) else as_views(final.kernels)
    bank = make_bank(views, psd=final.psd, fill=FILL_OF[getattr(final, "missing", "error")])
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
    n = n_samples(X)
    if _n_in_bank(final, n) == n or final._precomputed:
        return X, rows
    samples = distinct_samples(X, np.zeros((n, 1)), np.ones(n))
    if samples.rows.size != _n_in_bank(final, n):
        return X, rows
    return samples.take(X), samples.group[rows]
