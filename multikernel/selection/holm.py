"""p-values of several tests at once, so that the more tests, the more it takes to call one significant."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def holm(pvalues: Any) -> Array:
    """Holm's step-down p-values: of p_(1) ≤ … ≤ p_(k) the i-th becomes max_{j ≤ i} min(1, (k − j + 1) p_(j)).

    Rejecting where the result is at most a level keeps the chance of any false rejection among all tests at
    that level, whatever the tests have to do with one another.

    Parameters
    ----------
    pvalues : array-like (k,), between 0 and 1

    Returns
    -------
    array (k,), in the order given

    References
    ----------
    S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65–70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    try:
        values = np.asarray(pvalues, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(())  # refused below
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(f"pvalues must be a list of numbers from 0 to 1; got {pvalues!r}.")
    order = np.argsort(values, kind="stable")
    steps = (values.size - np.arange(values.size)) * values[order]
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
