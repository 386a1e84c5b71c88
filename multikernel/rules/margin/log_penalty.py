"""The largest margin with a logarithmic penalty: sparser than the norm (Subrahmanya & Shin).

    min_{w, b}  F(w) = ½ G(t)² + Σ_t risk_t,      t_m = ‖w_m‖,   T = Σ_m t_m,
    G(t) = T Σ_m φ(t_m/T),      φ(s) = log(1 + s/e) / log(1 + 1/e)

φ is concave with φ(0) = 0 and φ(1) = 1: G is T where one kernel does everything, and more where several do. G
is concave and of degree one, so that it is below its tangent d't, d = ∇G, at every t, and

    F(w)  ≤  ½ (Σ_m d_m ‖w_m‖)² + Σ_t risk_t

with equality at the point itself. The right side is multiple kernel learning with the costs d_m, so that F
never rises. F less a lower bound of the right side tells how far the point is from stationary.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Recorder, Status, relative_gap
from ...core.stack.sums import mean_diagonals, quadratic_sums
from ...core.svm.losses import value_floor
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from ..learner import About, Learned
from ..targets import Targets
from .margin_mkl import MarginLearner


@dataclass(eq=False, repr=False)
class LogPenaltyMKL(MarginLearner):
    """Multiple kernel learning with a penalty that grows like a logarithm of the share of each kernel.

    min_{w, b}  ½ G² + C Σ_i ξ_i,      G = T Σ_m φ(‖w_m‖/T),   T = Σ_m ‖w_m‖,
    φ(s) = log(1 + s/e) / log(1 + 1/e)

    G is T where one kernel does everything and larger where several do; e → ∞ is :class:`MarginMKL`. G is
    bounded by its tangent, which leaves MarginMKL with costs that fall in ‖w_m‖; so it is solved again and
    again, the value never rises, and kernels of small share go. Not convex: the start is MarginMKL, and the
    result is a stationary point. The logarithm of the norms is that of the paper; that it is taken of their
    shares, so that the scale of the kernels and the price C keep their meaning, is our form.

    Parameters
    ----------
    C : float
        Price of the slacks, for the kernels as they are.
    share : float
        e, the share beyond which a kernel costs little more; the smaller, the sparser.
    epsilon, nu
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float
        For the gap.
    max_iter : int
        Convex problems to solve.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the machine found is that of C on this kernel
    objective_ : float, the value
    dual_gap_ : float, stationarity: the value less a lower bound of the convex function that bounds it from
        above and touches it, relative
    part_norms_ : array (n_kernels,), ‖w_m‖

    References
    ----------
    N. Subrahmanya, Y. C. Shin (2010). Sparse multiple kernel learning for signal processing applications.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 32.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> LogPenaltyMKL(C=1.0).fit([np.outer(x, x), np.outer(z, z)], y).part_norms_.round(2)
    array([1.18, 0.  ])
    """

    certificate = "stationarity"
    about = About(
        family="margin",
        problem="min ½ (T Σ log(1 + ‖w_m‖/eT))² + C Σ ξ, T = Σ ‖w_m‖; not convex",
        solver="MarginMKL with costs from tangents, again and again; stationarity",
        cost="some times that of MarginMKL",
        use="As few kernels as possible.",
        reference="Subrahmanya & Shin 2010 (form of the penalty ours)",
    )

    C: float = 1.0
    share: float = 0.1
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 100

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        share = check_number("share", self.share, above=0.0)
        losses, options = self._losses(targets), self._options()
        inner = replace(options, tol=0.1 * options.tol, max_iter=300)
        here = _point(Ks, learn_weights(Ks, losses, options=inner))
        floor = value_floor(losses, mean_diagonals(Ks))
        record, gap = Recorder(options.tol), np.inf
        for iteration in range(options.max_iter):
            value = _value(here, share)
            _, costs = share_penalty(here.norms, share)
            there = _point(Ks, learn_weights(Ks, losses, costs=costs, options=inner, start=here.found))
            gap = max(relative_gap(value, there.found.lower_bound, floor), 0.0)
            if record.note({"iteration": iteration + 1, "objective": value, "gap": gap}):
                break
            if _value(there, share) >= value:
                record.stop(Status.STALLED)  # the inner solver is not precise enough
                break
            here = there
        self.part_norms_, self.dual_coef_ = here.norms, here.found.duals
        return Learned(here.found.weights, objective=_value(here, share), gap=gap, **record.outcome)


def share_penalty(norms: Array, e: float) -> tuple[float, Array]:
    """G and its gradient; at 0, that of equal shares.

    Examples
    --------
    >>> value, slopes = share_penalty(np.array([2.0, 0.0]), 0.1)
    >>> round(value, 9), slopes.round(3).tolist()
    (2.0, [1.0, 4.791])
    """
    total = float(norms.sum())
    shares = norms / total if total > 0.0 else np.full(norms.size, 1.0 / norms.size)
    unit = np.log1p(1.0 / e)
    parts = np.log1p(shares / e) / unit
    slopes = 1.0 / ((e + shares) * unit)
    return total * float(parts.sum()), slopes + float(parts.sum() - slopes @ shares)


class _Point(NamedTuple):
    """A solution, the norms of its parts and its risk."""

    found: SolveResult
    norms: Array
    risk: float


def _point(Ks: Array, found: SolveResult) -> _Point:
    """The norms of the parts and the risk of a solution."""
    q = np.maximum(quadratic_sums(Ks, np.ascontiguousarray(found.duals.T)), 0.0)
    return _Point(found, found.weights * np.sqrt(q), found.upper_bound - 0.5 * float(found.weights @ q))


def _value(point: _Point, e: float) -> float:
    return 0.5 * share_penalty(point.norms, e)[0] ** 2 + point.risk
