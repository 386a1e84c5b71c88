"""Views (named column blocks with kernels), banks of kernels, and stacks of Gram matrices.

``view`` makes views of a list of kernels, ``columns`` reads and standardises their columns. Banks give the
Gram matrices: ``bank`` from rows, ``precomputed`` from a stack, ``missing`` where samples lack views;
``low_rank`` gives factors in their place. ``memory`` says what all this occupies, ``gating_features`` what
the gate of a localized model reads.
"""

from multikernel.views.bank import FittedView, KernelBank
from multikernel.views.gating_features import GatingFeatures, fit_gating_features
from multikernel.views.low_rank import LowRankBank
from multikernel.views.memory import MemoryEstimate, available_memory
from multikernel.views.missing import CompletedBank
from multikernel.views.precomputed import PrecomputedBank, combine_kernels, make_bank, stack_kernels
from multikernel.views.view import View, as_views, distinct_views, per_feature

__all__ = [
    "CompletedBank",
    "FittedView",
    "GatingFeatures",
    "KernelBank",
    "LowRankBank",
    "MemoryEstimate",
    "PrecomputedBank",
    "View",
    "as_views",
    "available_memory",
    "combine_kernels",
    "distinct_views",
    "fit_gating_features",
    "make_bank",
    "per_feature",
    "stack_kernels",
]
