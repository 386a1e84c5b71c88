"""C ← C + A'A by BLAS without Python's lock, so that the threads of several blocks work at the same time.

SciPy's own call keeps the lock. This is the same routine, called through the address that SciPy publishes for
compiled code.
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

Array = np.ndarray[Any, np.dtype[Any]]

_POINTERS = (ctypes.c_void_p,) * 10  # uplo, trans, n, k, alpha, A, lda, beta, C, ldc


@cache
def _syrk(name: str) -> Any:
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return ctypes.CFUNCTYPE(None, *_POINTERS)(address)


def add_gram(C: Array, A: Array) -> None:
    """Add A'A to the upper triangle of C (R, R), Fortran-contiguous; A (n, R) is C-contiguous.

    Examples
    --------
    >>> C = np.zeros((2, 2), order="F")
    >>> add_gram(C, np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> C.tolist()
    [[10.0, 14.0], [0.0, 20.0]]
    """
    if not (C.flags.f_contiguous and A.flags.c_contiguous and C.dtype == A.dtype and A.shape[1] == len(C)):
        raise ValueError("add_gram needs C by columns and A by rows, of one type and with as many columns.")
    single = C.dtype == np.float32
    kind = ctypes.c_float if single else ctypes.c_double
    n, k, one = ctypes.c_int(A.shape[1]), ctypes.c_int(A.shape[0]), kind(1.0)
    upper, plain = ctypes.c_char(b"U"), ctypes.c_char(b"N")
    by = ctypes.byref
    # a table by rows is its transpose by columns: A'A is a product of that transpose with itself
    _syrk("ssyrk" if single else "dsyrk")(
        by(upper), by(plain), by(n), by(k), by(one), A.ctypes.data, by(n), by(one), C.ctypes.data, by(n)
    )
