"""One view for each feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from multikernel._validation import check_positive_integer
from multikernel.kernels import Gaussian, Kernel
from multikernel.views.view import View


def per_feature(
    features: int | Iterable[Any], kernel: Kernel | None = None, *, standardize: bool = True
) -> list[View]:
    """One view for each feature, all with the same kernel, so that learned weights are weights of features.

    Parameters
    ----------
    features : int, or iterable of column names or positions
        How many columns there are, or which: ``per_feature(X.shape[1])``, ``per_feature(frame.columns)``.
    kernel : kernel, optional
        Default ``Gaussian(gamma=1.0)``: the exponents of a product are then the widths of the features.
    standardize : bool
        As for :class:`View`.

    Examples
    --------
    >>> [view.name for view in per_feature(3)]
    ['feature-0', 'feature-1', 'feature-2']
    >>> per_feature(["height"], standardize=False)
    [View(name='height', kernel=Gaussian(gamma=1.0), columns=['height'])]
    """
    if isinstance(features, str):
        raise TypeError(f"features must be a number or a list of columns; got {features!r}.")
    columns = list(features) if isinstance(features, Iterable) else None
    if columns is None:
        columns = list(range(check_positive_integer("features", features)))
    kernel = Gaussian(gamma=1.0) if kernel is None else kernel
    return [
        View(c if isinstance(c, str) else f"feature-{c}", kernel, [c], standardize=standardize)
        for c in columns
    ]
