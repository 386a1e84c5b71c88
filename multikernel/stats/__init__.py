"""Statistics of learners: paired tests on scores of the same folds, and the runs that give such scores."""

from multikernel.selection.holm import holm
from multikernel.selection.paired_tests import (
    PairedTest,
    SignedRankTest,
    f_test_5x2cv,
    wilcoxon_signed_rank,
)
from multikernel.selection.win_tie_loss import win_tie_loss
from multikernel.stats.comparison import Comparison
from multikernel.stats.five_by_two import PairedCrossValidation, compare, paired_5x2cv
from multikernel.stats.rules import compare_rules
from multikernel.stats.rules_comparison import RulesComparison

__all__ = [
    "Comparison",
    "PairedCrossValidation",
    "PairedTest",
    "RulesComparison",
    "SignedRankTest",
    "compare",
    "compare_rules",
    "f_test_5x2cv",
    "holm",
    "paired_5x2cv",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
