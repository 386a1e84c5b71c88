"""Kernels combined or projected differently from place to place: gates, projections, and their descent."""
