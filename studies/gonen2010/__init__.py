"""M. Gönen (2010)."""

from collections.abc import Iterable

from studies.gonen2010 import costs, outliers, own_data, search, surfaces
from studies.gonen2010.claims_localized import claims_localized
from studies.gonen2010.localized_entries import DATA_LOCALIZED, ENTRIES_LOCALIZED
from studies.study import Kind, Study, Table

_LOCALIZED = {entry.stem for entry in ENTRIES_LOCALIZED}
_ENTRIES = (
    search.TABLE,
    costs.TABLE,
    *(table for table in own_data.TABLES if table.stem not in _LOCALIZED),
    *outliers.FIGURES,
    *surfaces.FIGURES,
    *ENTRIES_LOCALIZED,
)


def _of_kind(kind: Kind, entries: Iterable[Table]) -> dict[str, Table]:
    """By chapter and number, as 5.6 before 5.10."""
    chosen = [entry for entry in entries if entry.kind == kind]
    if kind != "own":
        chosen.sort(key=lambda entry: [int(part) for part in entry.name.split(".")])
    return {entry.name: entry for entry in chosen}


STUDY = Study(
    name="gonen2010",
    citation=(
        "M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Computer "
        "Engineering, Boğaziçi University."
    ),
    tables=_of_kind("table", _ENTRIES),
    figures=_of_kind("figure", _ENTRIES),
    own=_of_kind("own", _ENTRIES),
    claims=claims_localized,
    data=DATA_LOCALIZED,
)

__all__ = ["STUDY"]
