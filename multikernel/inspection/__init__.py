"""What is a model worth, and why? Evaluation of one fitted model, comparison of several, paired tests.

- `evaluate`: stability of the weights, what each view adds, simpler rivals, held-out predictions, pictures.
- `compare`: estimators or weight learners on the same folds, against baselines, a reference or each other.
- `feature_importance`: which columns of which views a model owes its score to.
- `cross_view_map`: which columns of different views move together in the learned kernel.
- `learned_kernel`: the kernel that a model has learned, as a matrix.
- `repeated_cv_test`, `corrected_t_test`, `f_test_5x2cv`, `paired_f_tests`, `wilcoxon_signed_rank`, `holm`,
  `win_tie_loss`: the tests by themselves.

Files: ``evaluation`` has `evaluate`, with ``held_out`` predictions and what is ``learned``; ``comparing`` has
`compare`, and ``comparison`` what it returns. ``subject`` and ``baselines`` say what is fitted, among the
rivals late ``fusion`` of views and models of ``columns``; ``runs`` does the fits (resumable, ``fingerprint``
recognises what is stored), ``interval_tests``, ``paired_tests`` and ``answers`` say what was shown.
``importance`` has `feature_importance` and what it returns, of the ``features`` that views read, by
``permutation`` or by ``slopes``; ``cross_view`` has `cross_view_map`.
"""

from .comparing import compare
from .comparison import Comparison
from .cross_view import CrossViewMap, cross_view_map
from .evaluation import ALL_PARTS, evaluate
from .importance import FeatureImportance, feature_importance
from .interval_tests import IntervalTest, corrected_t_test, repeated_cv_test
from .learned import NoLearnedKernel, learned_kernel
from .paired_tests import (
    PairedTest,
    SignedRankTest,
    f_test_5x2cv,
    holm,
    paired_f_tests,
    wilcoxon_signed_rank,
    win_tie_loss,
)
from .slopes import NoSlope

__all__ = [
    "ALL_PARTS",
    "Comparison",
    "CrossViewMap",
    "FeatureImportance",
    "IntervalTest",
    "NoLearnedKernel",
    "NoSlope",
    "PairedTest",
    "SignedRankTest",
    "compare",
    "corrected_t_test",
    "cross_view_map",
    "evaluate",
    "f_test_5x2cv",
    "feature_importance",
    "holm",
    "learned_kernel",
    "paired_f_tests",
    "repeated_cv_test",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
