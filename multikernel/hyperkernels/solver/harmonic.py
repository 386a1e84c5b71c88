"""The harmonic hyperkernel of base kernels u_m with values in [0, 1], and what it spans.

Between two pairs of samples p = (x, x') and q = (z, z'), with 0 < λ < 1 and R powers,

    h(p, q) = 1/P Σ_m Σ_{r=0..R} (1 − λ) λ^r u_m(p)^r u_m(q)^r     (→ 1/P Σ_m (1 − λ) / (1 − λ u_m(p) u_m(q)))

so that h(p, q) = F_p'F_q with the features F_p = (φ_r u_m(p)^r), φ_r² = (1 − λ) λ^r / P, of length P (R + 1).
A kernel of its space is k(p) = F_p'v with ‖k‖² = ‖v‖². Where v = Σ_q β_q F_q with β ≥ 0 it is a sum of powers
of the base kernels with weights c_mr = φ_r v_mr ≥ 0, and so positive semidefinite at all samples.
"""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array

_NEGLIGIBLE = 1e-8  # share of the weights that powers beyond the last have


@dataclass(frozen=True, eq=False)
class Harmonic:
    """The base kernels (n_kernels, n, n), of values in [0, 1], and λ.

    Examples
    --------
    >>> base = Harmonic(np.array([[[1.0, 0.5], [0.5, 1.0]]]), 0.5)
    >>> v = base.features(np.array([1]))[0]
    >>> base.kernel(v).round(4).tolist()  # (1 - 0.5) / (1 - 0.5 * 0.5 u) at u = 1 and 0.5
    [[0.6667, 0.5714], [0.5714, 0.6667]]
    """

    Us: Array
    decay: float

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.Us.shape[1])

    @property
    def roots(self) -> Array:
        """φ_r, (R + 1,)."""
        last = int(np.ceil(np.log(_NEGLIGIBLE) / np.log(self.decay)))
        powers = self.decay ** np.arange(last + 1)
        return np.sqrt((1.0 - self.decay) * powers / len(self.Us))

    @property
    def size(self) -> int:
        """P (R + 1), the length of v."""
        return len(self.Us) * self.roots.size

    def features(self, pairs: Array) -> Array:
        """F of pairs by their place in the flattened (n, n), (n_pairs, size)."""
        roots = self.roots
        u = self.Us.reshape(len(self.Us), -1)[:, pairs].astype(np.float64)
        return np.asarray((u.T[:, :, None] ** np.arange(roots.size) * roots).reshape(len(pairs), -1))

    def power_weights(self, v: Array) -> Array:
        """c (n_kernels, R + 1) of the kernel of v."""
        return np.asarray(v.reshape(len(self.Us), -1) * self.roots)

    def kernel(self, v: Array) -> Array:
        """F_p'v of all pairs of samples, (n, n)."""
        weights = self.power_weights(v)
        return np.asarray(sum(sum_of_powers(U, c) for U, c in zip(self.Us, weights, strict=True)))

    def norms(self, beta: Array) -> Array:
        """s with v's = ½ Σ_l β_l'K β_l for the kernel K of any v; β (n_machines, n)."""
        parts = np.empty((len(self.Us), self.roots.size))
        for m, U in enumerate(self.Us):
            power = np.ones(U.shape)
            for r in range(parts.shape[1]):
                parts[m, r] = 0.5 * np.vdot(beta @ power, beta)
                power *= U
        return (parts * self.roots).ravel()


def sum_of_powers(U: Array, weights: Array) -> Array:
    """Σ_r weights_r U^r, entry by entry.

    Examples
    --------
    >>> sum_of_powers(np.array([[2.0]]), np.array([1.0, 1.0, 3.0])).tolist()
    [[15.0]]
    """
    total = np.full(U.shape, weights[-1])
    for weight in weights[-2::-1]:
        total *= U
        total += weight
    return total
