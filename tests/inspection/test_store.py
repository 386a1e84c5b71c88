"""Scores on disk: a stopped run goes on, what has changed is computed again, other files are left alone."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from tests.inspection import toys
from tests.inspection.toys import ONE, PLACE, Centroids, numbered, run, scores_of


def test_a_run_that_was_stopped_goes_on_and_ends_as_one_that_was_not(tmp_path):
    whole = run()
    every = list(toys.FITS)
    for stop in (0, 13, 39):
        toys.FITS.clear()
        toys.STOP_AT.append(stop)
        path = tmp_path / f"{stop}.jsonl"
        with pytest.raises(KeyboardInterrupt) as caught:
            run(store=path)
        assert caught.value.__notes__ == [f"{stop} of 40 fits are kept in {path}: call again to go on."]
        assert len(toys.FITS) == stop
        resumed = run(store=str(path))
        assert every == toys.FITS  # none of them twice
        pd.testing.assert_frame_equal(scores_of(resumed), scores_of(whole))
        assert str(resumed) == str(whole)
        pd.testing.assert_frame_equal(run(store=path).scores, resumed.scores)
        assert len(toys.FITS) == 40


def test_a_torn_line_is_computed_again(tmp_path):
    path = tmp_path / "scores.jsonl"
    whole = run(store=path)
    content = path.read_bytes()
    places = [tuple(json.loads(json.loads(line)["key"])) for line in content.splitlines()]
    assert places == list(whole.scores[PLACE].itertuples(index=False, name=None))
    toys.FITS.clear()
    for torn in (content[:-5], content + b'{"key": "', content.replace(b"\n", b"\n", 1)[: len(content) // 2]):
        path.write_bytes(torn)
        pd.testing.assert_frame_equal(scores_of(run(store=path)), scores_of(whole))
        assert len(path.read_bytes().splitlines()) == 40
    assert 20 < len(toys.FITS) < 24


@pytest.mark.parametrize(
    ("changed", "n_again"),
    [
        ({"estimators": {"plain": Centroids("plain"), "rough": Centroids("rough", shrink=0.9)}}, 20),
        ({"estimators": {"plain": Centroids("plain"), "other": Centroids("rough", shrink=1.0)}}, 20),
        ({"datasets": {"near": numbered(gap=1.1), "far": numbered(n=31, gap=2.0, seed=1)}}, 20),
        ({"datasets": {"near": numbered(gap=1.0), "third": numbered(n=20)}}, 20),
        ({"random_state": 1}, 40),
        ({"scoring": "balanced_accuracy"}, 40),
        ({"level": 0.1, "reference": "plain", "n_jobs": 1}, 0),
    ],
)
def test_only_what_is_the_same_is_taken_from_the_store(tmp_path, changed, n_again):
    path = tmp_path / "scores.jsonl"
    first = run(store=path)
    toys.FITS.clear()
    found = run(store=path, **changed)
    assert len(toys.FITS) == n_again
    pd.testing.assert_frame_equal(scores_of(found), scores_of(run(**changed)))
    toys.FITS.clear()
    pd.testing.assert_frame_equal(run(store=path).scores, first.scores)  # what was there is still there
    assert toys.FITS == []


SHARE = 1.0


def shared(estimator, X, y):
    return SHARE * estimator.score(X, y)


def test_a_scorer_that_reads_another_global_is_another(tmp_path, monkeypatch):
    path = tmp_path / "scores.jsonl"
    whole = run(datasets=ONE, store=path, scoring=shared).scores["score"]
    monkeypatch.setitem(globals(), "SHARE", 0.5)
    half = run(datasets=ONE, store=path, scoring=shared).scores["score"]
    np.testing.assert_array_equal(half, 0.5 * whole)


def test_swapped_labels_are_other_data(tmp_path):
    X, y = numbered(labels=["no", "yes"])
    path = tmp_path / "scores.jsonl"
    run(datasets={"d": (X, y)}, store=path)
    toys.FITS.clear()
    swapped = y.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    run(datasets={"d": (X, swapped)}, store=path)
    assert len(toys.FITS) == 20


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_fails_is_named_and_what_is_done_is_kept(tmp_path, n_jobs):
    path = tmp_path / "scores.jsonl"
    estimators = {"plain": Centroids("plain"), "fussy": Centroids("fussy", fail_on_row=35)}
    datasets = {"small": numbered(n=30), "large": numbered(n=40)}
    place = "estimator 'fussy' on data set 'large', repetition 0, fold 0 failed with RuntimeError"
    with pytest.raises(ValueError, match=rf"{place}: this row does not please\.") as caught:
        run(estimators, datasets, store=path, n_jobs=n_jobs)
    kept = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert len(kept) >= 30  # all that come before, and what was under way
    assert f"{len(kept)} of 40 fits are kept in {path}: call again to go on." in caught.value.__notes__
    toys.FITS.clear()
    mended = estimators | {"fussy": Centroids("fussy")}
    assert len(run(mended, datasets, store=path).scores) == 40
    assert len(toys.FITS) == 20 + 20 - sum('"plain"' in key for key in kept)


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(ValueError, match=r"is a folder. Use .*fits\.jsonl"):
        run(store=tmp_path)


def test_a_file_of_something_else_is_no_store(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"precious data without newline")
    with pytest.raises(ValueError, match=r"notes\.txt must be a record") as caught:
        run(store=path)
    assert path.read_bytes() == b"precious data without newline"
    assert not hasattr(caught.value, "__notes__")  # nothing is kept there, and calling again does not help


def test_what_cannot_be_recognised_is_not_stored(tmp_path):
    with (tmp_path / "x").open("w") as file:
        odd = {"plain": Centroids(), "odd": DummyClassifier(constant=file)}
        with pytest.raises(TypeError, match=r"estimator 'odd' cannot: a _io\.TextIOWrapper has no content"):
            run(odd, store=tmp_path / "scores.jsonl")
    assert not (tmp_path / "scores.jsonl").exists()
