"""The inventory of Gönen (2010): what its pages are, and why printed numbers are not compared."""

import json
from pathlib import Path

import numpy as np
import pytest

from multikernel.core.store import ResultStore
from studies import get_study
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
from studies.gonen2010.own import halving
from studies.gonen2010.published import NUMBERS, cells_of
from studies.study_page import read_summaries

STUDY = get_study("gonen2010")
ROOT = Path(__file__).parents[2]
PAGES = read_summaries(STUDY, ROOT / "docs" / "reproduce" / STUDY.name)
RESULTS = ROOT / "studies" / STUDY.name / "results"
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


# --- one halving --------------------------------------------------------------------------------------------


def beyond_in(rows):
    """How many printed numbers stand beside some rows, and how many of ours are beyond two s.e."""
    counted = beyond = 0
    for value in (value for row in rows for value in row["values"].values()):
        differences, errors = np.ravel(value["difference"]), np.ravel(value["se_difference"])
        counted, beyond = counted + len(differences), beyond + int(np.sum(abs(differences) > 2.0 * errors))
    return counted, beyond


def test_one_halving_of_fewer_points_agrees_better():
    """What `REASONS` and the page say of it."""
    rows = {"five": [], "one": []}
    for table, tasks in halving.TASKS.items():
        rows["five"] += [row for row in PAGES[f"table{table}"]["rows"] if row["section"] in tasks]
    for row in PAGES["own-halving"]["rows"]:
        if row["labels"]["data"] == halving.POINTS["small"]:
            rows["one"].append(row)
    split = {
        name: [
            [row for row in some if row["section"].endswith("TWONORM") is twonorm]
            for twonorm in (True, False)
        ]
        for name, some in rows.items()
    }
    assert beyond_in(split["one"][0]) == (12, 0) and beyond_in(split["five"][0])[1] > 0
    (n_one, one), (n_five, five) = beyond_in(split["one"][1]), beyond_in(split["five"][1])
    assert n_one == n_five == 132
    assert 0.28 < one / n_one < 0.40 and 0.55 < five / n_five < 0.65


# --- stored results ----------------------------------------------------------------------------------------


def cheapest(entry):
    """The stored unit of an entry that took least time."""
    records = ResultStore(RESULTS / entry.results_name).read()
    return min(records, key=lambda record: record.get("cpu_seconds", record["seconds"]), default=None)


def of_seconds():
    """The entries with a stored unit that takes less than three seconds."""
    entries = [entry for entry in STUDY.entries() if not entry.shares]
    found = [(entry, cheapest(entry)) for entry in entries]
    return [entry for entry, record in found if record is not None and record["seconds"] < 3.0]


def is_near(a, b):
    """Whether two results are the same up to a sample or two, which other processors decide otherwise."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(is_near(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(is_near, a, b))
    return a == b or (isinstance(a, int | float) and a == pytest.approx(b, rel=0.05, abs=1.5))


@pytest.mark.thorough
@pytest.mark.parametrize("entry", of_seconds(), ids=lambda entry: entry.stem)
def test_stored_results_are_what_the_code_gives(entry, shared_data):
    record = cheapest(entry)
    (unit,) = [unit for unit in entry.units(entry.splits) if unit.key == record["key"]]
    again = json.loads(json.dumps(unit.function(**unit.arguments)))
    assert is_near(again, record["result"])
