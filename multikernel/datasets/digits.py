"""The handwritten digits that scikit-learn ships, cut into views: real data that needs no download."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multikernel._validation import as_list
from multikernel.datasets.image_views import (
    FloatArray,
    column_profile,
    fourier_frequencies,
    fourier_magnitudes,
    gradient_orientations,
    pixels,
    row_profile,
)

_SIDE = 8
_DARKEST = 16.0
_N_CELLS = 2
_N_BINS = 8

_VIEWS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "pixels": pixels,
    "row_profile": row_profile,
    "column_profile": column_profile,
    "fourier": fourier_magnitudes,
    "orientations": partial(gradient_orientations, n_cells=_N_CELLS, n_bins=_N_BINS),
}


@dataclass(frozen=True)
class ViewedDataset:
    """A table whose columns belong to named views.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_features)
        One row per sample; the name of a column begins with the name of its view.
    y : ndarray of shape (n_samples,)
        The labels.
    view_columns : dict of str to list of str
        The columns of each view, ready for ``(name, kernel, columns)`` in an estimator's `kernels`, as a
        multi-view `Dataset` has them.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    view_columns: dict[str, list[str]]

    @property
    def views(self) -> dict[str, list[str]]:
        """The same as `view_columns`."""
        return self.view_columns


def load_digits_views(views: Sequence[str] | None = None) -> ViewedDataset:
    """Return scikit-learn's 1797 handwritten digits, 8 by 8 pixels with ink in [0, 1], as five views.

    ==================  =======  ==========================================================
    view                columns  what it sees
    ==================  =======  ==========================================================
    ``pixels``               64  the grey values
    ``row_profile``           8  the ink of each row
    ``column_profile``        8  the ink of each column
    ``fourier``              34  2-D Fourier magnitudes, blind to where the digit stands
    ``orientations``         32  gradient directions, 8 in each of 2 by 2 cells
    ==================  =======  ==========================================================

    The formula of each view is in `multikernel.datasets.image_views`.

    Parameters
    ----------
    views : sequence of str, default=None
        The views to load, in this order; all of them if None.

    Returns
    -------
    ViewedDataset
        With the table ``X``, the labels ``y`` (0 to 9) and the columns of each view, ``view_columns``.

    Examples
    --------
    >>> digits = load_digits_views()
    >>> digits.X.shape
    (1797, 146)
    >>> {name: len(columns) for name, columns in digits.view_columns.items()}
    {'pixels': 64, 'row_profile': 8, 'column_profile': 8, 'fourier': 34, 'orientations': 32}
    >>> load_digits_views(["row_profile"]).X.columns[:2].tolist()
    ['row_profile_r0', 'row_profile_r1']
    """
    from sklearn.datasets import load_digits  # when it is needed: a list of data sets does without

    names = _check_view_names(views)
    data = load_digits()
    images = data.images / _DARKEST
    tables = {name: pd.DataFrame(_VIEWS[name](images), columns=_column_names(name)) for name in names}
    return ViewedDataset(
        X=pd.concat(tables.values(), axis="columns"),
        y=np.asarray(data.target, dtype=np.int64),
        view_columns={name: table.columns.tolist() for name, table in tables.items()},
    )


def _column_names(name: str) -> list[str]:
    side = range(_SIDE)
    suffixes = {
        "pixels": [f"r{r}_c{c}" for r in side for c in side],
        "row_profile": [f"r{r}" for r in side],
        "column_profile": [f"c{c}" for c in side],
        "fourier": [f"u{u}_v{v}" for u, v in fourier_frequencies(_SIDE, _SIDE)],
        "orientations": [f"cell{cell}_bin{b}" for cell in range(_N_CELLS**2) for b in range(_N_BINS)],
    }
    return [f"{name}_{suffix}" for suffix in suffixes[name]]


def _check_view_names(views: Sequence[str] | None) -> list[str]:
    if views is None:
        return list(_VIEWS)
    if isinstance(views, str):
        raise TypeError(f"views must be a sequence of names; got the string {views!r}. Give [{views!r}].")
    names = as_list("views", views, "names")
    unknown = [name for name in names if name not in _VIEWS]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(
            f"views must name at least one view, each once; got {names}. Choose from {', '.join(_VIEWS)}."
        )
    return names


# --- the digits as a data set that needs neither a folder nor a network -------------------------------------


def digits_arrays() -> dict[str, np.ndarray]:
    """Return the digits as a file of a data set of views has them."""
    digits = load_digits_views()
    arrays = {
        f"view_{view}": digits.X[columns].to_numpy(dtype=np.float64)
        for view, columns in digits.view_columns.items()
    }
    names = {
        f"names_{view}": np.array([column.removeprefix(f"{view}_") for column in columns])
        for view, columns in digits.view_columns.items()
    }
    return arrays | {"y": digits.y} | names


def digits_widths() -> dict[str, int]:
    """Return how many columns each view has."""
    return {view: len(_column_names(view)) for view in _VIEWS}
