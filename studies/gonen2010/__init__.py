"""M. Gönen (2010)."""

from collections.abc import Iterable

from studies.gonen2010 import costs, machines, search, search_figures, several_classes, surfaces
from studies.gonen2010.claims import judge
from studies.gonen2010.inventory import ABSENT, INVENTORY, REASONS, inventory_notes
from studies.gonen2010.localized_entries import DATA_LOCALIZED, ENTRIES_LOCALIZED
from studies.gonen2010.own import halving, preparation, searching
from studies.gonen2010.published import cells_of
from studies.gonen2010.yeast import DATA
from studies.study import Study, Table

_ENTRIES = (
    *search.TABLES,
    *costs.TABLES,
    *machines.FIGURES,
    *several_classes.FIGURES,
    *surfaces.FIGURES,
    *search_figures.FIGURES,
    *ENTRIES_LOCALIZED,
)


def _in_order(entries: Iterable[Table]) -> list[Table]:
    """By chapter and number, as 5.6 before 5.10."""
    return sorted(entries, key=lambda entry: [int(part) for part in entry.name.split(".")])


_PUBLISHED = tuple(
    entry for kind in ("table", "figure") for entry in _in_order(e for e in _ENTRIES if e.kind == kind)
)
_N_ABSENT = sum(len(cells_of(item.stem)) for item in INVENTORY if item.status == "impossible")
_OWN = (preparation.TABLE, halving.TABLE, searching.TABLE)
STUDY = Study(
    name="gonen2010",
    title="Gönen (2010)",
    citation=(
        "M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Computer "
        "Engineering, Boğaziçi University."
    ),
    tables={entry.name: entry for entry in _PUBLISHED if entry.kind == "table"},
    figures={entry.name: entry for entry in _PUBLISHED if entry.kind == "figure"},
    own={entry.name: entry for entry in _OWN},
    notes=(
        *inventory_notes([entry.stem for entry in _PUBLISHED], _N_ABSENT),
        "The thesis prints means and standard deviations of ten folds with one random third as the test set. "
        "Other thirds give other means: the s.e. here are over several thirds, and ± is not used.",
        "The defaults of the library's localized estimators (step rule, stop, scaling of columns and "
        "kernels) were partly fitted to the thesis's tables, and the optimizers were compared on test "
        "samples: the pages on localized kernels are no independent confirmation of the method.",
    ),
    claims=judge,
    data=(DATA, *DATA_LOCALIZED),
    reasons=REASONS,
    absent=ABSENT,
    judges_parts=True,
)

__all__ = ["STUDY"]
