"""The weight learner on factors: rows in blocks, one round of map-reduce for each step."""

from .learn import learn_block_weights
from .result import BlockResult

__all__ = ["BlockResult", "learn_block_weights"]
