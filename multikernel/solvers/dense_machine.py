"""One machine as a conic program: for kernels on which pairs crawl, of a few hundred samples.

    max_β  y'β − ε‖β‖₁ − ½‖z‖²    subject to  z = L'β,  lower ≤ β ≤ upper,  Σβ = total,  K + diag(shift) = LL'

With the factor L of the eigenvectors the program knows the square root of the kernel's condition only. What
Clarabel returns is not believed: it is a start.
"""

from typing import Any

import numpy as np
from scipy import sparse

from ..core.optim import cone
from ..criteria import Loss

Array = np.ndarray[Any, np.dtype[Any]]

_BALANCE = 1e-10  # of the sum of the duals, relative to their size
_ROUNDING = 1e-15  # of the largest eigenvalue


def interior_duals(K: Array, loss: Loss) -> Array | None:
    """β (n,) within its bounds; None if the program could not be solved.

    Examples
    --------
    >>> from multikernel.criteria import Hinge
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> interior_duals(np.outer(x, x), Hinge(y, 10.0)).round(6).tolist()
    [-0.0, -0.5, 0.5, 0.0]
    """
    values, vectors = np.linalg.eigh(K + np.diag(loss.shift))
    kept = values > _ROUNDING * float(values[-1])
    sizes = np.sqrt(values[kept])
    n, rank = len(K), int(kept.sum())
    above, below = np.isfinite(loss.upper), np.isfinite(loss.lower)
    one, root = sparse.eye(n, format="csr"), sparse.diags(-1.0 / sizes)
    rows = [[np.ones((1, n)), None], [vectors[:, kept].T, root], [one[above], None], [-one[below], None]]
    b = np.concatenate([[loss.total], np.zeros(rank), loss.upper[above], -loss.lower[below]])
    linear, quadratic = np.append(-loss.target, np.zeros(rank)), np.append(np.zeros(n), np.ones(rank))
    if loss.epsilon:  # one more variable for each |β|
        rows = [[*row, None] for row in rows] + [[one, None, -one], [-one, None, -one]]
        b, linear = np.append(b, np.zeros(2 * n)), np.append(linear, np.full(n, loss.epsilon))
        quadratic = np.append(quadratic, np.zeros(n))
    A = sparse.bmat(rows, format="csr")
    blocks = [
        cone.Block(A[: 1 + rank], b[: 1 + rank], cone.zero(1 + rank)),
        cone.Block(A[1 + rank :], b[1 + rank :], cone.nonnegative(len(b) - 1 - rank)),
    ]
    tol = 1e-8  # enough for a start
    found = cone.minimize(
        sparse.diags(quadratic), linear, blocks, tol_gap_rel=tol, tol_gap_abs=tol, tol_feas=tol
    )
    beta = np.clip(found.x[:n], loss.lower, loss.upper)
    balanced = abs(float(beta.sum()) - loss.total) <= _BALANCE * float(np.abs(beta).sum())  # not if it is nan
    return beta if balanced else None
