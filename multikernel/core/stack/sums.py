"""Weighted sums of a stack of kernels and their adjoints, in double precision.

The stack Ks (m, n, n) may be float32 or memory-mapped; it is read one kernel at a time and never copied.

**Weighted sum** (:class:`WeightedStack`), its adjoint, and the rows of it that have been formed so far:

    K(μ) = Σ_m (f_m + μ_m) c_m K_m (+ μ_id I) + diag(shift),    F_m = c_m K_m β,    q_m = β'F_m

``c`` are fixed scales (a cost d_m enters as c_m = 1/d_m²), ``f`` fixed parts of the weights, 0 by default. A
diagonal matrix (the identity, where samples have no weights) may count as one more kernel, the last,
without being stored: learning its weight learns C of the 2-norm soft margin.

**Locally combined kernel** (:class:`GatedStack`) and its adjoint:

    K_η = Σ_m (η_m η_m') ∘ K_m,        c_im = Σ_r (U_m ∘ K_m U_m)_ir,   U_m = η_m ∘ B

B (n, r) are the signed dual coefficients of r machines, so that Σ_im c_im = tr(B'K_η B). Several gates may
read the same stored kernel: ``sources[m]`` is the place of gate m's kernel in the stack.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import cho_factor

from ..._numba import read_only
from ..._typing import Array
from ...kernels.together import OnDemand
from ...rows.memory import allocate_array, is_on_disk
from .low_rank import short_factor
from .passes import (
    adjoint_rows,
    combine_and_adjoint_rows,
    combine_rows,
    dense_adjoint,
    gated_rows,
    gather_block,
    gather_stack,
    quadratic_forms,
    support_products,
)

_CONSTANT = 1e-12  # share of the trace that rounding leaves of the variance of a constant kernel
# Below this share of the samples, picking support columns one by one is cheaper than reading whole rows.
_SPARSE_SUPPORT = 0.5
# Above this share, one triangle of each kernel takes less time to read than the rows of the support.
_DENSE_SUPPORT = 0.75
_ROWS_AT_ONCE = 512  # copies of so many rows of a kernel, for a product with a matrix
_FEATURES_OF_ROWS = 16  # a row from more features takes longer than from the kernels
_SUSPICIOUS_RIDGE = 1e-4  # relative; a positive semidefinite sum needs less to be factored


# ---------------------------------------------------------------------- whole stacks
def mean_diagonals(Ks: Array) -> Array:
    """tr K_m / n for each kernel, (m,).

    Examples
    --------
    >>> mean_diagonals(np.array([np.eye(2), 3 * np.eye(2)]))
    array([1., 3.])
    """
    return np.array([np.diagonal(K).mean(dtype=np.float64) for K in Ks])


def variances(Ks: Array) -> Array:
    """tr(HK_mH) / n, H = I − 11'/n: the mean squared distance from the centre in each feature space, (m,).

    Examples
    --------
    >>> x = np.array([1.0, 3.0])
    >>> variances(np.outer(x, x)[None])
    array([1.])
    """
    return mean_diagonals(Ks) - np.array([K.mean(dtype=np.float64) for K in Ks])


def weighted_sum(Ks: Array, weights: Array) -> Array:
    """Σ_m weights_m K_m as a new array (n, n); kernels of weight 0 are not read.

    Examples
    --------
    >>> weighted_sum(np.array([np.eye(2), np.ones((2, 2))]), np.array([2.0, 0.5]))
    array([[2.5, 0.5],
           [0.5, 2.5]])
    """
    n = Ks.shape[1]
    out, none = np.empty((n, n)), np.zeros(n, np.bool_)
    combine_rows(np.asarray(Ks), np.flatnonzero(weights), weights, np.zeros(n), np.arange(n), out, none)
    return out


def quadratic_sums(Ks: Array, A: Array) -> Array:
    """tr A'K_mA for each kernel and one A (n, k), (m,).

    Examples
    --------
    >>> quadratic_sums(np.array([np.eye(2), np.ones((2, 2))]), np.array([[1.0], [2.0]]))
    array([5., 9.])
    """
    return np.array([np.vdot(A, np.asarray(K) @ A) for K in Ks])


def kernel_scales(Ks: Array, names: Sequence[str]) -> Array:
    """s_m = tr K_m / n (m,), so that K_m / s_m has trace n; a kernel without one is refused."""
    scales = mean_diagonals(Ks)
    with np.errstate(divide="ignore", over="ignore"):
        usable = (scales > 0.0) & np.isfinite(1.0 / scales) & np.isfinite(scales)
    if not usable.all():
        bad = int(np.argmin(usable))
        raise ValueError(
            f"kernel {names[bad]!r} cannot be scaled to trace n: its mean diagonal is {scales[bad]:.1e}. "
            "Leave it out."
        )
    return scales


def variance_scales(Ks: Array, names: Sequence[str], weights: Array | None = None) -> Array:
    """s_m = tr(HK_mH) / n (m,), so that HK_mH / s_m has trace n; a constant kernel is refused.

    ``weights`` (n,): how many samples each counts as.
    """
    scales = variances(Ks) if weights is None else _weighted_variances(Ks, weights / weights.sum())
    flat = np.flatnonzero(~(scales > _CONSTANT * mean_diagonals(Ks)))
    if flat.size:
        raise ValueError(
            f"kernel {names[flat[0]]!r} is the same for all samples: it has no scale. Leave it out."
        )
    return scales


def _weighted_variances(Ks: Array, shares: Array) -> Array:
    """The mean squared distance from the mean in the feature space of each kernel (m,), shares of sum 1."""
    squares = np.einsum("mii,i->m", Ks, shares, dtype=np.float64)
    return np.array([square - shares @ (K @ shares) for square, K in zip(squares, Ks, strict=True)])


# ---------------------------------------------------------------------- weighted sum
def stack_of_rows(Ks: Array | OnDemand, rows: Array) -> Array:
    """The stack of some of the samples, a new array; on disk where the whole one is."""
    if isinstance(Ks, OnDemand):
        return Ks.of_samples(rows)
    out = allocate_array((Ks.shape[0], rows.size, rows.size), Ks.dtype, on_disk=is_on_disk(Ks))
    gather_stack(read_only(Ks), rows, np.asarray(out))
    return out


def stack_diagonals(Ks: Array | OnDemand) -> Array:
    """The diagonal of each kernel (n_kernels, n), as numbers of double precision."""
    if isinstance(Ks, OnDemand):
        return Ks.diagonals()
    return np.einsum("mii->mi", Ks).astype(float)


class WeightedStack:
    """A stack of kernels with current weights; rows of the sum are formed when they are asked for.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), C-contiguous float64 or float32
        Never modified and never copied. Of one on demand, the kernels that have weight or whose adjoint is
        asked for are written, and quadratic forms and subsets of the others are computed.
    scales : array (n_kernels,), one more with ``identity``
        Fixed factor of each kernel.
    shift : array (n,)
        Added to the diagonal of the sum.
    identity : array (n,), optional
        The entries of a diagonal kernel that counts as one more, the last: ones for the identity.
    combined : array (n, n), optional
        Where the rows of the sum are formed; memory of the stack's precision by default.
    diagonals : array (n_kernels, n), optional
        Those of ``Ks``, where they are known: to find them in a file takes as long as to read all of it.
    floor : array, as long as ``scales``, optional
        What each kernel weighs beyond the weights that are set; 0 by default.

    Attributes
    ----------
    combined : array (n, n) of the stack's precision, rows valid where ``valid``
    diag : array (n,), the diagonal of the sum
    passes : float, how often the whole stack has been read, in units of its size
    negative_curvature : bool, set by a solver that met what a positive semidefinite sum cannot have
    on_disk : bool, whether the stack is a file
    """

    def __init__(
        self,
        Ks: Array | OnDemand,
        scales: Array,
        shift: Array,
        identity: Array | None = None,
        combined: Array | None = None,
        diagonals: Array | None = None,
        floor: Array | None = None,
    ) -> None:
        self._given = Ks if isinstance(Ks, OnDemand) else read_only(Ks)
        self.on_disk = is_on_disk(Ks)
        self.n_stored, self.n = Ks.shape[0], Ks.shape[1]
        self.n_kernels = self.n_stored + int(identity is not None)
        self.identity = identity
        self.scales = np.asarray(scales, float)
        self.floor = floor
        self._shift = shift
        diagonals = stack_diagonals(Ks) if diagonals is None else diagonals
        self._diagonals = diagonals * self.scales[: self.n_stored, None]
        self.combined = np.empty((self.n, self.n), Ks.dtype) if combined is None else combined
        self.valid = np.zeros(self.n, np.bool_)
        self.passes = 0.0
        self.negative_curvature = False
        self.weights = np.zeros(self.n_kernels)
        self.gates = np.empty((0, 0))  # weights that depend on the sample: those of a gated sum
        self.factor_of_sum = np.empty((0, self.n))  # (r, n), where the sum has one and rows come of it

    @property
    def Ks(self) -> Array:
        """The whole stack."""
        return self.with_kernels(np.arange(self.n_stored))

    def with_kernels(self, kernels: Array) -> Array:
        """The stack, of which the kernels given can be read; those with weight by ``active``."""
        given = self._given
        return read_only(given.with_kernels(kernels)) if isinstance(given, OnDemand) else given

    @property
    def mean_diagonals(self) -> Array:
        """The mean diagonal of each stored kernel, scaled, with that of the fixed part of the sum."""
        means = np.asarray(self._diagonals.mean(axis=1, dtype=float))
        return means if self.floor is None else means + float(self.floor[: self.n_stored] @ means)

    def set_weights(self, mu: Array) -> None:
        """Change the weights; every row of the sum has to be formed again."""
        mu = mu if self.floor is None else self.floor + mu
        self.weights = mu
        self.effective = mu[: self.n_stored] * self.scales[: self.n_stored]
        self.active = np.flatnonzero(self.effective)
        self.shift = self._shift if self.identity is None else self._shift + self.ridge * self.identity
        self.diag = mu[: self.n_stored] @ self._diagonals + self.shift
        self.valid[:] = False

    @property
    def ridge(self) -> float:
        """The multiple of the identity in the sum."""
        return 0.0 if self.identity is None else float(self.weights[-1] * self.scales[-1])

    def form_rows(self, rows: Array) -> None:
        """Make the given rows of ``combined`` valid."""
        formed = combine_rows(
            self.with_kernels(self.active),
            self.active,
            self.effective,
            self.shift,
            rows,
            self.combined,
            self.valid,
        )
        self.count_rows(formed, self.active.size)

    def count_rows(self, n_rows: int, n_kernels: int) -> None:
        """Note that ``n_rows`` rows of ``n_kernels`` kernels were read."""
        self.passes += n_rows * n_kernels / (self.n * self.n_stored)

    def _stored(self, kernels: Array) -> Array:
        return kernels[kernels < self.n_stored]

    def adjoint(self, kernels: Array, beta: Array, F: Array) -> None:
        """F[m] = c_m K_m β for the given kernels, from the rows where β is not zero."""
        rows = np.flatnonzero(beta)
        stored = self._stored(kernels)
        Ks = self.with_kernels(stored)
        if rows.size > _DENSE_SUPPORT * self.n:
            for m in stored:
                dense_adjoint(Ks[m], beta, F[m])
                F[m] *= self.scales[m]
            self.count_rows(self.n // 2, stored.size)
        else:
            adjoint_rows(Ks, stored, self.scales, rows, beta[rows], F, True)
            self.count_rows(rows.size, stored.size)
        self._identity_adjoint(kernels, beta, F)

    def adjoint_of_rows(self, kernels: Array, B: Array, F: Array) -> None:
        """F[m] = c_m B K_m for a matrix B of several rows, from the samples where it is not zero."""
        used = np.flatnonzero(B.any(axis=0))
        stored = self._stored(kernels)
        Ks = self.with_kernels(stored)
        for m in stored:
            F[m] = 0.0
            for first in range(0, used.size, _ROWS_AT_ONCE):
                rows = used[first : first + _ROWS_AT_ONCE]
                F[m] += B[:, rows] @ Ks[m][rows]
            F[m] *= self.scales[m]
        self.count_rows(used.size, stored.size)

    def update_adjoint(self, kernels: Array, beta: Array, old: Array, F: Array) -> None:
        """Bring F from ``old`` to ``beta`` through the rows that changed, or afresh if that is cheaper."""
        rows = np.flatnonzero(beta != old)
        support = np.count_nonzero(beta)
        if rows.size >= min(support, _DENSE_SUPPORT * self.n):
            self.adjoint(kernels, beta, F)
            return
        stored = self._stored(kernels)
        changes = beta[rows] - old[rows]
        adjoint_rows(self.with_kernels(stored), stored, self.scales, rows, changes, F, False)
        self.count_rows(rows.size, stored.size)
        self._identity_adjoint(kernels, beta, F)

    def combine_and_adjoint(self, kernels: Array, beta: Array, F: Array) -> None:
        """Form the rows of the sum where β is not zero and the adjoint of β, in one read.

        Every kernel with weight has to be among ``kernels``.
        """
        rows = np.flatnonzero(beta)
        stored = self._stored(kernels)
        combine_and_adjoint_rows(
            self.with_kernels(stored), stored, self.scales, self.effective, rows, beta[rows], self.combined, F
        )
        self.combined[rows, rows] += self.shift[rows].astype(self.combined.dtype)
        self.valid[rows] = True
        self.count_rows(rows.size, stored.size)
        self._identity_adjoint(kernels, beta, F)

    def _identity_adjoint(self, kernels: Array, beta: Array, F: Array) -> None:
        if self.identity is not None and kernels.size and kernels[-1] == self.n_stored:
            F[-1] = self.scales[-1] * self.identity * beta

    def quadratic_forms(self, kernels: Array, beta: Array) -> Array:
        """q_m = c_m β'K_mβ for kernels whose adjoint is not kept."""
        rows = np.flatnonzero(beta)
        stored = self._stored(kernels)
        q = np.empty(kernels.size)
        if isinstance(self._given, OnDemand):
            q[: stored.size] = self._given.quadratic_forms(stored, beta)
        elif rows.size < _SPARSE_SUPPORT * self.n:
            quadratic_forms(self.Ks, stored, rows, beta[rows], q[: stored.size])
        else:
            Ks, product = self.Ks, np.empty(self.n)
            for k, m in enumerate(stored):
                dense_adjoint(Ks[m], beta, product)
                q[k] = beta @ product
        self.count_rows(rows.size // 2, stored.size)
        q[: stored.size] *= self.scales[stored]
        if stored.size < kernels.size:
            q[-1] = self.scales[-1] * float(self.identity @ (beta * beta))
        return q

    def product(self, beta: Array) -> Array:
        """The sum times β, from the rows where β is not zero."""
        rows = np.flatnonzero(beta)
        self.form_rows(rows)
        out = np.zeros((1, self.n))
        if rows.size:
            combined = read_only(self.combined[None])
            adjoint_rows(combined, np.zeros(1, np.intp), np.ones(1), rows, beta[rows], out, True)
        return out[0]

    def block(self, rows: Array, dtype: Any) -> Array:
        """K(μ)[rows, rows], a new array."""
        self.form_rows(rows)
        out = np.empty((rows.size, rows.size), dtype)
        gather_block(read_only(self.combined), rows, out)
        return out

    def factor(self) -> Any:
        """Cholesky factor of the whole sum, computed instead of ``combined``.

        A shift that is lost beside the kernel leaves the sum singular: a growing ridge makes it definite.
        """
        ridge = 0.0
        size = float(np.abs(self.diag).mean()) or 1.0
        while True:
            self.form_rows(np.arange(self.n))
            self.valid[:] = False
            self.combined.flat[:: self.n + 1] += self.combined.dtype.type(ridge * size)
            try:
                return cho_factor(self.combined.T, lower=False, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                ridge = max(100.0 * ridge, 10.0 * float(np.finfo(self.combined.dtype).eps))
                self.negative_curvature |= ridge > _SUSPICIOUS_RIDGE

    def subset(self, rows: Array) -> Array:
        """The stack of some of the samples, as `stack_of_rows` makes it."""
        out = stack_of_rows(self._given, rows)
        self.count_rows(rows.size, self.n_stored)
        return out


class WholeKernel(WeightedStack):
    """One kernel (n, n) that is there whole, C-contiguous and never modified: all rows are formed."""

    def __init__(self, K: Array) -> None:
        super().__init__(K[None], np.ones(1), np.zeros(len(K)), combined=K)
        self.set_weights(np.ones(1))
        self.valid[:] = True


# ---------------------------------------------------------------------- locally combined kernel
class GatedStack(WeightedStack):
    """K_η for the current gate; its rows are formed when they are asked for.

    ``sources`` (P,) is the stored kernel of each gate. Where all kernels have short ``factors`` (r_m, n), as
    linear kernels of few columns do, K_η = Z'Z with ``features`` Z, the rows η_m ∘ L_m of all gates; products
    and rows are theirs.
    """

    def __init__(self, Ks: Array, sources: Array) -> None:
        combined = np.empty(Ks.shape[1:])  # double precision, whatever the stack's
        super().__init__(Ks, np.ones(len(Ks)), np.zeros(Ks.shape[1]), combined=combined)
        self.sources = np.array(sources, np.intp)
        self.active, self.effective, self.shift = self.sources, self.scales, self._shift
        self.diag = np.zeros(self.n)
        self.factors = _short_factors(self._given)
        if self.factors is not None:
            ends = np.cumsum([len(self.factors[source]) for source in self.sources])
            self.features = np.empty((ends[-1], self.n))
            self._parts = np.split(self.features, ends[:-1])  # views of it, one for each gate
            if ends[-1] <= _FEATURES_OF_ROWS:
                self.factor_of_sum = self.features

    def set_gates(self, eta: Array) -> None:
        """Change the gate, (n, P); every row has to be formed again."""
        self.gates = np.ascontiguousarray(eta.T)
        self.valid[:] = False
        if self.factors is None:
            self.diag = np.einsum("mt,mt,mt->t", self.gates, self.gates, self._diagonals[self.sources])
            return
        for gate, source, part in zip(self.gates, self.sources, self._parts, strict=True):
            np.multiply(gate, self.factors[source], out=part)
        self.diag = np.einsum("rt,rt->t", self.features, self.features)

    def form_rows(self, rows: Array) -> None:
        formed = gated_rows(
            self.Ks, self.sources, self.gates, self.factor_of_sum, rows, self.combined, self.valid
        )
        self.count_rows(formed, self.sources.size)

    def product(self, beta: Array) -> Array:
        if self.factors is None:
            return super().product(beta)
        return np.asarray((self.features @ beta) @ self.features)

    def contributions(self, B: Array) -> Array:
        """c (n, P) of coefficients (n, r); only support rows and columns are read."""
        if self.factors is None:
            return gated_contributions(self.Ks, self.sources, self.gates.T, B)
        c, outputs = np.empty(self.gates.shape), B.T
        for Z, own in zip(self._parts, c, strict=True):
            images = (outputs @ Z.T) @ Z
            images *= outputs
            own[:] = images[0] if len(images) == 1 else images.sum(axis=0)
        return c.T

    def whole(self) -> Array:
        """K_η with all its rows."""
        self.form_rows(np.arange(self.n))
        return self.combined


def _short_factors(Ks: Array | OnDemand) -> list[Array] | None:
    """The short factors of all kernels, None where one has none."""
    if isinstance(Ks, OnDemand):
        return None
    found = []
    for K in Ks:
        factor = short_factor(K)
        if factor is None:
            return None
        found.append(factor)
    return found


def gated_contributions(Ks: Array, sources: Array, eta: Array, B: Array) -> Array:
    """c (n, P) from gates (n, P) and coefficients (n, r); only support rows and columns are read."""
    rows = np.flatnonzero(B.any(axis=1))
    support, gates = B[rows].T, eta[rows].T
    c = np.zeros(eta.shape)
    for source in np.unique(sources):
        own = np.flatnonzero(sources == source)
        U = (gates[own, None] * support).reshape(own.size * B.shape[1], rows.size)
        U = np.ascontiguousarray(U)  # one layout, which the loop is compiled for
        if rows.size == len(eta) and len(U) > 1:
            products = np.asarray(U @ Ks[source], float)
        else:
            products = np.empty_like(U)
            support_products(read_only(Ks[source]), rows, U, products)
        products *= U
        c[rows[:, None], own] = products.reshape(own.size, B.shape[1], rows.size).sum(axis=1).T
    return c
