"""What a transductive model warns of: dependent kernels, and points that took no part in the fit."""

from typing import Any

import numpy as np

from .._validation import warn_caller
from ..combine.families import dependence
from ..solvers import Bordered

Array = np.ndarray[Any, np.dtype[Any]]

_DEPENDENT = 1e-12
_INVOLVED = 0.1
_ROUNDING = 1e-10
_REFIT = "Fit again with these points in X_unlabeled to be sure."


def warn_of_dependence(Ks: Array, names: list[str], with_identity: bool) -> None:
    """Name the kernels whose weights are not unique."""
    ratio, combination = dependence(Ks, with_identity)
    if ratio >= _DEPENDENT:
        return
    members = [*names, "the identity (of the learned C)"]
    involved = [members[i] for i in np.flatnonzero(np.abs(combination) > _INVOLVED)]
    warn_caller(
        f"kernels {', '.join(involved)} are linearly dependent to working precision: their weights are not "
        "unique. Leave one of them out to compare weights."
    )


def warn_of_nothing(weights: Array) -> None:
    """A learned C may leave nothing for the kernels."""
    if not weights.any():
        warn_caller(
            "no kernel has a weight: the learned 1/C took the whole trace, and predictions are the "
            "intercept. These kernels tell nothing of the labels; give others, or a fixed C."
        )


def warn_of_a_label(classes: Array) -> None:
    """A third label -1 is likely to mean unlabelled points, as elsewhere."""
    if classes.size > 2 and classes.dtype.kind in "if" and classes[0] == -1:
        warn_caller(
            "the label -1 is taken for a class of its own. If it marks unlabelled points, pass those rows as "
            "X_unlabeled and leave them out of X and y."
        )


def warn_of_extension(model: Any, X: Any) -> None:
    """Name the smallest eigenvalue that a prediction for new points depends on.

    Parameters
    ----------
    model : TransductiveMKLClassifier, with free or spectral weights
    X : the new points
    """
    if model.weights == "spectral":
        text = (
            "eigenvectors are carried to new points by the kernel they come from (of mean diagonal 1), "
            f"divided by its eigenvalues, of which the smallest used is {model.eigenvalues_[-1]:.3g}."
        )
    elif model._precomputed:
        text = (
            "weights of any sign need not give a kernel at new points; the smallest eigenvalue on the points "
            f"of fit is {smallest_eigenvalue_with(model, None):.3g}, and precomputed kernels do not tell how "
            "similar the new points are to themselves."
        )
    else:
        lowest = smallest_eigenvalue_with(model, X)
        verdict = (
            "no longer a kernel" if lowest < -_ROUNDING * model.trace_ else "still positive semidefinite"
        )
        text = (
            "weights of any sign need not give a kernel at new points; with one of these added, the smallest "
            f"eigenvalue of the learned matrix is {lowest:.3g} ({verdict})."
        )
    warn_caller(f"{type(model).__name__}: {text} {_REFIT}")


def smallest_eigenvalue_with(model: Any, X: Any) -> float:
    """Of the learned matrices, alone (None) or with each row of X added, one at a time."""
    matrices = model.kernel_ if model.kernel_.ndim == 3 else model.kernel_[None]
    bordered = [Bordered(K) for K in matrices]
    if X is None:
        return float(min(matrix.values[0] for matrix in bordered))
    own = model._fitted.bank.self_similarities(X) @ model.machine_weights_.T
    rows = np.zeros((len(matrices), own.shape[0], matrices.shape[1]))
    for m, K in model._fitted.bank.iter_kernels(X):
        rows += model.machine_weights_[:, m, None, None] * K
    return float(min(matrix.smallest(rows[i], own[:, i]).min() for i, matrix in enumerate(bordered)))
