r"""Cox's partial likelihood as a loss of the scores, with its Hessian in linear time.

    L(u) = C Σ_{i: event} w_i [log Σ_{j at risk at t_i} w_j exp u_j − u_i]

A sample is at risk at t where entry < t ≤ time, within its stratum. Samples count as often as their weight
w says: the loss of a sample of weight 2 is that of two equal samples (with Breslow's ties). The d events
tied at t are, by

- Breslow: d times the whole risk set;
- Efron: log(R − (r/d) D) for r = 0, ..., d − 1, with R the sum over the risk set and D that over the d.

Every term is the log of a sum of exponentials with shares p, Σ p = 1. So β = −∇L = C Σ w (e_i − p) sums to
zero in each stratum, and the dual value at any scores is L(u) + β'u − ½ β'Kβ
(:mod:`multikernel.core.svm.smooth`).

**The Hessian** C Σ w (diag(p) − pp') is the Laplacian of a graph whose edges join samples that are at risk
together. Without entry times the edge between j and k, in the order of time, is e_j e_k b_j, e = w exp u: it
depends on the earlier one but for e_k. Elimination in that order keeps this form, and adds and divides
positive numbers only, so that nothing cancels. With T the sum of e over the samples after j,

    S'x = l_j (x_j − mean of x after j, weighted by e),    l_j² = e_j b_j T,    b ← b + e_j b / T,

and SS' is the Hessian: a product takes O(n), S'KS O(n²). Among tied deaths Efron's edges differ from those
to later samples, which takes one more number b and one more mean. All numbers are relative to the present
risk set, so that no exponential overflows. With entry times the risk sets are no chain: the Hessian is
formed, and factorized with pivoting.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp

from ..._numba import kept_njit
from ..._typing import Array
from ...core.svm.smooth import DenseCurvature, RootedCurvature, SmoothLoss, factorized
from ...core.weights.factors.rounds import add_gram

TIES = ("breslow", "efron")
_ENTRIES = 2**21  # of the factors at a time


# ---------------------------------------------------------------------- risk sets in the order of time
class Chain(NamedTuple):
    """Samples by stratum and time, deaths first: group g has the rows first[g] to first[g + 1]."""

    order: Array  # (n,)
    first: Array  # (n_groups + 1,), groups of equal times
    n_dead: Array  # (n_groups,)
    begins: Array  # (n_groups,) of bool, whether a stratum begins


def chain_of(time: Array, event: Array, stratum: Array | None) -> Chain:
    """The order of the samples, and their groups.

    Examples
    --------
    >>> chain = chain_of(np.array([3.0, 1.0, 3.0]), np.array([False, True, True]), None)
    >>> chain.order.tolist(), chain.first.tolist(), chain.n_dead.tolist()
    ([1, 2, 0], [0, 1, 3], [1, 1])
    """
    codes = np.zeros(time.size, np.intp) if stratum is None else stratum
    order = np.lexsort((~event, time, codes))
    new_stratum = np.diff(codes[order], prepend=-1) != 0
    starts = np.flatnonzero(new_stratum | (np.diff(time[order], prepend=-1.0) != 0))
    first = np.append(starts, time.size)
    n_dead = np.add.reduceat(event[order].astype(np.intp), starts)
    return Chain(order, first, n_dead, new_stratum[starts])


@kept_njit(nogil=True, error_model="numpy")
def _log_add(a: float, b: float) -> float:  # pragma: no cover (compiled)
    high, low = (a, b) if a > b else (b, a)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@kept_njit(nogil=True, error_model="numpy")
def _log_tails(s: Array, first: Array, begins: Array, at: Array, after: Array) -> None:  # pragma: no cover
    """The log of the sum of exp s from each sample on, and after it, within its stratum."""
    tail = -np.inf
    for g in range(begins.size - 1, -1, -1):
        for p in range(first[g + 1] - 1, first[g] - 1, -1):
            after[p] = tail
            tail = _log_add(s[p], tail)
            at[p] = tail
        if begins[g]:
            tail = -np.inf


@kept_njit(nogil=True, error_model="numpy")
def _partial_likelihood(
    s: Array, w: Array, first: Array, n_dead: Array, begins: Array, efron: bool, at: Array, gradient: Array
) -> float:  # pragma: no cover (compiled)
    """Σ w log R over the events, and its gradient, for the logs s of e, in the order of the chain."""
    value = 0.0
    alpha = 0.0  # Σ w / R over the events until now, times the present R
    before = 0.0
    for g in range(n_dead.size):
        start, stop, d = first[g], first[g + 1], n_dead[g]
        log_R = at[start]
        alpha = 0.0 if begins[g] else alpha * np.exp(log_R - before)
        before = log_R
        of_dead, of_rest = alpha, alpha
        if d > 0:
            weight, share = 0.0, 0.0
            for p in range(start, start + d):
                weight += w[p]
                share += np.exp(s[p] - log_R)
            n_terms = d if efron else 1
            for r in range(n_terms):
                part = r / d
                left = 1.0 - part * share
                value += weight / n_terms * (log_R + np.log(left))
                of_dead += weight / n_terms * (1.0 - part) / left
                of_rest += weight / n_terms / left
        for p in range(start, stop):
            gradient[p] = np.exp(s[p] - log_R) * (of_dead if p < start + d else of_rest)
        alpha = of_rest
    return value


@kept_njit(nogil=True, error_model="numpy")
def _log_risk_sums(
    s: Array, first: Array, n_dead: Array, efron: bool, at: Array, weight: Array, hazards: Array
) -> None:  # pragma: no cover (compiled)
    """For each group the log of Σ 1/R over its terms, times the weight of its deaths: the hazard's jump."""
    for g in range(n_dead.size):
        start, d = first[g], n_dead[g]
        share, total = 0.0, 0.0
        for p in range(start, start + d):
            share += np.exp(s[p] - at[start])
            total += weight[p]
        n_terms = d if efron else 1
        terms = 0.0
        for r in range(n_terms):
            terms += total / n_terms / (1.0 - r / d * share) if d > 0 else 0.0
        hazards[g] = np.log(terms) - at[start]


# ---------------------------------------------------------------------- root of the Hessian
@kept_njit(nogil=True, error_model="numpy")
def _eliminate(
    s: Array,
    w: Array,
    first: Array,
    n_dead: Array,
    begins: Array,
    efron: bool,
    at: Array,
    after: Array,
    root: Array,
) -> None:  # pragma: no cover (compiled)
    """Rows of ``root``: l, the share of the tied deaths in the mean, and the weights of x in the means."""
    later = 0.0  # b between samples that are not yet eliminated, times the square of their sum
    for g in range(n_dead.size):
        start, stop, d = first[g], first[g + 1], n_dead[g]
        if begins[g]:
            later = 0.0
        tied, out = later, later  # between the deaths of this group; between them and the rest
        if d > 0:
            weight, share = 0.0, 0.0
            for p in range(start, start + d):
                weight += w[p]
                share += np.exp(s[p] - at[start])
            n_terms = d if efron else 1
            for r in range(n_terms):
                left = 1.0 - r / d
                term = weight / n_terms / (1.0 - r / d * share) ** 2
                tied, out, later = tied + left * left * term, out + left * term, later + term
        dead = -np.inf
        for p in range(start + d - 1, start - 1, -1):
            root[1, p] = dead  # of the deaths after it; replaced below
            dead = _log_add(s[p], dead)
            root[3, p] = np.exp(s[p] - dead)
        rest = after[start + d - 1] if d > 0 else -np.inf
        for p in range(start, stop):
            here, left = np.exp(s[p] - at[p]), np.exp(after[p] - at[p])
            if p < start + d:
                deaths, others = np.exp(root[1, p] - at[p]), np.exp(rest - at[p])
                pull = tied * deaths + out * others
                root[1, p] = tied * deaths / pull if pull > 0.0 else 0.0
                gain = here / pull if pull > 0.0 else 0.0
                to_tied, to_rest = tied * left, out * left
                tied, out, later = (
                    tied * left * left + gain * to_tied * to_tied,
                    out * left * left + gain * to_tied * to_rest,
                    later * left * left + gain * to_rest * to_rest,
                )
            else:
                pull = later * left
                root[1, p], root[3, p] = 0.0, 0.0
                later *= left
            root[0, p], root[2, p] = np.sqrt(here * pull), here


@kept_njit(nogil=True, error_model="numpy")
def _chain_down(
    X: Array, order: Array, first: Array, n_dead: Array, begins: Array, root: Array, tail: Array, Z: Array
) -> None:  # pragma: no cover (compiled)
    """S'X, which may be instead of X where that is in order.

    ``tail``, the means over the samples after these, becomes those over these and them.
    """
    k = X.shape[1]
    dead, rest = np.zeros(k), np.zeros(k)
    for g in range(n_dead.size - 1, -1, -1):
        split = first[g] + n_dead[g]
        for p in range(first[g + 1] - 1, split - 1, -1):
            x, z, size, share = X[order[p]], Z[p], root[0, p], root[2, p]
            for c in range(k):
                entry = x[c]
                z[c] = size * (entry - tail[c])
                tail[c] += share * (entry - tail[c])
        if n_dead[g] == 1:
            p = first[g]
            x, z, size, share = X[order[p]], Z[p], root[0, p], root[2, p]
            for c in range(k):
                entry = x[c]
                z[c] = size * (entry - tail[c])
                tail[c] += share * (entry - tail[c])
        else:
            for c in range(k):
                rest[c], dead[c] = tail[c], 0.0
            for p in range(split - 1, first[g] - 1, -1):
                x, z, size, of_dead, share, own = (
                    X[order[p]],
                    Z[p],
                    root[0, p],
                    root[1, p],
                    root[2, p],
                    root[3, p],
                )
                for c in range(k):
                    entry = x[c]
                    z[c] = size * (entry - of_dead * dead[c] - (1.0 - of_dead) * rest[c])
                    dead[c] += own * (entry - dead[c])
                    tail[c] += share * (entry - tail[c])
        if begins[g]:
            tail[:] = 0.0


@kept_njit(nogil=True, error_model="numpy")
def _chain_up(
    Z: Array, order: Array, first: Array, n_dead: Array, begins: Array, root: Array, X: Array
) -> None:  # pragma: no cover (compiled)
    """The transposed steps of ``_chain_down``, in the opposite order."""
    k = Z.shape[1]
    tail, dead, rest = np.zeros(k), np.zeros(k), np.zeros(k)
    for g in range(n_dead.size):
        if begins[g]:
            tail[:] = 0.0
        split = first[g] + n_dead[g]
        dead[:] = 0.0
        rest[:] = 0.0
        for p in range(first[g], split):
            z, x, size, of_dead, share, own = (
                Z[p],
                X[order[p]],
                root[0, p],
                root[1, p],
                root[2, p],
                root[3, p],
            )
            for c in range(k):
                step = size * z[c]
                x[c] = step + share * tail[c] + own * dead[c]
                tail[c] *= 1.0 - share
                dead[c] = (1.0 - own) * dead[c] - of_dead * step
                rest[c] -= (1.0 - of_dead) * step
        for c in range(k):
            tail[c] += rest[c]
        for p in range(split, first[g + 1]):
            z, x, size, share = Z[p], X[order[p]], root[0, p], root[2, p]
            for c in range(k):
                step = size * z[c]
                x[c] = step + share * tail[c]
                tail[c] = (1.0 - share) * tail[c] - step


@dataclass(frozen=True, eq=False)
class ChainCurvature(RootedCurvature):
    """The Hessian by the means of later samples; rows of the root are in the order of time."""

    chain: Chain
    root: Array  # (4, n): l, the share of the tied deaths, and the weights in both means

    def down(self, X: Array) -> Array:
        Z = np.empty(X.shape)
        _chain_down(np.ascontiguousarray(X, float), *self.chain, self.root, np.zeros(X.shape[1]), Z)
        return Z

    def up(self, Z: Array) -> Array:
        X = np.empty(Z.shape)
        _chain_up(np.ascontiguousarray(Z, float), *self.chain, self.root, X)
        return X

    def gram(self, Z: Array, columns: Array) -> Array:
        """(S'Y)'S'Y with Y = Z diag(columns), in single precision: some rows at a time, from the last."""
        order, first, n_dead, begins = self.chain
        R = Z.shape[1]
        total, tail = np.zeros((R, R), np.float32, order="F"), np.zeros(R)
        stop = n_dead.size
        while stop:
            least = first[stop] - max(_ENTRIES // R, 1)
            start = min(int(np.searchsorted(first, least)), stop - 1)
            rows, groups = slice(first[start], first[stop]), slice(start, stop)
            block = Z[order[rows]] * columns
            _chain_down(
                block, np.arange(len(block)), first[start : stop + 1] - first[start], n_dead[groups],
                begins[groups], np.ascontiguousarray(self.root[:, rows]), tail, block,
            )  # fmt: skip
            add_gram(total, block.astype(np.float32))
            stop = start
        full = total.astype(float)
        return np.asarray(np.triu(full) + np.triu(full, 1).T)


# ---------------------------------------------------------------------- the loss
@dataclass(frozen=True, eq=False)
class CoxLoss(SmoothLoss):
    """See the module. Arrays have one entry for each sample.

    Examples
    --------
    >>> loss = CoxLoss(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]), 1.0)
    >>> round(loss.value(np.zeros(3)), 4)  # log 3 + log 2
    1.7918
    >>> loss.gradient(np.zeros(3)).round(3).tolist()
    [-0.667, -0.167, 0.833]
    """

    time: Array
    event: Array
    C: float
    weights: Array | None = None
    entry: Array | None = None
    stratum: Array | None = None  # (n,), codes from 0 on
    ties: str = "breslow"

    has_intercept = False

    @property
    def n(self) -> int:
        return int(self.time.size)

    @cached_property
    def _w(self) -> Array:
        return np.ones(self.n) if self.weights is None else self.weights

    @property
    def largest_dual(self) -> float:
        return self.C * float(self._w[self.event].max(initial=0.0))

    def rescaled(self, kernel_scale: float, target_scale: float) -> Self:
        return replace(self, C=self.C * kernel_scale)

    @property
    def _efron(self) -> bool:
        return self.ties == "efron"

    # ------------------------------------------------------------------ without entry times
    @cached_property
    def chain(self) -> Chain:
        """The samples in the order of time."""
        return chain_of(self.time, self.event, self.stratum)

    def _logs(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """The weights and log e in the order of time, and the logs of the sums from and after each sample."""
        chain = self.chain
        w = self._w[chain.order]
        s = u[chain.order] + np.log(w)
        at, after = np.empty(self.n), np.empty(self.n)
        _log_tails(s, chain.first, chain.begins, at, after)
        return w, s, at, after

    def _look(self, u: Array) -> tuple[float, Array]:
        """Value and gradient, without C."""
        if self.entry is not None:
            return self._look_at_terms(u)
        order, first, n_dead, begins = self.chain
        w, s, at, _ = self._logs(u)
        slopes = np.empty(self.n)
        value = _partial_likelihood(s, w, first, n_dead, begins, self._efron, at, slopes)
        gradient = np.empty(self.n)
        gradient[order] = slopes
        return value - float(self._w[self.event] @ u[self.event]), gradient - self._w * self.event

    def value(self, u: Array) -> float:
        return self.C * self._look(u)[0]

    def gradient(self, u: Array) -> Array:
        return self.C * self._look(u)[1]

    def curvature(self, u: Array) -> RootedCurvature:
        if self.entry is not None:
            return self._curvature_of_terms(u)
        _, first, n_dead, begins = self.chain
        w, s, at, after = self._logs(u)
        root = np.empty((4, self.n))
        _eliminate(s, w, first, n_dead, begins, self._efron, at, after, root)
        root[0] *= np.sqrt(self.C)
        return ChainCurvature(self.chain, root)

    def hazard_jumps(self, u: Array) -> tuple[Array, Array, Array]:
        """Stratum, time and log of the jump of the baseline hazard at each time with an event."""
        if self.entry is not None:
            return self._jumps_of_terms(u)
        order, first, n_dead, _ = self.chain
        w, s, at, _ = self._logs(u)
        jumps, dead = np.empty(n_dead.size), np.flatnonzero(n_dead)
        with np.errstate(divide="ignore"):
            _log_risk_sums(s, first, n_dead, self._efron, at, w, jumps)
        rows = order[first[dead]]
        return self._codes[rows], self.time[rows], jumps[dead]

    @cached_property
    def _codes(self) -> Array:
        return np.zeros(self.n, np.intp) if self.stratum is None else self.stratum

    # ------------------------------------------------------------------ with entry times
    @cached_property
    def _terms(self) -> "Terms":
        assert self.entry is not None
        return terms_of(self.time, self.event, self.entry, self._codes, self._w, self._efron)

    def _shares(self, u: Array) -> tuple[Array, Array]:
        """The logs of the sums R (n_terms,), and the shares p (n_terms, n)."""
        logits = self._terms.logs + (u + np.log(self._w))
        sums = logsumexp(logits, axis=1)
        return sums, np.exp(logits - sums[:, None])

    def _look_at_terms(self, u: Array) -> tuple[float, Array]:
        sums, p = self._shares(u)
        value = float(self._terms.weights @ sums) - float(self._w[self.event] @ u[self.event])
        return value, self._terms.weights @ p - self._w * self.event

    def _curvature_of_terms(self, u: Array) -> "TermsCurvature":
        return TermsCurvature(self._shares(u)[1], self.C * self._terms.weights)

    def _jumps_of_terms(self, u: Array) -> tuple[Array, Array, Array]:
        sums, terms = self._shares(u)[0], self._terms
        jumps = np.log(terms.weights) - sums
        starts = np.flatnonzero(np.diff(terms.group, prepend=-1))
        of_groups: Any = np.logaddexp.reduceat(jumps, starts)
        return self._codes[terms.rows[starts]], self.time[terms.rows[starts]], of_groups


class Terms(NamedTuple):
    """The logs of sums over risk sets, one for each term."""

    logs: Array  # (n_terms, n): 0 at risk, −inf not, log(1 − r/d) of Efron's tied deaths
    weights: Array  # (n_terms,)
    group: Array  # (n_terms,), the times with events
    rows: Array  # (n_terms,), a sample with that time and stratum


@dataclass(frozen=True, eq=False)
class TermsCurvature(RootedCurvature):
    """Σ_r weight_r (diag(p_r) − p_r p_r')."""

    p: Array  # (n_terms, n)
    weights: Array  # (n_terms,)

    def product(self, X: Array) -> Array:
        inside = self.weights[:, None] * (self.p @ X)
        return np.asarray((self.weights @ self.p)[:, None] * X - self.p.T @ inside)

    @cached_property
    def _rooted(self) -> DenseCurvature:
        return factorized(self, self.p.shape[1])

    def down(self, X: Array) -> Array:
        return self._rooted.down(X)

    def up(self, Z: Array) -> Array:
        return self._rooted.up(Z)


def terms_of(time: Array, event: Array, entry: Array, codes: Array, weights: Array, efron: bool) -> Terms:
    """The terms of the partial likelihood with entry times."""
    logs, of_terms, groups, rows = [], [], [], []
    dead = np.flatnonzero(event)
    _, firsts, number = np.unique(
        np.column_stack([codes[dead], time[dead]]), axis=0, return_index=True, return_inverse=True
    )
    for g, row in enumerate(dead[firsts]):
        tied = dead[number.ravel() == g]
        at_risk = (codes == codes[row]) & (entry < time[row]) & (time[row] <= time)
        n_terms = tied.size if efron else 1
        for r in range(n_terms):
            of_term = np.where(at_risk, 0.0, -np.inf)
            of_term[tied] = np.log1p(-r / tied.size) if efron else 0.0
            logs.append(of_term)
            of_terms.append(weights[tied].sum() / n_terms)
            groups.append(g)
            rows.append(row)
    return Terms(np.array(logs), np.array(of_terms), np.array(groups), np.array(rows))
