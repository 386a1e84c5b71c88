"""M. Gönen (2010)."""

from multikernel.reproduce.gonen2010 import (
    benchmarks,
    components,
    concrete,
    faces,
    motorcycle,
    own_data,
    plane,
    visual,
)
from multikernel.reproduce.study import Study

_TABLES = (benchmarks.TABLE, own_data.TABLES[0], faces.TABLE, concrete.TABLE, own_data.TABLES[1])
_FIGURES = (*plane.FIGURES, motorcycle.FIGURE, *visual.FIGURES, *components.FIGURES)

STUDY = Study(
    name="gonen2010",
    citation=(
        "M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Computer "
        "Engineering, Boğaziçi University."
    ),
    tables={table.name: table for table in _TABLES},
    figures={figure.name: figure for figure in _FIGURES},
)

__all__ = ["STUDY"]
