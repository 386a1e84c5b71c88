"""The certificate of a learned kernel matrix: bounds of the optimal value from any weights and any duals.

    ω* = min_w max_β  2y'β − β'(K(w) + τI)β

Above: the primal value of the machine with the kernel K(w), for feasible weights w. Below: for feasible duals
β and q_i = β'K_iβ, the value 2y'β − τβ'β − max_w w'q, where over nonnegative weights the maximum is the
largest q_i. Over the weights with K(w) ⪰ 0 any Z ⪰ 0 bounds it: if q_i + tr(Z K_i) = θr_i for every i then
w'q = θ − tr(Z K(w)) ≤ θ. A Z that misses these equations by ρ_i is first moved by a Newton step; what
rounding leaves is repaired by E = Σ_j η_j K_j with tr(E K_i) = −ρ_i and by ‖E‖ I, which raises θ by ‖E‖ times
the trace of K(w).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.psd_pair import PSDPair
from ...core.optim.spectrahedron import Spectrahedron
from ...core.svm.losses import HardMargin, Loss
from .families import KernelFamily

_SEMIDEFINITE = 1e-9  # smallest eigenvalue, relative to the mean diagonal, that counts as zero
_MAX_STEPS = 30


@dataclass(frozen=True)
class Certified:
    """Feasible weights and duals, and what they prove.

    Attributes
    ----------
    w : array (n_members,), sum 1
    beta : array (N,), feasible
    intercept : float
    value : float, the dual value at w and β
    upper, lower : float, they enclose the optimal value
    """

    w: Array
    beta: Array
    intercept: float
    value: float
    upper: float
    lower: float

    @property
    def gap(self) -> float:
        """(upper − lower) / |upper|, infinite while nothing bounds the value from above."""
        if not np.isfinite(self.upper):
            return np.inf
        return (self.upper - self.lower) / max(abs(self.upper), np.finfo(float).tiny)


def certify(
    family: KernelFamily, loss: Loss, w: Array, beta: Array, pair: PSDPair | None = None, drop: float = 0.0
) -> Certified:
    """Make weights and duals feasible, and bound the optimal value by them.

    Parameters
    ----------
    family, loss : the problem, as for :class:`InteriorPoint`
    w : array (n_members,)
    beta : array (N,)
    pair : PSDPair, for weights of any sign
        At w: its matrix is positive definite, and its multiplier proves the lower bound.
    drop : float
        Duals below this share of the largest become zero, and so do weights below this share of the whole
        that may not be negative.
    """
    w = _feasible_weights(w, family.traces, pair.cone.n_members if pair is not None else 0, drop)
    beta = _feasible_duals(beta, loss, drop)
    products = family.products(beta)
    q = products.T @ beta
    reward = 2.0 * float(loss.target @ beta) - float(loss.shift @ (beta * beta))
    lower = reward - (float(q.max()) if pair is None else _largest_form(q, family, pair))
    kernels = family.n_members - family.has_identity
    scores = products[:, :kernels] @ w[:kernels]
    upper, intercept = _primal(family, loss, float(w[-1]), scores, max(float(scores @ beta), 0.0))
    return Certified(w, beta, intercept, reward - float(q @ w), upper, lower)


def drawn_inside(proof: Certified, family: KernelFamily, loss: Loss, middle: Array) -> Certified:
    """The same for weights on the way to the middle, where K(w) over all points is positive semidefinite.

    Directions in which even the middle is nearly zero are left out of a solver's constraint; so K(w) may be
    slightly indefinite. The smallest eigenvalue is concave along the way: Newton's steps never go too far.
    """
    w, inside = proof.w, family.whole(middle)
    for _ in range(_MAX_STEPS):
        values, vectors = scipy.linalg.eigh(family.whole(w), subset_by_index=(0, 0), check_finite=False)
        missing = -_SEMIDEFINITE * family.size - float(values[0])
        if missing <= 0.0:
            break
        x = vectors[:, 0]
        gain = float(x @ (inside @ x)) - float(values[0])
        w = w + min(1.0, (missing + 0.5 * _SEMIDEFINITE * family.size) / gain) * (middle - w)
    if w is proof.w:
        return proof
    products = family.products(proof.beta)
    kernels = family.n_members - family.has_identity
    scores = products[:, :kernels] @ w[:kernels]
    norm2 = max(float(scores @ proof.beta), 0.0)
    upper, intercept = _primal(family, loss, float(w[-1]), scores, norm2)
    value = proof.value + float((products.T @ proof.beta) @ (proof.w - w))
    return replace(proof, w=w, upper=upper, intercept=intercept, value=value)


def _primal(
    family: KernelFamily, loss: Loss, last: float, scores: Array, norm2: float
) -> tuple[float, float]:
    """The value of the machine's primal problem at these scores, and their intercept."""
    if family.has_identity:
        loss = loss.with_ridge(last * family.size)
    soft = loss.bound(scores, norm2)
    # A function without errors is feasible too, and the better bound where C is very large.
    hard = HardMargin(loss.target).bound(scores, norm2)
    return 2.0 * min(soft.value, hard.value), soft.intercept if np.isfinite(soft.value) else hard.intercept


def _feasible_weights(w: Array, r: Array, n_free: int, drop: float) -> Array:
    w = w.copy()
    w[n_free:] = np.where(w[n_free:] > drop, w[n_free:], 0.0)
    return w / float(r @ w)


def _feasible_duals(beta: Array, loss: Loss, drop: float) -> Array:
    """Inside their bounds, the two classes of equal sum."""
    beta = np.clip(beta, loss.lower, loss.upper)
    beta[np.abs(beta) < drop * np.abs(beta).max()] = 0.0
    positive = loss.target > 0
    for_sum, against = float(beta[positive].sum()), -float(beta[~positive].sum())
    if for_sum > against:
        beta[positive] *= against / for_sum
    elif against > for_sum:
        beta[~positive] *= for_sum / against
    return beta


def _largest_form(q: Array, family: KernelFamily, pair: PSDPair) -> float:
    """An upper bound of w'q over r'w = 1 with K(w) ⪰ 0, any nonnegative weight of the identity included."""
    k = pair.cone.n_members
    r, trace = family.traces[:k], family.n * family.size
    candidates = [pair.Z]
    repaired = pair.multiplier(q[:k], r)
    if repaired is not None:
        candidates.append(repaired)
    form = min(_largest_by(q[:k], r, trace, pair.cone, Z) for Z in candidates)
    return max(form, float(q[k:].max(initial=-np.inf)))


def _largest_by(q: Array, r: Array, trace: float, cone: Spectrahedron, Z: Array) -> float:
    """θ of the module's docstring for a positive semidefinite Z, with the price of what it misses."""
    traces = q + cone.traces(Z)
    S = cone.inner_products()
    solved = np.linalg.lstsq(S, np.column_stack([traces, r]), rcond=None)[0]
    theta = float(r @ solved[:, 0]) / float(r @ solved[:, 1])
    miss = traces - theta * r
    norm = float(np.sqrt(max(float(miss @ (solved[:, 0] - theta * solved[:, 1])), 0.0)))  # of E, Frobenius
    return theta + trace * norm
