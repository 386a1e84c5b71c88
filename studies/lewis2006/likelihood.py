"""The generative rival: a mixture of kernel Gaussians of largest likelihood for each class.

f(x) = ln p₊(x) − ln p₋(x),  with the classes' shares as priors + ln(n₊/n₋)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judges.kernel_mixture import KernelMixture, fit_kernel_mixture

Array = np.ndarray


@dataclass(frozen=True)
class LikelihoodRatio:
    """A mixture for each class, and the samples that each was learned on.

    Attributes
    ----------
    rows : pair of ndarray of int
        Of the positive and of the negative class.
    mixtures : pair of KernelMixture
    """

    rows: tuple[Array, Array]
    mixtures: tuple[KernelMixture, KernelMixture]

    def decision_function(self, Ks: Array, diagonals: Array, *, priors: bool = False) -> Array:
        """Return the log-ratio of samples.

        Parameters
        ----------
        Ks : ndarray of shape (n_components, n_samples, n_train)
        diagonals : ndarray of shape (n_components, n_samples)
            k(x, x).
        priors : bool, default=False
            Whether the shares of the classes count.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive, negative = (
            mixture.log_density(Ks[:, :, rows], diagonals) + (np.log(rows.size) if priors else 0.0)
            for rows, mixture in zip(self.rows, self.mixtures, strict=True)
        )
        return np.asarray(positive - negative)


def fit_likelihood_ratio(Ks: Array, y: Array, n_init: int = 8, seed: int = 0) -> LikelihoodRatio:
    """Fit both mixtures.

    Parameters
    ----------
    Ks : ndarray of shape (n_components, n, n)
        The kernel of each component, for both classes.
    y : ndarray of shape (n,)
        Positive for one class.
    n_init, seed : int
        Starts of each mixture, and the seed of their draws.

    Returns
    -------
    LikelihoodRatio
    """
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    first, second = (
        fit_kernel_mixture(np.ascontiguousarray(Ks[:, rows[:, None], rows]), n_init=n_init, seed=seed)
        for rows in (positive, negative)
    )
    return LikelihoodRatio((positive, negative), (first, second))
