"""What every rule asks of its input: a sound stack of kernels and labels of two classes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..views.precomputed import PrecomputedBank
from ..views.stacks import stack_kernels

Array = np.ndarray[Any, np.dtype[Any]]


def kernels_first(kernels: Any, psd: str = "error") -> Array:
    """The checked stack (m, n, n) of an array (n, n, m) or (n, n), or of a list or dict of matrices.

    Every kernel must be finite, symmetric, positive semidefinite (or is made so, see `psd`) and not constant.
    """
    names = list(kernels) if isinstance(kernels, Mapping) else None
    stack = kernels if isinstance(kernels, np.ndarray) else stack_kernels(kernels)
    return PrecomputedBank(names, psd=psd).fit_stack(stack)


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and math.isnan(label))


def signs_of_two_classes(y: Any, n: int) -> Array:
    """±1 for the labels of the first len(y) of n samples: +1 is the second class in sorted order."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be a list of labels, shape (n_labelled,); got shape {labels.shape}.")
    if labels.size > n:
        raise ValueError(
            f"y must hold the labels of the first samples, at most {n} as the kernels have rows; "
            f"got {labels.size}."
        )
    missing = [place for place, label in enumerate(labels.tolist()) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"y must not hold missing labels; entry {missing[0]} is {labels[missing[0]]}. "
            "Put unlabelled samples last in the kernels and leave them out of y."
        )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind, all numbers or all text; {error}.") from error
    if classes.size != 2:
        raise ValueError(
            f"y must hold two classes; got {classes.size}: {classes[:5].tolist()}. "
            "For more than two classes, learn one-vs-rest: one call for each class c with y == c."
        )
    return np.where(codes == 1, 1.0, -1.0)
