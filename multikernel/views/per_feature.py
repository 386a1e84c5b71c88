"""One view for each feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from multikernel._validation import check_positive_integer
from multikernel.kernels import Gaussian, Kernel
from multikernel.views.view import View


def per_feature(
    features: int | Iterable[Any], kernel: Kernel | None = None, *, standardize: bool = True
) -> list[View]:
    """One view for each feature, all with the same kernel, so that learned weights are weights of features.

    Parameters
    ----------
    features : int, or iterable of column names or positions, all different
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
    columns = _columns(features)
    names = [c if isinstance(c, str) else f"feature-{c}" for c in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"features must differ; {repeated[0]!r} is there {repeated.count(repeated[0])} times. List every "
            "column once; columns of one name by position, per_feature(X.shape[1])."
        )
    kernel = Gaussian(gamma=1.0) if kernel is None else kernel
    return [View(name, kernel, [c], standardize=standardize) for name, c in zip(names, columns, strict=True)]


def _columns(features: Any) -> list[Any]:
    remedy = "Use per_feature(X.shape[1]) or per_feature(frame.columns)."
    if isinstance(features, str) or len(getattr(features, "shape", ())) > 1:
        given = repr(features) if isinstance(features, str) else f"a table of shape {features.shape}"
        raise TypeError(f"features must be a number or a list of columns; got {given}. {remedy}")
    if not isinstance(features, Iterable):
        return list(range(check_positive_integer("features", features)))
    columns = list(features)
    if not columns:
        raise ValueError(f"features must hold one column at least; got none. {remedy}")
    for column in columns:
        if isinstance(column, float | list | np.ndarray):
            raise TypeError(f"features must be names or positions of columns; got {column!r}. {remedy}")
    return columns
