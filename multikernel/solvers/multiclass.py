"""The joint multiclass machine: all classes in one problem, with one kernel.

    min  ½ Σ_l ‖w_l‖² + Σ_i C_i Σ_{l ≠ y_i} [R_il − (f_i^{y_i} − f_i^l)]₊,    f^l = w_l'φ + b_l,  Σ_l b_l = 0
    max_α  Σ_{i, l ≠ y_i} R_il α_il − ½ tr B'KB   subject to   0 ≤ α_il ≤ C_i,  Σ_i B_il = 0 for every l,

where B_il = [l = y_i] Σ_m α_im − α_il (α of the own class is 0), f^l(x) = Σ_i B_il k(x_i, x) + b_l, and the
predicted class is the one with the largest f^l. With R = 2 this is the machine of Weston & Watkins (1999);
with two classes it is the binary SVM of the same C: the value is twice its value, and f = (f¹ − f⁰)/2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.optim.loop import Result, Status
from ..criteria.joint import JointHinge
from .joint_solver import JointSolver
from .machine import NEGATIVE_CURVATURE

Array = np.ndarray[Any, np.dtype[Any]]

_INFEASIBLE = 1e-9  # relative to the largest C


@dataclass(frozen=True)
class MulticlassResult(Result):
    """A joint multiclass machine.

    Attributes
    ----------
    alpha : array (n, n_classes), 0 in the column of the sample's own class
    coefficients : array (n, n_classes), B: f^l(x) = Σ_i B_il k(x_i, x) + b_l
    intercepts : array (n_classes,), of sum 0
    objective : float, the dual value
    primal : float, the primal value
    gap : float, (primal − dual) / |primal|
    n_iter : int, steps along cycles of classes
    status : Status
    """

    alpha: Array
    coefficients: Array
    intercepts: Array
    primal: float


def solve_multiclass(
    K: Array,
    codes: Array,
    n_classes: int,
    C: Array | float,
    *,
    rewards: Array | None = None,
    tol: float = 1e-4,
    start: Array | None = None,
    max_iter: int = 10**7,
) -> MulticlassResult:
    """Solve the joint multiclass machine with the kernel K, from any feasible start.

    Parameters
    ----------
    K : array (n, n), symmetric
    codes : int array (n,), the class of each sample, 0 to n_classes − 1
    n_classes : int, at least 2
    C : float or array (n,)
        The bounds C_i, finite and at least 0; a sample of bound 0 takes no part.
    rewards : array (n, n_classes), optional
        R, 2 by default; any finite numbers. Those of the samples' own classes are not read.
    tol : float
        The relative duality gap (primal − dual) / |primal| to reach.
    start : array (n, n_classes), optional
        A feasible α to start from, for example the one of a nearby kernel.
    max_iter : int
        At most so many steps.

    Returns
    -------
    MulticlassResult
        ``status`` is ``"indefinite"`` if a step met negative curvature (the solution is then only
        stationary), and ``"stalled"`` if rounding keeps the gap above ``tol``.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> result = solve_multiclass(X @ X.T, codes, 2, 10.0)
    >>> result.coefficients.round(3).tolist()
    [[0.0, 0.0], [0.5, -0.5], [-0.5, 0.5], [0.0, 0.0]]
    """
    K, codes, upper = _checked_data(K, codes, n_classes, C)
    loss = JointHinge(codes, n_classes, upper, _checked_rewards(rewards, codes, n_classes))
    solver = JointSolver(K, loss, _checked_start(start, codes, n_classes, upper).T)
    values, status = solver.solve(tol, max_iter)
    alpha, B = (solver.as_given(part).T.copy() for part in (solver.point.alpha, solver.coefficients))
    gap = values.difference / max(abs(values.primal), np.finfo(float).tiny)
    if solver.least_curvature < NEGATIVE_CURVATURE:
        status = Status.INDEFINITE
    return MulticlassResult(
        alpha,
        B,
        values.intercepts,
        values.primal,
        objective=values.dual,
        gap=gap,
        n_iter=solver.n_steps,
        status=status,
    )


def _checked_data(K: Array, codes: Array, n_classes: int, C: Array | float) -> tuple[Array, Array, Array]:
    """The kernel, the codes and the bounds as arrays."""
    K = np.ascontiguousarray(K, dtype=None if np.asarray(K).dtype == np.float32 else float)
    codes = np.asarray(codes)
    n = codes.size
    if K.shape != (n, n) or codes.ndim != 1:
        raise ValueError(
            f"K must be (n, n) with one class code for each sample; got K {K.shape} and codes {codes.shape}."
        )
    if n_classes < 2 or not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"codes must be integers of at least 2 classes; got {codes.dtype} and n_classes={n_classes}. "
            "Encode labels with np.unique(y, return_inverse=True)."
        )
    if n == 0 or codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(f"codes must lie in 0 .. {n_classes - 1} and not be empty; got {np.unique(codes)}.")
    upper = np.array(C, float)
    if upper.shape not in ((), (n,)) or not np.isfinite(upper).all() or (upper < 0.0).any():
        raise ValueError(
            f"C must be a finite number, at least 0, or one for each of the {n} samples; got {C!r}."
        )
    return K, codes.astype(np.int64), np.broadcast_to(upper, n).copy()


def _checked_rewards(rewards: Array | None, codes: Array, n_classes: int) -> Array | None:
    """R with 0 for the samples' own classes, where it is given."""
    if rewards is None:
        return None
    R = np.array(rewards, float)
    if R.shape != (codes.size, n_classes):
        raise ValueError(f"rewards must have the shape {(codes.size, n_classes)}; got {R.shape}.")
    R[np.arange(codes.size), codes] = 0.0
    if not np.isfinite(R).all():
        raise ValueError("rewards must be finite; the ones given contain NaN or infinity.")
    return R


def _checked_start(start: Array | None, codes: Array, n_classes: int, upper: Array) -> Array:
    """A feasible α: rounding is clipped, anything worse is an error."""
    if start is None:
        return np.zeros((codes.size, n_classes))
    alpha = np.array(start, float)
    if alpha.shape != (codes.size, n_classes):
        raise ValueError(f"start must have the shape {(codes.size, n_classes)}; got {alpha.shape}.")
    allowed = _INFEASIBLE * float(upper.max())
    outside = float(np.maximum(-alpha, alpha - upper[:, None]).max())
    alpha = np.clip(alpha, 0.0, upper[:, None])
    alpha[np.arange(codes.size), codes] = 0.0
    given = np.bincount(codes, alpha.sum(axis=1), n_classes)
    imbalance = float(np.abs(given - alpha.sum(axis=0)).max())
    if not (outside <= allowed and imbalance <= codes.size * allowed):
        raise ValueError(
            "start must be feasible: 0 <= alpha <= C, and for every class the sum over its own samples equal "
            f"to the sum of its column; it is outside by {outside:.1e}, out of balance by {imbalance:.1e}. "
            "Pass the alpha of an earlier solution with the same C, or None."
        )
    return alpha
