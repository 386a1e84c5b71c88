"""The tables and figures of the thesis on localized kernels and local projections, for its study."""

from __future__ import annotations

from studies.gonen2010.localized import (
    advert,
    convergence,
    dimensions,
    faces,
    motorcycle,
    multifeat,
    plane,
    regression,
    toy,
    visual,
)
from studies.study import DataFile, Table

ENTRIES_LOCALIZED: tuple[Table, ...] = (
    *plane.FIGURES,
    motorcycle.FIGURE,
    *toy.FIGURES,
    *multifeat.TABLES,
    multifeat.FIGURE,
    *advert.TABLES,
    advert.FIGURE,
    faces.TABLE,
    *faces.FIGURES,
    *regression.TABLES,
    regression.FIGURE,
    *visual.FIGURES,
    *dimensions.FIGURES,
    *convergence.FIGURES,
)
DATA_LOCALIZED: tuple[DataFile, ...] = (advert.DATA, regression.DATA)
