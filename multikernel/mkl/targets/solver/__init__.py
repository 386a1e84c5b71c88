"""Numerics of weights for each target: ``basis``, ``spectrum``, ``candidates``, ``search``."""
