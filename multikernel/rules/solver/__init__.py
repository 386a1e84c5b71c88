"""Solvers that only weight rules use."""
