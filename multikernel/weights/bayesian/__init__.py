"""Posteriors of kernel weights."""

from .dirichlet import DirichletWeights

__all__ = ["DirichletWeights"]
