"""The projection in one list of components, as compiled loops want it: no case for either class.

The components of both mixtures stand in one list, the positive ones first. Arrays are (n_components, n), the
samples along the contiguous axis. The shares q_t(j) are zero for the components of the other class, the duals
u_tr zero for those of the sample's own, so that for every component and sample

    s_t(j) = λ_t q_t(j) − u_tj,    g_j(t) = Σ_t' s_t'(j) k_j(t', t),    own_t = Σ_j q_t(j) g_j(t)

and the gradient of the dual value in u_tr is f_tr − own_t + g_r(t).
"""

from typing import NamedTuple

import numpy as np

from ..._numba import compiled, read_only
from .mixtures import Array, Pair
from .projection import Projection


class Setting(NamedTuple):
    """What is the same during one projection."""

    Ks: Array  # (n_kernels, n, n)
    diagonals: Array  # (n_kernels, n)
    kernels: Array  # (n_components,) of int
    shares: Array  # (n_components, n), q; zero where a component has none
    linear: Array  # (n_components, n), f; zero where a component has none
    bounds: Array  # (n,)
    sides: Array  # (n,) of int, 0 for positive samples
    ranges: Array  # (2, 2) of int, first and one past the last component of the *other* class, by side


class State(NamedTuple):
    """Where a solver is."""

    duals: Array  # (n_components, n), u
    scores: Array  # (n_components, n), g
    own: Array  # (n,), the expected own score
    totals: Array  # (n,), λ


def setting_of(projection: Projection) -> Setting:
    """One list of components from the two mixtures."""
    mixtures = projection.mixtures
    first, second = mixtures.sizes
    shape = (first + second, mixtures.n_samples)
    shares, linear, sides = np.zeros(shape), np.zeros(shape), np.zeros(shape[1], np.int64)
    positive, negative = mixtures.rows
    shares[:first, positive], shares[first:, negative] = (q.T for q in projection.posteriors)
    linear[first:, positive], linear[:first, negative] = (f.T for f in projection.linear)
    sides[negative] = 1
    return Setting(
        read_only(np.ascontiguousarray(mixtures.Ks)),
        np.ascontiguousarray(mixtures.diagonals, float),
        np.concatenate(mixtures.kernels).astype(np.int64),
        shares,
        linear,
        np.ascontiguousarray(mixtures.bounds, float),
        sides,
        np.array([[first, first + second], [0, first]]),
    )


def start_of(setting: Setting) -> State:
    """u = 0, which is always feasible."""
    shape = setting.shares.shape
    return State(np.zeros(shape), np.zeros(shape), np.zeros(shape[1]), np.zeros(shape[1]))


def duals_of(projection: Projection, state: State) -> Pair:
    """The duals as the projection has them: (n_positive, N) and (n_negative, M)."""
    first = projection.mixtures.sizes[0]
    positive, negative = projection.mixtures.rows
    return np.ascontiguousarray(state.duals[first:, positive].T), np.ascontiguousarray(
        state.duals[:first, negative].T
    )


@compiled
def coefficients_of(setting: Setting, state: State) -> Array:
    """s, (n_components, n)."""
    coefficients = np.empty_like(state.duals)
    n_components, n = coefficients.shape
    for c in range(n_components):
        for t in range(n):
            coefficients[c, t] = state.totals[t] * setting.shares[c, t] - state.duals[c, t]
    return coefficients


@compiled
def imbalance_of(setting: Setting, state: State) -> Array:
    """Σ_t s_t(j) of every component: zero where u is feasible."""
    n_components, n = state.duals.shape
    imbalance = np.zeros(n_components)
    for c in range(n_components):
        for t in range(n):
            imbalance[c] += state.totals[t] * setting.shares[c, t] - state.duals[c, t]
    return imbalance


@compiled
def add_scores(setting: Setting, state: State, change: Array) -> None:
    """Bring the scores up to date with a change of s, (n_components, n)."""
    n_components, n = change.shape
    for c in range(n_components):
        K = setting.Ks[setting.kernels[c]]
        scores = state.scores[c]
        for i in range(n):
            x = change[c, i]
            if x != 0.0:
                row = K[i]
                for t in range(n):
                    scores[t] += x * row[t]
    for t in range(n):
        state.own[t] = 0.0
    for c in range(n_components):
        for t in range(n):
            state.own[t] += setting.shares[c, t] * state.scores[c, t]


@compiled
def rescore(setting: Setting, state: State) -> None:
    """λ and all scores afresh from the duals: takes away what rounding has left."""
    n_components, n = state.duals.shape
    for t in range(n):
        state.totals[t] = 0.0
    for c in range(n_components):
        for t in range(n):
            state.totals[t] += state.duals[c, t]
            state.scores[c, t] = 0.0
    add_scores(setting, state, coefficients_of(setting, state))


@compiled
def dual_value(setting: Setting, state: State) -> float:
    """f'u − ½ u'Hu, from the scores."""
    n_components, n = state.duals.shape
    value = 0.0
    for c in range(n_components):
        for t in range(n):
            u = state.duals[c, t]
            s = state.totals[t] * setting.shares[c, t] - u
            value += setting.linear[c, t] * u - 0.5 * s * state.scores[c, t]
    return value
