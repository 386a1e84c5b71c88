"""Selection: what can be said before new points are seen; which pairs to learn from and to test on."""

from .complexity import KernelComplexity, kernel_complexity
from .generalization import GeneralizationBound, generalization_bound
from .holm import holm
from .pair_samples import sample_pairs
from .pair_split import PairSplit
from .paired_tests import PairedTest, SignedRankTest, f_test_5x2cv, wilcoxon_signed_rank
from .response_surface import ResponseSurface
from .win_tie_loss import paired_f_tests, win_tie_loss

__all__ = [
    "GeneralizationBound",
    "KernelComplexity",
    "PairSplit",
    "PairedTest",
    "ResponseSurface",
    "SignedRankTest",
    "f_test_5x2cv",
    "generalization_bound",
    "holm",
    "kernel_complexity",
    "paired_f_tests",
    "sample_pairs",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
