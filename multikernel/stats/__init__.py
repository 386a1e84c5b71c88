"""Statistics of learners: paired tests on scores of the same folds."""

from multikernel.selection.paired_tests import (
    PairedTest,
    SignedRankTest,
    f_test_5x2cv,
    wilcoxon_signed_rank,
)
from multikernel.selection.win_tie_loss import win_tie_loss

__all__ = ["PairedTest", "SignedRankTest", "f_test_5x2cv", "wilcoxon_signed_rank", "win_tie_loss"]
