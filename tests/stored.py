"""Estimators with other settings, those of the storage of their kernels among them."""

from dataclasses import replace

from sklearn.base import clone

from multikernel.views.precomputed import storage_of

STORAGE = ("psd", "gram", "dtype", "rank", "missing")


def stored(estimator, **settings):
    """A clone with other parameters; those of a KernelBank go to the bank of its kernels."""
    of_bank = {name: settings.pop(name) for name in STORAGE if name in settings}
    made = clone(estimator).set_params(**settings)
    return made.set_params(kernels=replace(storage_of(made.kernels), **of_bank)) if of_bank else made
