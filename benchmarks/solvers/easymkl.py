"""MKLpy's EasyMKL, which solves one easier problem: no alternation between weights and machine.

Its lambda is left at MKLpy's default; it has no C, and its objective is not ours, so that only its time is
compared. The kernels are handed over as torch tensors on the memory of the stack, so that it pays for no
conversion. MKLpy 0.6 runs unchanged on today's NumPy and scikit-learn; the only thing switched off is
torch's warning on the `.T` of a vector.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from MKLpy.algorithms import EasyMKL
from numpy.typing import NDArray

torch.set_num_threads(1)
warnings.filterwarnings("ignore", message=r"The use of `x\.T` on tensors", category=UserWarning)


def as_tensors(kernels: NDArray[np.float64]) -> list[torch.Tensor]:
    """The kernels as the list that MKLpy takes, without a copy."""
    return [torch.from_numpy(kernel) for kernel in kernels]


def fit_easymkl(tensors: list[torch.Tensor], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """EasyMKL as a user calls it: weights, then MKLpy's default machine (KOMD) on top."""
    return EasyMKL().fit(tensors, y).solution.weights.numpy()


def combine_easymkl(tensors: list[torch.Tensor], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """EasyMKL's weights alone, without any machine on top: the least it can do."""
    return EasyMKL().combine_kernels(tensors, y).weights.numpy()
