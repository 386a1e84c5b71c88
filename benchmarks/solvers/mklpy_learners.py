"""MKLpy's EasyMKL and GRAM as learners of weights alone, on torch tensors over the memory of the stack."""

from __future__ import annotations

import numpy as np
import torch
from MKLpy.algorithms import GRAM, EasyMKL
from numpy.typing import NDArray

from benchmarks.solvers.easymkl import as_tensors

__all__ = ["as_tensors", "easymkl_weights", "gram_weights"]


def easymkl_weights(
    tensors: list[torch.Tensor], y: NDArray[np.float64], balance: float
) -> NDArray[np.float64]:
    """EasyMKL's weights, at a tolerance of its machine that is MKLpy's default."""
    return EasyMKL(lam=balance).combine_kernels(tensors, y).weights.numpy()


def gram_weights(tensors: list[torch.Tensor], y: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """GRAM's weights by its own descent of the radius over the margin, with MKLpy's defaults.

    None where the descent breaks off inside of CVXOPT, which it does once its weights are not finite.
    """
    try:
        return np.asarray(GRAM().combine_kernels(tensors, y).weights)
    except (ValueError, ArithmeticError):
        return None
