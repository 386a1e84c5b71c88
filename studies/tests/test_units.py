"""The units of every study: as many as its protocol says, each with a key and arguments of its own."""

import json

import pytest

from studies import get_study, list_studies
from studies.structured import tables as structured
from studies.yeung2006 import accuracies

# Units of one split. Tables on data of the user have none until the data are there.
COUNTS = {
    "gonen2010": {
        "table5.4": 2, "table5.6": 2, "table5.8": 13, "table5.10": 12, "table5.11": 3, "table5.12": 3,
        "table5.14": 13, "figure1.1": 3, "figure1.2": 1, "figure1.3": 1,
        "figure1.4": 1, "figure1.5": 3, "figure2.2": 4, "figure2.4": 1, "figure2.5": 2,
        "figure5.1": 1, "figure5.2": 2, "figure5.3": 2, "figure5.4": 13, "figure5.6": 13,
        "table5.16": 11, "table5.17": 3, "table5.19": 7, "table5.20": 3,
        "table5.21": 12, "table5.22": 8, "table5.23": 2, "table5.24": 7, "table5.25": 2, "figure3.2": 3 * 5,
        "figure3.3": 11, "figure3.4": 3, "figure4.3": 2, "figure4.4": 1, "figure5.8": 8, "figure5.9": 5,
        "figure5.10": 1, "figure5.11": 2, "figure5.12": 3, "figure5.13": 8, "figure5.14": 3, "figure5.15": 3,
        "figure5.16": 3, "figure5.17": 3, "figure5.18": 2, "figure5.19": 1 + 2 * 15 + 3 * 5,
        "figure5.20": 1 + 2 * 15 + 3 * 5, "figure5.21": 1 + 2 * 15 + 3 * 2, "figure5.22": 1 + 5 * 5,
        "figure5.23": 1, "figure5.24": 1,
    },
    "lanckriet2004": {
        "table1": 2 * (4 + 3), "table2": 2 * (4 + 3), "table3": 4 + 3, "table4": 5 + 5, "figure1": 1,
        "figure2": 13 * 5,
    },
    "lewis2006": {
        "table1": 5 * 6, "table2": 12 * 5, "figure1": 4, "figure2": 2 * 5, "figure3": 4 * 3,
    },
    "ye2007": {"table1": 4 * 8, "table2": 4 * (1 + 4 * 5), "figure1": 3 * 4},
    "yeung2006": {
        "table1": 8, "table2": 8, "table3": 8, "table4": 6, "table5": 6, "tablewine-loo": 3, "figure1": 12,
        "figure2": 1, "figure3": 4,
    },
}  # fmt: skip
OF_THE_USER = {"table5.9", "table5.15", "figure5.5"}
ENTRIES = [
    (study, entry) for study in list_studies() for entry in study.entries() if entry.stem not in OF_THE_USER
]


@pytest.mark.parametrize(("study", "entry"), ENTRIES, ids=lambda value: getattr(value, "stem", value))
def test_units_have_keys_and_arguments_of_their_own(study, entry):
    units, fewer = entry.units(2), entry.units(1)
    assert len({unit.key for unit in units}) == len(units)
    assert len(units) in (len(fewer), 2 * len(fewer))  # what is not random has no splits
    assert {unit.key for unit in fewer} <= {unit.key for unit in units}
    assert len({json.dumps(unit.arguments, sort_keys=True) for unit in units}) == len(units)
    if entry.stem in COUNTS.get(study.name, {}):
        assert len(fewer) == COUNTS[study.name][entry.stem]
    elif study.name == "structured":
        assert entry.splits == 5 and len(entry.units(5)) % 10 == 0
        assert set(structured.PROTOCOL) <= set(entry.protocol)
    if entry.kind == "table" and study.name in ("lanckriet2004", "ye2007", "yeung2006"):
        assert all(unit.datasets for unit in units)


def test_no_table_is_left_out():
    for name, counts in COUNTS.items():
        study = get_study(name)
        stems = {entry.stem for entry in (*study.tables.values(), *study.figures.values())}
        assert stems - OF_THE_USER == set(counts)


def test_tables_of_yeung_have_a_data_set_each():
    datasets = ("monks3", "ionosphere", "wdbc", "wine", "boston")
    for table, dataset in zip(accuracies.TABLES, datasets, strict=True):
        assert {unit.datasets for unit in table.units(1)} == {(dataset,)}
    assert "alignment" not in {unit.arguments["kernel"] for unit in accuracies.TABLES[3].units(1)}
