"""One kernel of all samples, each counted once for every kernel (Lee, Verzakov & Duin).

    𝐊 = (K_mh), m, h = 1 … P,   (P n) × (P n),   K_mm = K_m

K_mh is a kernel between a sample as kernel m sees it and another as kernel h does. For any kernels,

    K_mh = K_m^{1/2} K_h^{1/2},      k_mh(x, ·) = k_m(x, ·) K_m^{−1/2} K_h^{1/2}

(pseudo-inverse), so that 𝐊 = RR' with R the square roots below each other: semidefinite, of rank n at most.
For Gaussians of widths γ_m on the same d features, K_mm(x, z) is the inner product of the bumps
(4γ_m/π)^{d/4} exp(−2γ_m‖x − u‖²), functions of u, around x and z; that of bumps of two widths is

    k_mh(x, z) = (2√(γ_m γ_h) / (γ_m + γ_h))^{d/2} exp(−2γ_m γ_h / (γ_m + γ_h) ‖x − z‖²).
"""

from typing import Any

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, np.dtype[Any]]

_NOTHING = 1e-10  # of the largest eigenvalue: what counts as zero


class SquareRootCross:
    """Cross-kernels by square roots; it keeps 2 P n² numbers.

    Parameters
    ----------
    Ks : array (P, n, n), symmetric positive semidefinite; never modified

    Examples
    --------
    >>> cross = SquareRootCross(np.array([np.diag([4.0, 9.0]), np.eye(2)]))
    >>> cross.matrix()[:2, 2:].round(6)
    array([[2., 0.],
           [0., 3.]])
    >>> cross.rows(0, np.array([[8.0, 9.0]])).round(6)
    array([[8., 9., 4., 3.]])
    """

    def __init__(self, Ks: Array) -> None:
        n = Ks.shape[1]
        self.roots, self.inverses = np.empty((len(Ks), n, n)), np.empty((len(Ks), n, n))
        for m, K in enumerate(Ks):
            values, V = scipy.linalg.eigh(K.astype(np.float64))
            kept = values > _NOTHING * max(values[-1], 0.0)
            sizes, V = np.sqrt(values[kept]), V[:, kept]
            self.roots[m] = (V * sizes) @ V.T
            self.inverses[m] = (V / sizes) @ V.T

    def matrix(self) -> Array:
        """𝐊 (P n, P n), ordered by kernels, then samples."""
        R = self.roots.reshape(-1, self.roots.shape[2])
        return np.asarray(R @ R.T)

    def rows(self, m: int, K: Array) -> Array:
        """Rows of 𝐊 (n_samples, P n) for new samples as kernel m sees them, from K = k_m(x, ·)."""
        R = self.roots.reshape(-1, self.roots.shape[2])
        return np.asarray(np.asarray(K, np.float64) @ self.inverses[m] @ R.T)


def gaussian_cross(gamma: float, other: float, d: int) -> tuple[float, float]:
    """The factor and the width of the cross-kernel of two Gaussians on d features.

    Examples
    --------
    >>> gaussian_cross(1.0, 1.0, 3)
    (1.0, 1.0)
    >>> factor, width = gaussian_cross(1.0, 4.0, 2)
    >>> round(factor, 6), round(width, 6)
    (0.8, 1.6)
    """
    total = gamma + other
    return float((2.0 * np.sqrt(gamma / total * (other / total))) ** (d / 2.0)), 2.0 * gamma * (other / total)
