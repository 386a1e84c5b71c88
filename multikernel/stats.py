"""Statistics of learners: paired tests on scores of the same folds."""

from multikernel.selection.paired_tests import PairedTest, f_test_5x2cv

__all__ = ["PairedTest", "f_test_5x2cv"]
