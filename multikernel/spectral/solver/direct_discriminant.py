"""Direct discriminant analysis in the feature space of a kernel (KDDA).

With n points in k classes of n_c points each, and the scatters of their images φ(x_i)

    S_b = (1/n) Σ_c n_c (m_c − m)(m_c − m)',     S_w = (1/n) Σ_c Σ_{i in c} (φ(x_i) − m_c)(φ(x_i) − m_c)',

the null space of S_b, in which the class means agree, is given up first. What is left has at most k − 1
dimensions: S_b = φ(X) A A' φ(X)' with a matrix A (n, k), so A'KA = V diag(b) V' has its spectrum, and along
the directions φ(X) U with U = A V diag(1/b) it is I. There S_w = Q diag(s) Q', and in the directions φ(X) T,

    T = U Q (reg · I + diag(s))^(−1/2),     S_w + reg · S_b = I.

`reg` keeps directions without scatter inside the classes from growing beyond all bounds; it is what makes
the method work with fewer points than dimensions.
"""

import numpy as np
import scipy.linalg

from ..._typing import Array
from ..._validation import check_number
from ...core.scatter import class_columns

_KEPT = 1e-10  # of the largest eigenvalue of the scatter between classes


def direct_discriminant(K: Array, codes: Array, reg: float = 1.0) -> Array:
    """The coefficients T of the discriminant directions: points with similarities k have the scores k T.

    (n, n_directions), at most one less than there are classes; the sharpest first, each from the first class
    to the last. ``codes`` are the classes (n,), 0, 1, …, none of them empty; a class of one point has no
    scatter of its own.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> T = direct_discriminant(X @ X.T, np.array([0, 0, 1, 1]))
    >>> (X.T @ T).round(6).tolist()
    [[1.0], [0.0]]
    """
    reg = check_number("reg", reg, above=0.0)
    A = class_columns(codes) / len(codes)
    values, vectors = scipy.linalg.eigh(A.T @ (K @ A))
    rounding = len(K) * np.finfo(float).eps * float(np.abs(K.diagonal()).max())
    if not values[-1] > rounding:
        raise ValueError(
            "the means of all classes agree in the feature space of the kernel: the scatter between classes "
            f"is zero (its largest eigenvalue is {values[-1]:.1e}), so no direction separates them. Use a "
            "kernel that sees more than the mean (such as a Gaussian), or check the labels."
        )
    kept = values > max(_KEPT * values[-1], rounding)
    U = A @ (vectors[:, kept] / values[kept])
    scores = K @ U
    means = np.array([scores[codes == c].mean(axis=0) for c in range(A.shape[1])])
    residuals = scores - means[codes]
    spreads, Q = scipy.linalg.eigh(residuals.T @ residuals / len(codes))
    Q = Q / np.sqrt(reg + np.maximum(spreads, 0.0))
    signs = np.where((means[-1] - means[0]) @ Q < 0.0, -1.0, 1.0)
    return U @ (Q * signs)
