"""Outputs: written whole or not at all, destinations checked before the work, disk errors in plain words."""

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from multikernel import MKLClassifier, _files
from multikernel._files import check_destination, whole_file, write_whole
from multikernel.kernels import Linear
from multikernel.report import save_report, summarize


def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_is_replaced_whole_with_its_permissions_and_links(tmp_path):
    place, link = tmp_path / "new" / "page.html", tmp_path / "link.html"
    write_whole(place, b"old")
    place.chmod(0o640)
    link.symlink_to(place)
    write_whole(link, b"new")
    assert link.is_symlink() and place.read_bytes() == b"new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert list(place.parent.iterdir()) == [place]


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path, monkeypatch):
    place = tmp_path / "page.html"
    write_whole(place, b"old")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        OSError, match=r"page\.html cannot be written: the disk is full\. Free some"
    ) as caught:
        write_whole(place, b"new")
    assert caught.value.errno == errno.ENOSPC and "Errno" not in str(caught.value)
    monkeypatch.undo()
    assert place.read_bytes() == b"old" and list(tmp_path.iterdir()) == [place]


def test_a_report_on_a_full_disk_leaves_no_empty_file(tmp_path, monkeypatch):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    summary = summarize(MKLClassifier([Linear()]).fit(X, y))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"report\.html cannot be written: the disk is full"):
        save_report(summary, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("work", [KeyboardInterrupt, ZeroDivisionError])
def test_what_stops_the_writing_leaves_nothing(tmp_path, work):
    with pytest.raises(work), whole_file(tmp_path / "x.png") as part:
        assert part.suffix == ".png"  # libraries take the format from it
        part.write_bytes(b"half")
        raise work
    assert not list(tmp_path.iterdir())


def test_stale_parts_of_the_same_file_are_removed(tmp_path):
    place = tmp_path / "model.skops"
    parts = [_files._part(place), _files._part(place), _files._part(tmp_path / "other.skops")]
    for part in parts:
        part.write_bytes(b"half")
    long_ago = time.time() - 2 * _files._STALE
    for part in (parts[0], parts[2]):
        os.utime(part, (long_ago, long_ago))
    write_whole(place, b"whole")
    assert set(tmp_path.iterdir()) == {place, parts[1], parts[2]}  # a young one may be at work


def test_destinations_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    cases = [
        (tmp_path / "file" / "x.csv", OSError, "a part of its path is a file, not a folder"),
        (tmp_path / "file" / "deeper" / "x.csv", OSError, "a part of its path is a file, not a folder"),
        (tmp_path, ValueError, "is a folder. Name a file in it"),
        (tmp_path / "pipe", ValueError, "is a device or a pipe"),
        (Path("/dev/null"), ValueError, "is a device or a pipe"),
        (tmp_path / ("x" * 300), OSError, "its name is too long"),
        (Path("/proc/none/x.csv"), OSError, "cannot be written"),
    ]
    for place, error, message in cases:
        for write in (check_destination, lambda place: write_whole(place, b"")):
            with pytest.raises(error, match=message):
                write(place)
    assert check_destination(tmp_path / "new" / "x.csv") == tmp_path / "new" / "x.csv"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pipe"]  # nothing was made


def test_what_is_read_is_not_overwritten(tmp_path):
    (tmp_path / "data.csv").write_text("x")
    with pytest.raises(ValueError, match=r"data\.csv is read, and will not be overwritten"):
        check_destination(tmp_path / "data.csv", keep=[tmp_path / "data.csv"])
