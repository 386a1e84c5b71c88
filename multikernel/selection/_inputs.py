"""What the error bound asks of its input: sound kernels over training and test points, labels, scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._validation import (
    check_gram,
    check_positive_integer,
    check_real_matrix,
    is_indefinite,
    raise_degenerate,
    smallest_eigenvalue,
)
from .._validation import signs_of_two_classes as two_class_signs
from ..views.stacks import stack_kernels

Array = np.ndarray[Any, np.dtype[Any]]


def kernels_first(kernels: Any) -> Array:
    """The checked stack (m, N, N) of an array (N, N, m) or (N, N), or of a list or dict of matrices.

    Every kernel must be finite, symmetric, positive semidefinite and not all zero.
    """
    names = list(kernels) if isinstance(kernels, Mapping) else None
    stack = check_real_matrix(
        kernels if isinstance(kernels, np.ndarray) else stack_kernels(kernels), "kernels"
    )
    stack = stack[:, :, None] if stack.ndim == 2 else stack
    if stack.ndim != 3 or stack.shape[0] != stack.shape[1] or 0 in stack.shape:
        raise ValueError(
            "kernels must be square Gram matrices over all points, a stack of shape (N, N, n_kernels) or a "
            f"list of matrices (N, N); got shape {stack.shape}. stack_kernels makes such a stack."
        )
    Ks = np.ascontiguousarray(np.moveaxis(stack, 2, 0))
    for j, K in enumerate(Ks):
        _check_kernel(K, f"kernel {j if names is None else names[j]!r}")
    return Ks


def _check_kernel(K: Array, label: str) -> None:
    facts = check_gram(K, label)
    if facts.degenerate == "all zero":
        raise_degenerate(label, facts.degenerate)
    if facts.breaks_schwarz or is_indefinite(K, full=True):
        raise ValueError(
            f"kernels must be positive semidefinite; {label} has smallest eigenvalue "
            f"{smallest_eigenvalue(K):.3g}. Repair it first with multikernel.kernels.repair_psd."
        )


def signs_of_two_classes(y: Any, n_points: int) -> Array:
    """±1 for the labels of the training points, half of all points: +1 is the second in sorted order."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be a list of labels, shape (n_train,); got shape {labels.shape}.")
    if 2 * labels.size != n_points:
        raise ValueError(
            "the theorem needs as many test points as training points: kernels over 2n points, the n "
            f"training points first, and n labels; got {n_points} points and {labels.size} labels. Leave out "
            "training or test points at random until their numbers agree."
        )
    return two_class_signs(
        labels,
        if_missing="Give the labels of the training points only.",
        if_more="For more than two classes, bound the error of each class against the rest.",
    )


def check_scores(scores: Any, n_train: int) -> Array:
    """Finite scores of the training points, (n_train,)."""
    values = check_real_matrix(scores, "scores").astype(float)
    if values.shape != (n_train,):
        raise ValueError(
            f"scores must hold one number for each of the {n_train} training points, shape ({n_train},); "
            f"got shape {values.shape}. Leave out the scores of the test points."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"scores must be finite; entry {bad[0]} is {values[bad[0]]}. Fit the machine again.")
    return values


def check_draws(n_draws: Any) -> int:
    """At least two draws, so that there is a standard error."""
    if check_positive_integer("n_draws", n_draws) < 2:
        raise ValueError(f"n_draws must be at least 2, for a standard error; got {n_draws}. Use some 1000.")
    return int(n_draws)
