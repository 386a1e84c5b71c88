"""Made-up censored times of several views, of which it is known which matter."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from multikernel._validation import as_generator, check_count, check_number, check_positive_integer

from .._typing import Array


class SurvivalViews(NamedTuple):
    """What `make_survival_views` returns.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_views * n_columns)
    y : structured ndarray of shape (n_samples,)
        The fields ``event`` (bool) and ``time`` (float).
    view_columns : dict of str to list of str
        The columns of each view: ``[(name, kernel, columns) for name, columns in view_columns.items()]``.
    informative : list of str
        The views that the hazard depends on.
    risk : ndarray of shape (n_samples,)
        The logarithm of each sample's hazard ratio, which no model can do better than.
    """

    X: pd.DataFrame
    y: Array
    view_columns: dict[str, list[str]]
    informative: list[str]
    risk: Array


def make_survival_views(
    n_samples: int = 300,
    *,
    n_views: int = 5,
    n_informative: int = 2,
    n_columns: int = 20,
    effect: float = 1.0,
    censoring: float = 0.3,
    shape: float = 1.0,
    random_state: Any = None,
) -> SurvivalViews:
    """Return censored times with proportional hazards that depend on some of several views.

    All columns are independent and standard normal. With a random unit vector w_v for each of the views that
    matter, drawn at random, the hazard of a sample is

        h(t | x) = shape · t^(shape − 1) · exp(risk),    risk = effect · Σ_v w_v'x_v / √n_informative,

    so that the views share the standard deviation `effect` of the risk equally. Censoring is exponential and
    independent of everything else, on a scale with which exactly the share `censoring` is censored.

    Parameters
    ----------
    n_samples : int, default=300
    n_views : int, default=5
    n_informative : int, default=2
        How many of the views matter; with 0 nothing can be learned.
    n_columns : int, default=20
        Columns of each view.
    effect : float, default=1.0
        Standard deviation of the risk.
    censoring : float, default=0.3
        The share of censored samples, at least 0 and less than 1.
    shape : float, default=1.0
        Of the Weibull distribution of the times: hazards fall with time below 1, and rise above.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    SurvivalViews
        ``X``, ``y``, ``view_columns``, ``informative`` and ``risk``.

    Examples
    --------
    >>> data = make_survival_views(100, n_views=3, n_informative=1, n_columns=4, random_state=0)
    >>> data.X.shape, int(data.y["event"].sum()), data.informative
    ((100, 12), 70, ['view 2'])
    >>> data.view_columns["view 1"]
    ['view 1:0', 'view 1:1', 'view 1:2', 'view 1:3']
    """
    n = check_positive_integer("n_samples", n_samples)
    views = check_positive_integer("n_views", n_views)
    width = check_positive_integer("n_columns", n_columns)
    matter = check_count("n_informative", n_informative)
    if matter > views:
        raise ValueError(f"n_informative must be at most n_views={views}; got {matter}.")
    effect = check_number("effect", effect, at_least=0.0)
    censoring = check_number("censoring", censoring, at_least=0.0, below=1.0)
    shape = check_number("shape", shape, above=0.0)
    rng = as_generator(random_state)
    X = rng.standard_normal((n, views, width))
    directions = rng.standard_normal((views, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    chosen = np.sort(rng.permutation(views)[:matter])
    risk = effect * np.einsum("nvc,vc->n", X[:, chosen], directions[chosen]) / np.sqrt(max(matter, 1))
    life = (rng.exponential(size=n) * np.exp(-risk)) ** (1.0 / shape)
    names = [f"view {number}" for number in range(1, views + 1)]
    columns = {name: [f"{name}:{column}" for column in range(width)] for name in names}
    frame = pd.DataFrame(
        X.reshape(n, views * width), columns=[c for listed in columns.values() for c in listed]
    )
    y = _censored(life, rng.exponential(size=n), round(censoring * n))
    return SurvivalViews(frame, y, columns, [names[v] for v in chosen], risk)


def _censored(life: Array, clock: Array, n_censored: int) -> Array:
    """Times of events, or of censoring at a multiple of ``clock`` that comes first for so many samples."""
    ratio = np.sort(life / clock)[::-1]  # a sample is censored where the multiple is less than its ratio
    n_censored = min(n_censored, life.size - 1)
    first = np.inf if n_censored == 0 else np.sqrt(ratio[n_censored - 1] * ratio[n_censored])
    end = first * clock
    y = np.empty(life.size, dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = life <= end, np.minimum(life, end)
    return y
