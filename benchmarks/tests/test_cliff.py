"""The table of 9 900 and 10 100 rows: its data, one fit of few rows, its page."""

import numpy as np
import pytest

from benchmarks import cliff


@pytest.mark.parametrize("name", cliff.DRAWN)
def test_drawn_rows_are_those_of_the_definitions(name):
    X, codes = cliff.DRAWN[name](20_000, np.random.default_rng(0))
    assert X.shape == (20_000, 21 if name == "waveform" else 20) and len(np.unique(X, axis=0)) == 20_000
    shares = np.bincount(codes) / 20_000
    assert abs(shares - 1 / shares.size).max() < 0.02
    means, spreads = X[codes == 0].mean(axis=0), X[codes == 0].std(axis=0)
    place = 2.0 / np.sqrt(20.0)
    if name == "twonorm":
        assert abs(means - place).max() < 0.05 and abs(X[codes == 1].mean(axis=0) + place).max() < 0.05
    elif name == "ringnorm":
        assert abs(means).max() < 0.1 and abs(spreads - 2.0).max() < 0.1
        assert abs(X[codes == 1].mean(axis=0) - place).max() < 0.05
    else:
        assert means.argmax() in (10, 14) and abs(spreads[0] - 1.0) < 0.05  # the ends are noise alone


def test_rows_of_a_file_occur_once(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"pendigits\.npz, letter\.npz must be in"):
        cliff.data_folder()
    X = np.arange(400).reshape(100, 4).astype(np.uint8)
    for name in cliff.FILES:
        np.savez(tmp_path / f"{name}.npz", X=np.vstack([X, X[:50]]), y=np.arange(150) % 2)
    rows, codes = cliff.make_data("letter", 0)
    assert len(rows) == len(codes) == len(np.unique(rows, axis=0)) == len(np.unique(X, axis=0))
    assert not np.array_equal(rows, cliff.make_data("letter", 1)[0])


def test_a_fit_and_the_page_of_some():
    data = cliff.draw_ringnorm(160, np.random.default_rng(1))
    found = cliff.measure("ringnorm", 0, 120, data)
    assert found["gram"] == "dense" and found["n_test"] == 40 and found["accuracy"] > 0.7
    assert len(found["weights"]) == 6 and found["status"] == "optimal"
    small, large = (
        {**found, "n": n, "trace_errors": dict.fromkeys(found["weights"], 0.5)} for n in cliff.SIZES
    )
    records = [small, large | {"accuracy": found["accuracy"] - 0.02}, small | {"split": 1}]
    text = cliff.page(records, {"processor": "one"})
    assert (
        "| ringnorm | 2 | 40 | 1 |" in text and "| -2.00 | **no** |" in text
    )  # the second split has one side
    assert "| trace error of the factors | 0.50 |" in text
    sets = cliff.page([small, large | {"gram": "working_set", "trace_errors": {}}], {})
    assert (
        "| working sets | +0.00 |" in sets
        and "weight, working sets" in sets
        and "trace error of the factors |" not in sets
    )
    level = cliff.page([small, large | {"accuracy": found["accuracy"] + 0.009}], {})
    assert "| +0.90 | yes |" in level
