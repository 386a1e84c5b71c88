"""Solvers of discriminant kernel learning."""
