"""Ready-made kernels: a stack (n, n, m), one matrix, or a dict of name to matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel._validation import check_real_matrix
from multikernel.doctor.diagnosis import Finding, named

Matrices = dict[str, np.ndarray]


def read_matrices(X: Any, n_wanted: int | None) -> tuple[list[Matrices], list[Finding]]:
    """The square matrices by name, those of one size together, and what is wrong with the others.

    The first group is that of `n_wanted` samples where there is one, else that of the first matrix.
    """
    try:
        given = _by_name(X)
    except ValueError as error:
        remedy = "Give X of shape (n, n, n_kernels): stack_kernels([K1, K2])."
        return [], [Finding("error", "kernels", str(error), remedy)]
    findings: list[Finding] = []
    groups: dict[int, Matrices] = {}
    for name, K in given.items():
        try:
            matrix = check_real_matrix(K, named("kernel", [name]))
        except ValueError as error:
            findings.append(Finding("error", named("kernel", [name]), str(error), "Give numbers."))
            continue
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            findings.append(_not_square(name, matrix.shape))
        else:
            groups.setdefault(len(matrix), {})[name] = matrix
    ordered = sorted(groups.values(), key=lambda group: len(next(iter(group.values()))) != n_wanted)
    if len(ordered) > 1:
        sizes = ", ".join(f"{len(group)} over {size}" for size, group in groups.items())
        what = f"they are over different samples ({sizes}), so that no model takes all of them."
        findings.append(Finding("warning", "kernels", what, "Give a model the kernels of one size."))
    return ordered, findings


def _not_square(name: str, shape: tuple[int, ...]) -> Finding:
    what = f"it must be square, similarities of every sample to every sample; got shape {shape}."
    remedy = "Rows of test samples belong to predict; leave them out here."
    return Finding("error", named("kernel", [name]), what, remedy)


def _by_name(X: Any) -> dict[str, Any]:
    if isinstance(X, Mapping):
        if not X:
            raise ValueError("there must be at least one kernel; got an empty dict.")
        return {str(name): K for name, K in X.items()}
    stack = check_real_matrix(X, "the stack of kernels")
    if stack.ndim == 2:
        stack = stack[:, :, None]
    if stack.ndim != 3 or stack.shape[2] == 0:
        raise ValueError(f"kernels must have shape (n, n, n_kernels); got shape {stack.shape}.")
    return {f"kernel-{index}": stack[:, :, index] for index in range(stack.shape[2])}
