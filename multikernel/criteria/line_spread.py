"""How far two classes spread along the line through their centres, beside the distance of the centres.

For K_η = Σ_m η_m K_m, with a = 1/n₊ on one class and −1/n₋ on the other, the centres m± of the classes in
feature space have ‖m₊ − m₋‖² = a'K_ηa, and sample i stands at (K_ηa)_i / ‖m₊ − m₋‖ on the line through them.
With the standard deviations s± of the members of each class on that line,

    F(η) = (s₊ + s₋) / ‖m₊ − m₋‖ = (√(η'M₊η) + √(η'M₋η)) / d'η,      d_m = a'K_ma ≥ 0,

M± the covariances, over the members of a class, of the columns K_1a, …, K_Pa. The numerator is convex and the
denominator linear: F is quasi-convex in η ≥ 0, and the same at any multiple of η.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .scatter import class_contrast

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class LineSpread:
    """F and what it is made of.

    Attributes
    ----------
    covariances : array (2, m, m), M₊ and M₋; zero for a class of one member
    distances : array (m,), d
    """

    covariances: Array
    distances: Array

    def value_and_gradient(self, eta: Array) -> tuple[float, Array]:
        """F(η) and ∂F/∂η (m,), for d'η > 0; where a class does not spread at all, it adds no slope."""
        products = self.covariances @ eta
        spreads = np.sqrt(np.maximum(products @ eta, 0.0))
        distance = float(self.distances @ eta)
        value = float(spreads.sum()) / distance
        slopes = -value * self.distances
        for product, spread in zip(products, spreads, strict=True):
            slopes = slopes + product / spread if spread > 0.0 else slopes
        return value, slopes / distance


def line_spread(Ks: Array, signs: Array, scales: Array) -> LineSpread:
    """The parts of F for the kernels K_m / scales_m; the stack is read once.

    Parameters
    ----------
    Ks : array (m, n, n)
    signs : array (n,) of ±1, both present
    scales : array (m,)

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 4.0, 6.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> spread = line_spread(np.outer(x, x)[None], y, np.ones(1))
    >>> value, _ = spread.value_and_gradient(np.ones(1))
    >>> round(value, 6), round(float(np.std([0, 1], ddof=1) + np.std([4, 6], ddof=1)) / (5 - 0.5), 6)
    (0.471405, 0.471405)
    """
    contrast = class_contrast((signs > 0.0).astype(int))
    columns = np.stack([(K @ contrast) / scale for K, scale in zip(Ks, scales, strict=True)], axis=1)
    covariances = [_covariance(columns[members]) for members in (signs > 0.0, signs < 0.0)]
    return LineSpread(np.stack(covariances), np.maximum(contrast @ columns, 0.0))


def _covariance(rows: Array) -> Array:
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred.T @ centred) / max(len(rows) - 1, 1)
