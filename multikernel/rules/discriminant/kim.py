"""The largest Fisher ratio of two classes (Kim, Magnani & Boyd)."""

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.stack.sums import variance_scales
from ..discriminants import solve_kim
from ..learner import About, Learned, TwoClassLearner


class KimDiscriminant(TwoClassLearner):
    """Weights of the largest regularised Fisher ratio between two classes.

    max_{θ ≥ 0, Σ θ = 1}  d'(S₊ + S₋ + λI)⁻¹d     in the feature space of Σ_m θ_m K_m / s_m

    with d the difference of the means of the classes and S₊, S₋ their covariances.

    Parameters
    ----------
    reg : float
        λ > 0, in the units of the scaled kernels.
    normalise : bool
        Whether s_m is the mean squared distance from the centre of all samples, tr(HK_mH) / n, so that the
        scales of the kernels do not matter. If not, s_m = 1, and a kernel of larger entries has a larger
        ratio at the same λ.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), θ_m / s_m; for more than two classes see :class:`TwoClassLearner`
    objective_ : float, the ratio
    dual_gap_ : float, relative: no weights have a ratio above objective_ / (1 − dual_gap_)

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> learner = KimDiscriminant(reg=0.1).fit([np.outer(x, x), np.outer(z, z)], ["no", "yes", "no", "yes"])
    >>> learner.kernel_shares_.round(3), round(learner.objective_, 1)
    (array([0.917, 0.083]), 29.1)
    """

    about = About(
        family="discriminant",
        problem="max d'(S₊ + S₋ + λI)⁻¹d, η in the simplex",
        solver="Newton over the simplex, duality gap",
        cost="n³ + P n² for each of some 10 iterations; a float32 stack is copied",
        use="Two classes that a discriminant or a nearest mean is to tell apart.",
        reference="Kim, Magnani & Boyd 2006",
    )

    def __init__(self, reg: float = 1e-4, *, normalise: bool = True) -> None:
        self.reg = reg
        self.normalise = normalise

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        reg = check_number("reg", self.reg, above=0.0)
        scales = variance_scales(Ks, self.view_names_) if self.normalise else np.ones(len(Ks))
        codes = (signs > 0).astype(int)
        found = solve_kim(np.ascontiguousarray(Ks, float), codes, reg, self.view_names_, scales)
        return Learned.of(found, found.weights / scales, n_iter=max(1, found.n_iter))
