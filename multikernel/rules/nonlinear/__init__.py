"""Kernels that are no weighted sum with one weight for each: products, functional and local combinations."""

from .cluster_weights import ClusterWeights
from .functional_form import FunctionalForm
from .general import GeneralMKL
from .instance_weights import InstanceWeights

__all__ = ["ClusterWeights", "FunctionalForm", "GeneralMKL", "InstanceWeights"]
