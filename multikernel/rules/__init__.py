"""Weight rules: learners of kernel weights, and estimators that put a kernel machine on what they combine.

A learner has ``fit(kernels, y)``, ``kernel_weights_`` and ``combine(kernels)``, and goes under any kernel
machine by :class:`multikernel.CombinedKernelClassifier` and its kin. The rules are those of the survey by
Gönen & Alpaydın (2011) and some since; each names its paper.

* ``learner``, ``targets``, ``machines``: what a learner is, what it learns from, the machines on top.
* ``fixed``, ``heuristic``, ``margin``, ``margin_sets``, ``similarity``, ``nonlinear``, ``ridge``,
  ``discriminant``, ``dirichlet``, ``kernel_boosting``: the rules.
* ``combined``, ``pca``, ``compositional``: estimators on combined kernels.
* ``solver``: numerics of the rules that no family has.
"""

from ..core.alignment import alignment
from .combined import CombinedKernelClassifier, CombinedKernelOneClass, CombinedKernelRegressor
from .compositional import CompositionalKernelClassifier
from .dirichlet import DirichletWeights
from .discriminant import DiscriminantMKL, FungDiscriminant, KimDiscriminant
from .fixed import BestSingle, MeanRule, ProductRule, SumRule
from .heuristic import AccuracyRule, AlignmentRule, MSERule, PearsonRule
from .kernel_boosting import KernelBoosting
from .learner import About, Learned, TwoClassLearner, WeightLearner
from .margin import EasyMKL, LogPenaltyMKL, MarginMKL
from .margin_sets import CappedMKL, ElasticNetMKL, GroupMKL, LowerBoundedMKL, RadiusMargin
from .nonlinear import ClusterWeights, FunctionalForm, GeneralMKL, InstanceWeights
from .pca import CombinedKernelPCA
from .ridge import PolynomialRidge, RidgeBall
from .similarity import (
    AlignmentQP,
    CenteredAlignment,
    FeatureSpaceMeasure,
    GradientAlignment,
    IdealDistance,
    KLDivergence,
)

__all__ = [
    "About",
    "AccuracyRule",
    "AlignmentQP",
    "AlignmentRule",
    "BestSingle",
    "CappedMKL",
    "CenteredAlignment",
    "ClusterWeights",
    "CombinedKernelClassifier",
    "CombinedKernelOneClass",
    "CombinedKernelPCA",
    "CombinedKernelRegressor",
    "CompositionalKernelClassifier",
    "DirichletWeights",
    "DiscriminantMKL",
    "EasyMKL",
    "ElasticNetMKL",
    "FeatureSpaceMeasure",
    "FunctionalForm",
    "FungDiscriminant",
    "GeneralMKL",
    "GradientAlignment",
    "GroupMKL",
    "IdealDistance",
    "InstanceWeights",
    "KLDivergence",
    "KernelBoosting",
    "KimDiscriminant",
    "Learned",
    "LogPenaltyMKL",
    "LowerBoundedMKL",
    "MSERule",
    "MarginMKL",
    "MeanRule",
    "PearsonRule",
    "PolynomialRidge",
    "ProductRule",
    "RadiusMargin",
    "RidgeBall",
    "SumRule",
    "TwoClassLearner",
    "WeightLearner",
    "alignment",
]
