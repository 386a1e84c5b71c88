"""The best boundary of a toy in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel.datasets import gauss_log_odds
from studies.plots import plane


def draw_best(axes: Any, X: np.ndarray, toy: str, style: str = "dotted") -> None:
    """Draw the best boundary of a toy of `make_gauss` over the points."""
    first, second, points = plane(X)
    odds = gauss_log_odds(toy, points).reshape(len(second), len(first))
    axes.contour(first, second, odds, levels=[0.0], colors="black", linewidths=1.2, linestyles=style)
