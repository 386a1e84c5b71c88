"""Localized multiple kernel learning (Gönen 2010): weights or projections that depend on the sample.

Problem: min over gating parameters V of J(V), the optimal value of a machine on
Σ_m η_m(x; V) K_m(x, z) η_m(z; V); with projections, also over W_m in K_m(W_m'x, W_m'z). Not convex: descents
from several starts, the lowest objective is kept.

``descents``: what all models here share; ``base``: the base of those with gates; ``estimators``:
`LocalizedMKL*`; ``ridge``: the ridge on the gate, chosen by folds; ``gated``: what a fitted gate predicts
with, and what that costs; ``cost_path``: accuracy against the cost of each sample; ``least_squares``:
`LocalizedRidge*`; ``projection_base`` and ``projection``: `ProjectionKernel*`; ``regions``: what each of
their regions has of its own.

``solver/``: ``gates``; ``machines`` that are solved again and again while their kernel moves;
``least_squares`` for those with squared loss; ``learn`` (the objective of a gate, and descents from several
starts); ``copies`` (where gates of copies set out); ``constant`` (a gate that does not depend on the sample);
``prior`` (which closes gates); ``projections`` (kernels of projected samples, and their objective).
"""

from .cost_path import GateCostPath, gate_cost_path
from .estimators import LocalizedMKLClassifier, LocalizedMKLOneClass, LocalizedMKLRegressor
from .least_squares import LocalizedRidge, LocalizedRidgeClassifier
from .projection import ProjectionKernelClassifier, ProjectionKernelOneClass, ProjectionKernelRegressor

__all__ = [
    "GateCostPath",
    "LocalizedMKLClassifier",
    "LocalizedMKLOneClass",
    "LocalizedMKLRegressor",
    "LocalizedRidge",
    "LocalizedRidgeClassifier",
    "ProjectionKernelClassifier",
    "ProjectionKernelOneClass",
    "ProjectionKernelRegressor",
    "gate_cost_path",
]
