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
    preparation,
    search,
    search_figures,
    several_classes,
    surfaces,
    visual,
)
from studies.gonen2010.claims import judge
from studies.gonen2010.inventory import inventory_notes
from studies.gonen2010.yeast import DATA
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


_PUBLISHED = (*_in_order(_TABLES), *_in_order(_FIGURES))
STUDY = Study(
    name="gonen2010",
    title="Gönen (2010)",
    citation=(
        "M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Computer "
        "Engineering, Boğaziçi University."
    ),
    tables={entry.name: entry for entry in _PUBLISHED if entry.kind == "table"},
    figures={entry.name: entry for entry in _PUBLISHED if entry.kind == "figure"},
    own={preparation.TABLE.name: preparation.TABLE},
    notes=(
        *inventory_notes([entry.stem for entry in _PUBLISHED]),
        "The thesis prints means and standard deviations of ten folds with one random third as the test set. "
        "Other thirds give other means: the s.e. here are over several thirds, and ± is not used.",
        "Not compared (absent) are the counts of wins, ties and losses, which stand as text beside ours, and "
        "costs d that are set to 1.",
        "The defaults of the library's localized estimators (step rule, stop, scaling of columns and "
        "kernels) were partly fitted to the thesis's tables, and the optimizers were compared on test "
        "samples: the pages on localized kernels are no independent confirmation of the method.",
    ),
    claims=judge,
    data=(DATA,),
    judges_parts=True,
)

__all__ = ["STUDY"]
