"""The units of every study: as many as its protocol says, each with a key and arguments of its own."""

import json

import pytest

from studies import get_study, list_studies
from studies.structured import tables as structured
from studies.yeung2006 import accuracies

# Units of one split. Tables on data of the user have none until the data are there.
COUNTS = {
    "gonen2010": {
        "table5.6": 13, "table5.10": 180, "table5.16": 190, "table5.21": 50, "table5.22": 90, "figure1.4": 3,
        "figure1.5": 3, "figure2.2": 1, "figure2.4": 1, "figure2.5": 1, "figure3.2": 10, "figure3.3": 6,
        "figure3.4": 4, "figure5.14": 3, "figure5.15": 3, "figure5.16": 3, "figure5.17": 3,
        "figure5.19": 130, "figure5.20": 130, "figure5.21": 130, "figure5.22": 50,
    },
    "lanckriet2004": {
        "table1": 3 * 4, "table2": 2 * 4, "table3": 4, "table4": 5, "tablereuters": 5, "tableprotein": 13,
    },
    "lewis2006": {
        "table1": 4 * 10 + 3 * 4, "table2": 6 * 8, "figure1": 4, "figure2": 2 * 5, "figure3": 2 * 6,
    },
    "ye2007": {"table1": 7 * 6, "table2": 5 * 2, "figure1": 4 * 5},
    "yeung2006": {"table1": 12, "table2": 10, "table3": 10, "table4": 8, "table5": 8},
}  # fmt: skip
OF_THE_USER = {"table5.11", "table5.12", "table5.19", "table5.24"}
ENTRIES = [
    (study, entry)
    for study in list_studies()
    for entry in (*study.tables.values(), *study.figures.values())
    if entry.stem not in OF_THE_USER
]


@pytest.mark.parametrize(("study", "entry"), ENTRIES, ids=lambda value: getattr(value, "stem", value))
def test_units_have_keys_and_arguments_of_their_own(study, entry):
    units, fewer = entry.units(2), entry.units(1)
    assert len({unit.key for unit in units}) == len(units) == 2 * len(fewer)
    assert {unit.key for unit in fewer} <= {unit.key for unit in units}
    assert len({json.dumps(unit.arguments, sort_keys=True) for unit in units}) == len(units)
    if study.name in COUNTS and entry.stem != "tablefresh":
        assert len(fewer) == COUNTS[study.name][entry.stem]
    elif study.name == "structured":
        assert entry.splits == 5 and len(entry.units(5)) % 10 == 0
        assert set(structured.PROTOCOL) <= set(entry.protocol)
    if study.name in ("lanckriet2004", "ye2007", "structured", "yeung2006"):
        assert all(unit.datasets for unit in units)


def test_no_table_is_left_out():
    for name, counts in COUNTS.items():
        study = get_study(name)
        stems = {entry.stem for entry in (*study.tables.values(), *study.figures.values())}
        assert stems - OF_THE_USER - {"tablefresh"} == set(counts)


def test_tables_of_yeung_have_a_data_set_each():
    datasets = ("monks3", "ionosphere", "wdbc", "wine", "boston")
    for table, dataset in zip(accuracies.TABLES, datasets, strict=True):
        assert {unit.datasets for unit in table.units(1)} == {(dataset,)}
    assert "alignment" not in {unit.arguments["kernel"] for unit in accuracies.TABLES[3].units(1)}
