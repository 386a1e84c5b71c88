"""The name under which each class of this package stands in a model file.

A file names a class by the package and this name, ``multikernel.MKLClassifier``, whatever module holds the
class; loading looks the name up here and nowhere else. The imports below are the table: every class that is
imported here may stand in a file, by the name that it is imported under, and no other class is imported here.
A class that moves keeps its name. A class that files are to hold for the first time is imported here, and its
name is never given to another one. A class that is renamed is imported under its old name, or gets a step in
the module ``upgrades``, as one that is deleted or given other attributes does.
"""

# ruff: noqa: F401

from __future__ import annotations

from functools import cache
from typing import Any

from ...bayesian.estimators import BayesianMKLClassifier, BayesianMKLRegressor
from ...bayesian.probit import ProbitMKLClassifier
from ...bayesian.solver.learn import BayesianResult
from ...bayesian.solver.probit import ProbitResult
from ...boosting.estimators import ColumnBoostingClassifier, ColumnBoostingRegressor
from ...clustering.kmeans import MultipleKernelKMeans
from ...clustering.margin import MaxMarginClustering
from ...clustering.relaxed import NearestRows, RegularizedMKKM, SimpleMKKM
from ...cooperative.estimators import CooperativeClassifier, CooperativeRidge
from ...core.decisions import SigmoidCalibration, SoftmaxCalibration
from ...core.fitted import ColumnKernels, DualKernels, FactorKernels, FittedKernels, KernelFactor
from ...core.weights.subset import KernelLimit
from ...discriminant.classifier import KernelDiscriminantClassifier
from ...gaussian_process.classifier import AdditiveGPClassifier
from ...gaussian_process.regressor import AdditiveGPRegressor
from ...gaussian_process.solver.predictive import AdditivePosterior
from ...hyperkernels.estimators import HyperkernelClassifier, HyperkernelRegressor, HyperKernels
from ...kernels._rows import Rows
from ...kernels.base import Power, Product, Scaled, Sum
from ...kernels.distance import AdditiveLaplacian, Chi2, Gaussian, Laplacian
from ...kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from ...kernels.given import EmpiricalMap, FunctionKernel, Precomputed
from ...kernels.graphs import GraphKernel
from ...kernels.mixed import Hamming, Mixed, MixedColumn
from ...kernels.networks.kernels import Diffusion, RandomWalk, RegularizedLaplacian
from ...kernels.networks.network import Network
from ...kernels.pairs import Kronecker, Pairwise
from ...kernels.sets import Jaccard, Tanimoto
from ...kernels.strings.alignment import LocalAlignment
from ...kernels.strings.spectrum import Gappy, Mismatch, Spectrum
from ...kernels.strings.weighted_degree import WeightedDegree
from ...kernels.transforms import Center, Chain, PSDRepair, UnitDiagonal, UnitTrace, UnitVariance
from ...localized.base import GatedKernels
from ...localized.estimators import LocalizedMKLClassifier, LocalizedMKLOneClass, LocalizedMKLRegressor
from ...localized.least_squares import LocalizedRidge, LocalizedRidgeClassifier
from ...localized.projection import (
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from ...localized.solver.gates import GaussianGate, SigmoidGate, SoftmaxGate
from ...localized.solver.projections import (
    GaussianProjection,
    LinearProjection,
    PolynomialProjection,
    ProjectionModel,
)
from ...mkl.classifier import MKLClassifier
from ...mkl.cost_path import CostPath
from ...mkl.one_class import MKLOneClass
from ...mkl.regressors import MKLRegressor, MKLRidge
from ...mkl.regularized.classifier import RegularizedMKLClassifier
from ...mkl.regularized.regressor import RegularizedMKLRegressor
from ...mkl.regularized.response_surface import Quadratic, ResponseSurface
from ...mkl.targets.classifier import MKLRidgeClassifierCV
from ...mkl.tuned import MKLClassifierCV
from ...mkl.tuned_regressors import MKLRegressorCV, MKLRidgeCV
from ...nonstationary.classifier import NonstationaryClassifier
from ...pairs.ridge import PairwiseRidge
from ...pairs.sampling import PairSplit
from ...parametric.hierarchical import (
    HierarchicalMKLClassifier,
    HierarchicalMKLRegressor,
    ProductKernels,
)
from ...parametric.infinite import InfiniteMKLClassifier, InfiniteMKLOneClass, InfiniteMKLRegressor
from ...reduction.lfda import LFDA
from ...reduction.mkldr import MKLDR
from ...rules.combined import CombinedKernelClassifier, CombinedKernelOneClass, CombinedKernelRegressor
from ...rules.compositional import CompositionalKernelClassifier, SquareRootCross
from ...rules.consensus import SimilarityNetworkFusion, StatisRule
from ...rules.dirichlet import DirichletWeights
from ...rules.discriminant import DiscriminantMKL, FungDiscriminant, KimDiscriminant
from ...rules.fixed import BestSingle, MeanRule, ProductRule, SumRule
from ...rules.heuristic import AccuracyRule, AlignmentRule, MSERule, PearsonRule
from ...rules.kernel_boosting import KernelBoosting
from ...rules.learner import About, Learned
from ...rules.margin.margin_mkl import EasyMKL, LogPenaltyMKL, MarginMKL
from ...rules.margin.sets import (
    CappedMKL,
    ElasticNetMKL,
    GroupMKL,
    LowerBoundedMKL,
    RadiusMargin,
    RadiusMarginProduct,
)
from ...rules.nonlinear import ClusterWeights, FunctionalForm, GeneralMKL, InstanceWeights
from ...rules.pca import CombinedKernelPCA, KernelComponents
from ...rules.ridge import PolynomialRidge, RidgeBall
from ...rules.similarity import (
    AlignmentQP,
    CenteredAlignment,
    FeatureSpaceMeasure,
    GradientAlignment,
    IdealDistance,
    KLDivergence,
)
from ...soft_labels.classifier import PosteriorSVC
from ...spectral.classifier import SpectralKernelClassifier
from ...spectral.conformal import ConformalKernel
from ...spectral.kdda import KDDAClassifier
from ...spectral.knn import KernelKNNClassifier
from ...spectral.solver.conformal_kernel import ConformalModel
from ...spectral.solver.kernel import FactorMap, JointSpectrum, SpectralModel, SpectralWeights
from ...spectral.solver.kernel import Spectrum as KernelSpectrum  # Spectrum is that of strings
from ...survival.estimators import MKLSurvival
from ...survival.solver.baseline import Baseline
from ...survival.tuned import MKLSurvivalCV
from ...tasks.estimators import MultiTaskMKLClassifier, MultiTaskMKLRegressor
from ...transductive.classifier import TransductiveMKLClassifier
from ...views.bank import FittedView, KernelBank
from ...views.columns import Selection
from ...views.gating_features import GatingColumns, GatingKernelMap
from ...views.low_rank.bank import LowRankBank
from ...views.low_rank.maps import ColumnMap, FourierMap, LandmarkMap
from ...views.low_rank.transforms import Scale, Shift, UnitLength
from ...views.low_rank.view import FactorView
from ...views.memory import MemoryEstimate
from ...views.missing import CompletedBank, MeanFilling, MutualFilling, ViewMap
from ...views.precomputed import PrecomputedBank
from ...views.scaling import EncodedColumn, Encoding, RankScaling, Scaling
from ...views.view import View
from .preparing import STAND_INS as CALLED

PACKAGE = "multikernel"

# Made by ``cls.__new__(cls)``, then their attributes: nothing else of them is called on loading.
OBJECTS: dict[str, type] = {
    name: thing
    for name, thing in list(globals().items())
    if isinstance(thing, type) and thing.__module__.startswith(f"{PACKAGE}.")
}


def file_name(thing: Any) -> str:
    """The name of a class or function in a file; that of its module where it is not of this package."""
    place = (thing.__module__, thing.__name__)
    return ".".join(_names().get(place, place))


def into_file(module: str, name: str) -> tuple[str, str]:
    """How a file calls what is found in a module under a name."""
    return _names().get((module, name), (module, name))


def find(name: str) -> type | None:
    """The class of this package that a file calls so, if any."""
    package, _, short = name.rpartition(".")
    if package != PACKAGE:
        return None
    return OBJECTS.get(short) or CALLED.get(short)


@cache
def _names() -> dict[tuple[str, str], tuple[str, str]]:
    """From where a class is to its name."""
    return {
        (cls.__module__, cls.__name__): (PACKAGE, name)
        for table in (OBJECTS, CALLED)
        for name, cls in table.items()
    }
