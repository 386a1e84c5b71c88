"""Kernel weights of groups of samples, each in a simplex of its own.

    min_W  J(K) + ½ρ Σ_i ‖w_i − w̄_i‖²,      K(i, j) = Σ_m w_im w_jm K_m(i, j) / s_m

w_i = W[g(i)] are the weights at sample i, in the simplex, common to its group g(i); w̄_i is their mean over a
set of samples that i belongs to. J is the optimal value of the machines (:mod:`.margin_value`), s_m the mean
of K_m's diagonal. K is semidefinite for all W. With the duals β_t of the machines,

    ∂J/∂w_im = −Σ_t β_ti (K_m (w_·m ∘ β_t))_i / s_m.

J is not convex in W: the descent (:mod:`.descent`) ends where it is stationary, and its gap measures that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Status
from ...core.optim.weight_sets import Simplex
from ...core.stack.passes import dense_adjoint
from ...core.stack.sums import GatedStack, mean_diagonals
from ...core.svm.losses import Loss
from .descent import ProjectedResult, minimise_projected
from .margin_value import MarginValue

_SHARE = 1e-5  # of the gap asked for, that the machines may leave open: gradients are the root of it


@dataclass(frozen=True, eq=False)
class Groups:
    """Which samples have weights in common, and which are held together."""

    of: Array  # g(i), (n,) of int
    together: Array  # (n,) of int, samples of the same number have a mean in common
    reg: float = 0.0  # ρ


class LocalWeights:
    """The objective as a function of W; Ks (m, n, n) is C-contiguous, never modified and never copied.

    `tol` is the machines' relative duality gap, ``unsolved`` the gap itself at the last W.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> Ks = np.stack([np.outer(y, y), np.eye(4)])
    >>> apart = Groups(of=np.array([0, 0, 1, 1]), together=np.zeros(4, int))
    >>> problem = LocalWeights(Ks, [Hinge(y, 1.0)], apart)
    >>> value, gradient = problem(np.array([[1.0, 0.0], [1.0, 0.0]]))
    >>> round(value, 6), gradient.round(6).tolist()
    (0.5, [[-0.5, 0.0], [-0.5, 0.0]])
    """

    def __init__(self, Ks: Array, losses: Sequence[Loss], groups: Groups, tol: float = 1e-9) -> None:
        self.scales = mean_diagonals(Ks)
        self.groups, self.margin = groups, MarginValue(losses, tol)
        self.stack = GatedStack(np.asarray(Ks), np.arange(len(Ks)))
        # None where each sample is a group of its own
        own = np.array_equal(groups.of, np.arange(groups.of.size))
        self._members = None if own else indicator(groups.of)
        self._means = indicator(groups.together)
        self._means /= self._means.sum(axis=0)

    def __call__(self, W: Array) -> tuple[float, Array]:
        """The value and its gradient, of the shape (n_groups, m) of W."""
        w = W[self.groups.of]
        self.stack.set_gates(w / np.sqrt(self.scales))
        point = self.margin(self.stack.whole())
        away = w - (self._means.T @ w)[self.groups.together]
        value = point.value + 0.5 * self.groups.reg * float(np.vdot(away, away))
        slopes = self._slopes(w, point.duals) + self.groups.reg * away  # Σ_i (w_i − w̄_i) = 0 in each mean
        self.unsolved = max(point.upper - point.value, 0.0)
        return value, slopes if self._members is None else self._members.T @ slopes

    def _slopes(self, w: Array, duals: Array) -> Array:
        """∂J/∂w (n, m)."""
        slopes, image = np.zeros(w.shape), np.empty(len(w))
        for m, K in enumerate(self.stack.Ks):
            for beta in duals:
                dense_adjoint(K, w[:, m] * beta, image)
                slopes[:, m] -= beta * image / self.scales[m]
        return slopes


def learn_local_weights(
    Ks: Array, losses: Sequence[Loss], groups: Groups, options: Options
) -> ProjectedResult:
    """The weights W (n_groups, m) from equal ones; ``options.tol`` is for the relative Frank-Wolfe gap.

    The gap that is returned has that of the machines at the end added to it.
    """
    problem = LocalWeights(Ks, losses, groups, tol=max(_SHARE * options.tol, 1e-10))
    start = np.full((int(groups.of.max()) + 1, len(Ks)), 1.0 / len(Ks))
    found = minimise_projected(problem, Simplex(), start, options)
    value, _ = problem(found.point)
    gap = found.gap + problem.unsolved / max(abs(value), np.finfo(float).tiny)
    status = Status.STALLED if found.status == Status.OPTIMAL and gap > 2.0 * options.tol else found.status
    return replace(found, gap=gap, status=status)


def indicator(codes: Array) -> Array:
    """1 where a sample is of a number, (n, k)."""
    return np.equal.outer(codes, np.arange(int(codes.max()) + 1)).astype(float)
