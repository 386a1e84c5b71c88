"""Transduction of one new point at a time with weights of any sign, without a new fit for each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import (
    check_choice,
    check_number,
    check_positive_integer,
    check_real_matrix,
    warn_caller,
)
from .._validation import signs_of_two_classes as two_class_signs
from ..core.optim.loop import Status
from ..core.svm.losses import Hinge, SquaredHinge
from ..core.unlabeled import Bordered
from .generalization import kernels_first
from .solver.one_more import OneMorePoint

METHODS = ("soft1", "soft2")
_INDEFINITE = 1e-8  # of the mean diagonal


@dataclass(frozen=True, eq=False)
class PointwiseTransduction:
    """Classes of new points, each with weights of its own.

    Attributes
    ----------
    transduction : array of shape (n_new,)
        The classes.
    scores : array of shape (n_new,)
        Positive for the second class in sorted order.
    kernel_weights : array of shape (n_new, n_kernels)
        Optimal for all given points and this one.
    dual_gap : array of shape (n_new,)
        Relative duality gap of each.
    n_machines : array of shape (n_new,)
        Number of SVMs trained; 0 where the weights of before are optimal.
    """

    transduction: Array
    scores: Array
    kernel_weights: Array
    dual_gap: Array
    n_machines: Array


def transduce_pointwise(
    kernels: Any,
    y: Any,
    new_rows: Any,
    new_diagonal: Any,
    *,
    method: str = "soft1",
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 100,
) -> PointwiseTransduction:
    r"""Classify new points one at a time, each by a kernel matrix of any sign that was learned with it.

    For each new point x this is the problem of ``TransductiveMKLClassifier(weight_set="free")`` with x among
    the unlabelled points, and with no other new point:

    .. math::

        \min_{\mu}\ \max_{\beta}\ 2 y'\beta - \beta' (K(\mu)_{tr} + \tau I) \beta, \qquad
        \mathrm{tr}\, K(\mu) = \textstyle\sum_i \mathrm{tr}\, K_i, \quad K(\mu) \succeq 0

    over the given points and x. The solution without x is the start, and what is learned of the criterion at
    one point is kept for the next.

    Parameters
    ----------
    kernels : array of shape (n_samples, n_samples, n_kernels)
        Array of shape (n_samples, n_samples), or list or dict of arrays of shape (n_samples, n_samples).
        Positive semidefinite kernels over the given points, the labelled first.
    y : array of shape (n_labelled,) of two labels
    new_rows : array of shape (n_new, n_samples, n_kernels)
        Similarities of the new points to the given ones.
    new_diagonal : array of shape (n_new, n_kernels)
        Similarities of the new points to themselves; ones for kernels of unit diagonal.
    method : {"soft1", "soft2"}, default="soft1"
    C : float, default=1.0
    tol : float, default=1e-3
        Relative duality gap to reach for each point.
    max_iter : int, default=100
        Cutting planes for each point.

    Returns
    -------
    PointwiseTransduction

    Notes
    -----
    For kernels of constant diagonal, weights whose bordered matrix is positive semidefinite are optimal with
    the new point too, as the point only adds a constraint; that costs one eigenvalue problem. Otherwise
    cutting planes bound the optimum from both sides, with one machine for each.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, Learning the kernel matrix with semidefinite
    programming, JMLR 5, 2004, section 4.8, asks for such an update.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.kernels import Gaussian, Linear, unit_diagonal
    >>> from multikernel.transductive import transduce_pointwise
    >>> X, y = load_iris(return_X_y=True)
    >>> Ks = np.stack([unit_diagonal(Linear()(X)), Gaussian(gamma=0.5)(X)], axis=2)
    >>> old, new = np.arange(0, 150, 2), np.arange(1, 150, 10)
    >>> found = transduce_pointwise(Ks[np.ix_(old, old)], y[old] == 1, Ks[np.ix_(new, old)], Ks[new, new])
    >>> float(np.mean(found.transduction == (y[new] == 1)).round(2)), bool(found.dual_gap.max() <= 1e-3)
    (1.0, True)
    """
    check_choice("method", method, METHODS)
    check_positive_integer("max_iter", max_iter)
    price, tol = check_number("C", C, above=0.0), check_number("tol", tol, above=0.0)
    Ks = kernels_first(kernels)
    labels = np.asarray(y)
    signs = two_class_signs(
        labels,
        if_missing="Give the labels of the first points only.",
        if_more="Classify each class against the rest.",
    )
    if signs.size > Ks.shape[1]:
        raise ValueError(f"y must have at most {Ks.shape[1]} labels, one for a point; got {signs.size}.")
    rows, diagonal = _new_points(new_rows, new_diagonal, Ks)
    loss = (SquaredHinge if method == "soft2" else Hinge)(signs, price)
    update = OneMorePoint(Ks, loss, tol, max_iter)
    found = [update.add(row, own) for row, own in zip(rows, diagonal, strict=True)]
    short = [number for number, one in enumerate(found) if one.status != Status.OPTIMAL]
    if short:
        warn_caller(
            f"the gap of {len(short)} of {len(found)} new points is above tol, the largest "
            f"{max(found[number].gap for number in short):.1e}. Raise max_iter, or tol."
        )
    N = signs.size
    scores = np.array(
        [one.weights @ (row[:, :N] @ one.dual) + one.intercept for one, row in zip(found, rows, strict=True)]
    )
    return PointwiseTransduction(
        transduction=np.unique(labels)[(scores > 0.0).astype(int)],
        scores=scores,
        kernel_weights=np.array([one.weights for one in found]),
        dual_gap=np.array([one.gap for one in found]),
        n_machines=np.array([one.n_machines for one in found]),
    )


def _new_points(new_rows: Any, new_diagonal: Any, Ks: Array) -> tuple[Array, Array]:
    """Checked rows (n_new, m, n) and diagonals (n_new, m); with each point every kernel stays a kernel."""
    m, n = Ks.shape[:2]
    rows = check_real_matrix(new_rows, "new_rows").astype(float)
    diagonal = check_real_matrix(new_diagonal, "new_diagonal").astype(float)
    if rows.ndim != 3 or rows.shape[1:] != (n, m) or diagonal.shape != (len(rows), m):
        raise ValueError(
            f"new_rows must have shape (n_new, {n}, {m}) and new_diagonal (n_new, {m}); got {rows.shape} and "
            f"{diagonal.shape}."
        )
    if not (np.isfinite(rows).all() and np.isfinite(diagonal).all()):
        raise ValueError("new_rows and new_diagonal must be finite; some entry is not.")
    rows = np.ascontiguousarray(rows.transpose(0, 2, 1))
    for i, K in enumerate(Ks):
        lowest = Bordered(K).smallest(rows[:, i], diagonal[:, i])
        sizes = (np.trace(K) + diagonal[:, i]) / (n + 1)
        bad = np.flatnonzero(lowest < -_INDEFINITE * sizes)
        if bad.size:
            raise ValueError(
                f"kernel {i} with new point {bad[0]} must be positive semidefinite; its smallest eigenvalue "
                f"is {lowest[bad[0]]:.3g}. Check new_rows and new_diagonal of this point."
            )
    return rows, diagonal
