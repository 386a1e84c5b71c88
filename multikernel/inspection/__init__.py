"""What is a model worth, and why? Evaluation of one fitted model, comparison of several, paired tests.

- `evaluate`: stability of the weights, what each view adds, simpler rivals, held-out predictions, pictures.
- `compare`: estimators or weight learners on the same folds, against baselines, a reference or each other.
- `feature_importance`: which columns of which views a model owes its score to.
- `cross_view_map`: which columns of different views move together in the learned kernel.
- `explain`: scores of samples as sums over views and columns, the support samples that are near, and bounds.
- `cluster_stability`, `eigengap`: how many clusters there are.
- `view_shapley`: what each view is worth, alone, beside the others and on average over all orders.
- `select_views`: which views matter, with a stated error rate.
- `enriched_sets`: which gene sets, or other views, carry weight beyond chance.
- `support_overlap`: which two views are worth a sum, by accuracy and by the support samples that they share.
- `learned_kernel`: the kernel that a model has learned, as a matrix.
- `concordance_index`, `concordance_index_ipcw`, `cumulative_dynamic_auc`, `brier_curve`,
  `integrated_brier_score`, `survival_calibration`: what predictions of censored times are worth;
  `concordance_interval`, `concordance_test`: how sure that is; `kaplan_meier`, `logrank_test`, `risk_groups`:
  curves of groups; `EventKFold`: folds stratified on the event.
- `repeated_cv_test`, `corrected_t_test`, `f_test_5x2cv`, `paired_f_tests`, `wilcoxon_signed_rank`, `holm`,
  `win_tie_loss`: the tests by themselves.

Rooms: ``judging`` has `evaluate` (its ``plan``, the ``parts`` that compare, ``held_out`` predictions,
``learning`` curves, the ``cohort``, and the ``result``) and `compare` (``comparing`` runs it, ``comparison``
is what it returns, ``rendering`` its tables), and the ``answers`` that they state; ``rivals`` are the simpler
models beside which a model is judged; ``statistics`` has the tests; ``survival`` has what censored times ask
for. ``explaining`` has `feature_importance`, of the ``features`` that views read, by ``permutation`` or
by ``slopes``, `cross_view_map`, `explain` (``samples``, with ``score_bounds``), `view_shapley`,
`select_views` (``selecting``, by ``view_tests`` or ``stability``) and `enriched_sets` (``enrichment``);
``reasons`` is what the part "why" of an evaluation has of them.
All of them read a model through ``subject``; ``protocol`` draws the folds, ``scoring`` knows the scores,
``refits`` is one fit and ``runs`` are all of them (resumable, ``fingerprint`` recognises what is stored);
``learned`` is what a fit learned, ``found`` the base of all results, ``repeated`` knows groups of samples.
"""

from ..core.concordance import concordance_index
from ..core.folds import EventKFold
from .clusters import ClusterStability, cluster_stability, eigengap
from .explaining.cross_view import CrossViewMap, cross_view_map
from .explaining.enrichment import Enrichment, enriched_sets
from .explaining.importance import FeatureImportance, feature_importance
from .explaining.samples import Explanation, explain
from .explaining.selecting import ViewSelection, select_views
from .explaining.shapley import NotAdditive, ViewShapley, view_shapley
from .explaining.slopes import NoSlope
from .explaining.support_overlap import SupportOverlap, support_overlap
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
from .survival.calibration import survival_calibration
from .survival.curves import KaplanMeier, LogRankTest, kaplan_meier, logrank_test, risk_groups
from .survival.intervals import ConcordanceInterval, concordance_interval, concordance_test
from .survival.scores import (
    AucCurve,
    BrierCurve,
    brier_curve,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)

__all__ = [
    "ALL_PARTS",
    "USUAL_PARTS",
    "AucCurve",
    "BrierCurve",
    "ClusterStability",
    "Comparison",
    "ConcordanceInterval",
    "CrossViewMap",
    "Enrichment",
    "Evaluation",
    "EventKFold",
    "Explanation",
    "FeatureImportance",
    "IntervalTest",
    "KaplanMeier",
    "LogRankTest",
    "NoLearnedKernel",
    "NoSlope",
    "NotAdditive",
    "PairedTest",
    "SignedRankTest",
    "SupportOverlap",
    "ViewSelection",
    "ViewShapley",
    "brier_curve",
    "cluster_stability",
    "compare",
    "concordance_index",
    "concordance_index_ipcw",
    "concordance_interval",
    "concordance_test",
    "corrected_t_test",
    "cross_view_map",
    "cumulative_dynamic_auc",
    "eigengap",
    "enriched_sets",
    "evaluate",
    "explain",
    "f_test_5x2cv",
    "feature_importance",
    "holm",
    "integrated_brier_score",
    "kaplan_meier",
    "learned_kernel",
    "logrank_test",
    "paired_f_tests",
    "repeated_cv_test",
    "risk_groups",
    "select_views",
    "support_overlap",
    "survival_calibration",
    "view_shapley",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
