"""The weighted sum of kernels and the product of their powers, for solvers that treat both alike.

    sum        K_η = Σ_m η_m K_m,      ∂⟨G, K_η⟩/∂η_m = ⟨G, K_m⟩
    product    K_η = ∘_m (K_m / s_m)^{η_m} = exp(Σ_m η_m L_m),   L_m = log(K_m / s_m)   (entry by entry)
               ∂⟨G, K_η⟩/∂η_m = ⟨G, K_η ∘ L_m⟩

In a product η_m ≥ 0 are exponents, s_m > 0 scales (1 by default). With one Gaussian exp(−(x_j − z_j)²) for
each feature, η_j is the width of feature j: K_η = exp(−Σ_j η_j (x_j − z_j)²). K_η is positive semidefinite
for all η ≥ 0 if and only if every L_m is so on the vectors of sum zero (Schoenberg); Gaussians and Laplacians
are such kernels, polynomials in general are not.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ..._typing import Array
from ..._validation import can_check_fully, is_indefinite
from ...core.stack.sums import quadratic_sums, weighted_sum

_FLAT = 1e-6  # a median below this part of the mean says nothing: most pairs are at one point


class WeightedSum:
    """K_η of the training samples, to be asked for many η; the counterpart of ``PowerProduct``.

    Examples
    --------
    >>> total = WeightedSum(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> total.matrix(np.array([2.0, 1.0])).tolist()
    [[3.0, 1.0], [1.0, 3.0]]
    >>> total.forms(np.eye(2), np.array([[1.0, 3.0]])).tolist()
    [10.0, 16.0]
    """

    def __init__(self, Ks: Array) -> None:
        self.Ks = Ks

    def matrix(self, eta: Array) -> Array:
        """K_η (n, n), in double precision."""
        return weighted_sum(self.Ks, np.asarray(eta, float))

    def forms(self, K: Array, duals: Array) -> Array:
        """Σ_t β_t'K_mβ_t for each m, from duals (n_machines, n), shape (m,); K_η itself is not needed."""
        return quadratic_sums(self.Ks, duals.T)


class PowerProduct:
    """K_η of the training samples, to be asked for many η.

    The logarithms of the upper triangles are kept in double precision, half of what a stack in double
    precision takes: ``logs`` (m, n (n + 1) / 2), row by row. The kernels themselves, with entries > 0 only,
    are read once, one at a time; `names` are what errors call them.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> K = np.exp(-np.subtract.outer(x, x) ** 2)
    >>> product = PowerProduct(K[None])
    >>> product.matrix(np.array([0.5]))[0].round(4)
    array([1.    , 0.6065, 0.0111])
    >>> product.slopes(product.matrix(np.array([0.5])), np.ones((3, 3))).round(4)
    array([-2.4957])
    """

    def __init__(self, Ks: Array, names: Sequence[str] | None = None, scales: Array | None = None) -> None:
        self.n, self._dtype = Ks.shape[1], Ks.dtype
        self._upper = np.triu(np.ones((self.n, self.n), bool))
        self._on_diagonal = np.zeros(self.n * (self.n + 1) // 2, bool)
        self._on_diagonal[np.cumsum(np.arange(self.n, 0, -1)) - np.arange(self.n, 0, -1)] = True
        self.logs = np.empty((len(Ks), self._on_diagonal.size))
        for m, K in enumerate(Ks):
            require_positive(K, f"kernel-{m}" if names is None else names[m])
            np.log(K[self._upper], out=self.logs[m], dtype=np.float64)
            if scales is not None:
                self.logs[m] -= np.log(scales[m])

    def matrix(self, eta: Array) -> Array:
        """K_η (n, n); an entry that overflows is infinite."""
        with np.errstate(over="ignore", under="ignore"):
            return self._whole(np.exp(np.asarray(eta) @ self.logs))

    def slopes(self, K: Array, G: Array) -> Array:
        """⟨G, K_η ∘ L_m⟩ for each m, from K = K_η and any G (n, n), shape (m,)."""
        product = G * K
        pairs = product[self._upper] + product.T[self._upper]
        pairs[self._on_diagonal] *= 0.5
        return np.asarray(self.logs @ pairs)

    def forms(self, K: Array, duals: Array) -> Array:
        """Σ_t β_t'(K_η ∘ L_m)β_t for each m, from K = K_η and duals (n_machines, n), shape (m,)."""
        return self.slopes(K, duals.T @ duals)

    def typical(self) -> Array:
        """The median of |L_m| over pairs of samples, (m,); their mean where half of them are 0, else 1.

        With exponents 1 / typical, a kernel is 1/e for a pair at the median distance.
        """
        sizes = np.array([np.median(np.abs(logs[~self._on_diagonal])) for logs in self.logs])
        means = np.array([np.abs(logs).mean() for logs in self.logs])
        sizes = np.where(sizes > _FLAT * means, sizes, means)
        return np.where(sizes > 0.0, sizes, 1.0)

    def first_indivisible(self) -> int | None:
        """The first kernel some power of which is not positive semidefinite, if one is found to be such.

        Of many samples, only parts of the kernels are looked at.
        """
        noise = 8.0 * float(np.finfo(self._dtype).eps) * np.sqrt(self.n)
        for m, logs in enumerate(self.logs):
            L = self._whole(logs)
            means = L.mean(axis=0)
            L -= means + (means - means.mean())[:, None]
            L[np.diag_indices(self.n)] += noise  # logarithms carry the rounding of their kernel, however flat
            if is_indefinite(L, full=can_check_fully(self.n, len(self.logs))):
                return m
        return None

    def _whole(self, upper: Array) -> Array:
        """The symmetric matrix of an upper triangle."""
        K = np.empty((self.n, self.n))
        K.T[self._upper] = upper
        K[self._upper] = upper
        return K


def divisible_product(Ks: Array, names: Sequence[str], scales: Array | None = None) -> PowerProduct:
    """The product of kernels all whose powers are positive semidefinite; others are refused."""
    product = PowerProduct(Ks, names, scales)
    bad = product.first_indivisible()
    if bad is not None:
        raise ValueError(
            "products need kernels all whose powers are positive semidefinite; some of kernel "
            f"{names[bad]!r} are not. Use Gaussian or Laplacian kernels, or combination='sum'."
        )
    return product


def combine_powers(
    kernels: Iterable[tuple[int, Array]], eta: Array, names: Sequence[str], scales: Array | None = None
) -> Array:
    """K_η between new and training samples, from pairs of a number and its kernel (n_samples, n_train).

    Kernels of exponent 0 need not be among them. An entry may be 0 here: a new sample may be far from all.

    Examples
    --------
    >>> combine_powers([(0, np.array([[4.0]])), (1, np.array([[2.0]]))], np.array([0.5, 2.0]), "ab")
    array([[8.]])
    """
    total: Array | None = None
    for m, K in kernels:
        require_positive(K, names[m], zero=True)
        with np.errstate(divide="ignore"):
            part = np.log(K, dtype=np.float64)
        part -= 0.0 if scales is None else np.log(scales[m])
        if eta[m] == 0.0:
            part[:] = 0.0
        part *= eta[m]
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None, "no kernel is active"
    with np.errstate(under="ignore"):
        return np.exp(total, out=total)


def require_positive(K: Array, name: str, *, zero: bool = False) -> None:
    """Refuse a kernel with an entry < 0, or ≤ 0 unless `zero`."""
    least = float(K.min()) if K.size else 1.0
    if least > 0.0 or (zero and least == 0.0):
        return
    i, j = (int(place) for place in np.unravel_index(int(K.argmin()), K.shape))
    remedy = (
        "A Gaussian that underflows needs a smaller gamma"
        if least == 0.0
        else "Use Gaussian or Laplacian kernels"
    )
    raise ValueError(
        f"powers need kernels with entries above 0 only; kernel {name!r} has {least:.3g} at ({i}, {j}). "
        f"{remedy}, or leave it out."
    )
