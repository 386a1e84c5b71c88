"""The example of many rows, on few of them."""

import re
from pathlib import Path

import pytest

from tests.test_project import load_example

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[1]


def test_the_example_of_many_rows_says_what_a_rank_costs(tmp_path, capsys):
    example = load_example(ROOT / "examples" / "what_changes_above_ten_thousand_rows.py")
    picture = tmp_path / "run" / "picture.png"
    example.main(["--rows", "2000", "--picture", str(picture)])
    printed = capsys.readouterr().out
    rows = re.findall(
        r"^(\d+(?:, narrow \d+)?) +(\d+\.\d) +\d+\.\d +(\d\.\d{3}) +(\d\.\d{3})$", printed, re.M
    )
    assert [label for label, *_ in rows] == [*map(str, example.RANKS), example.MIXED[0]]
    right, narrow, first = ([float(row[k]) for row in rows] for k in (1, 2, 3))
    assert narrow[:-1] == sorted(narrow[:-1], reverse=True) and narrow[-1] < narrow[-2]
    assert first[-1] == first[example.RANKS.index(example.MIXED[1])]
    assert right[0] < max(right)
    weights = dict(re.findall(r"^  (\w+(?: \d)?) +(\d\.\d\d)$", printed, re.M))
    assert float(weights["first"]) > float(weights["noise 1"])
    assert picture.read_bytes().startswith(b"\x89PNG")
