"""Which columns of different views move together in the learned kernel?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_positive_integer, is_frame
from ...rules.pca import kernel_components
from ...views.tables import as_tables
from ...viz import features as pictures
from ...viz.fitted import plain_tree
from ..found import FoundTable
from ..learned import learned_kernel
from ..rivals.baselines import listed
from ..subject import subject_of
from .features import Data, Feature, read_data

_TOLD = 3  # pairs that a sentence names
_SHOWN = 10  # pairs in a table of a notebook
_FLAT = 1e-12  # of the largest entry: a column that spreads less is constant


@dataclass(frozen=True, eq=False)
class CrossViewMap(FoundTable):
    """Similarities of the columns of several views in the leading components of the learned kernel.

    Attributes
    ----------
    table : DataFrame
        The similarities of all pairs of columns: symmetric, rows and columns with the levels ``view`` and
        ``feature``.
    correlations : DataFrame
        A row for each column of the map, its correlation with each component.
    shares : array of shape (n_components,)
        The part of the variance of the learned kernel that each component has.
    answer : str
        What was found, in a sentence.
    """

    table: pd.DataFrame = field(repr=False)
    correlations: pd.DataFrame = field(repr=False)
    shares: Array

    _picture = staticmethod(pictures.cross_view)
    _index = False

    def pairs(self, n: int = 10) -> pd.DataFrame:
        """Return the pairs of columns of different views that move together most, or against each other.

        Parameters
        ----------
        n : int, default=10
            How many.

        Returns
        -------
        DataFrame
            ``view``, ``feature``, ``other_view``, ``other_feature`` and ``similarity``, the largest first.
        """
        n = check_positive_integer("n", n)
        names = self.table.index.to_list()
        views = np.array([view for view, _ in names])
        rows, columns = np.nonzero(np.triu(views[:, None] != views))
        values = self.table.to_numpy()[rows, columns]
        first = np.argsort(-np.abs(values), kind="stable")[:n]
        found = [(*names[rows[k]], *names[columns[k]], values[k]) for k in first]
        return pd.DataFrame(found, columns=["view", "feature", "other_view", "other_feature", "similarity"])

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        told = [
            f"{row.feature} of {row.view} and {row.other_feature} of {row.other_view} ({row.similarity:+.2f})"
            for row in self.pairs(_TOLD).itertuples()
        ]
        n = len(self.shares)
        return (
            f"In the first {f'{n} components' if n > 1 else 'component'} of the learned kernel, which "
            f"{'have' if n > 1 else 'has'} {self.shares.sum():.0%} of its variance, the pairs of different "
            f"views that move together most are {'; '.join(told)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``features`` (dicts of ``view`` and ``feature``), ``similarities`` (a list for each of them),
            ``shares`` and ``answer``.
        """
        names = [{"view": view, "feature": feature} for view, feature in self.table.index]
        values = self.table.to_numpy()
        return plain_tree(
            {"features": names, "similarities": values, "shares": self.shares, "answer": self.answer}
        )

    def plot(self, ax: Any = None) -> Any:  # type: ignore[override]
        """Draw the map, see :func:`multikernel.viz.cross_view`.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Without it a figure is made.

        Returns
        -------
        matplotlib axes
        """
        return super().plot(ax)

    def _shown(self) -> pd.DataFrame:
        return self.pairs(_SHOWN)


def cross_view_map(model: Any, X: Any, *, n_components: int = 2, n_top: int = 10) -> CrossViewMap:
    """Find the columns of different views that move together in the learned kernel.

    Parameters
    ----------
    model : fitted estimator
        With a learned kernel, see :func:`learned_kernel`, and views that read tables.
    X : table, dict of tables or MultiTable
        The samples that the model was fitted to.
    n_components : int, default=2
        How many components of the learned kernel are looked at.
    n_top : int, default=10
        How many columns of each view are in the map: those that the components have most of.

    Returns
    -------
    CrossViewMap

    Notes
    -----
    With the principal components t_1, t_2, … of the learned kernel, the similarity of the columns j and k is

        S_jk = Σ_h cor(x_j, t_h) cor(x_k, t_h),

    the covariance of the parts of the two standardized columns that lie in the span of the components, as in
    the relevance networks of González et al. (2012). With all components it is the correlation of the
    columns. Components of little variance are mostly noise: `shares` says how much each has.

    Columns of categories, and tables without columns, are left out; gaps count as the mean of their column.

    References
    ----------
    I. González, K.-A. Lê Cao, M. J. Davis and S. Déjean (2012). Visualising associations between paired
    'omics' data sets. BioData Mining 5, 19.

    Examples
    --------
    >>> from multikernel import MKLClassifier
    >>> from multikernel.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> factor = rng.normal(size=60)
    >>> genes = pd.DataFrame(rng.normal(size=(60, 3)), columns=["g1", "g2", "g3"])
    >>> proteins = pd.DataFrame(rng.normal(size=(60, 2)), columns=["p1", "p2"])
    >>> genes["g2"] += 3 * factor
    >>> proteins["p1"] -= 3 * factor
    >>> tables = {"genes": genes, "proteins": proteins}
    >>> model = MKLClassifier({"genes": Linear(), "proteins": Linear()}, norm=2).fit(tables, factor > 0)
    >>> print(cross_view_map(model, tables).pairs(1).round(1).to_string(index=False))
     view feature other_view other_feature  similarity
    genes      g2   proteins            p1        -0.9
    """
    n_components, n_top = (
        check_positive_integer(name, value)
        for name, value in (("n_components", n_components), ("n_top", n_top))
    )
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    subject = subject_of(model)
    data = read_data(subject, X)
    if n_components >= data.n:
        raise ValueError(f"n_components must be less than the {data.n} samples; got {n_components}.")
    features, values = _numbers(data)
    views = dict.fromkeys(feature.view for feature in features)
    if len(views) < 2:
        raise ValueError(
            "a map of views needs columns of numbers in two views at least; got "
            f"{listed([repr(view) for view in views]) if views else 'none'}. Give each table, or block of "
            "columns, a view of its own."
        )
    components = kernel_components(learned_kernel(model, as_tables(X)), n_components)
    correlations = _correlations(values, components.scores)
    size = np.sum(correlations**2, axis=1)
    kept = [place for view in views for place in _first(features, size, view, n_top)]
    names = pd.MultiIndex.from_tuples(
        [(features[place].view, features[place].name) for place in kept], names=["view", "feature"]
    )
    R = correlations[kept]
    columns = [f"component {number + 1}" for number in range(n_components)]
    return CrossViewMap(
        pd.DataFrame(R @ R.T, index=names, columns=names),
        pd.DataFrame(R, index=names, columns=columns),
        components.shares,
    )


def _first(features: list[Feature], size: Array, view: str, n: int) -> list[int]:
    own = [place for place, feature in enumerate(features) if feature.view == view]
    return sorted(own, key=lambda place: -size[place])[:n]


def _numbers(data: Data) -> tuple[list[Feature], Array]:
    """The columns that hold numbers, and these, (n, n_columns), standardized and 0 in gaps."""
    kept: list[Feature] = []
    blocks = []
    for table in dict.fromkeys(feature.table for feature in data.features):
        own = [f for f in data.features if f.table == table and f.position is not None]
        own = [f for f, is_number in zip(own, _are_numbers(data, own), strict=True) if is_number]
        if own:
            kept += own
            blocks.append(_taken(data.part(own[0]), [f.position for f in own]))
    if not kept:
        return [], np.empty((data.n, 0))
    values = np.hstack(blocks)
    gaps = np.isnan(values)
    counts = np.maximum((~gaps).sum(axis=0), 1)
    values = np.where(gaps, 0.0, values)
    peaks = np.abs(values).max(axis=0, initial=0.0)
    values = np.where(gaps, 0.0, values - values.sum(axis=0) / counts)
    norms = np.sqrt(np.sum(values * values, axis=0))
    return kept, values / np.where(norms > _FLAT * np.sqrt(data.n) * peaks, norms, np.inf)


def _are_numbers(data: Data, features: list[Feature]) -> Iterable[bool]:
    if not features:
        return []
    part = data.part(features[0])
    if is_frame(part):
        numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in part.dtypes]
        return [numeric[feature.position or 0] for feature in features]
    return [part.dtype.kind in "fiub"] * len(features)


def numbers_of(data: Data, features: list[Feature]) -> Array:
    """The entries of some columns of numbers, (n, n_columns), in the order that is given."""
    values = np.empty((data.n, len(features)))
    for table in dict.fromkeys(feature.table for feature in features):
        places = [place for place, feature in enumerate(features) if feature.table == table]
        part = data.part(features[places[0]])
        values[:, places] = _taken(part, [features[place].position for place in places])
    return values


def _taken(part: Any, positions: list[int | None]) -> Array:
    if is_frame(part):
        return np.asarray(part.iloc[:, positions].to_numpy(dtype=np.float64, na_value=np.nan))
    chosen = part[:, positions]
    return np.asarray(chosen.toarray() if scipy.sparse.issparse(chosen) else chosen, dtype=np.float64)


def _correlations(values: Array, scores: Array) -> Array:
    """Of standardized columns with components, (n_columns, n_components); 0 for empty components."""
    norms = np.sqrt(np.sum(scores * scores, axis=0))
    return np.asarray(values.T @ (scores / np.where(norms > 0.0, norms, np.inf)))
