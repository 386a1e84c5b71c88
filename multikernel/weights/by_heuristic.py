"""Weights by a figure of each kernel by itself, as a function."""

from typing import Any

from .._validation import check_choice
from .heuristic import AccuracyRule, AlignmentRule, MSERule, PearsonRule
from .learner import WeightLearner
from .result import KernelWeights

_RULES: dict[str, type[WeightLearner]] = {
    "alignment": AlignmentRule,
    "accuracy": AccuracyRule,
    "pearson": PearsonRule,
    "mse": MSERule,
}


def heuristic_weights(
    kernels: Any, y: Any, rule: str = "alignment", *, task: str = "auto", **options: Any
) -> KernelWeights:
    """Kernel weights by a rule: each kernel's share of the combined one is that of what it achieves alone.

    The weights belong to the kernels as they are: η_m = share_m / s_m, with s_m the mean diagonal of K_m, and
    multiplied by s_m they are the shares, which sum to 1. With ``normalise=False`` the weights themselves are
    the shares.

    Parameters
    ----------
    kernels : ndarray of shape (n, n, n_kernels) or (n, n), or list or dict of arrays of shape (n, n)
        Gram matrices, positive semidefinite.
    y : array-like of shape (n,), or (n, n_outputs) for values
    rule : {"alignment", "accuracy", "pearson", "mse"}
        The learner behind it: :class:`AlignmentRule`, :class:`AccuracyRule` (classes), :class:`PearsonRule`
        and :class:`MSERule` (values).
    task : {"auto", "classes", "values"}
        What y is.
    **options
        Parameters of that learner, such as ``cv=10``.

    Returns
    -------
    KernelWeights
        A rule optimises nothing: ``objective`` and the bounds are nan, and ``gap`` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, -1, -1])
    >>> heuristic_weights([np.outer(y, y), np.eye(4)], y).weights.round(3)
    array([0.667, 0.333])
    """
    learner = _RULES[check_choice("rule", rule, tuple(_RULES))]
    known = learner._get_param_names()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"rule={rule!r} takes {', '.join(known)}; got {unknown[0]!r}.")
    fitted = learner(**options).fit(kernels, y, task=task)
    return KernelWeights(
        fitted.kernel_weights_, fitted.objective_, fitted.objective_, fitted.dual_gap_, status=fitted.status_
    )
