"""Made-up proteins: a network of interactions, a table of expression, and functions to learn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from multikernel._validation import check_number, check_positive_integer

_MODULE_SIZE = 12
_WITHIN, _BETWEEN = 0.2, 0.01  # probabilities of an edge
_CONDITIONS, _INFORMATIVE, _SHIFT = 12, 4, 0.7


class Proteins(NamedTuple):
    """What `make_proteins` returns.

    Attributes
    ----------
    X : DataFrame of shape (n_proteins, 13)
        The column ``protein`` has the names, the others the expression in twelve conditions.
    y : ndarray of shape (n_proteins,)
        The function of each protein, 0 or 1.
    edges : ndarray of shape (m, 2)
        Names of proteins that interact.
    """

    X: pd.DataFrame
    y: np.ndarray
    edges: np.ndarray


def make_proteins(n_proteins: int = 240, *, absent: float = 0.15, random_state: Any = None) -> Proteins:
    """Return proteins that work in modules, with a network that knows the modules and a table that does not.

    Twelve proteins make a module, and all of a module have one function; modules take turns. Two proteins of
    a module interact with probability 0.2, any others with 0.01. Expression is normal noise in twelve
    conditions, with a mean of 0.7 in the first four for proteins of function 1. Some proteins were never
    tested for interactions: they are in no edge.

    Parameters
    ----------
    n_proteins : int, default=240
    absent : float, default=0.15
        The share of proteins that are not in the network, at least 0 and less than 1.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    Proteins
        ``X``, ``y`` and ``edges``.

    Examples
    --------
    >>> proteins = make_proteins(random_state=0)
    >>> proteins.X.shape, proteins.edges[0].tolist()
    ((240, 13), ['P002', 'P022'])
    """
    n = check_positive_integer("n_proteins", n_proteins)
    absent = check_number("absent", absent, at_least=0.0)
    if not absent < 1.0:
        raise ValueError(f"absent must be less than 1; got {absent!r}.")
    rng = np.random.default_rng(random_state)
    n_modules = -(-n // _MODULE_SIZE)
    module = np.arange(n) % n_modules
    y = module % 2
    expression = rng.standard_normal((n, _CONDITIONS))
    expression[:, :_INFORMATIVE] += _SHIFT * y[:, None]
    tested = np.ones(n, dtype=bool)
    tested[rng.permutation(n)[: round(absent * n)]] = False
    chance = np.where(module[:, None] == module, _WITHIN, _BETWEEN) * (tested[:, None] & tested)
    pairs = np.argwhere(np.triu(rng.uniform(size=(n, n)) < chance, 1))
    names = np.array([f"P{i:03}" for i in range(n)])
    X = pd.DataFrame(expression, columns=[f"condition {i + 1}" for i in range(_CONDITIONS)])
    X.insert(0, "protein", names)
    return Proteins(X, y, names[pairs])
