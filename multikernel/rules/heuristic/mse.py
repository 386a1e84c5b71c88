"""Weights by the squared error of each kernel's predictions (Qiu & Lane)."""

from typing import Any

import numpy as np

from ..._typing import Array
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import Targets
from ._single_kernels import HeldOut


class MSERule(WeightLearner):
    """η_m = (Σ_h M_h − M_m) / ((P − 1) Σ_h M_h),   K = Σ_m η_m K_m / s_m

    M_m: the mean squared error, for held-out samples, of a machine on kernel m alone, relative to the
    variance of the values (a common factor, which the rule does not see); of several outputs, the mean. P:
    the number of kernels; s_m: the mean diagonal of K_m, so that every machine sees a kernel of mean
    diagonal 1. One kernel gets weight 1; errors that are all 0 give equal weights. No weight is above
    1/(P − 1): of many kernels all weights are nearly equal.

    Parameters
    ----------
    machine : regressor on a precomputed kernel, optional
        Default ``KernelRidge(kernel="precomputed")``; it sees values whose mean is taken away.
    cv : int, splitter or iterable of splits
        A number: folds shuffled in the same way each time.
    normalise : bool
        False: s_m = 1 in K; the machines see scaled kernels all the same.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m, of the kernels as they are
    kernel_shares_ : array (n_kernels,), the parts of tr K: η_m, unless ``normalise=False``
    errors_ : array (n_kernels,), M_m

    Examples
    --------
    >>> x, z = np.linspace(-1.0, 1.0, 20), np.tile([1.0, -1.0], 10)
    >>> learner = MSERule().fit([np.outer(x, x), np.outer(z, z)], x + 0.1 * z)
    >>> bool(learner.errors_[0] < 0.1), bool(learner.kernel_shares_[0] > 0.9)
    (True, True)
    """

    learns_from = ("values",)
    about = About(
        family="heuristic",
        problem="η_m s_m ∝ ΣM − M_m, M_m the cross-validated squared error, s_m the mean diagonal of K_m",
        solver="none: P × folds machines",
        cost="P × folds fits of the machine, n³ each; one fold of one kernel in memory",
        use="A quick rule for values and few kernels: of many, it is nearly the mean.",
        reference="Qiu & Lane 2009",
    )

    def __init__(self, machine: Any = None, cv: Any = 5, *, normalise: bool = True) -> None:
        self.machine = machine
        self.cv = cv
        self.normalise = normalise

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        held_out = HeldOut(self.machine, self.cv, targets)
        spread = targets.values.std(axis=0)
        units = np.where(spread > 0.0, spread, 1.0)
        found = [held_out.predict(K, s) - held_out.truth for K, s in zip(Ks, scales, strict=True)]
        self.errors_ = np.array([np.mean((miss / units) ** 2) for miss in found])
        shares = _shares(self.errors_)
        return Learned(shares / scales if self.normalise else shares)


def _shares(errors: Array) -> Array:
    total = float(errors.sum())
    if errors.size == 1 or not total > 0.0:
        return np.full(errors.size, 1.0 / errors.size)
    return np.asarray((total - errors) / ((errors.size - 1) * total))
