"""Our SVM solver alone, at a given kernel: what scikit-learn's SVC is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.fixed_kernel import solve_machine
from multikernel.core.svm.losses import Hinge


def solve_smo(
    kernel: NDArray[np.float64], y: NDArray[np.float64], C: float, tol: float = 1e-3
) -> NDArray[np.float64]:
    """The unsigned duals alpha (n,) of our machine, solved from zero."""
    return y * solve_machine(kernel, Hinge(y, C), tol=tol).dual
