"""The wine data of the spectral kernels' fixtures: standardised, every fifth point labelled and put first."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine

from multikernel.kernels import Gaussian
from multikernel.spectral import SpectralKernelClassifier

MEAN_SQUARE = 26.14689266  # mean squared distance between two different points
SQUARE = Gaussian(gamma=1.0 / 26.146892655367235)


def raw():
    """The 36 labelled points and their classes, the others and theirs, as they come."""
    X, y = load_wine(return_X_y=True)
    rest = np.setdiff1d(np.arange(178), np.arange(0, 178, 5))
    return X[::5], y[::5], X[rest], y[rest]


def load():
    """The standardised table (178, 13) and the classes, the 36 labelled points first."""
    X, y, X_rest, y_rest = raw()
    X = np.concatenate([X, X_rest])
    return (X - X.mean(axis=0)) / X.std(axis=0), np.concatenate([y, y_rest])


def fitted(**parameters):
    """The classifier on the Gaussian of the fixtures, from the labelled points and the others."""
    X, y, X_new, _ = raw()
    return SpectralKernelClassifier(SQUARE, standardize=True, **parameters).fit(X, y, X_new)


def gaussian(X, Z, square):
    return np.exp(-cdist(X, Z, "sqeuclidean") / square)


def problem():
    """K (178, 178) of the fixtures, and the classes of the first 36 points."""
    X, y = load()
    distances = cdist(X, X, "sqeuclidean")
    square = distances.sum() / (178 * 177)
    assert abs(square - MEAN_SQUARE) < 1e-8
    return np.exp(-distances / square), y[:36], y[36:]


def vote(Z, labelled, codes, n_neighbors):
    """The classes of the rows Z by their nearest labelled rows; the nearer decides between equal votes."""
    winners = []
    for z in Z:
        nearest = codes[np.argsort(((labelled - z) ** 2).sum(axis=1))[:n_neighbors]]
        counts = np.bincount(nearest)
        winners.append(next(c for c in nearest if counts[c] == counts.max()))
    return np.array(winners)
