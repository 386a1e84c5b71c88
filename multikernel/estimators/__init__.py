"""Estimators behind scikit-learn's interface."""

from ._route import LowRankWarning
from .bayesian_classifier import BayesianMKLClassifier
from .bayesian_regressor import BayesianMKLRegressor
from .column_boosting_classifier import ColumnBoostingClassifier
from .column_boosting_regressor import ColumnBoostingRegressor
from .combined_classifier import CombinedKernelClassifier
from .combined_one_class import CombinedKernelOneClass
from .combined_pca import CombinedKernelPCA
from .combined_regressor import CombinedKernelRegressor
from .compositional import CompositionalKernelClassifier
from .conformal import ConformalKernel
from .cost_path import CostPath, cost_path
from .kdda import KDDAClassifier
from .kernel_discriminant import KernelDiscriminantClassifier
from .kernel_kmeans import MultipleKernelKMeans
from .kernel_neighbors import KernelKNNClassifier
from .localized_classifier import LocalizedMKLClassifier
from .localized_one_class import LocalizedMKLOneClass
from .localized_regressor import LocalizedMKLRegressor
from .mkl_classifier import MKLClassifier
from .mkl_one_class import MKLOneClass
from .mkl_regressor import MKLRegressor
from .mkl_ridge import MKLRidge
from .nonstationary import NonstationaryClassifier
from .pairwise_ridge import PairwiseRidge
from .posterior_svc import PosteriorSVC
from .projection_classifier import ProjectionKernelClassifier
from .projection_one_class import ProjectionKernelOneClass
from .projection_regressor import ProjectionKernelRegressor
from .regularized_classifier import RegularizedMKLClassifier
from .spectral import SpectralKernelClassifier
from .transductive import TransductiveMKLClassifier

__all__ = [
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
    "ColumnBoostingClassifier",
    "ColumnBoostingRegressor",
    "CombinedKernelClassifier",
    "CombinedKernelOneClass",
    "CombinedKernelPCA",
    "CombinedKernelRegressor",
    "CompositionalKernelClassifier",
    "ConformalKernel",
    "CostPath",
    "KDDAClassifier",
    "KernelDiscriminantClassifier",
    "KernelKNNClassifier",
    "LocalizedMKLClassifier",
    "LocalizedMKLOneClass",
    "LocalizedMKLRegressor",
    "LowRankWarning",
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRidge",
    "MultipleKernelKMeans",
    "NonstationaryClassifier",
    "PairwiseRidge",
    "PosteriorSVC",
    "ProjectionKernelClassifier",
    "ProjectionKernelOneClass",
    "ProjectionKernelRegressor",
    "RegularizedMKLClassifier",
    "SpectralKernelClassifier",
    "TransductiveMKLClassifier",
    "cost_path",
]
