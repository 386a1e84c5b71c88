"""M. Gönen (2010)."""

from collections.abc import Iterable

from studies.gonen2010 import (
    benchmarks,
    components,
    concrete,
    costs,
    faces,
    motorcycle,
    own_data,
    plane,
    search,
    search_figures,
    several_classes,
    surfaces,
    visual,
)
from studies.study import Study, Table

_TABLES = (
    *search.TABLES,
    *costs.TABLES,
    benchmarks.TABLE,
    faces.TABLE,
    concrete.TABLE,
    *own_data.TABLES,
)
_FIGURES = (
    *several_classes.FIGURES,
    *surfaces.FIGURES,
    *search_figures.FIGURES,
    *plane.FIGURES,
    motorcycle.FIGURE,
    *visual.FIGURES,
    *components.FIGURES,
)


def _in_order(entries: Iterable[Table]) -> list[Table]:
    """By chapter and number, as 5.6 before 5.10."""
    return sorted(entries, key=lambda entry: [int(part) for part in entry.name.split(".")])


STUDY = Study(
    name="gonen2010",
    citation=(
        "M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Computer "
        "Engineering, Boğaziçi University."
    ),
    tables={table.name: table for table in _in_order(_TABLES)},
    figures={figure.name: figure for figure in _in_order(_FIGURES)},
)

__all__ = ["STUDY"]
