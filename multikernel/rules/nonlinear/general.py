"""Generalised multiple kernel learning: sums and products with a price on their parameters."""

from dataclasses import dataclass

from ..._typing import Array
from ..._validation import check_choice, check_number
from ...core.stack.sums import mean_diagonals
from ..learner import About, Learned, SumOrProductLearner
from ..solver.general import LinearPrice, QuadraticPrice, minimise_general
from ..solver.products import PowerProduct, WeightedSum, divisible_product
from ..targets import Targets

PENALTIES = {"l1": LinearPrice, "l2": QuadraticPrice}


@dataclass(eq=False, repr=False)
class GeneralMKL(SumOrProductLearner):
    """Weights or exponents η at which a support vector machine, with a price on η, is best.

        min_{η ≥ 0}  J(K_η) + reg r(η),      r = Σ_m η_m   or   ½ Σ_m η_m²

        sum        K_η = Σ_m η_m K_m
        product    K_η = ∘_m (K_m / s_m)^{η_m}   (entry by entry), s_m the mean of K_m's diagonal

    J(K) is the value of the machine at its optimum, ½‖w‖² + C Σ ξ_i; of several classes or outputs the sum of
    their machines', with one η for all. With one Gaussian for each feature (:func:`multikernel.per_feature`)
    the product is exp(−Σ_j η_j (x_j − z_j)²): η_j is the width of feature j, and 0 where it is left out.

    The sum is a convex problem. The product is not: where it ends depends on its start, which is
    η_m = 1 / (P u_m), u_m the median of −log(K_m / s_m) over pairs of samples, so that the kernel of two
    samples at the median distance in every feature is 1/e (η = 0, the constant kernel, is no start).

    Parameters
    ----------
    C : float > 0
    combination : {"sum", "product"}
        "product" needs kernels with entries above 0 only all whose powers are positive semidefinite, such as
        Gaussian and Laplacian kernels.
    penalty : {"l1", "l2"}
        r: "l1" leaves kernels out, "l2" hardly does.
    reg : float > 0
        The price of η. It is paid for η itself: kernels (features) should be of one scale.
    epsilon : float >= 0
        For values: errors below it are free.
    tol : float
        On ``dual_gap_``.
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η
    objective_ : float, J(K_η) + reg r(η)
    dual_gap_ : float
        "sum": no η is better than objective_ (1 − dual_gap_). "product": how far η is from stationary, in
        the same units (``multikernel.rules.solver.general``).

    References
    ----------
    M. Varma & B. R. Babu (2009). More generality in efficient multiple kernel learning. ICML.

    Examples
    --------
    Features by the widths of one Gaussian each: the classes differ in the first two of four.

    >>> import numpy as np
    >>> from multikernel import CombinedKernelClassifier, per_feature
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5
    >>> learner = GeneralMKL(combination="product")
    >>> model = CombinedKernelClassifier(learner, kernels=per_feature(4)).fit(X, y)
    >>> model.kernel_weights_.round(1)
    array([1.2, 1.1, 0. , 0. ])
    """

    learns_from = ("classes", "values")
    about = About(
        family="nonlinear",
        problem="min_{η ≥ 0} J(K_η) + reg Σ η_m (or ½ reg Σ η_m²), K_η = Σ η_m K_m or ∘ K_m^{η_m}",
        solver="spectral projected gradient; duality gap (sum, convex) or stationarity (product)",
        cost="some tens of machines, each with P n²; the product keeps logarithms, P n²/2 numbers",
        use="The product chooses features and their widths: one Gaussian for each feature.",
        reference="Varma & Babu 2009",
    )

    C: float = 1.0
    combination: str = "sum"
    penalty: str = "l1"
    reg: float = 1.0
    epsilon: float = 0.1
    tol: float = 1e-4
    max_iter: int = 500

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        self._check_combination()
        check_choice("penalty", self.penalty, tuple(PENALTIES))
        price = PENALTIES[self.penalty](check_number("reg", self.reg, above=0.0))
        C, options = check_number("C", self.C, above=0.0), self._options()
        losses = targets.losses(C, epsilon=check_number("epsilon", self.epsilon, at_least=0.0))
        self._scales = mean_diagonals(Ks)
        combination, units = self._combination(Ks)
        found = minimise_general(combination, losses, price, units, options)
        if not found.point.any():
            raise ValueError(
                f"GeneralMKL: at reg={self.reg!r} no kernel is worth its price. Lower reg, or raise C."
            )
        return Learned.of(found, found.point)

    def _combination(self, Ks: Array) -> tuple[WeightedSum | PowerProduct, Array]:
        """How the kernels become one, and a usual size of each η."""
        if self.combination == "sum":
            return WeightedSum(Ks), 1.0 / self._scales
        product = divisible_product(Ks, self.view_names_, self._scales)
        return product, 1.0 / product.typical()
