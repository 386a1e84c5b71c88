"""Searches on folds: penalty and norm of a model with learned kernel weights, chosen by cross-validation."""
