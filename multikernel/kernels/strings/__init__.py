"""Kernels of sequences: strings of letters in one column."""

from multikernel.kernels.strings.alignment import LocalAlignment
from multikernel.kernels.strings.spectrum import Gappy, Mismatch, Spectrum
from multikernel.kernels.strings.weighted_degree import WeightedDegree

__all__ = ["Gappy", "LocalAlignment", "Mismatch", "Spectrum", "WeightedDegree"]
