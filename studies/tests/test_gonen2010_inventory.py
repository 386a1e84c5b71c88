"""The inventory of Gönen (2010): what its pages are, and why printed numbers are not compared."""

from pathlib import Path

import pytest

from studies import get_study
from studies.compare import is_beyond
from studies.counts import (
    ABSENT,
    FEWER,
    NOT_COMPUTED,
    PARTLY,
    PROTOCOL,
    STAND_IN,
    UNLISTED,
    absent_cells,
    count_study,
    entry_state,
)
from studies.gonen2010.inventory import INVENTORY
from studies.gonen2010.published import NUMBERS, cells_of
from studies.study_page import read_summaries

STUDY = get_study("gonen2010")
PAGES = read_summaries(STUDY, Path(__file__).parents[2] / "docs" / "reproduce" / STUDY.name)
STATES = {
    "reproduced": {PROTOCOL, FEWER, PARTLY, ABSENT},
    "stand-in": {STAND_IN, ABSENT},
    "user": {ABSENT},
}


@pytest.mark.parametrize("item", INVENTORY, ids=lambda item: item.stem)
def test_every_table_and_figure_is_what_the_inventory_says(item):
    entry = {entry.stem: entry for entry in STUDY.entries()}.get(item.stem)
    if item.status in ("descriptive", "impossible"):
        assert entry is None
        return
    assert entry is not None
    assert entry_state(PAGES.get(item.stem)) in STATES[item.status]


def test_all_printed_numbers_are_in_a_table_or_a_figure_of_the_inventory():
    stems = {item.stem for item in INVENTORY}
    assert set(NUMBERS) <= stems
    without = [item.stem for item in INVENTORY if item.status in ("descriptive", "impossible")]
    assert sum(len(cells_of(stem)) for stem in without) == 6 + 47 + 40  # tables 5.2, 5.3 and 5.13
    whole = sum(len(cells_of(stem)) for stem in stems)
    assert count_study(STUDY, PAGES)["cells"]["published"] == whole - 93 == 1611


def test_each_number_that_is_not_compared_has_its_reason():
    absent = absent_cells(STUDY, PAGES)
    assert len(absent) == count_study(STUDY, PAGES)["cells"]["absent"]
    assert {cell["reason"] for cell in absent} <= {*STUDY.absent.values(), NOT_COMPUTED}
    places = [cell["place"] for cell in absent]
    assert len(set(places)) == len(places)


def test_a_number_without_a_reason_is_found_out():
    assert UNLISTED not in STUDY.absent.values()
    summaries = {"table5.6": PAGES["table5.6"] | {"rows": []}}
    absent = [cell for cell in absent_cells(STUDY, summaries) if cell["place"].startswith("table 5.6,")]
    assert len(absent) == len(cells_of("table5.6"))
    assert {cell["reason"] for cell in absent if not cell["place"].endswith("d1")} == {UNLISTED}


def beyond_on(stem, **labels):
    """How many numbers are compared on a page of our own, and how many are beyond two s.e."""
    counted = beyond = 0
    for row in PAGES[stem]["rows"]:
        if all(row["labels"].get(key) == value for key, value in labels.items()):
            for value in row["values"].values():
                differences, errors = value["difference"], value["se_difference"]
                if not isinstance(differences, list):
                    differences, errors = [differences], [errors]
                pairs = [
                    {"difference": d, "se_difference": e} for d, e in zip(differences, errors, strict=True)
                ]
                counted, beyond = counted + len(pairs), beyond + sum(map(is_beyond, pairs))
    return counted, beyond
