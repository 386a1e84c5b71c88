"""Gram stacks to measure on: three binary problems, three sizes of bank."""

from benchmarks.datasets.bank import DATASETS, kernel_bank
from benchmarks.datasets.points import available, load_points

__all__ = ["DATASETS", "available", "kernel_bank", "load_points"]
