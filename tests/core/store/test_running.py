"""Pieces of work: each once, in order, kept at once; with and without a file."""

import json
import traceback

import pytest

from multikernel.core.store import ResultStore, Work, run_works
from tests.core.store import pieces
from tests.core.store.pieces import double, refuse, refuse_late


@pytest.fixture(autouse=True)
def nothing_done(monkeypatch):
    monkeypatch.setattr(pieces, "DONE", [])


def works(n=4, fingerprint="f", **of_third):
    return [Work(f"w{x}", fingerprint, double, {"x": x} | (of_third if x == 2 else {})) for x in range(n)]


def test_the_store_refuses_what_json_cannot_hold(tmp_path):
    store = ResultStore(tmp_path / "new" / "x.jsonl")
    with store.opened() as file:
        file.append({"key": "a", "fingerprint": "f", "result": {"x": 0.1}})
        with pytest.raises(ValueError, match="JSON"):
            file.append({"key": "b", "fingerprint": "f", "result": {"x": float("nan")}})
    assert [record["key"] for record in store.read()] == ["a"]


FOREIGN = [
    b"precious data without newline",
    b'{"key": "value"}',
    b'{"keys": 1',
    b"two\nlines",
    b"two lines\n",
    b"\0",
]


@pytest.mark.parametrize("content", FOREIGN)
@pytest.mark.parametrize("before", [b"", b'{"key": "a", "fingerprint": "f", "result": {}}\n'])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path, before, content):
    path = tmp_path / "mine.txt"
    path.write_bytes(before + content)
    with pytest.raises(ValueError, match=r"mine\.txt must be a record .* not a store of results, .* another"):
        run_works(works(), ResultStore(path))
    with pytest.raises(ValueError, match=r"mine\.txt must be a record"), ResultStore(path).opened():
        pass
    assert path.read_bytes() == before + content
    assert pieces.DONE == []


def test_a_torn_line_is_cut_off_wherever_it_was_torn(tmp_path):
    store = ResultStore(tmp_path / "x.jsonl")
    run_works(works(n=1), store)
    whole = store.path.read_bytes()
    for end in range(len(whole)):
        store.path.write_bytes(whole + whole[:end])
        assert [record["key"] for record in store.read()] == ["w0"]
        with store.opened():
            assert store.path.read_bytes() == whole


def test_without_a_file_every_work_is_done_each_time():
    for _ in range(2):
        assert run_works(works(), None) == [{"twice": 2 * x} for x in range(4)]
    assert pieces.DONE == [0, 1, 2, 3] * 2


def test_what_is_stored_is_not_done_again_and_the_order_is_that_of_the_works(tmp_path):
    store = ResultStore(tmp_path / "x.jsonl")
    run_works(works()[1:3], store)
    assert run_works(works()[::-1], store) == [{"twice": 6}, {"twice": 4}, {"twice": 2}, {"twice": 0}]
    assert pieces.DONE == [1, 2, 3, 0]
    assert run_works(works(fingerprint="other"), store) == [{"twice": 2 * x} for x in range(4)]
    assert len(pieces.DONE) == 8
    run_works(works(), store)  # the first results are still there
    assert len(pieces.DONE) == 8


def test_what_was_done_before_a_stop_is_on_disk(tmp_path):
    store = ResultStore(tmp_path / "x.jsonl")
    seen = []
    with pytest.raises(KeyboardInterrupt):
        run_works(works(stop=True), store, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 4), (1, 4), (2, 4)]
    lines = store.path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["result"] for line in lines] == [{"twice": 0}, {"twice": 2}]


def test_a_work_that_fails_is_named():
    with pytest.raises(ValueError, match=r"no\.") as caught:
        run_works([Work("the one", "f", refuse, {"x": 1})], None)
    assert caught.value.__notes__ == ["(unit the one)"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_done_before_a_failure_is_on_disk(tmp_path, jobs):
    store = ResultStore(tmp_path / "x.jsonl")
    many = [Work(f"w{x}", "f", refuse_late, {"x": x}) for x in range(10)]
    with pytest.raises(ValueError, match=r"not 6\.") as caught:  # the first of both, whichever ended first
        run_works(many, store, jobs=jobs)
    kept = {record["key"] for record in store.read()}
    assert {f"w{x}" for x in range(6)} <= kept
    if jobs == 1:
        assert len(kept) == 6
    assert "refuse_late" in "".join(traceback.format_exception(caught.value))  # where it arose
    assert caught.value.__notes__ == ["(unit w6)"]


def test_keys_must_differ():
    with pytest.raises(ValueError, match="keys of units must differ; 8 units have 4 keys"):
        run_works([*works(), *works()], None)
