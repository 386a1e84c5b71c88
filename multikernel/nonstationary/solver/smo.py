"""Sequential minimal optimisation of the projection: steps along two samples, which keep Au = 0.

Every step adds x_j to s_i(j) and takes it from s_w(j), so that Σ_t s_t(j) stays zero for every component:

    inter-class      u_ij += s q_w(j),  u_wj += s q_i(j)                     i and w of different classes
    intra, unequal   u_ik += s,  u_wl += s,  u_il −= s,  u_wk −= s           one class, λ unchanged
    intra, equal     u_ik += s,  u_wk −= s                                   one class, q_i = q_w

Along each the dual value is d s − ½ κ s², whose best s within the bounds is known. For every sample i in turn
the partner and the kind of step that gain most are taken. These directions do not span all that is feasible:
alone they stall short of the optimum. Lewis, Jebara and Noble (2006), whose steps these are (sections 3.1 and
3.2), interleave a Newton step (3.3); here Newton steps with an active set (``newton``) follow two sweeps, to
the end, and certify the optimum.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._numba import HUGE, compiled, larger, smaller
from .components import Setting, State, duals_of, rescore, setting_of, start_of
from .mixtures import Array, Mixtures
from .newton import certify
from .projection import Projected, Projection, finish

_TINY = 1e-12  # added to curvatures: equal samples have none
_NO_SHARE = 1e-14
_N_SWEEPS = 2
_ENOUGH = 1e-3  # a sweep that gains less than this share of the value is the last


class Choice(NamedTuple):
    """The best step of one sample: the partner, the components concerned, the length, and the gain."""

    partner: int
    up: int
    down: int
    length: float
    gain: float


def project_smo(projection: Projection, *, tol: float = 1e-8, max_newton: int = 10_000) -> Projected:
    """Solve a projection of mode "qp" or "hard" by the SMO of Lewis et al. and Newton steps.

    ``n_iter`` counts rounds of these, ``max_newton`` at most. Each ends where the free variables are optimal
    on their face, and sets violators free. Kernels of low rank on classes that overlap need about n/2 cheap
    ones.

    Examples
    --------
    >>> found = project_smo(_tiny(np.float64))
    >>> found.status.value, round(found.dual, 6), found.duals[0].ravel().round(6).tolist()
    ('optimal', 0.25, [0.25, 0.0])
    """
    setting = setting_of(projection)
    state = start_of(setting)
    sweeps(setting, state, kinships(setting), _N_SWEEPS)
    rescore(setting, state)
    scaled = tol * projection.mixtures.scale  # it measures by 1 + |dual|, which is at most 2 here
    multipliers, n_iter, status = certify(setting, state, scaled, max_newton)
    first = projection.mixtures.sizes[0]
    offsets = -multipliers[:first], -multipliers[first:]  # of Au = 0, with the sign turned
    duals = duals_of(projection, state)
    return finish(projection, duals, offsets, tol=tol, n_iter=n_iter, status=status)


def _tiny(dtype: Any) -> Projection:
    """A problem of four samples on a line, with the linear kernel."""
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    K = np.outer(x, x)[None].astype(dtype)
    one, ones = np.array([0]), np.ones((2, 1))
    rows = np.array([2, 3]), np.array([0, 1])
    return Projection(Mixtures(K, (one, one), rows, np.ones(4), np.ones(4)), (ones, ones))


def kinships(setting: Setting) -> Array:
    """A number for each sample, the same for samples of one class whose posteriors are equal; −1 if alone."""
    _, kin, counts = np.unique(setting.shares.T, axis=0, return_inverse=True, return_counts=True)
    kin = kin.reshape(-1).astype(np.int64)
    return np.where(counts[kin] > 1, kin, -1)


@compiled
def sweeps(setting: Setting, state: State, kin: Array, n_sweeps: int) -> float:
    """Up to ``n_sweeps`` sweeps over all samples; returns what the dual value gained."""
    n = state.totals.size
    work = np.empty((3, n))
    total = 0.0
    for _ in range(n_sweeps):
        gained = 0.0
        for i in range(n):
            gained += best_step(setting, state, kin, i, work)
        total += gained
        if gained <= _ENOUGH * total:
            break
    return total


@compiled
def best_step(setting: Setting, state: State, kin: Array, i: int, work: Array) -> float:
    """Take the step of sample i that gains most; returns the gain."""
    inter = inter_class(setting, state, i, work)
    unequal = intra_class_unequal(setting, state, i)
    best = inter if inter.gain >= unequal.gain else unequal
    if kin[i] >= 0:
        equal = intra_class_equal(setting, state, kin, i)
        if equal.gain > best.gain:
            best = equal
    if best.gain <= 0.0:
        return 0.0
    take(setting, state, i, best)
    return best.gain


@compiled
def take(setting: Setting, state: State, i: int, step: Choice) -> None:
    """Move the duals of sample i and its partner, and everything that follows from them."""
    w, s = step.partner, step.length
    n_components = setting.kernels.size
    if step.up < 0:
        for c in range(n_components):
            state.duals[c, i] = larger(0.0, state.duals[c, i] + s * setting.shares[c, w])
            state.duals[c, w] = larger(0.0, state.duals[c, w] + s * setting.shares[c, i])
        state.totals[i] += s
        state.totals[w] += s
    else:
        state.duals[step.up, i] = larger(0.0, state.duals[step.up, i] + s)
        state.duals[step.up, w] = larger(0.0, state.duals[step.up, w] - s)
        if step.down < 0:
            state.totals[i] += s
            state.totals[w] -= s
        else:
            state.duals[step.down, i] = larger(0.0, state.duals[step.down, i] - s)
            state.duals[step.down, w] += s
    for c in range(n_components):
        x = 0.0
        if step.up < 0:
            x = s * (setting.shares[c, i] - setting.shares[c, w])
        elif step.down < 0:
            x = s * setting.shares[c, i]
        if c == step.up:
            x -= s
        elif c == step.down:
            x += s
        if x != 0.0:
            _shift(setting, state, c, i, w, x)


@compiled
def _shift(setting: Setting, state: State, c: int, i: int, w: int, x: float) -> None:
    """s_i(c) += x, s_w(c) −= x."""
    K = setting.Ks[setting.kernels[c]]
    up, down, scores, shares = K[i], K[w], state.scores[c], setting.shares[c]
    for t in range(scores.size):
        change = x * (up[t] - down[t])
        scores[t] += change
        state.own[t] += shares[t] * change


@compiled
def inter_class(setting: Setting, state: State, i: int, work: Array) -> Choice:
    """The best partner of the other class."""
    slope, curvature, low = work[0], work[1], work[2]
    n_components, n = state.duals.shape
    for t in range(n):
        slope[t], curvature[t], low[t] = 0.0, _TINY, -HUGE
    begin, end = setting.ranges[setting.sides[i]]
    for c in range(n_components):
        row = setting.Ks[setting.kernels[c], i]
        diagonal = setting.diagonals[setting.kernels[c]]
        shares, own_share, dual = setting.shares[c], setting.shares[c, i], state.duals[c, i]
        for t in range(n):
            q = own_share + shares[t]  # one of the two is zero
            curvature[t] += q * q * (diagonal[i] + diagonal[t] - 2.0 * row[t])
        if begin <= c < end:
            gradient = setting.linear[c, i] - state.own[i] + state.scores[c, i]
            for t in range(n):
                slope[t] += shares[t] * gradient
                low[t] = larger(low[t], -dual / shares[t] if shares[t] > _NO_SHARE else -HUGE)
        elif own_share > _NO_SHARE:
            linear, scores, duals = setting.linear[c], state.scores[c], state.duals[c]
            for t in range(n):
                slope[t] += own_share * (linear[t] - state.own[t] + scores[t])
                low[t] = larger(low[t], -duals[t] / own_share)
    partner, length, best = -1, 0.0, 0.0
    room = setting.bounds[i] - state.totals[i]
    for t in range(n):
        high: float = smaller(room, setting.bounds[t] - state.totals[t])
        s = larger(smaller(slope[t] / curvature[t], high), low[t])
        gain = s * (slope[t] - 0.5 * curvature[t] * s)
        if gain > best and setting.sides[t] != setting.sides[i]:
            partner, length, best = t, s, gain
    return Choice(partner, -1, -1, length, best)


@compiled
def intra_class_unequal(setting: Setting, state: State, i: int) -> Choice:
    """The best exchange of two components with a sample of the same class."""
    begin, end = setting.ranges[setting.sides[i]]
    best = Choice(-1, -1, -1, 0.0, 0.0)
    for down in range(begin, end):
        if state.duals[down, i] <= 0.0:
            continue
        for up in range(begin, end):
            if up != down:
                step = _exchange(setting, state, i, up, down)
                if step.gain > best.gain:
                    best = step
    return best


@compiled
def _exchange(setting: Setting, state: State, i: int, up: int, down: int) -> Choice:
    """The best partner for u_i,up += s, u_i,down −= s."""
    row_up, row_down = setting.Ks[setting.kernels[up], i], setting.Ks[setting.kernels[down], i]
    diag_up, diag_down = setting.diagonals[setting.kernels[up]], setting.diagonals[setting.kernels[down]]
    f_up, f_down = setting.linear[up], setting.linear[down]
    g_up, g_down = state.scores[up], state.scores[down]
    duals, limit = state.duals[up], state.duals[down, i]
    here = f_up[i] + g_up[i] - f_down[i] - g_down[i]
    partner, length, best = -1, 0.0, 0.0
    for t in range(duals.size):
        slope = here - (f_up[t] + g_up[t] - f_down[t] - g_down[t])
        curvature = _TINY + diag_up[i] + diag_up[t] - 2.0 * row_up[t]
        curvature += diag_down[i] + diag_down[t] - 2.0 * row_down[t]
        s: float = larger(smaller(smaller(duals[t], limit), slope / curvature), 0.0)
        gain = s * (slope - 0.5 * curvature * s)
        if gain > best:
            partner, length, best = t, s, gain
    return Choice(partner, up, down, length, best)


@compiled
def intra_class_equal(setting: Setting, state: State, kin: Array, i: int) -> Choice:
    """The best transfer from or to a sample of the same class with the same posteriors."""
    begin, end = setting.ranges[setting.sides[i]]
    best = Choice(-1, -1, -1, 0.0, 0.0)
    for t in range(kin.size):
        if kin[t] != kin[i] or t == i:
            continue
        shared = _TINY
        for c in range(setting.kernels.size):
            shared += setting.shares[c, i] ** 2 * _distance(setting, c, i, t)
        for up in range(begin, end):
            slope = setting.linear[up, i] - state.own[i] + state.scores[up, i]
            slope -= setting.linear[up, t] - state.own[t] + state.scores[up, t]
            curvature = shared + _distance(setting, up, i, t)
            high: float = smaller(state.duals[up, t], setting.bounds[i] - state.totals[i])
            low = -smaller(state.duals[up, i], setting.bounds[t] - state.totals[t])
            s = larger(smaller(slope / curvature, high), low)
            gain = s * (slope - 0.5 * curvature * s)
            if gain > best.gain:
                best = Choice(t, up, -1, s, gain)
    return best


@compiled
def _distance(setting: Setting, c: int, i: int, t: int) -> float:
    """‖φ_c(x_i) − φ_c(x_t)‖²."""
    kernel = setting.kernels[c]
    diagonal = setting.diagonals[kernel]
    return diagonal[i] + diagonal[t] - 2.0 * setting.Ks[kernel, i, t]
