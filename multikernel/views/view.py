"""A view: a named block of columns with its kernel; and how kernels, or features, become views."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_positive_integer, check_rank
from multikernel.kernels import (
    FunctionKernel,
    Gaussian,
    Kernel,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    as_kernel,
    as_transforms,
)

KERNEL_CHOICES = ("auto", "precomputed")
APPROXIMATIONS = ("nystroem", "random_features", "cholesky")
_AUTO_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class View:
    """A feature block with its kernel: k(x, z) = transforms(kernel(x[columns], z[columns])).

    Parameters
    ----------
    name : str
    kernel : Kernel or callable
        A bare function ``f(X, Z)`` becomes a `FunctionKernel`.
    columns : None, str, int, list of either, slice, boolean mask or callable, default=None
        As in scikit-learn's ColumnTransformer; None is all columns.
    transforms : transform, name, or sequence of either, default=()
        ``"center"``, ``"unit_diagonal"``, ``"unit_trace"``, ``"clip"``, ``"shift"``, applied in this order.
    standardize : bool, default=False
        Whether the kernel sees each column minus its mean and divided by its standard deviation, both of the
        training rows; constant columns are centred only. Sparse columns are divided only, so that zeros stay
        zeros. The columns must be numbers; a function ``f(X, Z)`` is then handed the standardised table.
    approximation : None, "nystroem", "random_features" or "cholesky", default=None
        How factors Z with Z Zᵀ ≈ K stand in for the Gram matrix, see :class:`LowRankBank`; None leaves the
        choice to the bank. A view that names one goes with ``gram="low_rank"`` or ``"auto"``.
    rank : int, float or None, default=None
        How many columns Z has, or, between 0 and 1, the largest relative trace error 1 − tr(Z Zᵀ) / tr(K):
        of an estimator over all training rows, of a :class:`LowRankBank` alone on the rows that it is fitted
        on. None leaves the choice to the estimator or the bank.

    Examples
    --------
    >>> View("shape", Gaussian(gamma=0.5), columns=["width", "height"], transforms="center")
    View(name='shape', kernel=Gaussian(gamma=0.5), columns=['width', 'height'], transforms=(Center(),))
    >>> View("size", Linear(), columns=0, standardize=True)
    View(name='size', kernel=Linear(), columns=0, standardize=True)
    >>> View("all", Gaussian(gamma=1.0), approximation="cholesky", rank=0.01)
    View(name='all', kernel=Gaussian(gamma=1.0), approximation='cholesky', rank=0.01)
    """

    name: str
    kernel: Kernel
    columns: Any = None
    transforms: Any = ()
    standardize: bool = False
    approximation: str | None = None
    rank: int | float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"the name of a view must be a non-empty string; got {self.name!r}.")
        try:
            object.__setattr__(self, "kernel", as_kernel(self.kernel))
            object.__setattr__(self, "transforms", as_transforms(self.transforms))
        except (TypeError, ValueError) as error:
            raise type(error)(f"view {self.name!r}: {error}") from error
        if isinstance(self.columns, np.ndarray):
            object.__setattr__(self, "columns", self.columns.tolist())  # so that views compare
        if not isinstance(self.standardize, (bool, np.bool_)):
            raise TypeError(
                f"view {self.name!r}: standardize must be True or False; got {self.standardize!r}."
            )
        object.__setattr__(self, "standardize", bool(self.standardize))
        if self.standardize and has_part(self.kernel, Precomputed):
            raise ValueError(
                f"view {self.name!r}: standardize=True needs a kernel of numeric columns, but "
                f"{self.kernel!r} reads positions into a ready-made matrix. Leave standardize out."
            )
        if self.standardize and has_part(self.kernel, Pairwise):
            raise ValueError(
                f"view {self.name!r}: standardize=True would measure the two objects of a pair by different "
                f"units, but {self.kernel!r} compares one with the other. Scale the objects before."
            )
        if self.standardize and not self.kernel._reads_numbers:
            raise ValueError(
                f"view {self.name!r}: standardize=True needs a kernel of numeric columns, but "
                f"{self.kernel!r} reads its columns as they are. Leave standardize out."
            )
        self._check_approximation()

    def _check_approximation(self) -> None:
        label = f"view {self.name!r}"
        if self.approximation is not None:
            check_choice(f"{label}: approximation, where it is not None,", self.approximation, APPROXIMATIONS)
        object.__setattr__(self, "rank", check_rank(f"{label}: rank", self.rank))
        if self.approximation == "random_features":
            require_number_of_features(label, self.rank)

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        shown = [f"{name}={value!r}" for name, value, default in given if value is not default]
        return f"View({', '.join(shown)})"


def refuse_approximations(views: list[View]) -> None:
    """Refuse views that ask for factors where whole Gram matrices are made."""
    for view in views:
        if view.approximation is not None or view.rank is not None:
            named = "rank" if view.approximation is None else "approximation"
            raise ValueError(
                f"view {view.name!r} has {named}={getattr(view, named)!r}, but here a whole Gram matrix is "
                "made of it. Use gram='low_rank' or gram='auto' (MKLClassifier, MKLRegressor, MKLRidge), or "
                f"leave {named} out."
            )


def require_varying(fitted: Collection[Any]) -> None:
    """Refuse automatic kernels of which none is left."""
    if not fitted:
        raise ValueError(
            "every kernel of kernels='auto' is constant on the training rows: the samples do not differ. "
            "Check the columns of X, or give a list of kernels."
        )


def require_number_of_features(label: str, rank: int | float | None) -> None:
    """Refuse a trace error as the rank of random features, whose trace is right whatever their number."""
    if isinstance(rank, float):
        raise ValueError(
            f"{label}: random features have no trace error to choose a rank by; got rank={rank!r}. Give a "
            "number of features, such as rank=200, or use approximation='cholesky'."
        )


def has_part(kernel: Kernel, kind: type[Kernel], outside: tuple[type[Kernel], ...] = ()) -> bool:
    """Whether the kernel is of a kind, or made of kernels one of which is; not looking into `outside`."""
    if isinstance(kernel, outside):
        return False
    parts = getattr(kernel, "_parts", ())
    return isinstance(kernel, kind) or any(has_part(part, kind, outside) for part in parts)


def auto_views() -> list[View]:
    """Linear, quadratic and five Gaussians around the median distance, with unit diagonal.

    All read all columns, standardised. The quadratic kernel is (x · z / d + 1)²: the mean squared norm of
    standardised rows is the number d of columns that vary.
    """
    kernels: dict[str, Kernel] = {"linear": Linear(), "quadratic": Polynomial(2, gamma="scale")}
    kernels |= {f"gaussian-{width:g}": Gaussian(gamma="median", scale=width) for width in _AUTO_WIDTHS}
    return [
        View(name, kernel, None, ("unit_diagonal",), standardize=True) for name, kernel in kernels.items()
    ]


def as_views(kernels: Any) -> list[View]:
    """The views that a ``kernels=`` argument describes.

    Parameters
    ----------
    kernels : "auto", Kernel, callable, View, tuple, or a list of kernels, callables, views and tuples
        Tuples are ``(name, kernel)``, ``(name, kernel, columns)`` or ``(name, kernel, columns, transforms)``.

    Examples
    --------
    >>> [view.name for view in as_views([Linear(), Gaussian(), Gaussian("nearest")])]
    ['linear', 'gaussian', 'gaussian-2']
    """
    if isinstance(kernels, str):
        if kernels == "auto":
            return auto_views()
        listed = ", ".join(repr(choice) for choice in KERNEL_CHOICES)
        raise ValueError(
            f"kernels must be one of {listed}, a kernel, or a list of kernels and views; got {kernels!r}."
        )
    if isinstance(kernels, (Kernel, View)) or callable(kernels) or _is_view_tuple(kernels):
        kernels = [kernels]
    if not isinstance(kernels, (list, tuple)):
        raise TypeError(
            "kernels must be 'auto', 'precomputed', a kernel, a function f(X, Z), a View, or a list of "
            f"kernels, views and (name, kernel, columns) tuples; got {type(kernels).__name__}."
        )
    if len(kernels) == 0:
        raise ValueError("kernels must hold at least one kernel; got an empty list.")
    return _name_all([_as_view_or_kernel(entry) for entry in kernels])


def distinct_views(views: list[View]) -> tuple[list[View], list[int]]:
    """Views that differ in more than their name, and which of them each of the given views is.

    Examples
    --------
    >>> views, sources = distinct_views(as_views([Linear(), Gaussian(), Linear()]))
    >>> [view.name for view in views], sources
    (['linear', 'gaussian'], [0, 1, 0])
    """
    found: list[View] = []
    sources = []
    for view in views:
        same = [k for k, other in enumerate(found) if replace(view, name=other.name) == other]
        if not same:
            found.append(view)
        sources.append(same[0] if same else len(found) - 1)
    return found, sources


def _is_view_tuple(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) in (2, 3, 4) and isinstance(entry[0], str)


def _as_view_or_kernel(entry: Any) -> View | Kernel:
    if isinstance(entry, View):
        return entry
    if isinstance(entry, tuple):
        if not _is_view_tuple(entry):
            raise TypeError(f"a view given as a tuple must be (name, kernel, columns); got {entry!r}.")
        return View(*entry)
    return as_kernel(entry)


def _name_all(entries: list[View | Kernel]) -> list[View]:
    taken = [entry.name for entry in entries if isinstance(entry, View)]
    doubled = sorted({name for name in taken if taken.count(name) > 1})
    if doubled:
        raise ValueError(
            f"view names must be distinct; {doubled[0]!r} occurs {taken.count(doubled[0])} times."
        )
    used, views = set(taken), []
    for entry in entries:
        if not isinstance(entry, View):
            entry = View(_free_name(entry, used), entry)
            used.add(entry.name)
        views.append(entry)
    return views


def _free_name(kernel: Kernel, used: set[str]) -> str:
    base = kernel.name if isinstance(kernel, FunctionKernel) else type(kernel).__name__.lower()
    name, count = base, 1
    while name in used:
        count += 1
        name = f"{base}-{count}"
    return name


# --- one view for each feature -----------------------------------------------------------------


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
