"""What each view adds to R², target by target: the product measure.

With predictions f = Σ_m c_m + b, and y, f and c_m centered over the samples,

    R² = Σ_m Σ_i c_im (2 y_i − f_i) / Σ_i y_i²  −  (mean f − mean y)² n / Σ_i y_i².

The terms of the sum are the views' parts; views that are alike share what they explain in common, and a view
that spoils predictions has a negative part. The last term is what a wrong mean takes away; on the training
samples of a model with an intercept it is 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ...core.inputs import check_sample_weights, check_targets
from ...rows import count_rows
from .each import names_of_targets

OFFSET, TOTAL = "offset", "total"


@dataclass
class _Sums:
    """Weighted sums over the samples, for each target; of kernels (n_kernels, T)."""

    weight: Array
    y: Array
    f: Array
    yy: Array
    c: Array
    cy: Array
    cf: Array

    def parts(self) -> tuple[Array, Array]:
        """R² of each view (T, n_kernels), and of a wrong mean (T,)."""
        weight = np.where(self.weight > 0.0, self.weight, np.nan)  # nothing is known of unobserved targets
        mean_y, mean_f = self.y / weight, self.f / weight
        total = self.yy - self.weight * mean_y**2
        total = np.where(total > 1e-15 * self.yy, total, np.nan)  # of a constant there is no R²
        views = (2.0 * (self.cy - self.c * mean_y) - (self.cf - self.c * mean_f)) / total
        return views.T, -self.weight * (mean_f - mean_y) ** 2 / total


def score_by_view(self: Any, X: Any, y: Any, sample_weight: Any = None) -> pd.DataFrame:
    """R² of each target in parts, one for each view: the product measure.

    The parts of a target sum up to its R², the column ``total``. Views that explain the same share it; a view
    that spoils predictions has a negative part.

    Parameters
    ----------
    X : as for ``predict``
    y : array or DataFrame, (n_samples,) or (n_samples, n_outputs)
        NaN where a target was not observed: its parts are over the other samples.
    sample_weight : array of shape (n_samples,), default=None

    Returns
    -------
    DataFrame
        A row for each target; a column for each view, ``offset``, what a wrong mean takes away (0 on the
        training samples), and ``total``. NaN for a target that is constant.
    """
    check_is_fitted(self)
    X = self._validate_table(X, reset=False)
    values = check_targets(self, X, y, multi_output=True, may_lack_values=np.asarray(y).ndim == 2)
    n_targets = len(self.intercept_)
    if values.shape[1] != n_targets:
        raise ValueError(f"y must have the {n_targets} target(s) of fit; got {values.shape[1]}.")
    weights = check_sample_weights(sample_weight, len(values))
    known = np.isfinite(values)
    shifted = np.where(known, values - self.intercept_, 0.0)
    views, offset = _sums(self, X, shifted, known * weights[:, None]).parts()
    named = names_of_targets(y, n_targets)
    names = named if hasattr(y, "columns") else getattr(self, "target_names_", named)
    frame = pd.DataFrame(views, index=pd.Index(names, name="target"), columns=list(self.view_names_))
    frame = frame.assign(**{OFFSET: offset, TOTAL: views.sum(axis=1) + offset})
    counted = known & (weights > 0.0)[:, None]
    highest, lowest = (np.where(counted, values, end) for end in (-np.inf, np.inf))
    frame[highest.max(axis=0) <= lowest.min(axis=0)] = np.nan  # a constant: differences are rounding errors
    return frame


def score_observed(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R² of each target over the samples on which it was observed, the mean over the targets."""
    check_is_fitted(self)
    values = check_targets(self, X, y, multi_output=True, may_lack_values=True)
    predicted = np.reshape(self.predict(X), (len(values), -1))
    if values.shape != predicted.shape:
        raise ValueError(f"y must have the {predicted.shape[1]} target(s) of fit; got {values.shape[1]}.")
    weights = check_sample_weights(sample_weight, len(values))
    known = np.isfinite(values) & (weights > 0.0)[:, None]
    scored = known.sum(axis=0) >= 2
    if not scored.any():
        raise ValueError("R² needs a target that is observed on at least 2 samples; y has none.")
    known = known[:, scored]
    y, f = (np.where(known, part[:, scored], 0.0) for part in (values, predicted))
    return float(r2_by_target(y, f, known * weights[:, None]).mean())


def r2_by_target(y: Array, predicted: Array, weights: Array) -> Array:
    """R² of each target with a weight for each value; of a constant 1 where it is met, 0 elsewhere.

    Examples
    --------
    >>> y, weights = np.array([[1.0, 5.0], [3.0, 5.0]]), np.ones((2, 2))
    >>> r2_by_target(y, y + [0.5, 0.0], weights).tolist()
    [0.75, 1.0]
    """
    mean = (weights * y).sum(axis=0) / weights.sum(axis=0)
    highest, lowest = (np.where(weights > 0.0, y, end) for end in (-np.inf, np.inf))
    varies = highest.max(axis=0) > lowest.min(axis=0)
    total = np.where(varies, (weights * (y - mean) ** 2).sum(axis=0), 1.0)
    errors = (weights * (y - predicted) ** 2).sum(axis=0)
    return np.asarray(np.where(varies, 1.0 - errors / total, errors == 0.0), dtype=float)


def lacks_values(y: Any) -> bool:
    """Does a table of targets hold NaN, or None?"""
    return np.ndim(y) == 2 and bool(pd.isna(np.asarray(y)).any())


def _sums(model: Any, X: Any, y: Array, weights: Array) -> _Sums:
    """Two passes over the kernels for each batch of rows: predictions, and the sums of each kernel."""
    n_kernels, T = len(model.view_names_), y.shape[1]
    sums = _Sums(*(np.zeros(T) for _ in range(4)), *(np.zeros((n_kernels, T)) for _ in range(3)))
    start = 0

    def add(rows: Any) -> int:
        part = slice(start, start + count_rows(rows))
        w, f = weights[part], model._fitted.scores(rows)
        wy, wf = w * y[part], w * f
        sums.weight += w.sum(axis=0)
        sums.y += wy.sum(axis=0)
        sums.f += wf.sum(axis=0)
        sums.yy += np.einsum("ij,ij->j", wy, y[part])
        for m, scores in model._fitted.kernel_scores(rows):
            sums.c[m] += np.einsum("ij,ij->j", w, scores)
            sums.cy[m] += np.einsum("ij,ij->j", wy, scores)
            sums.cf[m] += np.einsum("ij,ij->j", wf, scores)
        return part.stop

    for stop in model._by_batches(X, add):
        start = stop
    return sums
