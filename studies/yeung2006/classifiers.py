"""The classifiers of the tables, and how well each one classifies every labelled point by the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.svm import SVC

from multikernel.core.neighbors import kernel_distances, neighbour_votes
from multikernel.spectral.solver.direct_discriminant import direct_discriminant
from studies.fitting import convergence_reported
from studies.yeung2006.kernels import LearnedKernel

NEIGHBOURS = {"nn1": 1, "nn3": 3}
PRICES = {"svm100": 100.0, "svm1000": 1000.0}
DIRECT = "kdda"
_MAX_ITER = 1_000_000

Array = np.ndarray


def classify(classifier: str, K: Array, codes: Array, K_new: Array) -> Array:
    """Return the classes of new points.

    Parameters
    ----------
    classifier : {"nn1", "nn3", "svm100", "svm1000", "kdda"}
        Nearest neighbours in the feature space, a support vector machine, or the nearest neighbour among
        the directions of direct discriminant analysis.
    K : ndarray of shape (l, l)
        The kernel between the labelled points.
    codes : ndarray of shape (l,)
        Their classes.
    K_new : ndarray of shape (n_new, l)

    Returns
    -------
    ndarray of shape (n_new,)
    """
    if classifier in PRICES:
        winners: Array = _fit_machine(PRICES[classifier], K, codes).predict(K_new)
        return winners
    if classifier == DIRECT:
        T = direct_discriminant(K, codes)
        return neighbour_votes(cdist(K_new @ T, K @ T), codes, 1).winners
    return neighbour_votes(kernel_distances(K_new, K.diagonal()), codes, NEIGHBOURS[classifier]).winners


def leave_one_out_errors(kernel: LearnedKernel, codes: Array, limits: Mapping[str, int]) -> dict[str, int]:
    """Return how many labelled points each classifier is wrong about, taught by the others alone.

    The kernel, where it is relearned, is learned without the point too.

    Parameters
    ----------
    kernel : LearnedKernel
    codes : ndarray of shape (l,)
    limits : mapping of str to int
        Classifier to a number of errors from which on it is of no interest: it is left at once.

    Returns
    -------
    dict of str to int
        Of the classifiers with fewer errors than their limits.
    """
    errors = {name: 0 for name, limit in limits.items() if limit > 0}
    known = {name: _known_right(name, kernel, codes) for name in errors}
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for i in range(len(codes)):
            asked = [name for name in errors if not known[name][i]]
            if not asked:
                continue
            K = kernel.without(i)
            for name in asked:
                errors[name] += int(_class_by_others(name, K, codes, i) != codes[i])
                if errors[name] >= limits[name]:
                    del errors[name]
    return errors


def _class_by_others(classifier: str, K: Array, codes: Array, i: int) -> int:
    """The class that all labelled points but i, with the kernel K (l, l), give to i."""
    if classifier in NEIGHBOURS:
        distances = kernel_distances(K[i : i + 1], K.diagonal())
        distances[0, i] = np.inf  # still there, so that ties are taken in the order that new points meet
        return int(neighbour_votes(distances, codes, NEIGHBOURS[classifier]).winners[0])
    others = np.flatnonzero(np.arange(len(codes)) != i)
    inside, row = K[np.ix_(others, others)], K[i : i + 1, others]
    return int(classify(classifier, inside, codes[others], row)[0])


def _known_right(classifier: str, kernel: LearnedKernel, codes: Array) -> Array:
    """The points of which one fit to all says that the others classify them rightly.

    Those of a fixed kernel that a machine is right about and does not rest on: without them it is the same.
    """
    known = np.zeros(len(codes), dtype=bool)
    if classifier in PRICES and not kernel.is_relearned:
        K = kernel.without(0)
        machine = _fit_machine(PRICES[classifier], K, codes)
        known = machine.predict(K) == codes
        known[machine.support_] = False
    return known


def _fit_machine(C: float, K: Array, codes: Array) -> SVC:
    with convergence_reported():  # LIBSVM may go on for ever on kernels of extreme scale
        return SVC(C=C, kernel="precomputed", max_iter=_MAX_ITER).fit(K, codes)
