"""Alignment by gradient ascent, of a sum or of a product of kernels (Igel, Glasmachers, Mersch, …)."""

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ...core.alignment import StackAlignment, align_stack, alignment_slope
from ...core.optim.loop import Options, Status
from ...core.optim.weight_sets import Orthant, Simplex
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, SumOrProductLearner
from ..solver.descent import ProjectedResult, minimise_projected
from ..solver.products import PowerProduct, divisible_product
from ..targets import Targets, unit_ideal

_BEYOND = 1e-3  # of tol: the bound may be farther than the slope tells, and steps are cheap
_STARTS = (0.1, 1.0, 10.0)  # exponents, as parts of those at which usual entries are 1/e


@dataclass(eq=False, repr=False)
class GradientAlignment(SumOrProductLearner):
    """Weights or exponents η ≥ 0 by ascent of the alignment with the ideal kernel TT' along its gradient.

        max_{η ≥ 0}  A(K_η, TT') = ⟨K_η, TT'⟩ / (‖K_η‖ ‖TT'‖)

        sum        K_η = Σ_m η_m K_m / ‖K_m‖,  Σ η_m = 1
        product    K_η = ∘_m (K_m / s_m)^{η_m}   (entry by entry), s_m the mean of K_m's diagonal

    TT' is yy' for two classes and for values, and 1 within, −1/(k−1) between k classes; K_η and TT' are
    centred first if asked for. With one Gaussian for each feature the product is exp(−Σ_j η_j (x_j − z_j)²),
    and η_j the width of feature j. The sum has one optimum, that of :class:`CenteredAlignment`, which is
    quicker; the product has several stationary points, and ends in one.

    Parameters
    ----------
    combination : {"sum", "product"}
        "product" needs kernels with entries above 0 only all whose powers are positive semidefinite, such as
        Gaussian and Laplacian kernels; it keeps their logarithms, half of the size of the stack.
    centered : bool
        Whether to centre; False is the form of the paper. A centred alignment does not see that a kernel is
        nearly constant: a product may then end there, at exponents near 0, and be of little use to a machine.
    tol : float
        On ``dual_gap_``.
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,)
        "sum": in the units of the kernels, with Σ_m η_m ‖K_m‖ = 1 (centred norms if centred); "product": the
        exponents.
    objective_ : float, A
    dual_gap_ : float
        "sum": no weights have an alignment above objective_ / (1 − dual_gap_). "product": how far η is from
        stationary, relative to A.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Ks = [np.exp(-np.subtract.outer(x, x) ** 2) for x in X.T]
    >>> learner = GradientAlignment("product").fit(Ks, X[:, 0] > 0.2)
    >>> learner.kernel_shares_.round(1), learner.status_
    (array([1., 0., 0.]), 'optimal')
    """

    about = About(
        family="similarity",
        problem="max A(K_η, TT'), η ≥ 0, K_η = Σ η_m K_m or ∘ K_m^{η_m}",
        solver="spectral projected gradient; bound of the optimum (sum) or stationarity (product)",
        cost="sum: two reads of the stack, P² n²; product: some tens of steps of P n², P n²/2 numbers kept",
        use="Product: widths of features without a machine. Sum: CenteredAlignment is the same, quicker.",
        reference="Igel, Glasmachers, Mersch, Pfeifer & Meinicke 2007",
    )

    combination: str = "sum"
    centered: bool = False
    tol: float = 1e-5
    max_iter: int = 1000

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        self._check_combination()
        options = self._options()
        T, self._scales = unit_ideal(targets), kernel_scales(Ks, self.view_names_)
        if self.combination == "product":
            product = divisible_product(Ks, self.view_names_, self._scales)
            return ascend_product(product, T, options, centered=bool(self.centered))
        table = align_stack(Ks, T, centered=bool(self.centered))
        if not table.target.max() > 0.0:
            return Learned(np.zeros(len(Ks)))
        return ascend_sum(table, options)


def ascend_sum(table: StackAlignment, options: Options) -> Learned:
    """Weights w / ‖K_m‖ where A is largest, w in the simplex: there A is quasi-concave, and stationary once.

    Parameters
    ----------
    table : StackAlignment, with a kernel of positive alignment
    options : Options, ``tol`` for the gap

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> found = ascend_sum(align_stack(np.stack([np.eye(2), np.outer(y, y)]), y), Options(tol=1e-9))
    >>> found.weights.round(6).tolist(), round(found.objective, 6)
    ([0.0, 0.5], 1.0)
    """
    m = table.target.size
    unit = replace(table, norms=np.ones(m))

    def evaluate(w: Array) -> tuple[float, Array]:
        value, gradient = unit.value_and_gradient(w)
        return -value, -gradient

    inner = replace(options, tol=_BEYOND * options.tol)
    found = minimise_projected(evaluate, Simplex(), np.full(m, 1.0 / m), inner)
    w = found.point
    bound = table.dual_factor(w) * float(np.sqrt(w @ table.pairs @ w))
    gap = max(1.0 + found.objective / bound, 0.0) if bound > 0.0 else 0.0
    return _learned(found, w * (1.0 / table.norms), gap, options.tol)


def ascend_product(product: PowerProduct, T: Array, options: Options, *, centered: bool) -> Learned:
    """Exponents η ≥ 0 where A(∘ K_m^{η_m}, TT') is stationary.

    η_m is measured by u_m, the usual size of log K_m: x_m = η_m u_m. The ascent starts from the best of
    three, x_m = 0.1, 1 and 10 for all. The gap is that of x (:mod:`multikernel.rules.solver.descent`).

    Parameters
    ----------
    product : PowerProduct
    T : array (n, k)
    options : Options, ``tol`` for the gap
    centered : bool
    """
    units = product.typical()

    def evaluate(x: Array) -> tuple[float, Array]:
        K = product.matrix(x / units)
        value, slope = alignment_slope(K, T, centered=centered)
        return -value, -product.slopes(K, slope) / units

    starts = [np.full(units.size, level / units.size) for level in _STARTS]
    values = [evaluate(start)[0] for start in starts]
    if not np.isfinite(values).any():
        raise ValueError("the product of the kernels is constant. Give kernels that differ between samples.")
    found = minimise_projected(evaluate, Orthant(), starts[int(np.nanargmin(values))], options)
    return _learned(found, found.point / units, found.gap, options.tol)


def _learned(found: ProjectedResult, weights: Array, gap: float, tol: float) -> Learned:
    """What the descent of −A found, as an ascent of A."""
    stopped = Status.STALLED if found.status == Status.OPTIMAL else found.status
    history = [{**entry, "objective": -entry["objective"]} for entry in found.history]
    status = Status.OPTIMAL if gap <= tol else stopped
    return Learned.of(found, weights, objective=-found.objective, gap=gap, status=status, history=history)
