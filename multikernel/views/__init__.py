"""Views (named column blocks with kernels), banks of kernels, and stacks of Gram matrices.

``tables`` says what X may be, one table or several; ``frames`` reads those of other libraries, ``joining``
aligns tables, ``containers`` reads AnnData and MuData. ``view`` makes views of kernels, ``gene_sets`` of gene
sets, ``parameters`` names their parameters; ``columns`` reads and standardizes their columns, ``layout``
finds them again at prediction. Banks give the Gram matrices: ``bank`` from rows, ``precomputed`` from
matrices, which ``stacks`` reads and names, ``missing`` where samples lack views; ``low_rank`` gives factors
in their place. ``memory`` says what all this occupies, ``gating_features`` what the gate of a localized model
reads.
"""

from multikernel.views.bank import FittedView, KernelBank
from multikernel.views.containers import from_anndata, from_mudata
from multikernel.views.gating_features import GatingFeatures, fit_gating_features, own_view
from multikernel.views.gene_sets import GeneSetViews, read_gmt, views_from_gene_sets
from multikernel.views.joining import join_views
from multikernel.views.layout import view_tables
from multikernel.views.low_rank import LowRankBank
from multikernel.views.memory import MemoryEstimate, available_memory
from multikernel.views.missing import CompletedBank
from multikernel.views.precomputed import PrecomputedBank, make_bank
from multikernel.views.stacks import NamedStack, combine_kernels, stack_kernels
from multikernel.views.tables import MultiTable
from multikernel.views.view import (
    KernelWarning,
    MissingViewsWarning,
    View,
    as_views,
    distinct_views,
    per_feature,
)

__all__ = [
    "CompletedBank",
    "FittedView",
    "GatingFeatures",
    "GeneSetViews",
    "KernelBank",
    "KernelWarning",
    "LowRankBank",
    "MemoryEstimate",
    "MissingViewsWarning",
    "MultiTable",
    "NamedStack",
    "PrecomputedBank",
    "View",
    "as_views",
    "available_memory",
    "combine_kernels",
    "distinct_views",
    "fit_gating_features",
    "from_anndata",
    "from_mudata",
    "join_views",
    "make_bank",
    "own_view",
    "per_feature",
    "read_gmt",
    "stack_kernels",
    "view_tables",
    "views_from_gene_sets",
]
