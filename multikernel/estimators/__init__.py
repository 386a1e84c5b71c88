"""Estimators behind scikit-learn's interface."""

from .kernel_discriminant import KernelDiscriminantClassifier
from .mkl_classifier import MKLClassifier
from .mkl_one_class import MKLOneClass
from .mkl_regressor import MKLRegressor
from .mkl_ridge import MKLRidge
from .transductive import TransductiveMKLClassifier

__all__ = [
    "KernelDiscriminantClassifier",
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRidge",
    "TransductiveMKLClassifier",
]
