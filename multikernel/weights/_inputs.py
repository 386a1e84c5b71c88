"""What every rule asks of its input: a sound stack of kernels, and labels of its samples."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._validation import codes_of_classes, is_frame, is_indefinite, raise_indefinite
from .._validation import signs_of_two_classes as two_class_signs
from ..kernels import Kernel
from ..views.precomputed import PrecomputedBank
from ..views.stacks import stack_kernels

Array = np.ndarray[Any, np.dtype[Any]]


def kernels_first(kernels: Any, psd: str = "error") -> Array:
    """The checked stack (m, n, n) of an array (n, n, m) or (n, n), or of a list or dict of matrices.

    Every kernel must be finite, symmetric, positive semidefinite (or is made so, see `psd`) and not constant.
    """
    names = list(kernels) if isinstance(kernels, Mapping) else None
    _require_grams(kernels)
    stack = kernels if isinstance(kernels, np.ndarray) else stack_kernels(kernels)
    return PrecomputedBank(names, psd=psd).fit_stack(stack)


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
    return two_class_signs(
        labels,
        if_missing="Put unlabelled samples last in the kernels and leave them out of y.",
        if_more="For more than two classes, learn one-vs-rest: one call for each class c with y == c.",
    )


def class_codes(y: Any, n: int) -> Array:
    """0 … k−1 for the labels of all n samples, k ≥ 2."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(
            f"y must hold one label for each of the {n} samples, shape ({n},); got shape {labels.shape}."
        )
    classes, codes = codes_of_classes(labels, if_missing="Leave samples without a label out of the kernels.")
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one: {classes.tolist()}.")
    return codes


def blame_indefinite(names: Sequence[str], Ks: Array) -> None:
    """Raise for the first kernel that is indefinite; of large kernels the door looks at parts only."""
    for name, K in zip(names, Ks, strict=True):
        if is_indefinite(K, full=True):
            raise_indefinite(K, f"kernel {name!r}")


def names_of(kernels: Any, m: int) -> list[str]:
    """What the caller calls the m kernels."""
    return list(map(str, kernels)) if isinstance(kernels, Mapping) else [f"kernel-{i}" for i in range(m)]
