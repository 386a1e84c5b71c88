"""From the views of an estimator to families of kernels, and from widths that were found to fitted views."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_number
from ..kernels import Chain, Chi2, Gaussian, Laplacian, UnitDiagonal, UnitVariance
from ..kernels._rows import Pair
from ..views import KernelBank, View
from ..views.bank import FittedView
from .solver.columns import Column
from .solver.widths import WidthFamily

_KINDS = (Gaussian, Laplacian, Chi2)  # exp(−gamma · distance)
_WIDEST = 1e6  # a limit of the box and of its inverse


@dataclass(frozen=True)
class Family:
    """A view whose width is learned: its name, its fitted view at an estimated width, all its kernels."""

    name: str
    view: FittedView
    kernels: WidthFamily


@dataclass(frozen=True)
class Found:
    """A kernel of the model: its name, its view, and its width, NaN where that was not learned."""

    name: str
    view: str
    gamma: float


def is_learned(view: View) -> bool:
    """Whether the width of a view is learned: a kernel of a distance, without a width of its own."""
    return type(view.kernel) in _KINDS and not view.kernel.is_fitted


def require_plain(view: View) -> None:
    """Refuse transforms that depend on more than one entry of the kernel."""
    if not all(type(step) is UnitDiagonal for step in view.transforms):
        raise ValueError(
            f"view {view.name!r} has transforms={view.transforms!r}, with which its width cannot be learned. "
            "Leave transforms out, or give gamma as a number to keep its width."
        )


def check_box(box: Any, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The interval of each view, in multiples of its estimated width."""
    if not isinstance(box, Mapping):
        return dict.fromkeys(names, _check_interval(box, "box"))
    unknown = [name for name in box if name not in names]
    if unknown:
        raise ValueError(
            f"box names {unknown[0]!r}, which is not a view whose width is learned; these are {list(names)}."
        )
    rest = _check_interval(DEFAULT_BOX, "box")
    return {name: _check_interval(box[name], f"box of {name!r}") if name in box else rest for name in names}


DEFAULT_BOX = (1.0 / 16.0, 16.0)


def _check_interval(given: Any, label: str) -> tuple[float, float]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(
            f"{label} must be a pair (low, high), or a dict of view name to pair; got {given!r}."
        )
    low, high = (check_number(label, end, above=0.0) for end in given)
    if not 1.0 / _WIDEST <= low < high <= _WIDEST:
        raise ValueError(
            f"{label} must be (low, high) with {1 / _WIDEST:g} <= low < high <= {_WIDEST:g}; got {given!r}."
        )
    return low, high


# ---------------------------------------------------------------------- families
def make_families(bank: KernelBank, views: Sequence[View], box: Any) -> tuple[list[int], list[Family]]:
    """The positions of the kernels that stay as they are, and the families of the others.

    Parameters
    ----------
    bank : fitted on the training rows
    views : those of the bank, with their defaults
    box : parameter of the estimator
    """
    by_name = {view.name: view for view in views}
    groups: dict[Any, list[int]] = {}
    fixed = []
    for position, fitted in enumerate(bank.views_):
        view = by_name[fitted.name]
        if not is_learned(view):
            fixed.append(position)
            continue
        require_plain(view)
        # kernels that differ in their estimated width alone are one family
        key = (id(fitted.rows), type(fitted.kernel), view.normalization == "variance")
        groups.setdefault(key, []).append(position)
    names = [_common_name([bank.view_names_[p] for p in members]) for members in groups.values()]
    intervals = check_box(box, names)
    families = []
    for name, (key, members) in zip(names, groups.items(), strict=True):
        widths = [float(bank.views_[p].kernel.gamma) for p in members]  # type: ignore[attr-defined]
        low, high = intervals[name]
        families.append(_family(name, bank.views_[members[0]], low * min(widths), high * max(widths), key[2]))
    return fixed, families


def _common_name(names: Sequence[str]) -> str:
    """What the names of several views begin with; of one view its name."""
    if len(names) == 1:
        return names[0]
    letters = takewhile(lambda found: len(set(found)) == 1, zip(*names, strict=False))
    return "".join(found[0] for found in letters).rstrip("-. ") or names[0]


def _family(name: str, view: FittedView, low: float, high: float, by_variance: bool) -> Family:
    """All kernels of a view, from its Gram matrix at the smallest gamma."""
    n = len(view.rows)
    exponents = np.empty((n, n))
    kind: Any = type(view.kernel)
    kind(gamma=low).evaluate(Pair(view.rows, view.rows), exponents)
    with np.errstate(divide="ignore"):
        np.log(exponents, out=exponents)
    np.abs(exponents, out=exponents)
    return Family(name, view, WidthFamily(exponents, low, high, by_variance))


# ---------------------------------------------------------------------- kernels that were found
def bank_of_found(
    bank: KernelBank, fixed: Sequence[int], families: Sequence[Family], columns: Sequence[Column]
) -> tuple[KernelBank, list[Found]]:
    """A bank of the fixed kernels and those that were found, fitted on the same rows."""
    found = [Found(bank.view_names_[p], bank.view_names_[p], np.nan) for p in fixed]
    views = [bank.views_[p] for p in fixed]
    for number, gamma in columns:
        family = families[number]
        name = _free_name(family.name, gamma, [kernel.name for kernel in found])
        found.append(Found(name, family.name, gamma))
        views.append(_at_width(family, name, gamma))
    new = copy.copy(bank)
    new.views_, new.view_names_ = views, [kernel.name for kernel in found]
    new.n_kernels_, new.active_ = len(views), tuple(range(len(views)))
    return new, found


def _at_width(family: Family, name: str, gamma: float) -> FittedView:
    view = family.view
    kind: Any = type(view.kernel)
    transforms = view.transforms
    if family.kernels.by_variance:
        ones: Array = np.ones(family.kernels.n)
        transforms = Chain((UnitVariance().fit_means(ones, family.kernels.mean(gamma)),))
    return replace(view, name=name, kernel=kind(gamma=gamma), transforms=transforms)


def _free_name(view: str, gamma: float, taken: Sequence[str]) -> str:
    """The name of a kernel: its view, and its width with as many digits as it takes.

    Examples
    --------
    >>> _free_name("petal", 0.123456, [])
    'petal (gamma=0.123)'
    >>> _free_name("petal", 0.123456, ["petal (gamma=0.123)"])
    'petal (gamma=0.1235)'
    """
    names = (f"{view} (gamma={gamma:.{digits}g})" for digits in range(3, 18))
    return next(name for name in names if name not in taken)
