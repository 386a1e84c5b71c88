"""Linear systems of a few unknowns inside compiled loops.

NumPy's own solver works there too, but numba takes ten seconds to compile what surrounds its call of LAPACK.
"""

from typing import Any

import numpy as np

from .._numba import HUGE, kept_njit

Array = np.ndarray[Any, np.dtype[Any]]


# Without the library's fast mathematics, which may assume that there is no NaN: here it is looked for.
@kept_njit(error_model="numpy", nogil=True)
def solve_small(A: Array, B: Array) -> None:
    """Solve A X = B by elimination with row pivots, in place: B becomes X, and A is used up.

    Raises LinAlgError where no pivot is left, or one that is not finite.

    Examples
    --------
    >>> sides = np.array([[3.0, 1.0], [4.0, 0.0]])
    >>> solve_small(np.array([[0.0, 1.0], [2.0, 0.0]]), sides)
    >>> sides
    array([[2., 0.],
           [3., 1.]])
    """
    n = A.shape[0]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if not 0.0 < abs(A[pivot, k]) < HUGE:
            raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(B.shape[1]):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(B.shape[1]):
                    B[i, j] -= factor * B[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(B.shape[1]):
            for i in range(k + 1, n):
                B[k, j] -= A[k, i] * B[i, j]
            B[k, j] /= A[k, k]
