"""Pictures of fitted models and of their evaluation, drawn on matplotlib Axes that are given or made.

They draw plain arrays, tables and dicts, and what fitted models say in their public attributes; no class of
the package is known here. The same pictures are embedded in the report.

Every function takes ``ax`` and returns the Axes it drew on; without ``ax`` it makes a figure. Nothing else of
matplotlib's state is touched: no style, no ``show``. Legends and notes stand beside the axes, where they hide
nothing: figures with ``layout="constrained"`` make room for them.

- of a model: :func:`weights`, :func:`convergence`, :func:`contributions`, :func:`decision_regions`,
  :func:`class_weights`; of one that learns projections :func:`local_importance`;
- of what ``multikernel.inspection.evaluate`` returns: :func:`stability`, :func:`without_view`,
  :func:`learning_curve`,
  :func:`baselines`, :func:`confusion`, :func:`roc`, :func:`calibration`, :func:`residuals`, :func:`heat_map`,
  :func:`embedding`, :func:`gate`;
- of what ``multikernel.inspection.feature_importance`` returns: :func:`importance`, :func:`loadings`; of its
  ``cross_view_map``: :func:`cross_view`; of its ``view_shapley``: :func:`shapley`; of its ``select_views``:
  :func:`selection`; of its ``enriched_sets``: :func:`enrichment`; of a sample of its ``explain``:
  :func:`waterfall`, and of all of its samples :func:`contribution_map`;
- of data: :func:`data_overview`, of what :func:`describe_data` says of them; :func:`kernel_matrix` of a Gram
  matrix;
- of censored times: :func:`kaplan_meier`, :func:`survival_calibration`, :func:`brier_curve`,
  :func:`auc_curve`;
- of many targets, of what their ``score_by_view`` returns: :func:`target_views`, :func:`dominant_views`;
- of numbers of clusters, of what ``multikernel.inspection.cluster_stability`` returns:
  :func:`cluster_stability`;
- of other results: :func:`cost`, :func:`weight_path`, :func:`rules`, :func:`surface`, :func:`components`.
"""

from .evaluations import (
    baselines,
    calibration,
    confusion,
    learning_curve,
    residuals,
    roc,
    stability,
    without_view,
)
from .features import cross_view, importance, loadings, local_importance
from .models import contributions, convergence, decision_regions, weights
from .overview import data_overview, describe_data
from .paths import weight_path
from .results import cluster_stability, cost, rules, surface
from .samples import components, embedding, gate, heat_map, kernel_matrix
from .survival import auc_curve, brier_curve, kaplan_meier, survival_calibration
from .targets import dominant_views, target_views
from .views import class_weights, contribution_map, enrichment, selection, shapley, waterfall

__all__ = [
    "auc_curve",
    "baselines",
    "brier_curve",
    "calibration",
    "class_weights",
    "cluster_stability",
    "components",
    "confusion",
    "contribution_map",
    "contributions",
    "convergence",
    "cost",
    "cross_view",
    "data_overview",
    "decision_regions",
    "describe_data",
    "dominant_views",
    "embedding",
    "enrichment",
    "gate",
    "heat_map",
    "importance",
    "kaplan_meier",
    "kernel_matrix",
    "learning_curve",
    "loadings",
    "local_importance",
    "residuals",
    "roc",
    "rules",
    "selection",
    "shapley",
    "stability",
    "surface",
    "survival_calibration",
    "target_views",
    "waterfall",
    "weight_path",
    "weights",
    "without_view",
]
