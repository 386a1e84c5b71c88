"""The combination whose Gaussian is nearest to that of the targets (Ying, Huang & Campbell)."""

from dataclasses import dataclass

from ..._typing import Array
from ..._validation import check_choice, check_number
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..solver.divergence import GaussianDivergence, minimise_divergence
from ..targets import Targets, unit_ideal

FORMS = ("convex", "dc")


@dataclass(eq=False, repr=False)
class KLDivergence(WeightLearner):
    """Least divergence between the Gaussians N(0, K_η) and N(0, K_y), η ≥ 0, Σ_m η_m = 1.

        convex   D(K_η ‖ K_y) = ½ [tr(K_y⁻¹K_η) − log det K_η + log det K_y − n]
        dc       D(K_y ‖ K_η) = ½ [tr(K_η⁻¹K_y) + log det K_η − log det K_y − n]

    K_η = λI + Σ_m η_m K_m / s_m, s_m the mean diagonal of K_m; K_y = λI + TT', with TT' of trace n: yy' for
    two classes, 1 within and −1/(k−1) between k classes, products of the values less their mean.

    The first is convex. The second is the difference of two convex functions: its concave part is replaced by
    the plane that touches it wherever the whole is not convex, again and again, and no step rises.

    Parameters
    ----------
    form : {"convex", "dc"}
    reg : float > 0
        λ, beside kernels of mean diagonal 1.
    tol : float
        On ``dual_gap_``.
    max_iter : int
        Steps, each with the curvature of all pairs of kernels.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), in the units of the kernels: η_m / s_m
    objective_ : float, the divergence
    dual_gap_ : float
        convex: no weights have a divergence below objective_ by more than dual_gap_ × (objective_ + n/2).
        dc: how far η is from stationary, in the same units.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = KLDivergence().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([1., 0.]), 0.0)
    """

    about = About(
        family="similarity",
        problem="min KL(N(0, K_η), N(0, K_y)), or with the two exchanged; η on the simplex, λI added to both",
        solver="Newton's method on the simplex; Frank & Wolfe's bound (convex) or stationarity (dc)",
        cost="about ten steps of P n³ + P² n²",
        use="Up to some thousand samples; one or many classes, or values.",
        reference="Ying, Huang & Campbell 2009",
    )

    form: str = "convex"
    reg: float = 0.1
    tol: float = 1e-5
    max_iter: int = 100

    @property
    def certificate(self) -> str:  # type: ignore[override]
        """What ``dual_gap_`` certifies."""
        return "stationarity" if self.form == "dc" else "optimality"

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("form", self.form, FORMS)
        reg, options = check_number("reg", self.reg, above=0.0), self._options()
        scales = kernel_scales(Ks, self.view_names_)
        divergence = GaussianDivergence(Ks, scales, unit_ideal(targets), reg)
        found = minimise_divergence(divergence, options, towards=self.form == "convex")
        at, half = found.evaluation, 0.5 * targets.n
        history = [
            {"iteration": e["iteration"], "objective": e["objective"] - half, "gap": e["gap"]}
            for e in found.history
        ]
        return Learned.of(found, found.point / scales, objective=at.divergence, history=history)
