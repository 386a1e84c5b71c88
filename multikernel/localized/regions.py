"""What each region of a projection kernel has of its own: columns, kernel, dimensions; what the gate reads.

A parameter has one value for all regions, or a list or a dict with one for each. The keys of a dict are the
names of the regions, in the order of the first dict, ``columns`` before the others; without a dict the names
are ``region0``, ``region1``, …
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer
from ..views.columns import resolve_columns
from .solver.projections import PROJECTION_KERNELS

_BY_REGION = ("columns", "kernels", "n_components", "degree", "gamma")


class Settings(NamedTuple):
    """The parameters that regions may have of their own, region by region; ``columns`` as they were given."""

    names: list[str]
    columns: list[Any]
    kernels: list[str]
    n_components: list[int]
    degree: list[int]
    gamma: list[Any]


@dataclass(frozen=True, eq=False)
class Regions:
    """The settings, with their columns found in the training table."""

    settings: Settings
    columns: list[Array]  # positions of the columns that each region projects
    gating: Array | None  # positions of those that the gate reads; None for all

    def free(self, n_features: int) -> Array | None:
        """Which entries of W (P, d, R) are learned, the others are 0; None for all of them."""
        sizes = self.settings.n_components
        free = np.zeros((len(sizes), n_features, max(sizes)), bool)
        for m, (positions, size) in enumerate(zip(self.columns, sizes, strict=True)):
            free[m, positions, :size] = True
        return None if free.all() else free


def region_settings(model: Any) -> Settings:
    """Check what the regions have of their own, before there is a table."""
    given = {name: getattr(model, name) for name in _BY_REGION}
    names = _region_names(model.n_regions, given)
    each = {name: _of_each(name, value, names) for name, value in given.items()}
    for region, kernel, size, degree, gamma in zip(
        names, each["kernels"], each["n_components"], each["degree"], each["gamma"], strict=True
    ):
        check_choice(_label(given, "kernels", region), kernel, PROJECTION_KERNELS)
        check_positive_integer(_label(given, "n_components", region), size)
        check_positive_integer(_label(given, "degree", region), degree)
        _check_gamma(_label(given, "gamma", region), gamma)
    for region, columns in zip(names, each["columns"], strict=True):
        if isinstance(columns, str | int | float | np.generic):
            alone = [columns] if _is_by_region(given["columns"]) else [[columns]] * len(names)
            raise ValueError(
                "columns must be a list of columns, a slice, a mask, a function of X or None for each "
                f"region; got {columns!r} for {region!r}. Write {alone} for a single column."
            )
    sizes, degrees = ([int(value) for value in each[name]] for name in ("n_components", "degree"))
    return Settings(names, each["columns"], each["kernels"], sizes, degrees, each["gamma"])


def find_columns(settings: Settings, wanted: Any, table: Any) -> Regions:
    """The columns of the regions and of the gate; ``wanted``: what the gate is to read."""
    width = table.shape[1]
    found = []
    for name, columns in zip(settings.names, settings.columns, strict=True):
        positions = resolve_columns(table, columns, f"region {name!r}").positions
        found.append(np.arange(width) if positions is None else np.unique(positions))
    if wanted is None:
        return Regions(settings, found, None)
    if isinstance(wanted, str) and wanted in settings.names:
        return Regions(settings, found, found[settings.names.index(wanted)])
    positions = _gating_positions(wanted, table, settings.names)
    return Regions(settings, found, None if positions is None else np.unique(positions))


def _gating_positions(wanted: Any, table: Any, names: list[str]) -> Any:
    """The columns asked for; one by itself is a list of one here."""
    if isinstance(wanted, np.ndarray) and wanted.ndim > 1:
        raise ValueError(
            "gating_features must say which columns of X the gate reads; got an array of shape "
            f"{wanted.shape}. Append its columns to X, give the regions theirs with columns, and name the "
            "new ones in gating_features."
        )
    if isinstance(wanted, str) and wanted not in getattr(table, "columns", ()):
        raise ValueError(
            f"gating_features must be the name of a region or of a column, or columns; got {wanted!r}. The "
            f"regions are {names}."
        )
    single = isinstance(wanted, str | int | np.integer) and not isinstance(wanted, bool)
    return resolve_columns(table, [wanted] if single else wanted, "gating_features").positions


# ------------------------------------------------------------------ one value for all, or one for each
def _is_by_region(value: Any) -> bool:
    return isinstance(value, list | tuple | Mapping) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _region_names(n_regions: Any, given: dict[str, Any]) -> list[str]:
    """The names of the regions, from the first parameter that has one value for each of them."""
    by_region = {name: value for name, value in given.items() if _is_by_region(value)}
    for name, value in by_region.items():
        if not len(value):
            raise ValueError(
                f"{name} must have a value for each region; got {value!r}. Give it at least one."
            )
    named = next((value for value in by_region.values() if isinstance(value, Mapping)), None)
    if named is not None and not all(isinstance(name, str) for name in named):
        raise TypeError(f"names of regions must be strings; got {list(named)!r}.")
    if n_regions is not None:
        check_positive_integer("n_regions", n_regions)
    if named is None:
        first = next(iter(by_region.values()), [None])
        return [f"region{m}" for m in range(len(first) if n_regions is None else int(n_regions))]
    if n_regions not in (None, len(named)):
        raise ValueError(
            f"n_regions must be the number of the regions {list(named)}; got {n_regions}. Leave n_regions "
            "out, or name as many."
        )
    return list(named)


def _of_each(name: str, value: Any, names: list[str]) -> list[Any]:
    """The value of each region."""
    if not _is_by_region(value):
        return [value] * len(names)
    if isinstance(value, Mapping):
        missing = [region for region in names if region not in value]
        unknown = [region for region in value if region not in names]
        if missing or unknown:
            told = f"no value for {missing[0]!r}" if missing else f"one for {unknown[0]!r}"
            raise ValueError(
                f"{name} must have one value for each region, {names}; got {told}. Name the same regions "
                "everywhere, or give one value for all."
            )
        return [value[region] for region in names]
    values = value.tolist() if isinstance(value, np.ndarray) else list(value)
    if len(values) != len(names):
        lacking = f" There is none for {names[len(values)]!r}." if len(values) < len(names) else ""
        raise ValueError(
            f"{name} must have one value for each of the {len(names)} regions {names}; got {len(values)}."
            f"{lacking} Make the lists as long as n_regions, or give one value for all."
        )
    return values


def _label(given: dict[str, Any], name: str, region: str) -> str:
    """What a message calls the value of a region."""
    return f"{name} of region {region!r}" if _is_by_region(given[name]) else name


def _check_gamma(label: str, gamma: Any) -> None:
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f'{label} must be a positive number or "scale"; got {gamma!r}.')
    else:
        check_number(label, gamma, above=0.0)
