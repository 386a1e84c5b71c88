"""Bayesian multiple kernel learning: posteriors of kernel weights by variational inference or sampling."""
