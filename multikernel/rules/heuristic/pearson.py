"""Weights by the correlation of each kernel's predictions with the values (Qiu & Lane)."""

from typing import Any

import numpy as np

from ..._typing import Array
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import Targets
from ._single_kernels import HeldOut, shares_of


class PearsonRule(WeightLearner):
    """η_m = R_m / Σ_h R_h,   K = Σ_m η_m K_m / s_m

    R_m: Pearson's correlation of the values with what a machine on kernel m alone predicts for held-out
    samples, over all folds together; negative ones count as 0. s_m: the mean diagonal of K_m, so that every
    machine sees a kernel of mean diagonal 1. Of several outputs R_m is the mean. If no R_m is positive, the
    weights are equal, with a warning.

    Parameters
    ----------
    machine : regressor on a precomputed kernel, optional
        Default ``KernelRidge(kernel="precomputed")``; it sees values whose mean is taken away. Weights by it
        do not depend on the units of the values, as those of an SVR with its ε do.
    cv : int, splitter or iterable of splits
        A number: folds shuffled in the same way each time.
    normalise : bool
        False: s_m = 1 in K; the machines see scaled kernels all the same.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m, of the kernels as they are
    kernel_shares_ : array (n_kernels,), the parts of tr K: η_m, unless ``normalise=False``
    correlations_ : array (n_kernels,), R_m

    Examples
    --------
    >>> x, z = np.linspace(-1.0, 1.0, 20), np.tile([1.0, -1.0], 10)
    >>> learner = PearsonRule().fit([np.outer(x, x), np.outer(z, z)], x + 0.1 * z)
    >>> bool(learner.correlations_[0] > 0.9), bool(learner.kernel_shares_[0] > 0.8)
    (True, True)
    """

    learns_from = ("values",)
    about = About(
        family="heuristic",
        problem="η_m s_m ∝ max(R_m, 0), R_m the correlation of its predictions, s_m its mean diagonal",
        solver="none: P × folds machines",
        cost="P × folds fits of the machine, n³ each; one fold of one kernel in memory",
        use="A quick rule for values where the order matters more than the error.",
        reference="Qiu & Lane 2009",
    )

    def __init__(self, machine: Any = None, cv: Any = 5, *, normalise: bool = True) -> None:
        self.machine = machine
        self.cv = cv
        self.normalise = normalise

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        held_out = HeldOut(self.machine, self.cv, targets)
        found = [held_out.predict(K, s) for K, s in zip(Ks, scales, strict=True)]
        self.correlations_ = np.array([_correlations(held_out.truth, guess).mean() for guess in found])
        shares = shares_of(self.correlations_, "predicts values that rise with the true ones")
        return Learned(shares / scales if self.normalise else shares)


def _correlations(truth: Array, guess: Array) -> Array:
    """Pearson's, column by column; 0 where a column is constant."""
    truth, guess = truth - truth.mean(axis=0), guess - guess.mean(axis=0)
    sizes = np.linalg.norm(truth, axis=0) * np.linalg.norm(guess, axis=0)
    return np.asarray((truth * guess).sum(axis=0) / np.where(sizes > 0.0, sizes, 1.0))
