"""Localized models written down again from what they publish: gate, scores, values, certificates."""

from functools import partial

import numpy as np

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor
from tests.localized.solver.gated_problems import hinge_values, joint_values, tasks
from tests.mkl.data import plain_kernels

# the gate of the thesis, without a ridge that folds choose
gated = partial(LocalizedMKLClassifier, gating_reg=0.0)
gated_regressor = partial(LocalizedMKLRegressor, gating_reg=0.0)


def plain_gate(gating, V, features, training_features):
    """η by the formula, for features standardised with the mean and deviation of the training samples."""
    mean, deviation = training_features.mean(axis=0), training_features.std(axis=0)
    return gate_of(gating, V, (features - mean) / np.where(deviation > 0, deviation, 1.0))


def gate_of(gating, V, Z):
    """η by the formula, for standardised features."""
    if gating == "gaussian":
        squares = ((Z[:, None] - V[None, :, :-1]) ** 2).sum(axis=2)
        powers = np.exp(-squares / V[:, -1] ** 2)
    else:
        powers = np.exp(Z @ V[:, :-1].T + V[:, -1])
    return powers / (1.0 + powers) if gating == "sigmoid" else powers / powers.sum(axis=1, keepdims=True)


def plain_contributions(model, X, X_train, gating_columns=slice(None), kernels=plain_kernels):
    """What each kernel adds, (n, n_machines, n_kernels), from the public attributes alone."""
    Ks = kernels(X, X_train[model.support_])
    n_machines = len(model.dual_coef_)
    parts = np.empty((len(X), n_machines, Ks.shape[2]))
    for k in range(n_machines):
        V = model.gating_[k if len(model.gating_) > 1 else 0]
        train = X_train[:, gating_columns]
        here = plain_gate(model.gating, V, X[:, gating_columns], train)
        there = plain_gate(model.gating, V, train[model.support_], train)
        for m in range(Ks.shape[2]):
            parts[:, k, m] = here[:, m] * (Ks[:, :, m] @ (there[:, m] * model.dual_coef_[k]))
    return parts


def plain_scores(model, X, X_train, **options):
    return plain_contributions(model, X, X_train, **options).sum(axis=2) + model.intercept_


def full_duals(model, n):
    duals = np.zeros((len(model.dual_coef_), n))
    duals[:, model.support_] = model.dual_coef_
    return duals


def classifier_values(model, X, labels, bounds, **options):
    """Dual and primal value of each machine at the training samples."""
    classes, duals = model.classes_, full_duals(model, len(X))
    codes = np.searchsorted(classes, labels)
    parts = plain_contributions(model, X, X, **options).sum(axis=2)
    f, norms = parts + model.intercept_, 0.5 * np.einsum("ki,ik->k", duals, parts)
    if classes.size > 2 and model.multiclass == "joint":
        return [joint_values(codes, bounds, duals.T, f, norms.sum(), np.sum)]
    each = tasks(codes, model.multiclass) if classes.size > 2 else [(slice(None), 2.0 * codes - 1.0)]
    return [
        hinge_values(y, bounds[own], duals[k, own], f[own, k], norms[k]) for k, (own, y) in enumerate(each)
    ]


def projected_gate(model, X):
    """η of a model on projections, from its fitted parameters."""
    if model.gating_ is None:
        return np.ones((len(X), 1))
    return gate_of(model.gating, model.gating_, (X - model.mean_) / model.scale_)


def projected_kernel(model, X, T):
    """Σ_m η_m(x) k(W_m'x, W_m't) η_m(t) of a model on projections, from its fitted parameters."""
    x, t = ((A - model.mean_) / model.scale_ if model.standardize else A for A in (X, T))
    total = 0.0
    gates = projected_gate(model, X).T, projected_gate(model, T).T
    for W, left, right in zip(model.projections_, *gates, strict=True):
        products = (x @ W) @ (t @ W).T
        if model.kernels == "poly":
            products = (products + 1.0) ** model.degree
        elif model.kernels == "gaussian":
            gaps = (x @ W)[:, None] - (t @ W)[None]
            products = np.exp(-model.gamma_ * (gaps**2).sum(axis=2))
        total = total + np.outer(left, right) * products
    return total
