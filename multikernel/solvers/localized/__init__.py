"""Kernels that are combined or projected differently from place to place: gates, projections, their descent."""
