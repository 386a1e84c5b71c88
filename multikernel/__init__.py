"""Learns the kernel: multiple kernel learning with a certificate, behind scikit-learn's interface."""

from importlib.metadata import version

from .estimators import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelRegressor,
    ConformalKernel,
    KDDAClassifier,
    KernelDiscriminantClassifier,
    KernelKNNClassifier,
    LocalizedMKLClassifier,
    LocalizedMKLOneClass,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    MulticlassSVC,
    NonstationaryClassifier,
    PosteriorSVC,
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
    RegularizedMKLClassifier,
    SpectralKernelClassifier,
    TransductiveMKLClassifier,
    cost_path,
)
from .selection import generalization_bound
from .stats import compare_rules
from .views import KernelBank, View, combine_kernels, per_feature, stack_kernels

__version__ = version("multikernel")

__all__ = [
    "CombinedKernelClassifier",
    "CombinedKernelOneClass",
    "CombinedKernelRegressor",
    "ConformalKernel",
    "KDDAClassifier",
    "KernelBank",
    "KernelDiscriminantClassifier",
    "KernelKNNClassifier",
    "LocalizedMKLClassifier",
    "LocalizedMKLOneClass",
    "LocalizedMKLRegressor",
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRidge",
    "MulticlassSVC",
    "NonstationaryClassifier",
    "PosteriorSVC",
    "ProjectionKernelClassifier",
    "ProjectionKernelOneClass",
    "ProjectionKernelRegressor",
    "RegularizedMKLClassifier",
    "SpectralKernelClassifier",
    "TransductiveMKLClassifier",
    "View",
    "combine_kernels",
    "compare_rules",
    "cost_path",
    "generalization_bound",
    "per_feature",
    "stack_kernels",
]
