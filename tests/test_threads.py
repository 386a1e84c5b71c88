"""One thread for linear algebra: as long as anybody wants it so, and as it was before afterwards."""

from __future__ import annotations

import pytest

from multikernel import _threads


class Library:
    """Stands for a library of linear algebra with four threads."""

    threads = 4

    def limit(self, limits):
        before, Library.threads = Library.threads, limits

        class Limit:
            def restore_original_limits(self):
                Library.threads = before

        return Limit()


@pytest.fixture
def holder(monkeypatch):
    monkeypatch.setattr(Library, "threads", 4)
    monkeypatch.setattr(_threads, "_controller", lambda n_modules: Library())
    return _threads._OneThread()


def test_the_last_who_goes_gives_the_threads_back(holder):
    holder.__enter__()
    holder.__enter__()
    holder.__exit__()
    assert Library.threads == 1
    holder.__exit__()
    assert Library.threads == 4


def test_a_library_that_is_loaded_meanwhile_is_held_too(holder, monkeypatch):
    with holder:
        Library.threads = 4
        monkeypatch.setitem(_threads.sys.modules, "a library of linear algebra", None)
        with holder:
            assert Library.threads == 1
    assert Library.threads == 4
