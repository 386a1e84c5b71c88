"""Calibration of predicted survival at one time: of those who were told 70 %, do 70 % live so long?"""

from typing import Any

import numpy as np
import pandas as pd

from ..._validation import check_positive_integer
from ...core.survival_targets import as_survival
from .curves import check_time, kaplan_meier
from .scores import check_curves


def survival_calibration(
    y: Any, survival: Any, time: float, *, n_groups: int = 5, level: float = 0.05
) -> pd.DataFrame:
    """Compare predicted with observed survival at one time, in groups of similar predictions.

    Parameters
    ----------
    y : target of a survival model
        The samples that were predicted, best held out.
    survival : array-like of shape (n_samples,)
        Their predicted probabilities of no event up to `time`.
    time : float
        Some samples must be observed until then.
    n_groups : int, default=5
        Groups of nearly equal size, by their predictions; fewer where predictions are equal.
    level : float, default=0.05
        1 − `level` is the coverage of the intervals.

    Returns
    -------
    DataFrame
        A row for each group, lowest prediction first: the mean ``predicted`` survival, the ``observed`` one
        by Kaplan and Meier with its interval ``low`` to ``high``, samples ``n`` and ``events`` until then.
        NaN where no sample of a group is observed for that long. ``attrs["time"]`` is the time.

    Examples
    --------
    >>> y = (np.ones(8, bool), [1, 1, 2, 6, 1, 7, 8, 9])
    >>> table = survival_calibration(y, [0.2, 0.2, 0.3, 0.3, 0.7, 0.7, 0.8, 0.8], 5.0, n_groups=2)
    >>> table[["predicted", "observed", "n"]].round(2).to_numpy().tolist()
    [[0.25, 0.25, 4.0], [0.75, 0.75, 4.0]]
    """
    target = as_survival(y)
    at = check_time(time)
    predicted = check_curves(survival, len(target), 1)[:, 0]
    if not (target.time >= at).any():
        last = target.time.max()
        raise ValueError(f"time must be at most {last:g}, the last time of y; got {at:g}.")
    asked = min(check_positive_integer("n_groups", n_groups), len(target))
    cuts = np.unique(np.quantile(predicted, np.arange(1, asked) / asked))
    codes = np.searchsorted(cuts, predicted, side="left")
    rows = []
    for code in np.unique(codes):
        part = target[codes == code]
        curve = kaplan_meier(part, level=level)
        low, high = curve.band_at(at)
        row = {
            "predicted": predicted[codes == code].mean(),
            "observed": curve.at(at),
            "low": low,
            "high": high,
        }
        events = int((part.event & (part.time <= at)).sum())
        rows.append({**{key: float(value) for key, value in row.items()}, "n": len(part), "events": events})
    table = pd.DataFrame(rows)
    table.attrs["time"] = at
    return table
