"""Views (named column blocks with kernels), banks of kernels, and stacks of Gram matrices.

``view`` makes views of a list of kernels, ``columns`` and ``scaling`` read and standardise their columns.
Banks give the Gram matrices: ``bank`` from rows, ``precomputed`` from a stack that ``stacks`` makes,
``missing`` where samples lack views; ``low_rank`` gives factors in their place. ``memory`` says what all this
occupies, ``gating_features`` what the gate of a localized model reads. ``gene_sets`` makes views of gene
sets, ``containers`` tables of AnnData and MuData.
"""

from multikernel.views.bank import FittedView, KernelBank
from multikernel.views.containers import from_anndata, from_mudata
from multikernel.views.gating_features import GatingFeatures, fit_gating_features
from multikernel.views.gene_sets import GeneSetViews, read_gmt, views_from_gene_sets
from multikernel.views.low_rank import LowRankBank
from multikernel.views.memory import MemoryEstimate, available_memory
from multikernel.views.missing.bank import CompletedBank
from multikernel.views.precomputed import PrecomputedBank, make_bank
from multikernel.views.stacks import combine_kernels, stack_kernels
from multikernel.views.view import View, as_views, distinct_views, per_feature

__all__ = [
    "CompletedBank",
    "FittedView",
    "GatingFeatures",
    "GeneSetViews",
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
    "from_anndata",
    "from_mudata",
    "make_bank",
    "per_feature",
    "read_gmt",
    "stack_kernels",
    "views_from_gene_sets",
]
