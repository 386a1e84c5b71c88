"""Localized models written down again from what they publish: gate, scores, values, certificates."""

from itertools import combinations

import numpy as np

from tests.mkl.data import plain_kernels


def plain_gate(gating, V, features, training_features):
    """η by the formula, for features standardised with the mean and deviation of the training samples."""
    mean, deviation = training_features.mean(axis=0), training_features.std(axis=0)
    Z = (features - mean) / np.where(deviation > 0, deviation, 1.0)
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


def hinge_values(y, bounds, beta, scores, part):
    """Dual and primal value of one machine; ``part`` are the scores without intercept."""
    norm = 0.5 * beta @ part
    return np.abs(beta).sum() - norm, norm + bounds @ np.maximum(1.0 - y * scores, 0.0)


def full_duals(model, n):
    duals = np.zeros((len(model.dual_coef_), n))
    duals[:, model.support_] = model.dual_coef_
    return duals


def classifier_values(model, X, labels, bounds, **options):
    """Dual and primal value of each machine at the training samples."""
    classes, duals = model.classes_, full_duals(model, len(X))
    parts = plain_contributions(model, X, X, **options).sum(axis=2)
    scores = parts + model.intercept_
    if classes.size == 2:
        y = np.where(labels == classes[1], 1.0, -1.0)
        return [hinge_values(y, bounds, duals[0], scores[:, 0], parts[:, 0])]
    if model.multiclass == "ovr":
        return [
            hinge_values(np.where(labels == c, 1.0, -1.0), bounds, duals[k], scores[:, k], parts[:, k])
            for k, c in enumerate(classes)
        ]
    if model.multiclass == "ovo":
        values = []
        for k, (a, b) in enumerate(combinations(classes, 2)):
            own = np.isin(labels, [a, b])
            y = np.where(labels[own] == a, 1.0, -1.0)
            values.append(hinge_values(y, bounds[own], duals[k, own], scores[own, k], parts[own, k]))
        return values
    rows, codes = np.arange(len(X)), np.searchsorted(classes, labels)
    norm = 0.5 * np.einsum("ki,ik->", duals, parts)
    slack = np.maximum(2.0 - (scores[rows, codes][:, None] - scores), 0.0)
    slack[rows, codes] = 0.0
    return [(2.0 * duals[codes, rows].sum() - norm, norm + bounds @ slack.sum(axis=1))]


def largest_gap(pairs):
    return max((primal - dual) / abs(primal) for dual, primal in pairs)
