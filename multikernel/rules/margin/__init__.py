"""Weights by the margin of a machine, and by its radius."""

from .capped_mkl import CappedMKL
from .easy_mkl import EasyMKL
from .elastic_net import ElasticNetMKL
from .group_mkl import GroupMKL
from .log_penalty import LogPenaltyMKL
from .lower_bounded import LowerBoundedMKL
from .margin_mkl import MarginMKL
from .radius_margin import RadiusMargin

__all__ = [
    "CappedMKL",
    "EasyMKL",
    "ElasticNetMKL",
    "GroupMKL",
    "LogPenaltyMKL",
    "LowerBoundedMKL",
    "MarginMKL",
    "RadiusMargin",
]
