"""What a fitted model is worth: stability of its weights, each view's part, rivals, held-out predictions."""

from multikernel.evaluation.comparison import compare_models, comparison_markdown, comparison_table
from multikernel.evaluation.evaluate import ALL_PARTS, evaluate
from multikernel.evaluation.held_out import held_out_predictions
from multikernel.evaluation.learned import NoLearnedKernel, learned_kernel
from multikernel.evaluation.pictures import embed
from multikernel.evaluation.single import compare_with_baselines, leave_one_view_out, weight_stability

__all__ = [
    "ALL_PARTS",
    "NoLearnedKernel",
    "compare_models",
    "compare_with_baselines",
    "comparison_markdown",
    "comparison_table",
    "embed",
    "evaluate",
    "held_out_predictions",
    "learned_kernel",
    "leave_one_view_out",
    "weight_stability",
]
