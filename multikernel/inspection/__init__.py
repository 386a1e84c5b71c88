"""What is a model worth, and why? Evaluation of one fitted model, comparison of several, paired tests.

- `evaluate`: stability of the weights, what each view adds, simpler rivals, held-out predictions, pictures.
- `compare`: estimators or weight learners on the same folds, against baselines, a reference or each other.
- `feature_importance`: which columns of which views a model owes its score to.
- `cross_view_map`: which columns of different views move together in the learned kernel.
- `learned_kernel`: the kernel that a model has learned, as a matrix.
- `repeated_cv_test`, `corrected_t_test`, `f_test_5x2cv`, `paired_f_tests`, `wilcoxon_signed_rank`, `holm`,
  `win_tie_loss`: the tests by themselves.

Rooms: ``judging`` has `evaluate` (its ``plan``, the ``parts`` that compare, ``held_out`` predictions,
``learning`` curves, the ``cohort``, and the ``result``) and `compare` (``comparing`` runs it,
``comparison`` is what it returns, ``rendering`` its tables), and the ``answers`` that they state;
``rivals`` are the simpler models beside which a model is judged; ``statistics`` has the tests.
``explaining`` has `feature_importance`, of the ``features`` that views read, by ``permutation`` or by
``slopes``, and `cross_view_map`. All of them read a model through ``subject``; ``protocol`` draws the
folds, ``scoring`` knows the scores, ``refits`` is one fit and ``runs`` are all of them (resumable,
``fingerprint`` recognises what is stored); ``learned`` is what a fit learned.
"""

from .explaining.cross_view import CrossViewMap, cross_view_map
from .explaining.importance import FeatureImportance, feature_importance
from .explaining.slopes import NoSlope
from .judging.comparing import compare
from .judging.comparison import Comparison
from .judging.evaluation import ALL_PARTS, USUAL_PARTS, evaluate
from .judging.result import Evaluation
from .learned import NoLearnedKernel, learned_kernel
from .statistics.interval_tests import IntervalTest, corrected_t_test, repeated_cv_test
from .statistics.paired_tests import (
    PairedTest,
    SignedRankTest,
    f_test_5x2cv,
    holm,
    paired_f_tests,
    wilcoxon_signed_rank,
    win_tie_loss,
)

__all__ = [
    "ALL_PARTS",
    "USUAL_PARTS",
    "Comparison",
    "CrossViewMap",
    "Evaluation",
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
