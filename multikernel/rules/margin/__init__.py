"""Weights by the margin of a machine, and by its radius."""
