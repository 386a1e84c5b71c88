"""What reaches an estimator on kernels: a feature table, or the kernels themselves, ready-made.

The tags that tell scikit-learn which, the checks of a table, and the walk over the rows of a prediction.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, _safe_indexing, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import RowError, is_frame
from ..views.columns import as_table
from ..views.view import as_views
from ..viz.card import FittedTable
from ._dask_input import refuse_dask

_BATCH_ROWS = 2048


class KernelInput(FittedTable, BaseEstimator):
    """Tags and input checks common to all estimators on kernels; `_precomputed` says what X is."""

    @property
    def _precomputed(self) -> bool:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        tags.input_tags.pairwise = self._precomputed
        return tags

    def _validate_table(self, X: Any, *, reset: bool) -> Any:
        """scikit-learn's checks on a table of numbers; others are checked by the kernels that read them."""
        refuse_dask(self, X)
        if self._precomputed:
            return self._validate_precomputed(X, reset=reset)
        if is_frame(X) or self._reads_objects():
            validate_data(self, _without_columns(X), reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)

    def _reads_objects(self) -> bool:
        """Whether some kernel compares other things than numbers, such as sequences."""
        try:
            views = [view for kernels in self._kernel_arguments() for view in as_views(kernels)]
        except (TypeError, ValueError):  # refused in its own words when the kernels are made
            return False
        return not all(view.kernel._reads_numbers for view in views)

    def _kernel_arguments(self) -> list[Any]:
        """The arguments that describe kernels."""
        return [getattr(self, "kernels", "auto")]

    def _validate_precomputed(self, X: Any, *, reset: bool) -> Any:
        raise NotImplementedError

    def _by_batches(self, X: Any, predict: Callable[[Any], Any]) -> Iterator[Any]:
        """What `predict` says of the rows, some thousands at a time; ready-made kernels all at once.

        A row that is refused is named by its number in X.
        """
        check_is_fitted(self)
        X = self._validate_table(X, reset=False)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows <= _BATCH_ROWS or self._precomputed:
            yield predict(X)
            return
        for rows in gen_batches(n_rows, _BATCH_ROWS):
            try:
                yield predict(_safe_indexing(X, rows))
            except RowError as error:
                raise error.in_row(rows.start + error.row) from None


def _without_columns(X: Any) -> Any:
    """A list of objects, such as graphs, as an array of them: scikit-learn would count parts of the first."""
    if not isinstance(X, list) or not isinstance(as_table(X), list):
        return X
    objects = np.empty(len(X), dtype=object)
    for place, entry in enumerate(X):
        objects[place] = entry
    return objects
