"""Rivals that read columns and no kernels: gradient boosting, random forest, RBF SVM, elastic net.

They read the columns that the views read, those of several tables beside each other (`AllColumns`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNetCV, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import Tags

from ..._validation import check_choice
from ...rows import count_rows
from ...views import MultiTable, as_views
from ...views.columns import resolve_columns
from ...views.tables import as_table, n_columns
from ...views.view import place_views

BOOSTING, FOREST = "gradient boosting", "random forest"
RBF, ELASTIC_NET = "tuned RBF SVM", "elastic net"
COLUMN_RIVALS = (BOOSTING, FOREST, RBF, ELASTIC_NET)

ENCODINGS = ("one-hot", "category")
_ONE_TABLE = ""  # the name of X where it is one table
_MOST_CATEGORIES = 250  # of a column; gradient boosting takes 255
_MOST_DENSE = 2**25  # entries of a sparse table that gradient boosting reads as a dense one

# Grids; gammas are times 1 / (number of columns), of standardized columns.
_PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)
_WIDTHS = (0.01, 0.1, 1.0, 10.0)
_STRENGTHS = (0.01, 0.1, 1.0, 10.0)
_MIXTURES = (0.1, 0.5, 0.9)
_TREES = 300
_ROUNDS = 100  # of gradient boosting
_INNER = 5

Columns = dict[str, list[int] | None]  # of each table, None for all of them


# ------------------------------------------------------------------ which columns
class NoColumns(ValueError):
    """Why there are no columns to read."""


def columns_read(X: Any, kernels: Sequence[Any]) -> tuple[Columns, list[str]]:
    """Which columns the views of one model or several read, and the views whose rows are no columns.

    Sequences, graphs and the like are no columns of numbers or categories: the views that read them are left
    out by name. `NoColumns` is raised where nothing else is left. Without kernels all columns are read.
    """
    table = as_table(X)
    if n_columns(table) is None:
        raise NoColumns(f"X holds kernels or objects ({type(X).__name__}), and no columns.")
    if not kernels:
        names = table.names if isinstance(table, MultiTable) else [_ONE_TABLE]
        return dict.fromkeys(names), []
    found: dict[str, set[int] | None] = {}
    skipped: list[str] = []
    for view in [view for each in kernels for view in place_views(as_views(each), table)]:
        if not view.kernel._reads_tables:
            skipped.append(view.name)
            continue
        place = resolve_columns(table, view.columns, f"view {view.name!r}", view.table)
        name = _ONE_TABLE if place.table is None else place.table
        known = found.setdefault(name, set())
        found[name] = None if known is None or place.positions is None else known | set(place.positions)
    if not found:
        listed = ", ".join(map(repr, skipped))
        raise NoColumns(f"the views ({listed}) read sequences, graphs or other objects, and no columns.")
    return {name: None if part is None else sorted(part) for name, part in found.items()}, skipped


@dataclass(eq=False, repr=False)
class AllColumns(TransformerMixin, BaseEstimator):
    """The columns of one table or several beside each other, as estimators of one table read them.

    What is filled in or encoded is learned from the training rows. Columns of texts, and of anything else
    that is no number, are categories.

    Parameters
    ----------
    columns : dict of str to list of int or None, default=None
        Positions of the columns of each table, None for all; the name of a single table is "". None takes all
        columns of all tables.
    encode : {"one-hot", "category"}, default="one-hot"
        - "one-hot": an array of numbers, sparse if a table is. Gaps have the median of their column (the mean
          of a sparse one); categories are columns of zeros and ones, a gap is a category of its own.
        - "category": a frame in which gaps stay gaps and categories have pandas' dtype, as
          HistGradientBoostingClassifier reads them.

        Of the categories of a column, the 250 most frequent are distinguished.

    Examples
    --------
    >>> X = {"clinic": pd.DataFrame({"age": [60.0, np.nan, 50.0], "sex": ["f", "m", "f"]}), "dose": np.eye(3)}
    >>> AllColumns().fit_transform(X)
    array([[60.,  1.,  0.,  1.,  0.,  0.],
           [55.,  0.,  1.,  0.,  1.,  0.],
           [50.,  1.,  0.,  0.,  0.,  1.]])
    """

    columns: Any = None
    encode: str = "one-hot"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None) -> AllColumns:
        """Learn which columns are categories, which there are, and what fills the gaps.

        Parameters
        ----------
        X : table, dict of tables or MultiTable
        y : ignored
        """
        check_choice("encode", self.encode, ENCODINGS)
        self.blocks_ = {name: _Block(self.encode).fit(part) for name, part in self._parts(X).items()}
        return self

    def transform(self, X: Any) -> Any:
        """The columns of other rows.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_columns)
        """
        blocks = [self.blocks_[name].transform(part) for name, part in self._parts(X).items()]
        if self.encode == "category":
            frame = pd.concat([block.reset_index(drop=True) for block in blocks], axis=1)
            frame.columns = [f"column-{position}" for position in range(frame.shape[1])]
            return frame
        if any(map(scipy.sparse.issparse, blocks)):
            return scipy.sparse.csr_matrix(scipy.sparse.hstack(blocks))
        return np.hstack(blocks)

    def _parts(self, X: Any) -> dict[str, Any]:
        """The chosen columns of each table: sparse matrices and frames."""
        table = as_table(X)
        tables = table.tables if isinstance(table, MultiTable) else {_ONE_TABLE: table}
        chosen: Columns = dict.fromkeys(tables) if self.columns is None else self.columns
        return {name: _chosen(tables[name], positions) for name, positions in chosen.items()}


def _chosen(table: Any, positions: list[int] | None) -> Any:
    if not scipy.sparse.issparse(table):
        table = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
        return table if positions is None else table.iloc[:, positions]
    return table if positions is None else table[:, positions]


class _Block:
    """The columns of one table."""

    def __init__(self, encode: str) -> None:
        self.one_hot = encode == "one-hot"

    def fit(self, part: Any) -> _Block:
        self.is_sparse = scipy.sparse.issparse(part)
        if self.is_sparse:
            self.imputer = SimpleImputer(strategy="mean", keep_empty_features=True).fit(part)
            return self
        self.are_numbers = np.array([_are_numbers(part.iloc[:, j]) for j in range(part.shape[1])], bool)
        numbers, texts = self._numbers(part), self._texts(part)
        self.imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        self.encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES, sparse_output=False
        )
        if numbers.shape[1]:
            self.imputer.fit(numbers)
        if texts.shape[1]:
            self.encoder.fit(texts)
        self.levels = [_most_frequent(texts[:, j]) for j in range(texts.shape[1])]
        self.is_empty = np.isnan(numbers).all(axis=0)  # such columns gradient boosting does not take
        return self

    def transform(self, part: Any) -> Any:
        if self.is_sparse:
            filled = scipy.sparse.csr_matrix(self.imputer.transform(part) if self.one_hot else part)
            return filled if self.one_hot else pd.DataFrame(filled.toarray())
        numbers, texts = self._numbers(part), self._texts(part)
        if self.one_hot:
            filled = self.imputer.transform(numbers) if numbers.shape[1] else numbers
            return np.hstack([filled, self.encoder.transform(texts)]) if texts.shape[1] else filled
        made = {f"number-{j}": column for j, column in enumerate(np.where(self.is_empty, 0.0, numbers).T)}
        made |= {
            f"text-{j}": pd.Categorical(np.where(np.isin(column, levels), column, None), categories=levels)
            for j, (column, levels) in enumerate(zip(texts.T, self.levels, strict=True))
        }
        return pd.DataFrame(made)

    def _numbers(self, part: pd.DataFrame) -> np.ndarray:
        chosen = np.flatnonzero(self.are_numbers)
        numbers = np.empty((len(part), chosen.size))
        for place, j in enumerate(chosen):
            numbers[:, place] = _as_numbers(part.iloc[:, j])
        return numbers

    def _texts(self, part: pd.DataFrame) -> np.ndarray:
        chosen = np.flatnonzero(~self.are_numbers)
        texts = np.empty((len(part), chosen.size), object)
        for place, j in enumerate(chosen):
            column = part.iloc[:, j]
            texts[:, place] = [
                "missing" if gap else f"={entry}" for entry, gap in zip(column, column.isna(), strict=True)
            ]
        return texts


def _are_numbers(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if pd.api.types.is_numeric_dtype(column.dtype):  # bool too
        return True
    return column.dtype == object and all(
        isinstance(entry, int | float | np.number | np.bool_) for entry in column[column.notna()]
    )


def _as_numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def _most_frequent(texts: np.ndarray) -> list[str]:
    """Categories but for gaps, in the order of the alphabet; the most frequent where there are many."""
    levels, counts = np.unique(texts[texts != "missing"].astype(str), return_counts=True)
    most = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES])
    return [str(level) for level in levels[most]]


# ------------------------------------------------------------------ the rivals
@dataclass(frozen=True)
class Table:
    """What the rivals know of the data before they are fitted to parts of it."""

    task: str
    columns: Columns
    n: int
    width: int  # number of columns, encoded
    is_sparse: bool
    smallest: int  # samples of the smallest class, or of all


def describe_table(task: str, X: Any, y: Any, kernels: Sequence[Any]) -> tuple[Table, list[str]]:
    """The table of a contest, and the views that it leaves out; `NoColumns` where there is none."""
    columns, skipped = columns_read(X, kernels)
    try:
        encoded = AllColumns(columns).fit_transform(X)
    except ValueError as error:  # infinite values
        raise NoColumns(f"the columns cannot be encoded: {str(error).splitlines()[0]}") from error
    n, smallest = count_rows(X), count_rows(X)
    if task == "classification":
        smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
    is_sparse = scipy.sparse.issparse(encoded)
    return Table(task, columns, n, encoded.shape[1], is_sparse, smallest), skipped


def inner_folds(task: str, smallest: int) -> Any:
    """Five folds, or as many as half of the smallest class allows: rivals are fitted to halves."""
    n_splits = int(np.clip(smallest // 2, 2, _INNER))
    kind = StratifiedKFold if task == "classification" else KFold
    return kind(n_splits, shuffle=True, random_state=0)


def why_not(name: str, table: Table) -> str | None:
    """Why one of the rivals cannot read the table, if so."""
    if name == BOOSTING and table.is_sparse and table.n * table.width > _MOST_DENSE:
        return (
            f"it reads dense tables, and X is sparse with {table.n} rows and {table.width} columns. Select "
            "columns, or reduce them, e.g. with TruncatedSVD."
        )
    return None


def column_rival(name: str, table: Table) -> tuple[Any, str]:
    """The estimator of a rival, and what it is."""
    make: Callable[[Table], tuple[Any, str]] = {
        BOOSTING: _boosting,
        FOREST: _forest,
        RBF: _rbf_svm,
        ELASTIC_NET: _elastic_net,
    }[name]
    return make(table)


def _boosting(table: Table) -> tuple[Any, str]:
    kind = HistGradientBoostingClassifier if table.task == "classification" else HistGradientBoostingRegressor
    leaf = int(np.clip(table.n // 40, 2, 20))  # the default of 20 leaves small samples without any split
    model = make_pipeline(
        AllColumns(table.columns, "category"), kind(max_iter=_ROUNDS, min_samples_leaf=leaf, random_state=0)
    )
    return model, (
        f"{kind.__name__} with min_samples_leaf={leaf} on all columns; gaps and categories as they are."
    )


def _forest(table: Table) -> tuple[Any, str]:
    kind = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    model = make_pipeline(AllColumns(table.columns), kind(_TREES, random_state=0))
    return model, f"{kind.__name__} of {_TREES} trees on all columns."


def _rbf_svm(table: Table) -> tuple[Any, str]:
    """StandardScaler and an SVM; values are standardized too, since C and epsilon are in their units."""
    machine = SVC(kernel="rbf", random_state=0) if table.task == "classification" else SVR(kernel="rbf")
    grid = {"C": list(_PRICES), "gamma": [factor / table.width for factor in _WIDTHS]}
    search: Any = GridSearchCV(machine, grid, cv=inner_folds(table.task, table.smallest))
    if table.task == "regression":
        search = TransformedTargetRegressor(search, transformer=StandardScaler())
    what = (
        "A support vector machine with one Gaussian kernel on all columns, standardized"
        + (", and so are the values" if table.task == "regression" else "")
        + "; C and gamma by cross-validation within the training part."
    )
    return _standardized(table, search), what


def _elastic_net(table: Table) -> tuple[Any, str]:
    folds = inner_folds(table.task, table.smallest)
    if table.task == "regression":
        model: Any = ElasticNetCV(l1_ratio=[*_MIXTURES, 1.0], cv=folds, max_iter=10_000, random_state=0)
        what = "Linear regression with an elastic net penalty on all columns"
    else:
        linear = LogisticRegression(solver="saga", max_iter=5000, tol=1e-3, random_state=0)
        if linear.penalty == "l2":  # before scikit-learn 1.8, l1_ratio alone does not say it
            linear.set_params(penalty="elasticnet")
        model = GridSearchCV(linear, {"C": list(_STRENGTHS), "l1_ratio": list(_MIXTURES)}, cv=folds)
        what = "Logistic regression with an elastic net penalty on all columns"
    told = "standardized; strength and l1_ratio by cross-validation within the training part."
    return _standardized(table, model), f"{what}, {told}"


def _standardized(table: Table, model: Any) -> Any:
    return make_pipeline(AllColumns(table.columns), StandardScaler(with_mean=not table.is_sparse), model)
