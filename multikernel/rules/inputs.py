"""What every learner asks of its kernels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import is_frame, is_indefinite, raise_indefinite
from ..kernels import Kernel
from ..views.precomputed import PrecomputedBank
from ..views.stacks import stack_kernels


def kernels_first(kernels: Any) -> Array:
    """The checked stack (m, n, n) of an array (n, n, m) or (n, n), or of a list or dict of matrices.

    Every kernel must be finite, symmetric, positive semidefinite and not constant.
    """
    names = list(kernels) if isinstance(kernels, Mapping) else None
    _require_grams(kernels)
    stack = kernels if isinstance(kernels, np.ndarray) else stack_kernels(kernels)
    return PrecomputedBank(names).fit_stack(stack)


def _require_grams(kernels: Any) -> None:
    """Refuse what is most often given instead: a table of features, kernel functions, kernels first."""
    table = "For a table of features put the learner into CombinedKernelClassifier(learner, kernels=[...])."
    members = list(kernels.values()) if isinstance(kernels, Mapping) else kernels
    members = members if isinstance(members, (list, tuple)) else [members]
    if any(isinstance(member, Kernel) for member in members):
        raise TypeError(f"kernels must be Gram matrices, (n, n) each; got kernel functions. {table}")
    shape: tuple[int, ...] = ()
    if isinstance(kernels, np.ndarray) or is_frame(kernels):
        shape = tuple(kernels.shape)
    if len(shape) == 3 and shape[0] != shape[1] == shape[2]:
        raise ValueError(
            f"kernels come last, (n, n, n_kernels); got shape {shape}, with them first. Use "
            "numpy.moveaxis(kernels, 0, 2), or give a list of the matrices."
        )
    if len(shape) >= 2 and shape[0] != shape[1]:
        raise ValueError(
            f"kernels must be square Gram matrices, (n, n, n_kernels); got shape {shape}. {table}"
        )


def blame_indefinite(names: Sequence[str], Ks: Array) -> None:
    """Raise for the first kernel that is indefinite; of large kernels the door looks at parts only."""
    for name, K in zip(names, Ks, strict=True):
        if is_indefinite(K, full=True):
            raise_indefinite(K, f"kernel {name!r}")
