"""The kernel, and the regularisation, of regularised kernel discriminant analysis (Ye, Chen & Ji, 2007).

    min over η in the simplex of  F(η) = tr H'(λI + Σ_i η_i A_i)⁻¹H,    A_i = G~_i / r_i,  r_i = tr G~_i

where G~_i are the centred kernels and H the columns of the classes (`core.scatter`). The weights of the
kernels are θ_i = η_i / r_i, so that θ'r = 1. When λ is learned, A_0 = I/n is one more member and λI is left
out; then λ = (η_0/n) / S and θ_i = η_i / (r_i S) with S = Σ_{i≥1} η_i. The published objective is λF for a
given λ and F for a learned one. This scaling by λ is essential: with I + Σ θ_i G~_i / λ and λ = 1e-8 general
solvers return values that are wrong by half and more.

Certificate: F(η) = max over B of 2 tr B'H − λ‖B‖² − Σ η_i tr(B'A_iB), so that every B, at its best scaling,
bounds the optimum from below,

    (tr B'H)² / (λ‖B‖² + max_i q_i) ≤ F* ≤ F(η),    q_i = tr B'A_iB = −∂F/∂η_i at B = M⁻¹H.

Rounding changes the entries of M, and so F by about ε max_j M_jj ‖B‖², which a small λ makes large where the
kernels have a low rank. No bound is more certain than this, and it is part of the gap.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Options, Result, Status
from ...core.scatter import CenteredStack, separation_columns

LARGEST_REG = 1e10  # beside a kernel of trace 1: what is larger leaves nothing of it but rounding
JITTER = 1e-9  # share of the trace that the identity always has when its weight is learned
_NO_KERNEL = 1e-10  # less than this left for all the kernels: the identity takes everything


def check_reg(reg: Any) -> float | None:
    """The checked λ, None if it is learned."""
    if isinstance(reg, str):
        if reg != "learn":
            raise ValueError(f'reg must be a positive number or "learn"; got {reg!r}.')
        return None
    value = check_number("reg", reg, above=0.0)
    if value > LARGEST_REG:
        raise ValueError(
            f"reg must be at most {LARGEST_REG:g}: beside it the kernel has trace 1; got {value:g}."
        )
    return value


@dataclass(frozen=True)
class DiscriminantProblem:
    """What is to be learned."""

    Ks: Array  # (m, n, n), C-contiguous float64, positive semidefinite, not centred; never modified
    codes: Array  # (n,) of int, the class of each point, 0 … k−1, every class present
    reg: float | None = None  # λ > 0; None when it is learned


@dataclass(frozen=True)
class DiscriminantResult(Result):
    """Learned weights and regularisation, with their certificate.

    ``objective``: as published, λF for a given λ, F for a learned one; ``gap``: (objective − lower_bound) /
    objective, rounding included; the history has lower_bound too.
    """

    weights: Array  # (m,), θ with θ'r = 1
    reg: float  # λ used or learned; infinity where no kernel separates the classes better than the identity
    shares: Array  # (m,) or (m + 1,), η of sum 1; that of the identity comes first when λ is learned
    lower_bound: float  # the optimum is not below it
    n_factorisations: int
    suspicious: bool = False  # whether a kernel had negative curvature: none that is semidefinite has

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed on the way back to the caller's units."""
        return bool(np.isfinite(self.weights).all() and np.isfinite(self.objective))


def relative_gap(upper: float, lower: float) -> float:
    """(upper − lower) / upper; bounds that cross by rounding are no more certain than by how much they do."""
    return abs(upper - lower) / upper


class Members:
    """The matrices A_i whose combination is learned: centred kernels, and the identity when λ is learned.

    Attributes
    ----------
    usable : array of bool, members that may have weight; the others are constant kernels
    """

    def __init__(self, Ks: Array, reg: float | None) -> None:
        self.stack = CenteredStack(Ks)
        self.reg = reg
        self.learned = reg is None
        self.n = self.stack.n
        self.usable = np.concatenate([np.ones(int(self.learned), bool), self.stack.usable])

    @property
    def ridge(self) -> float:
        """The multiple of the identity that is always there."""
        return JITTER / self.n if self.reg is None else self.reg

    def factor(self, shares: Array) -> Array | None:
        """Lower Cholesky factor L, LL' = M(η); None if M is not positive definite to rounding."""
        identity = float(shares[0]) / self.n if self.learned else 0.0
        M = self.stack.combine(shares[int(self.learned) :], self.ridge + identity)
        L, failed = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
        return None if failed else L

    def rounding(self, shares: Array) -> float:
        """How far from M(η) the matrix is that was factored, entry by entry."""
        identity = float(shares[0]) / self.n if self.learned else 0.0
        kernels = self.stack.largest_entry(shares[int(self.learned) :])
        return float(np.finfo(float).eps) * (self.ridge + identity + kernels)

    def times(self, B: Array) -> Array:
        """A_i B for every member (n_members, n, q); the columns of B have sum zero."""
        products = self.stack.times(B)
        return np.concatenate([B[None] / self.n, products]) if self.learned else products

    def products(self, rows: Array, chosen: Array) -> Array:
        """V'A_i of the chosen members (n_chosen, d, n); the rows of V' (d, n) have sum zero."""
        products = np.empty((chosen.size, *rows.shape))
        self.stack.products(rows, chosen - int(self.learned), products)
        if self.learned:
            products[chosen == 0] = rows / self.n
        return products

    def lower_bound(self, linear: float, size: float, q: Array) -> float:
        """(tr B'H)² / (λ‖B‖² + max_i q_i), with λ where it is given."""
        return linear**2 / ((0.0 if self.learned else self.ridge * size) + float(q.max()))

    def floor(self, shares: Array) -> float:
        """A positive lower bound of the eigenvalues of M(η) on vectors of sum zero."""
        identity = float(shares[0]) / self.n if self.learned else 0.0
        return self.ridge + identity + self.stack.floor(shares[int(self.learned) :])

    def solve(self, H: Array, shares: Array) -> "Solved | None":
        """M(η)⁻¹H and what comes with it; None where `factor` is."""
        L = self.factor(shares)
        if L is None:
            return None
        Y = dtrtrs(L, H, lower=1)[0]
        B = solve_back(L, Y)
        return Solved(L, Y, B, self.times(B))

    def start(self) -> Array:
        """Equal shares of the usable members."""
        return self.usable / np.count_nonzero(self.usable)


def solve_back(L: Array, half_solved: Array) -> Array:
    """L'⁻¹ times columns, of sum zero but for rounding: exactly so."""
    solved = dtrtrs(L, half_solved, lower=1, trans=1)[0]
    solved -= solved.mean(axis=0)
    return np.asarray(solved)


@dataclass(frozen=True)
class Solved:
    """B = M⁻¹H with M = LL', Y = L⁻¹H, and the A_iB (n_members, n, q)."""

    L: Array
    Y: Array
    B: Array
    products: Array

    def half_solved(self) -> Array:
        """W_i = L⁻¹A_iB, (n_members, n, q)."""
        W = dtrtrs(self.L, self._beside(slice(None)), lower=1)[0]
        return np.asarray(W.reshape(len(self.L), len(self.products), -1).transpose(1, 0, 2))

    def derivatives(self, chosen: Array) -> Array:
        """M⁻¹A_iB of the chosen members side by side, (n, n_chosen q)."""
        return self.inverse(self._beside(chosen))

    def inverse(self, columns: Array) -> Array:
        """M⁻¹ times columns of sum zero, centred as they are but for rounding."""
        return self.back(dtrtrs(self.L, columns, lower=1)[0])

    def back(self, half_solved: Array) -> Array:
        """M⁻¹ times columns of sum zero, from L⁻¹ times them."""
        return solve_back(self.L, half_solved)

    def _beside(self, chosen: Array | slice) -> Array:
        """A_iB of the chosen members side by side."""
        return self.products[chosen].transpose(1, 0, 2).reshape(len(self.L), -1)


def discriminant_result(
    members: Members, shares: Array, bounds: tuple[float, float], size: float, options: Options, **ending: Any
) -> DiscriminantResult:
    """The result in the caller's units: θ, λ and the published objective, from η and the bounds of F.

    ``size`` is ‖B‖² at η, by which rounding becomes an error of the bounds.
    """
    upper, lower = bounds
    lower = upper - abs(upper - lower) - members.rounding(shares) * size
    gap = relative_gap(upper, lower)
    if ending["status"] == Status.OPTIMAL and gap > options.tol:
        ending["status"] = Status.STALLED
    stack = members.stack
    factor = 1.0 if members.reg is None else members.reg
    kernels = shares[int(members.learned) :]
    total = float(kernels.sum())
    weights = np.divide(kernels, stack.traces, out=np.zeros(stack.m), where=stack.usable)
    reg = factor
    if members.learned:
        reg = (float(shares[0]) + JITTER) / members.n / total if total >= _NO_KERNEL else np.inf
        weights = weights / total if total >= _NO_KERNEL else weights
    return DiscriminantResult(
        weights=weights,
        reg=reg,
        shares=shares,
        objective=factor * upper,
        lower_bound=factor * lower,
        gap=gap,
        **{**ending, "history": [_in_units(entry, factor) for entry in ending["history"]]},
    )


def _in_units(entry: dict[str, float], factor: float) -> dict[str, float]:
    return {**entry, **{name: factor * entry[name] for name in ("objective", "lower_bound")}}


def strongest_kernel(Ks: Array, codes: Array) -> Array:
    """θ of the one kernel that separates the classes most where λ is large: the largest tr H'A_iH."""
    stack = CenteredStack(Ks)
    H = separation_columns(codes)
    q = np.einsum("inq,nq->i", stack.times(H), H)
    best = int(np.argmax(np.where(stack.usable, q, -np.inf)))
    weights = np.zeros(stack.m)
    weights[best] = 1.0 / stack.traces[best]
    return weights
