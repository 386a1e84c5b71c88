"""The programs of Ye et al. (2007) as the paper states them, by CVXOPT: a judge from outside.

In the scaling by λ, which CVXOPT needs too: M = λI + Σ η_i A_i with A_i = PG_iP / tr PG_iP and η in the unit
simplex, so that the published objective is λ times the value; where λ is learned, I/n is one more member and
λI is left out. Nothing of the library is used.

==============  ====================================================================
``value`` of    min of
==============  ====================================================================
"each class"    Σ_j t_j,  ⎡M h_j; h_j' t_j⎤ ⪰ 0 for every class j: (34), for two classes (16) with a
"diagonal"      1't,      ⎡M H; H' Diag(t)⎤ ⪰ 0: (37)
"full"          tr T,     ⎡M H; H' T⎤ ⪰ 0, T symmetric: one inequality that is exact
==============  ====================================================================

With no λ given they are (40), (41) and their like.
"""

from typing import Any

import cvxopt
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_CVXOPT = {"show_progress": False, "abstol": 1e-8, "reltol": 1e-8, "feastol": 1e-8}


def centred(Ks: Array) -> Array:
    """PK_iP of every kernel, P = I − 11'/n."""
    n = Ks.shape[1]
    P = np.eye(n) - np.ones((n, n)) / n
    return np.array([P @ K @ P for K in Ks])


def columns(codes: Array) -> Array:
    """a (n, 1) for two classes; h_c = √(n/n_c) − √(n_c/n) within class c and −√(n_c/n) elsewhere for more."""
    if codes.max() == 1:
        return np.where(codes == 1, 1.0 / (codes == 1).sum(), -1.0 / (codes == 0).sum())[:, None]
    return class_columns(codes)


def class_columns(codes: Array) -> Array:
    """H (n, k), for two classes too."""
    n, sizes = len(codes), [(codes == c).sum() for c in range(codes.max() + 1)]
    within = [np.sqrt(n / size) * (codes == c) for c, size in enumerate(sizes)]
    return np.column_stack(within) - np.sqrt(np.array(sizes) / n)


def members(Ks: Array, reg: float | None) -> tuple[Array, Array]:
    """A_i, with I/n first where λ is learned, and the part of M that is always there."""
    n = Ks.shape[1]
    A = np.array([G / np.trace(G) for G in centred(Ks)])
    if reg is None:
        return np.concatenate([np.eye(n)[None] / n, A]), np.zeros((n, n))
    return A, reg * np.eye(n)


def objective(Ks: Array, codes: Array, reg: float | None, shares: Array, H: Array | None = None) -> float:
    """tr H'M⁻¹H of the paper at given shares, with the factor λ where it is given."""
    A, ridge = members(Ks, reg)
    H = columns(codes) if H is None else H
    M = (
        ridge + np.tensordot(shares, A, 1) + np.ones_like(ridge) / len(ridge) ** 2
    )  # H is orthogonal to the ones
    return (1.0 if reg is None else reg) * float(np.trace(H.T @ np.linalg.solve(M, H)))


def value(
    Ks: Array, codes: Array, reg: float | None, form: str = "full", H: Array | None = None
) -> tuple[float, Array]:
    """The optimum, and the shares of the members; H is that of the classes unless it is given."""
    A, ridge = members(Ks, reg)
    H = columns(codes) if H is None else H
    m, (n, k) = len(A), H.shape
    # In coordinates in which M at equal shares is the identity CVXOPT copes with every λ. The ones, which are
    # orthogonal to all the rest, are left out.
    values, vectors = np.linalg.eigh(ridge + A.mean(axis=0) - 2.0 * np.ones((n, n)) / n)
    root = vectors[:, 1:] / np.sqrt(values[1:])
    A, ridge, H = root.T @ A @ root, root.T @ ridge @ root, root.T @ H
    size = np.linalg.norm(H)
    H = H / size
    corners = _corners(k, full=form == "full")
    blocks = [[j] for j in range(k)] if form == "each class" else [list(range(k))]
    inequalities = [_inequality(A, ridge, H[:, block], corners[:, block][:, :, block]) for block in blocks]
    n_corner = len(corners)
    c = np.concatenate([np.zeros(m), np.trace(corners, axis1=1, axis2=2)])
    signs = np.column_stack([-np.eye(m), np.zeros((m, n_corner))])
    answer = cvxopt.solvers.sdp(
        cvxopt.matrix(c),
        Gl=cvxopt.matrix(signs),
        hl=cvxopt.matrix(np.zeros(m)),
        Gs=[cvxopt.matrix(-G) for G, _ in inequalities],
        hs=[cvxopt.matrix(h) for _, h in inequalities],
        A=cvxopt.matrix(np.concatenate([np.ones(m), np.zeros(n_corner)])[None]),
        b=cvxopt.matrix(1.0),
        options=_CVXOPT,
    )
    assert answer["status"] == "optimal"
    scale = size**2 * (1.0 if reg is None else reg)
    return scale * 0.5 * (answer["primal objective"] + answer["dual objective"]), np.ravel(answer["x"])[:m]


def _corners(k: int, full: bool) -> Array:
    """What T is made of: the unit matrices of the diagonal, then those of pairs."""
    units = [np.diag(row) for row in np.eye(k)]
    pairs = [(i, j) for i in range(k) for j in range(i)] if full else []
    for i, j in pairs:
        unit = np.zeros((k, k))
        unit[i, j] = unit[j, i] = 1.0
        units.append(unit)
    return np.array(units)


def _inequality(A: Array, ridge: Array, H: Array, corners: Array) -> tuple[Array, Array]:
    """The columns of ⎡Σ η_i A_i, 0; 0, Σ t_j T_j⎤ and the constant ⎡ridge, H; H', 0⎤."""
    m, (n, k) = len(A), H.shape
    bordered = np.zeros((m + len(corners), n + k, n + k))
    bordered[:m, :n, :n] = A
    bordered[m:, n:, n:] = corners
    constant = np.block([[ridge, H], [H.T, np.zeros((k, k))]])
    return bordered.reshape(len(bordered), -1).T, constant


def smallest_diagonal(C: Array) -> tuple[float, Array]:
    """min 1't, Diag(t) − C ⪰ 0, and the multiplier Z."""
    k = len(C)
    units = np.array([np.diag(row).ravel() for row in np.eye(k)]).T
    answer = cvxopt.solvers.sdp(
        cvxopt.matrix(np.ones(k)),
        Gs=[cvxopt.matrix(-units)],
        hs=[cvxopt.matrix(-C)],
        options=_CVXOPT,
    )
    return answer["primal objective"], np.array(answer["zs"][0])


def fisher_ratio(Ks: Array, codes: Array, reg: float, weighted: bool = False) -> tuple[float, Array]:
    """Kim et al.'s largest ratio over θ ≥ 0, Σ θ = 1, and θ; (3) of Ye et al. where covariances are weighted.

    max s / λ,   ⎡λI + JGJ, JGa; a'GJ, a'Ga − s⎤ ⪰ 0,   G = Σ θ_i G_i
    """
    m, n = len(Ks), len(codes)
    a = columns(codes)[:, 0]
    J = np.zeros((n, n))
    for c in (0, 1):
        inside = np.flatnonzero(codes == c)
        divisor = n if weighted else inside.size
        J[np.ix_(inside, inside)] = (np.eye(inside.size) - 1.0 / inside.size) / np.sqrt(divisor)
    # In coordinates in which equal weights make the first block the identity and the border zero.
    middle = Ks.mean(axis=0)
    values, vectors = np.linalg.eigh(reg * np.eye(n) + J @ middle @ J)
    root = vectors / np.sqrt(values)
    v = root @ (root.T @ (J @ middle @ a))
    u = a - J @ v
    size = u @ middle @ u + reg * v @ v
    frame = np.column_stack([J @ root, u / np.sqrt(size)])
    ridge = np.column_stack([root, -v / np.sqrt(size)])
    blocks = np.array([frame.T @ K @ frame for K in Ks] + [np.diag([0.0] * n + [-1.0])])
    constant = reg * ridge.T @ ridge
    answer = cvxopt.solvers.sdp(
        cvxopt.matrix(np.append(np.zeros(m), -1.0)),
        Gl=cvxopt.matrix(np.column_stack([-np.eye(m), np.zeros(m)])),
        hl=cvxopt.matrix(np.zeros(m)),
        Gs=[cvxopt.matrix(-blocks.reshape(m + 1, -1).T)],
        hs=[cvxopt.matrix(constant)],
        A=cvxopt.matrix(np.append(np.ones(m), 0.0)[None]),
        b=cvxopt.matrix(1.0),
        options=_CVXOPT,
    )
    assert answer["status"] == "optimal"
    return -0.5 * size / reg * (answer["primal objective"] + answer["dual objective"]), np.ravel(answer["x"])[
        :m
    ]
