"""The weight learner on factors: rows in blocks, one round of map-reduce for each step."""

from .learn import BlockResult, learn_block_weights

__all__ = ["BlockResult", "learn_block_weights"]
