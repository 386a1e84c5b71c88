"""The synthetic data of section 4.1: f(x) = x² for |x| < 1, else 1, and points above and below it.

How many points there are, how far x reaches and by how much the points are shifted is not printed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, SHIFT = 2.0, 0.2

Array = np.ndarray


def printed_curve(x: Any) -> Array:
    """Return f(x).

    Examples
    --------
    >>> printed_curve([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    array([1.  , 0.25, 0.  , 0.25, 1.  , 1.  ])
    """
    x = np.asarray(x, dtype=np.float64)
    return np.where(np.abs(x) < 1.0, x * x, 1.0)


def draw_points(
    n: int, generator: np.random.Generator, *, width: float = WIDTH, shift: float = SHIFT
) -> tuple[Array, Array]:
    """Return points on the curve, x uniform on (−width, width), half of them shifted up, half down.

    Parameters
    ----------
    n : int
    generator : numpy.random.Generator
    width, shift : float

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        +1 above the curve, −1 below.
    """
    x = generator.uniform(-width, width, n)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.column_stack([x, printed_curve(x) + shift * y]), y
