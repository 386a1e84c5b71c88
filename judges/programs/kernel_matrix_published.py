"""The programs of kernel matrix learning as the paper states them, solved by CVXOPT: a judge from outside.

    ω = min_μ  max_{0 ≤ a ≤ C, y'a = 0}  2e'a − a'(G(K(μ)) + τI)a,     Σ μ_i trace(K_i) (+ nτ) = c,

in the paper's units: kernels as they are given, over all n points with the N labelled ones first, and ω twice
the usual dual value. Nothing of the library is used, and nothing of `judges.conic` either.

=========  ===============  =================
criterion  bound of a       τ
=========  ===============  =================
"HM"       none             0
"SM1"      C                0
"SM2"      none             1/C
"SM2C"     none             learned, τ ≥ 0
=========  ===============  =================
"""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

CRITERIA = ("HM", "SM1", "SM2", "SM2C")
# Tighter, or with its default factorisation, CVXOPT gives up on some of the problems.
_CVXOPT = {"solver": cp.CVXOPT, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8, "kktsolver": "ldl"}


def default_trace(Ks: Array, criterion: str) -> float:
    """The paper's c: the sum of the traces, and that of the identity where τ is learned."""
    return float(np.trace(Ks, axis1=1, axis2=2).sum() + (Ks.shape[1] if criterion == "SM2C" else 0))


def _given_tau(criterion: str, C: float) -> float:
    return 1.0 / C if criterion == "SM2" else 0.0


class MatrixInequality(NamedTuple):
    """The program in cvxpy, its unknowns μ and τ, and the inequality with the border."""

    program: cp.Problem
    mu: cp.Variable
    tau: cp.Expression
    bordered: cp.Constraint


def matrix_inequality(
    Ks: Array,
    y: Array,
    criterion: str,
    C: float = 1.0,
    c: float | None = None,
    *,
    merged: bool = False,
    basis: Array | None = None,
) -> MatrixInequality:
    """Weights of any sign: the linear matrix inequality (26), (31), (36), (41) or (45).

        min t   over μ, t, λ, ν ≥ 0, δ ≥ 0:   K(μ) ⪰ 0 over all n points,

        [ G(K(μ)) + τI       v        ]
        [ v'            t − 2C e'δ    ]  ⪰ 0,        v = e + ν − δ + λy,   over the N labelled ones,

    with δ for "SM1" only. ``merged`` makes one inequality of both where τ is zero: see ``lmi_cvxopt``.
    Kernels with a common null space leave the first one without an interior: an orthonormal ``basis`` (n, p)
    of the sum of their ranges makes it basis' K(μ) basis ⪰ 0.
    """
    m, n, N = len(Ks), Ks.shape[1], y.size
    c = default_trace(Ks, criterion) if c is None else c
    mu, t, lam, nu = cp.Variable(m), cp.Variable(), cp.Variable(), cp.Variable(N, nonneg=True)
    v, corner = np.ones(N) + nu + lam * y, t
    if criterion == "SM1":
        delta = cp.Variable(N, nonneg=True)
        v, corner = v - delta, t - 2 * C * cp.sum(delta)
    tau = cp.Variable(nonneg=True) if criterion == "SM2C" else cp.Constant(_given_tau(criterion, C))
    total = np.trace(Ks, axis1=1, axis2=2) @ mu + (n * tau if criterion == "SM2C" else 0)
    constraints = [total / c == 1]
    if merged:
        assert criterion in ("HM", "SM1"), "with a ridge the merged inequality is a weaker one"
        block, border = (
            sum(mu[i] * Ks[i] for i in range(m)),
            cp.hstack([cp.multiply(y, v), cp.Variable(n - N)]),
        )
    else:
        on_range = sum(mu[i] * (Ks[i] if basis is None else basis.T @ Ks[i] @ basis) for i in range(m))
        constraints.append(on_range >= 0 if on_range.shape == (1, 1) else on_range >> 0)
        signed = Ks[:, :N, :N] * np.outer(y, y)
        block, border = sum(mu[i] * signed[i] for i in range(m)) + tau * np.eye(N), v
    column = cp.reshape(border, (border.size, 1), order="C")
    bordered = cp.bmat([[block, column], [column.T, cp.reshape(corner, (1, 1), order="C")]]) >> 0
    return MatrixInequality(cp.Problem(cp.Minimize(t), [*constraints, bordered]), mu, tau, bordered)


def omega_free(
    Ks: Array, y: Array, criterion: str, C: float = 1.0, c: float | None = None
) -> tuple[float, Array, float]:
    """Weights of any sign by CVXOPT: (ω, μ, τ).

    Kernels without a common null space: the inequality has no interior otherwise.
    """
    stated = matrix_inequality(Ks, y, criterion, C, c)
    value = _solve(stated.program)
    return value, np.asarray(stated.mu.value), float(np.asarray(stated.tau.value))


class ConeProgram(NamedTuple):
    """The program in cvxpy, and the bounds of its kernels, that of the identity last where τ is learned."""

    program: cp.Problem
    bounds: list[cp.SOC]


def cone_program(Ks: Array, y: Array, criterion: str, C: float = 1.0, c: float | None = None) -> ConeProgram:
    """Nonnegative weights: the quadratically constrained program (27), (33), (38), (43) or (47).

    Bounds are stated on norms, s² = t, which keeps the digits of a solver of cones.
    """
    N = y.size
    c = default_trace(Ks, criterion) if c is None else c
    a, s = cp.Variable(N, nonneg=True), cp.Variable()
    bounds = []
    for K in Ks:
        values, vectors = np.linalg.eigh(np.outer(y, y) * K[:N, :N])
        root = vectors * np.sqrt(np.maximum(values, 0.0) / np.trace(K))
        bounds.append(cp.SOC(s, root.T @ a))
    if criterion == "SM2C":
        bounds.append(cp.SOC(s, a / np.sqrt(Ks.shape[1])))
    box = [y @ a == 0] + ([a <= C] if criterion == "SM1" else [])
    reward = 2 * cp.sum(a) - _given_tau(criterion, C) * cp.sum_squares(a)
    return ConeProgram(cp.Problem(cp.Maximize(reward - c * cp.square(s)), bounds + box), bounds)


def omega_nonnegative(
    Ks: Array, y: Array, criterion: str, C: float = 1.0, c: float | None = None
) -> tuple[float, Array, float]:
    """Nonnegative weights by CVXOPT: (ω, μ, τ)."""
    c = default_trace(Ks, criterion) if c is None else c
    stated = cone_program(Ks, y, criterion, C, c)
    value = _solve(stated.program)
    multipliers = np.array([float(np.ravel(bound.dual_value[0])[0]) for bound in stated.bounds])
    shares = c * multipliers / multipliers.sum()
    tau = shares[-1] / Ks.shape[1] if criterion == "SM2C" else _given_tau(criterion, C)
    return value, shares[: len(Ks)] / np.trace(Ks, axis1=1, axis2=2), float(tau)


def _solve(problem: cp.Problem) -> float:
    problem.solve(**_CVXOPT)
    assert problem.status == cp.OPTIMAL, problem.status
    return float(problem.value)
