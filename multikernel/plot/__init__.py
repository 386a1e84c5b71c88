"""Pictures of fitted models and of their evaluation, drawn on matplotlib Axes that are given or made.

Every function takes ``ax`` and returns the Axes it drew on; without ``ax`` it makes a figure. Nothing else of
matplotlib's state is touched: no style, no ``show``. Legends and notes stand beside the axes, where they hide
nothing: figures with ``layout="constrained"`` make room for them.

- of a model: :func:`weights`, :func:`convergence`, :func:`contributions`, :func:`decision_regions`;
- of what ``multikernel.inspection.evaluate`` returns: :func:`stability`, :func:`without_view`,
  :func:`baselines`, :func:`confusion`, :func:`roc`, :func:`calibration`, :func:`residuals`, :func:`heat_map`,
  :func:`embedding`, :func:`gate`;
- of a Gram matrix: :func:`kernel_matrix`;
- of other results: :func:`cost`, :func:`rules`, :func:`surface`, :func:`components`.
"""

from ._baselines import baselines
from ._calibration import calibration
from ._confusion import confusion
from ._contributions import contributions
from ._convergence import convergence
from ._embedding import embedding
from ._gate import gate
from ._grams import heat_map, kernel_matrix
from ._regions import decision_regions
from ._residuals import residuals
from ._results import components, cost, rules, surface
from ._roc import roc
from ._stability import stability
from ._weights import weights
from ._without_view import without_view

__all__ = [
    "baselines",
    "calibration",
    "components",
    "confusion",
    "contributions",
    "convergence",
    "cost",
    "decision_regions",
    "embedding",
    "gate",
    "heat_map",
    "kernel_matrix",
    "residuals",
    "roc",
    "rules",
    "stability",
    "surface",
    "weights",
    "without_view",
]
