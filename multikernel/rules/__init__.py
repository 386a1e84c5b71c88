"""Weight learners: one package for each family, one small file for each method.

A learner has ``fit(kernels, y)``, ``kernel_weights_`` and ``combine(kernels)``, and goes under any kernel
machine by :class:`multikernel.CombinedKernelClassifier` and its kin.
"""

from ..core.alignment.measure import alignment
from .combined import CombinedKernelClassifier, CombinedKernelOneClass, CombinedKernelRegressor
from .compositional import CompositionalKernelClassifier
from .dirichlet import DirichletWeights
from .discriminant import DiscriminantMKL, FungDiscriminant, KimDiscriminant
from .fixed import BestSingle, MeanRule, ProductRule, SumRule
from .heuristic import AccuracyRule, AlignmentRule, MSERule, PearsonRule
from .kernel_boosting import KernelBoosting
from .learner import About, Learned, TwoClassLearner, WeightLearner
from .margin import (
    CappedMKL,
    EasyMKL,
    ElasticNetMKL,
    GroupMKL,
    LogPenaltyMKL,
    LowerBoundedMKL,
    MarginMKL,
    RadiusMargin,
)
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
