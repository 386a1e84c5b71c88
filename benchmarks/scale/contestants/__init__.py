"""Solvers on ready factors: each returns coefficients, and the judge does the rest."""
