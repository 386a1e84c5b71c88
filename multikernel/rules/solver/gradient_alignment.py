"""Ascent of the alignment A(K_η, TT') along its gradient, for sums and for products of kernels.

    sum        K_η = Σ η_m K_m, η in the simplex; A is quasi-concave: where it is stationary it is largest
    product    K_η = ∘ K_m^{η_m}, η ≥ 0; not concave: a stationary point

Both by :mod:`multikernel.rules.solver.descent`, on −A.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ...core.alignment.measure import StackAlignment, alignment_slope
from ...core.optim.loop import Options, Result, Status
from ...core.optim.weight_sets import Orthant, Simplex
from .descent import ProjectedResult, minimise_projected
from .products import PowerProduct

_BEYOND = 1e-3  # of tol: the bound may be farther than the slope tells, and steps are cheap
_STARTS = (0.1, 1.0, 10.0)  # exponents, as parts of those at which usual entries are 1/e


@dataclass(frozen=True)
class Ascent(Result):
    """Where an ascent ended.

    Attributes
    ----------
    weights : array (m,), of kernels of norm one (sum), or exponents (product)
    objective : float, A
    gap : float, 1 − A / bound (sum); largest slope (product)
    n_iter : int
    status : Status
    history : list of dict
    """

    weights: Array


def ascend_sum(table: StackAlignment, options: Options) -> Ascent:
    """Weights w of sum 1, of kernels of norm one, where A is largest.

    Parameters
    ----------
    table : StackAlignment, with a kernel of positive alignment
    options : Options, ``tol`` for the gap

    Examples
    --------
    >>> from multikernel.core.alignment.measure import align_stack
    >>> y = np.array([1.0, -1.0])
    >>> found = ascend_sum(align_stack(np.stack([np.eye(2), np.outer(y, y)]), y), Options(tol=1e-9))
    >>> found.weights.round(6).tolist(), round(found.objective, 6)
    ([0.0, 1.0], 1.0)
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
    return _ascent(found, w, gap, options.tol)


def ascend_product(product: PowerProduct, T: Array, options: Options, *, centered: bool) -> Ascent:
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
    return _ascent(found, found.point / units, found.gap, options.tol)


def _ascent(found: ProjectedResult, weights: Array, gap: float, tol: float) -> Ascent:
    stopped = Status.STALLED if found.status == Status.OPTIMAL else found.status
    history = [{**entry, "objective": -entry["objective"]} for entry in found.history]
    status = Status.OPTIMAL if gap <= tol else stopped
    return Ascent(
        weights, objective=-found.objective, gap=gap, n_iter=found.n_iter, status=status, history=history
    )
