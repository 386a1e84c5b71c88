"""Regularised kernel discriminant analysis with a given kernel G and λ, and its nearest-centroid rule.

    B = (λI + G~)⁻¹H,   H'G~B u = s u,   A = B u / √s      (k − 1 directions; G~ = P G P)

With Φ the centred points in feature space as columns, the directions W = ΦA satisfy W'(ΦΦ' + λI)W = I and
W'ΦHH'Φ'W = diag(s). A point x is projected to z = A'(k(x) − mean_j k(x_j)) with the kernel as it is: the
columns of A have sum zero. The class of x is that of the nearest projected class mean c, which is linear in
z: argmax z'c − ½‖c‖².
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._typing import Array
from ...core.scatter import SingularScatterError, class_columns

_NO_DIRECTION = 1e-12  # share of the largest possible s below which the class means coincide


@dataclass(frozen=True)
class Projection:
    """Discriminant directions of the training points."""

    directions: Array  # (n, d), A; projected points are ``K_test @ directions - offset``
    offset: Array  # (d,)
    eigenvalues: Array  # (d,), s / n in [0, 1]: the share of the scatter that lies between classes
    centroids: Array  # (k, d), the projected class means

    def rule(self) -> tuple[Array, Array]:
        """The nearest-centroid rule as scores ``K_test @ coefficients + intercepts``.

        (n, k) and (k,); for two classes (n, 1) and (1,), positive for the second.
        """
        coefficients = self.directions @ self.centroids.T
        intercepts = -self.centroids @ self.offset - 0.5 * (self.centroids**2).sum(axis=1)
        if len(self.centroids) == 2:
            return coefficients[:, 1:] - coefficients[:, :1], intercepts[1:] - intercepts[:1]
        return coefficients, intercepts


def discriminant_projection(
    K: Array, codes: Array, reg: float, n_components: int | None = None
) -> Projection:
    """The leading discriminant directions of a kernel matrix.

    Parameters
    ----------
    K : array (n, n), not centred
    codes : array (n,) of int, the class of each point, 0 … k−1
    reg : float, λ
    n_components : int or None, maximum number of directions

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> found = discriminant_projection(x @ x.T, np.array([0, 0, 1, 1]), 1e-9)
    >>> found.eigenvalues.round(3)  # 16 of 17 parts of the variance lie between the classes
    array([0.941])
    """
    n = codes.size
    means = K.mean(axis=0)
    G = K - means - means[:, None] + means.mean()
    H = class_columns(codes)
    B = _solve_regularised(G, H, reg)
    S = H.T @ (G @ B)
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    leading = np.argsort(-values)[: codes.max() if n_components is None else n_components]
    leading = leading[values[leading] > _NO_DIRECTION * n]
    if not leading.size:
        raise ValueError(
            "the class means coincide under the learned kernel, so that the between-class scatter is zero: "
            f"its largest share is {max(values.max() / n, 0.0):.1e}. Check the labels, give kernels that "
            "tell the classes apart, or lower reg."
        )
    A = B @ (vectors[:, leading] / np.sqrt(values[leading]))
    A -= A.mean(axis=0)
    offset = means @ A
    projected = K @ A - offset
    sizes = np.bincount(codes)
    centroids = np.array([projected[codes == c].sum(axis=0) for c in range(sizes.size)]) / sizes[:, None]
    return Projection(A, offset, values[leading] / n, centroids)


def _solve_regularised(G: Array, H: Array, reg: float) -> Array:
    """(λI + G~)⁻¹H; the sum is made regular along 1, which H does not see."""
    n = len(G)
    M = G + float(np.trace(G)) / n**2
    M.flat[:: n + 1] += reg
    try:
        return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), H))
    except LinAlgError:
        raise SingularScatterError(reg) from None
