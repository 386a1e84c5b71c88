"""Generated rows: ten views of five columns each, four of which say something, and labels with noise.

Each informative view adds a sum of sines of random directions, so that no kernel of low rank is exact. A row
depends on its number alone: a table of n rows is the beginning of every longer one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

N_VIEWS = 10
VIEW_COLUMNS = 5
N_INFORMATIVE = 4
STRENGTHS = (1.0, 0.8, 0.6, 0.4)
FLIPPED = 0.05
NOISE = 0.5  # standard deviation of the noise of values, beside a signal of about 1

_WAVES = 4
_BLOCK_ROWS = 2**14


@dataclass(frozen=True)
class Rows:
    """A table with both kinds of target.

    Attributes
    ----------
    X : array (n, 50)
    labels : array (n,), ±1
    values : array (n,)
    """

    X: FloatArray
    labels: FloatArray
    values: FloatArray


def view_columns(view: int) -> list[int]:
    """The numbers of the columns of a view."""
    return list(range(view * VIEW_COLUMNS, (view + 1) * VIEW_COLUMNS))


def view_name(view: int) -> str:
    """What a view is called: the informative ones first."""
    return f"signal {view + 1}" if view < N_INFORMATIVE else f"noise {view + 1 - N_INFORMATIVE}"


def make_rows(n: int, seed: int = 0) -> Rows:
    """The first n rows."""
    X, labels, values = np.empty((n, N_VIEWS * VIEW_COLUMNS)), np.empty(n), np.empty(n)
    start = 0
    for part in _blocks(n, seed):
        stop = start + len(part.X)
        X[start:stop], labels[start:stop], values[start:stop] = part.X, part.labels, part.values
        start = stop
    return Rows(X, labels, values)


def make_block(number: int, n_rows: int, seed: int = 0) -> Rows:
    """One block of rows, from its number and the seed alone: blocks can be made where they are needed."""
    rng = np.random.default_rng([seed, 1, number])
    X = rng.normal(size=(n_rows, N_VIEWS * VIEW_COLUMNS))
    signal = _signal(X, seed)
    labels = np.where(signal >= 0.0, 1.0, -1.0)
    labels[rng.random(n_rows) < FLIPPED] *= -1.0
    return Rows(X, labels, signal + NOISE * rng.normal(size=n_rows))


def _blocks(n: int, seed: int) -> Iterator[Rows]:
    for number, start in enumerate(range(0, n, _BLOCK_ROWS)):
        block, left = make_block(number, _BLOCK_ROWS, seed), n - start
        yield Rows(block.X[:left], block.labels[:left], block.values[:left])


def _signal(X: FloatArray, seed: int) -> FloatArray:
    """The sum over the informative views; the directions depend on the seed alone."""
    rng = np.random.default_rng([seed, 0])
    total = np.zeros(len(X))
    for view, strength in enumerate(STRENGTHS):
        directions = rng.normal(size=(VIEW_COLUMNS, _WAVES)) / np.sqrt(VIEW_COLUMNS) * 1.5
        phases = rng.uniform(0.0, 2.0 * np.pi, size=_WAVES)
        total += strength * np.sin(X[:, view_columns(view)] @ directions + phases).sum(axis=1)
    return total / np.sqrt(_WAVES / 2.0 * np.sum(np.square(STRENGTHS)))
