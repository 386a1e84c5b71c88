"""The data, the splits and the plain kernels of the tables of Yeung et al. (2006).

    k(x, z) = exp(−‖x − z‖² / σ²),   σ² = d̄², 10⁻⁴, 10⁻³, 10⁻², 10⁻¹, 1, 5, 10, 10² or 10³

over all points of a set, labelled or not, with columns of mean 0 and variance 1; d̄² is the mean squared
distance of two points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel.kernels import Gaussian
from studies.points import load_points, standardize
from studies.splits import draw_order

WIDTHS: tuple[str, ...] = ("d̄²", "1e-4", "1e-3", "1e-2", "1e-1", "1", "5", "10", "1e2", "1e3")
PERCENT_LABELLED = (20, 40)
_SEED = 2006
_DECIMALS = 12  # points at equal distances, of which there are many on a grid, are to be equally similar

Array = np.ndarray


def _divide(X: Array, scale: Array) -> Array:
    """X / scale, where it is not 0."""
    quotient: Array = X / np.where(scale > 0.0, scale, 1.0)
    return quotient


SCALINGS: Mapping[str, Callable[[Array], Array]] = {
    "as they are": lambda X: X,
    "to [0, 1]": lambda X: _divide(X - X.min(axis=0), np.ptp(X, axis=0)),
    "columns of length 1": lambda X: _divide(X, np.linalg.norm(X, axis=0)),
    "rows of length 1": lambda X: _divide(X, np.linalg.norm(X, axis=1, keepdims=True)),
}
_OTHERS = ("one-hot", "a column of noise", "terciles", "5% of the classes changed")


@dataclass(frozen=True)
class Split:
    """The points of one random split, labelled points first, and the classes 0, 1, … of all of them.

    Those after the first `n_labelled` are used to judge only.
    """

    X: Array
    codes: Array
    n_labelled: int

    @property
    def labels(self) -> Array:
        """The classes of the labelled points."""
        return self.codes[: self.n_labelled]


def draw_split(
    dataset: str, percent: int, split: int, preparation: str = "", *, by_class: bool = True
) -> Split:
    """Return a random split, the same for the same number.

    Parameters
    ----------
    dataset : str
    percent : int
        How many of the points are labelled.
    split : int
    preparation : str, default=""
        Of the columns and classes, see `load_classes`.
    by_class : bool, default=True
        Whether the same share of every class is labelled, rounded up; else a share of all points, two of
        every class at least.

    Returns
    -------
    Split
    """
    X, codes = load_classes(dataset, preparation)
    rng = np.random.default_rng([_SEED, split])
    if by_class:
        labelled = np.concatenate([_draw_class(codes, name, percent, rng) for name in np.unique(codes)])
        order = np.append(labelled, rng.permutation(np.setdiff1d(np.arange(len(codes)), labelled)))
        return Split(X[order], codes[order], len(labelled))
    n_labelled = round(percent * len(codes) / 100)
    while True:
        order = draw_order(codes, n_labelled, rng)
        if np.bincount(codes[order[:n_labelled]]).min() > 1:
            return Split(X[order], codes[order], n_labelled)


def _draw_class(codes: Array, name: int, percent: int, rng: np.random.Generator) -> Array:
    members = np.flatnonzero(codes == name)
    return rng.permutation(members)[: -(-percent * len(members) // 100)]


def load_classes(dataset: str, preparation: str = "") -> tuple[Array, Array]:
    """Return the standardised columns of a set and its classes; prices are cut into three equal ranges.

    Parameters
    ----------
    dataset : str
    preparation : str, default=""
        Other ways to do it, separated by ``"; "``. Of the columns: a key of `SCALINGS`, ``"one-hot"`` (a
        column for each value of each attribute), ``"a column of noise"`` (one more, standard normal). Of the
        classes: ``"terciles"`` or ``"10, 20"`` (where prices are cut), ``"5% of the classes changed"`` (two
        classes).

    Returns
    -------
    X : ndarray of shape (n, d)
        With columns of mean 0.
    codes : ndarray of shape (n,)
    """
    parts = preparation.split("; ")
    for part in parts:
        if part not in ("", *SCALINGS, *_OTHERS) and not _is_cuts(part):
            raise ValueError(
                f"preparation must be of {', '.join((*SCALINGS, *_OTHERS))} or two numbers; got {part!r}."
            )
    X, y = load_points(dataset)
    return _columns(X, parts), _classes(y, parts)


def _columns(X: Array, parts: Sequence[str]) -> Array:
    if "one-hot" in parts:
        X = np.column_stack([column == value for column in X.T for value in np.unique(column)]).astype(float)
    if "a column of noise" in parts:
        X = np.column_stack([X, np.random.default_rng(_SEED).normal(size=len(X))])
    scale = next((SCALINGS[part] for part in parts if part in SCALINGS), standardize)
    X = scale(X)
    centred: Array = X - X.mean(axis=0)
    return centred


def _classes(y: Array, parts: Sequence[str]) -> Array:
    if y.dtype.kind == "f":
        return np.searchsorted(_cuts(y, parts), y)
    codes = np.unique(y, return_inverse=True)[1]
    if "5% of the classes changed" in parts:
        changed = np.random.default_rng(_SEED).permutation(len(y))[: round(0.05 * len(y))]
        codes[changed] = 1 - codes[changed]
    return codes


def _is_cuts(part: str) -> bool:
    return part[:1].isdigit() and "," in part


def _cuts(prices: Array, parts: Sequence[str]) -> list[float]:
    low, high = float(prices.min()), float(prices.max())
    if "terciles" in parts:
        return [float(cut) for cut in np.quantile(prices, [1 / 3, 2 / 3])]
    for part in filter(_is_cuts, parts):
        return [float(cut) for cut in part.split(",")]
    return [(2 * low + high) / 3, (low + 2 * high) / 3]


def gaussian_kernels(X: Array) -> Iterator[tuple[str, Array]]:
    """Give the name of each width and its kernel matrix, in the order of `WIDTHS`.

    A kernel that repeats the one before it (the identity, at narrow widths) is left out: the first of equals
    would be chosen anyway.

    Parameters
    ----------
    X : ndarray of shape (n, d)

    Yields
    ------
    name : str
    K : ndarray of shape (n, n)
    """
    n = len(X)
    # The columns have mean zero: the mean over pairs of different points is 2n/(n − 1) times that of ‖x‖².
    mean_square = 2.0 * float((X**2).sum()) / (n - 1)
    previous = None
    for name in WIDTHS:
        kernel = Gaussian(gamma=1.0 / (mean_square if name == WIDTHS[0] else float(name)))
        K = np.round(kernel(X), _DECIMALS)
        if previous is None or not np.array_equal(K, previous):
            yield name, K
        previous = K
