"""Weights from a figure of each kernel by itself."""

from .accuracy import AccuracyRule
from .alignment import AlignmentRule
from .mse import MSERule
from .pearson import PearsonRule

__all__ = ["AccuracyRule", "AlignmentRule", "MSERule", "PearsonRule"]
