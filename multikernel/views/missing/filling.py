"""Kernels of samples that lack views, view by view: zeros, or the mean of the samples that have the view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class MeanFilling:
    """k_m(x, j) with the mean of φ_m over the samples that have view m in the place of an absent φ_m.

    Attributes
    ----------
    present : ndarray of shape (n, m), bool
        Which training samples have which view.
    means : ndarray of shape (m, n)
        The mean similarity of the samples that have the view to each training sample, completed.
    """

    present: np.ndarray
    means: np.ndarray

    @classmethod
    def fit(cls, Ks: np.ndarray, present: np.ndarray) -> MeanFilling:
        """Complete the training stack Ks (m, n, n), 0 where a sample lacks the view, in place."""
        means = np.empty((len(Ks), len(present)))
        for m, K in enumerate(Ks):
            means[m] = _fill_mean(K, present[:, m])
        return cls(present, means)

    def needs_all_columns(self, support: np.ndarray, active: np.ndarray) -> bool:
        """Whether similarities to these samples need those to all others: where one of them lacks a view."""
        return not bool(self.present[np.ix_(support, active)].all())

    def complete(self, m: int, K: np.ndarray, has: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Rows of kernel m, (n_test, n or n_columns), at the training samples `columns`.

        Parameters
        ----------
        m : int
        K : ndarray
            0 where one of two samples lacks the view; its columns are all training samples, or `columns`
            where none of these lacks a view.
        has : ndarray of shape (n_test,), bool
            Which rows have the view.
        columns : ndarray of int
        """
        lacking = ~self.present[columns, m]
        if K.shape[1] == len(self.present):
            to_mean = K.sum(axis=1) / self.present[:, m].sum()
            K = K[:, columns]
            K[:, lacking] = to_mean[:, None]
        K[~has] = self.means[m, columns]
        return K


def _fill_mean(K: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Complete a training Gram in place; returns the mean similarity to each sample, (n,)."""
    v, h = np.flatnonzero(has), np.flatnonzero(~has)
    means: np.ndarray = K[v].mean(axis=0, dtype=np.float64)
    means[h] = means[v].mean()
    if h.size:
        K[h] = means
        K[:, h] = means[:, None]
    return means
