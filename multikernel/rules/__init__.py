"""Weight rules: learners of kernel weights, and estimators that put a kernel machine on what they combine.

A learner has ``fit(kernels, y)``, ``kernel_weights_`` and ``combine(kernels)``, and goes under any kernel
machine by :class:`multikernel.CombinedKernelClassifier` and its kin. The rules are those of the survey by
Gönen & Alpaydın (2011) and some since; each names its paper.

* ``learner``, ``targets``, ``machines``: what a learner is, what it learns from, the machines on top.
* ``fixed``, ``heuristic``, ``margin``, ``similarity``, ``nonlinear``, ``ridge``,
  ``discriminant``, ``consensus``, ``dirichlet``, ``kernel_boosting``: the rules.
* ``combined``, ``pca``, ``compositional``: estimators on combined kernels.
* ``solver``: numerics of the rules that no family has.
"""

from ..core.alignment import alignment as alignment
from .combined import CombinedKernelClassifier as CombinedKernelClassifier
from .combined import CombinedKernelOneClass as CombinedKernelOneClass
from .combined import CombinedKernelRegressor as CombinedKernelRegressor
from .compositional import CompositionalKernelClassifier as CompositionalKernelClassifier
from .consensus import SimilarityNetworkFusion as SimilarityNetworkFusion
from .consensus import StatisRule as StatisRule
from .dirichlet import DirichletWeights as DirichletWeights
from .discriminant import DiscriminantMKL as DiscriminantMKL
from .discriminant import FungDiscriminant as FungDiscriminant
from .discriminant import KimDiscriminant as KimDiscriminant
from .fixed import BestSingle as BestSingle
from .fixed import MeanRule as MeanRule
from .fixed import ProductRule as ProductRule
from .fixed import SumRule as SumRule
from .heuristic import AccuracyRule as AccuracyRule
from .heuristic import AlignmentRule as AlignmentRule
from .heuristic import MSERule as MSERule
from .heuristic import PearsonRule as PearsonRule
from .kernel_boosting import KernelBoosting as KernelBoosting
from .learner import About as About
from .learner import Learned as Learned
from .learner import TwoClassLearner as TwoClassLearner
from .learner import WeightLearner as WeightLearner
from .margin.margin_mkl import EasyMKL as EasyMKL
from .margin.margin_mkl import LogPenaltyMKL as LogPenaltyMKL
from .margin.margin_mkl import MarginMKL as MarginMKL
from .margin.sets import CappedMKL as CappedMKL
from .margin.sets import ElasticNetMKL as ElasticNetMKL
from .margin.sets import GroupMKL as GroupMKL
from .margin.sets import LowerBoundedMKL as LowerBoundedMKL
from .margin.sets import RadiusMargin as RadiusMargin
from .margin.sets import RadiusMarginProduct as RadiusMarginProduct
from .nonlinear import ClusterWeights as ClusterWeights
from .nonlinear import FunctionalForm as FunctionalForm
from .nonlinear import GeneralMKL as GeneralMKL
from .nonlinear import InstanceWeights as InstanceWeights
from .pca import CombinedKernelPCA as CombinedKernelPCA
from .ridge import PolynomialRidge as PolynomialRidge
from .ridge import RidgeBall as RidgeBall
from .similarity import AlignmentQP as AlignmentQP
from .similarity import CenteredAlignment as CenteredAlignment
from .similarity import FeatureSpaceMeasure as FeatureSpaceMeasure
from .similarity import GradientAlignment as GradientAlignment
from .similarity import IdealDistance as IdealDistance
from .similarity import KLDivergence as KLDivergence

__all__ = sorted(name for name, value in globals().items() if callable(value))  # all of the above
