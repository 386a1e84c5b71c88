"""The name under which each class of this package stands in a model file.

A file names a class by the package and this name, ``multikernel.MKLClassifier``, whatever module holds the
class; loading looks the name up here and nowhere else. The imports below are the one place that knows where
the classes are. A class that moves keeps its name. A class that files are to hold for the first time gets a
line in one of the tables, and its name is never given to another one. A class that is renamed, deleted or
given other attributes needs a step in the module ``upgrades`` as well.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..combine.gates import GaussianGate, SigmoidGate, SoftmaxGate
from ..estimators._calibration import SigmoidCalibration
from ..estimators._columns import ColumnKernels
from ..estimators._fitted import DualKernels, FactorKernels, FittedKernels
from ..estimators._localized import GatedKernels
from ..estimators.bayesian_classifier import BayesianMKLClassifier
from ..estimators.bayesian_regressor import BayesianMKLRegressor
from ..estimators.column_boosting_classifier import ColumnBoostingClassifier
from ..estimators.column_boosting_regressor import ColumnBoostingRegressor
from ..estimators.combined_classifier import CombinedKernelClassifier
from ..estimators.combined_one_class import CombinedKernelOneClass
from ..estimators.combined_pca import CombinedKernelPCA
from ..estimators.combined_regressor import CombinedKernelRegressor
from ..estimators.compositional import CompositionalKernelClassifier
from ..estimators.conformal import ConformalKernel
from ..estimators.cost_path import CostPath
from ..estimators.kdda import KDDAClassifier
from ..estimators.kernel_discriminant import KernelDiscriminantClassifier
from ..estimators.kernel_kmeans import MultipleKernelKMeans
from ..estimators.kernel_neighbors import KernelKNNClassifier
from ..estimators.localized_classifier import LocalizedMKLClassifier
from ..estimators.localized_one_class import LocalizedMKLOneClass
from ..estimators.localized_regressor import LocalizedMKLRegressor
from ..estimators.mkl_classifier import MKLClassifier
from ..estimators.mkl_one_class import MKLOneClass
from ..estimators.mkl_regressor import MKLRegressor
from ..estimators.mkl_ridge import MKLRidge
from ..estimators.nonstationary import NonstationaryClassifier
from ..estimators.pairwise_ridge import PairwiseRidge
from ..estimators.posterior_svc import PosteriorSVC
from ..estimators.projection_classifier import ProjectionKernelClassifier
from ..estimators.projection_one_class import ProjectionKernelOneClass
from ..estimators.projection_regressor import ProjectionKernelRegressor
from ..estimators.regularized_classifier import RegularizedMKLClassifier
from ..estimators.spectral import SpectralKernelClassifier
from ..estimators.transductive import TransductiveMKLClassifier
from ..kernels._rows import Rows
from ..kernels.base import Power, Product, Scaled, Sum
from ..kernels.categories import Hamming
from ..kernels.distance import Chi2, Gaussian, Laplacian
from ..kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from ..kernels.empirical_map import EmpiricalMap
from ..kernels.given import FunctionKernel, Precomputed
from ..kernels.graphs import GraphKernel
from ..kernels.mixed import Mixed, MixedColumn
from ..kernels.networks.kernels import Diffusion, RandomWalk, RegularizedLaplacian
from ..kernels.networks.network import Network
from ..kernels.pairs import Kronecker, Pairwise
from ..kernels.sets import Jaccard, Tanimoto
from ..kernels.strings.alignment import LocalAlignment
from ..kernels.strings.spectrum import Gappy, Mismatch, Spectrum
from ..kernels.strings.weighted_degree import WeightedDegree
from ..kernels.transforms import Center, Chain, PSDRepair, UnitDiagonal, UnitTrace
from ..selection.pair_split import PairSplit
from ..selection.quadratic import Quadratic
from ..selection.response_surface import ResponseSurface
from ..solvers.bayesian.learn import BayesianResult
from ..solvers.compositional import SquareRootCross
from ..solvers.conformal_kernel import ConformalModel
from ..solvers.kernel_pca import KernelComponents
from ..solvers.localized.projection_kernels import GaussianProjection, LinearProjection
from ..solvers.localized.projections import ProjectionModel
from ..solvers.spectral_kernel import SpectralModel, SpectralWeights
from ..solvers.spectral_kernel import Spectrum as KernelSpectrum
from ..views.bank import FittedView, KernelBank
from ..views.columns import Selection
from ..views.gating_features import GatingColumns, GatingKernelMap
from ..views.low_rank.bank import LowRankBank
from ..views.low_rank.fourier import FourierMap
from ..views.low_rank.maps import ColumnMap, LandmarkMap
from ..views.low_rank.transforms import Scale, Shift, UnitLength
from ..views.low_rank.view import FactorView
from ..views.memory import MemoryEstimate
from ..views.missing.bank import CompletedBank
from ..views.missing.filling import MeanFilling
from ..views.missing.mutual import MutualFilling, ViewMap
from ..views.precomputed import PrecomputedBank
from ..views.scaling import Scaling
from ..views.view import View
from ..weights.bayesian.dirichlet import DirichletWeights
from ..weights.boosting.kernel_boosting import KernelBoosting
from ..weights.discriminant.fung import FungDiscriminant
from ..weights.discriminant.kim import KimDiscriminant
from ..weights.discriminant.total_scatter import DiscriminantMKL
from ..weights.fixed.best_single import BestSingle
from ..weights.fixed.mean import MeanRule
from ..weights.fixed.product import ProductRule
from ..weights.fixed.sum import SumRule
from ..weights.heuristic.accuracy import AccuracyRule
from ..weights.heuristic.alignment import AlignmentRule
from ..weights.heuristic.mse import MSERule
from ..weights.heuristic.pearson import PearsonRule
from ..weights.learner import About, Learned
from ..weights.margin.capped_mkl import CappedMKL
from ..weights.margin.easy_mkl import EasyMKL
from ..weights.margin.elastic_net import ElasticNetMKL
from ..weights.margin.group_mkl import GroupMKL
from ..weights.margin.log_penalty import LogPenaltyMKL
from ..weights.margin.lower_bounded import LowerBoundedMKL
from ..weights.margin.margin_mkl import MarginMKL
from ..weights.margin.radius_margin import RadiusMargin
from ..weights.nonlinear.cluster_weights import ClusterWeights
from ..weights.nonlinear.functional_form import FunctionalForm
from ..weights.nonlinear.general import GeneralMKL
from ..weights.nonlinear.instance_weights import InstanceWeights
from ..weights.ridge.ball import RidgeBall
from ..weights.ridge.polynomial import PolynomialRidge
from ..weights.similarity.alignment_qp import AlignmentQP
from ..weights.similarity.centered_alignment import CenteredAlignment
from ..weights.similarity.feature_space_measure import FeatureSpaceMeasure
from ..weights.similarity.gradient_alignment import GradientAlignment
from ..weights.similarity.ideal_distance import IdealDistance
from ..weights.similarity.kl_divergence import KLDivergence
from .stand_ins import (
    Categories,
    Column,
    Frame,
    Items,
    Labels,
    Layout,
    Member,
    Members,
    NamedSeries,
    ObjectArray,
    Plain,
    Sparse,
)

PACKAGE = "multikernel"

# Made by ``cls.__new__(cls)``, then their attributes: nothing else of them is called on loading.
OBJECTS: dict[str, type] = {
    "About": About,
    "AccuracyRule": AccuracyRule,
    "AlignmentQP": AlignmentQP,
    "AlignmentRule": AlignmentRule,
    "BayesianMKLClassifier": BayesianMKLClassifier,
    "BayesianMKLRegressor": BayesianMKLRegressor,
    "BayesianResult": BayesianResult,
    "BestSingle": BestSingle,
    "CappedMKL": CappedMKL,
    "Center": Center,
    "CenteredAlignment": CenteredAlignment,
    "Chain": Chain,
    "Chi2": Chi2,
    "ClusterWeights": ClusterWeights,
    "ColumnBoostingClassifier": ColumnBoostingClassifier,
    "ColumnBoostingRegressor": ColumnBoostingRegressor,
    "ColumnKernels": ColumnKernels,
    "ColumnMap": ColumnMap,
    "CombinedKernelClassifier": CombinedKernelClassifier,
    "CombinedKernelOneClass": CombinedKernelOneClass,
    "CombinedKernelPCA": CombinedKernelPCA,
    "CombinedKernelRegressor": CombinedKernelRegressor,
    "CompletedBank": CompletedBank,
    "CompositionalKernelClassifier": CompositionalKernelClassifier,
    "ConformalKernel": ConformalKernel,
    "ConformalModel": ConformalModel,
    "Cosine": Cosine,
    "CostPath": CostPath,
    "Diffusion": Diffusion,
    "DirichletWeights": DirichletWeights,
    "DiscriminantMKL": DiscriminantMKL,
    "DualKernels": DualKernels,
    "EasyMKL": EasyMKL,
    "ElasticNetMKL": ElasticNetMKL,
    "EmpiricalMap": EmpiricalMap,
    "FactorKernels": FactorKernels,
    "FactorView": FactorView,
    "FeatureSpaceMeasure": FeatureSpaceMeasure,
    "FittedKernels": FittedKernels,
    "FittedView": FittedView,
    "FourierMap": FourierMap,
    "FunctionalForm": FunctionalForm,
    "FunctionKernel": FunctionKernel,
    "FungDiscriminant": FungDiscriminant,
    "Gappy": Gappy,
    "GatedKernels": GatedKernels,
    "GatingColumns": GatingColumns,
    "GatingKernelMap": GatingKernelMap,
    "Gaussian": Gaussian,
    "GaussianGate": GaussianGate,
    "GaussianProjection": GaussianProjection,
    "GeneralMKL": GeneralMKL,
    "GradientAlignment": GradientAlignment,
    "GraphKernel": GraphKernel,
    "GroupMKL": GroupMKL,
    "Hamming": Hamming,
    "IdealDistance": IdealDistance,
    "InstanceWeights": InstanceWeights,
    "Jaccard": Jaccard,
    "KDDAClassifier": KDDAClassifier,
    "KernelBank": KernelBank,
    "KernelBoosting": KernelBoosting,
    "KernelComponents": KernelComponents,
    "KernelDiscriminantClassifier": KernelDiscriminantClassifier,
    "KernelKNNClassifier": KernelKNNClassifier,
    "KernelSpectrum": KernelSpectrum,
    "KimDiscriminant": KimDiscriminant,
    "KLDivergence": KLDivergence,
    "Kronecker": Kronecker,
    "LandmarkMap": LandmarkMap,
    "Laplacian": Laplacian,
    "Learned": Learned,
    "Linear": Linear,
    "LinearProjection": LinearProjection,
    "LocalAlignment": LocalAlignment,
    "LocalizedMKLClassifier": LocalizedMKLClassifier,
    "LocalizedMKLOneClass": LocalizedMKLOneClass,
    "LocalizedMKLRegressor": LocalizedMKLRegressor,
    "LogPenaltyMKL": LogPenaltyMKL,
    "LowerBoundedMKL": LowerBoundedMKL,
    "LowRankBank": LowRankBank,
    "MarginMKL": MarginMKL,
    "MeanFilling": MeanFilling,
    "MeanRule": MeanRule,
    "MemoryEstimate": MemoryEstimate,
    "Mismatch": Mismatch,
    "Mixed": Mixed,
    "MixedColumn": MixedColumn,
    "MKLClassifier": MKLClassifier,
    "MKLOneClass": MKLOneClass,
    "MKLRegressor": MKLRegressor,
    "MKLRidge": MKLRidge,
    "MSERule": MSERule,
    "MultipleKernelKMeans": MultipleKernelKMeans,
    "MutualFilling": MutualFilling,
    "Network": Network,
    "NonstationaryClassifier": NonstationaryClassifier,
    "PairSplit": PairSplit,
    "Pairwise": Pairwise,
    "PairwiseRidge": PairwiseRidge,
    "PearsonRule": PearsonRule,
    "Polynomial": Polynomial,
    "PolynomialRidge": PolynomialRidge,
    "PosteriorSVC": PosteriorSVC,
    "Power": Power,
    "Precomputed": Precomputed,
    "PrecomputedBank": PrecomputedBank,
    "Product": Product,
    "ProductRule": ProductRule,
    "ProjectionKernelClassifier": ProjectionKernelClassifier,
    "ProjectionKernelOneClass": ProjectionKernelOneClass,
    "ProjectionKernelRegressor": ProjectionKernelRegressor,
    "ProjectionModel": ProjectionModel,
    "PSDRepair": PSDRepair,
    "Quadratic": Quadratic,
    "RadiusMargin": RadiusMargin,
    "RandomWalk": RandomWalk,
    "RegularizedLaplacian": RegularizedLaplacian,
    "RegularizedMKLClassifier": RegularizedMKLClassifier,
    "ResponseSurface": ResponseSurface,
    "RidgeBall": RidgeBall,
    "Rows": Rows,
    "Scale": Scale,
    "Scaled": Scaled,
    "Scaling": Scaling,
    "Selection": Selection,
    "Shift": Shift,
    "Sigmoid": Sigmoid,
    "SigmoidCalibration": SigmoidCalibration,
    "SigmoidGate": SigmoidGate,
    "SoftmaxGate": SoftmaxGate,
    "SpectralKernelClassifier": SpectralKernelClassifier,
    "SpectralModel": SpectralModel,
    "SpectralWeights": SpectralWeights,
    "Spectrum": Spectrum,
    "SquareRootCross": SquareRootCross,
    "Sum": Sum,
    "SumRule": SumRule,
    "Tanimoto": Tanimoto,
    "TransductiveMKLClassifier": TransductiveMKLClassifier,
    "UnitDiagonal": UnitDiagonal,
    "UnitLength": UnitLength,
    "UnitTrace": UnitTrace,
    "View": View,
    "ViewMap": ViewMap,
    "WeightedDegree": WeightedDegree,
}
# Called with parts that they check.
CALLED: dict[str, type] = {
    "Categories": Categories,
    "Column": Column,
    "Frame": Frame,
    "Items": Items,
    "Labels": Labels,
    "Layout": Layout,
    "Member": Member,
    "Members": Members,
    "NamedSeries": NamedSeries,
    "ObjectArray": ObjectArray,
    "Plain": Plain,
    "Sparse": Sparse,
}


def file_name(thing: Any) -> str:
    """The name of a class or function in a file; that of its module where it is not of this package.

    Examples
    --------
    >>> from multikernel.kernels import Gaussian
    >>> file_name(Gaussian), file_name(range)
    ('multikernel.Gaussian', 'builtins.range')
    """
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
