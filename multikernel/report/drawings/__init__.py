"""Pictures as numbers: where points, lines, ticks and labels stand, for the page to draw in SVG."""

from multikernel.report.drawings.calibration import calibration_plot
from multikernel.report.drawings.convergence import convergence_plot
from multikernel.report.drawings.embedding import embedding_plot
from multikernel.report.drawings.gate import gate_plot
from multikernel.report.drawings.heat_maps import draw_heat_maps
from multikernel.report.drawings.residuals import residuals_plot
from multikernel.report.drawings.roc import roc_plot
from multikernel.report.drawings.strips import difference_strips, stability_strips

__all__ = [
    "calibration_plot",
    "convergence_plot",
    "difference_strips",
    "draw_heat_maps",
    "embedding_plot",
    "gate_plot",
    "residuals_plot",
    "roc_plot",
    "stability_strips",
]
