"""The loss of all classes in one machine, of Weston & Watkins (1999) where every reward is 2.

    Σ_i C_i Σ_{l ≠ y_i} [R_il − (f_i^{y_i} − f_i^l)]₊,     f^l = w_l'φ + b_l

Its dual variables α_il are 0 ≤ α_il ≤ C_i, in the form B_il = [l = y_i] Σ_k α_ik − α_il that the scores have:
f^l(x) = Σ_i B_il k(x_i, x) + b_l. See :mod:`multikernel.core.svm.joint.solver` for the problem.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...._typing import Array

REWARD = 2.0


@dataclass(frozen=True)
class JointHinge:
    """The loss of all classes in one machine.

    Parameters
    ----------
    codes : int array (n,), the class of each sample, 0 to n_classes − 1
    n_classes : int, at least 2
    C : float or array (n,)
        The price of the errors of each sample, or one for all.
    rewards : array (n, n_classes), optional
        The margins R_il asked for, 2 by default; any finite numbers. Those of the own classes are not read.
    """

    codes: Array
    n_classes: int
    C: Array | float
    rewards: Array | None = None

    total = 0.0

    @property
    def shift(self) -> Array:
        """What the dual adds to the kernel's diagonal: nothing."""
        return np.zeros(self.codes.size)

    @property
    def identity(self) -> Array:
        """There is no learned C."""
        raise TypeError("a learned C needs the hard margin as its loss; got JointHinge.")

    @cached_property
    def upper(self) -> Array:
        """The bounds C_i."""
        return np.array(np.broadcast_to(np.asarray(self.C, float), self.codes.shape))

    @cached_property
    def margins(self) -> Array:
        """R with 0 for the samples' own classes."""
        asked = np.full((self.codes.size, self.n_classes), REWARD) if self.rewards is None else self.rewards
        R = np.array(asked, float)
        R[np.arange(self.codes.size), self.codes] = 0.0
        return R

    def restrict(self, index: Array, factor: float) -> "JointHinge":
        """The same loss on some of the samples, each counted ``factor`` times."""
        rewards = None if self.rewards is None else self.rewards[index]
        return JointHinge(self.codes[index], self.n_classes, self.upper[index] * factor, rewards)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "JointHinge":
        """The loss for K/kernel_scale, whose B is B · kernel_scale; classes have no scale."""
        return JointHinge(self.codes, self.n_classes, self.upper * kernel_scale, self.rewards)
