"""What it costs to predict one sample: kernel values times what each of them costs.

    c = #SV · Σ_{m active} d_m / Σ_k d_k,   m active: η_m / Σ_k η_k > 1/100,

with the costs d_m and the weights η_m: one unit is all the kernels between the sample and one support sample.
Where several machines have weights of their own, a kernel value that two of them need is computed once:

    c = Σ_m (d_m / Σ_k d_k) · |∪ over the machines in which m is active of their support samples|.

A model on factors has no support samples: the columns of the factor of kernel m stand in their place.
"""

import numpy as np

from .._typing import Array

ACTIVE_SHARE = 0.01


def active_kernels(machine_weights: Array) -> Array:
    """Which kernels have more than a hundredth of the weight of a machine, (n_machines, n_kernels)."""
    return np.asarray(machine_weights > ACTIVE_SHARE * machine_weights.sum(axis=1, keepdims=True))


def prediction_cost(machine_weights: Array, dual_coef: Array, costs: Array) -> float:
    """The cost of predicting one sample.

    Parameters
    ----------
    machine_weights : array (n_machines, n_kernels)
    dual_coef : array (n_machines, n_support)
        Zero where a sample is not a support sample of the machine.
    costs : array (n_kernels,), positive

    Returns
    -------
    float
        Between 0 and the number of support samples.

    Examples
    --------
    >>> prediction_cost(np.array([[0.9, 0.1]]), np.array([[1.0, -1.0, 0.0]]), np.array([1.0, 3.0]))
    2.0
    >>> prediction_cost(np.array([[1.0, 0.0]]), np.array([[1.0, -1.0, 0.0]]), np.array([1.0, 3.0]))
    0.5
    """
    needed = active_kernels(machine_weights).T.astype(float) @ (dual_coef != 0.0)
    return _priced((needed > 0.0).sum(axis=1), costs)


def factor_cost(machine_weights: Array, ranks: Array, costs: Array) -> float:
    """The cost of predicting one sample from factors: as many values of kernel m as its factor has columns.

    Parameters
    ----------
    machine_weights : array (n_machines, n_kernels)
    ranks : array (n_kernels,), columns of the factors
    costs : array (n_kernels,), positive

    Examples
    --------
    >>> factor_cost(np.array([[0.9, 0.1], [1.0, 0.0]]), np.array([20, 4]), np.array([1.0, 3.0]))
    8.0
    """
    return _priced(np.where(active_kernels(machine_weights).any(axis=0), ranks, 0), costs)


def _priced(values: Array, costs: Array) -> float:
    """What so many values of each kernel cost, where one of all kernels costs 1."""
    prices = costs / costs.max()  # their sum cannot overflow
    return float(values @ prices / prices.sum())
