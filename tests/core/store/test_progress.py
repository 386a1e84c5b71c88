"""How far a run has come: on standard error, in a notebook, by a function, or not at all."""

import sys
from types import SimpleNamespace

import pytest

from multikernel.core.store import shown_progress


def run(asked):
    with shown_progress("fits <of> a", asked) as move:
        if move is not None:
            move(1, 3)
            move(3, 3)


def test_a_bar_on_standard_error_nothing_or_a_function(capsys):
    seen = []
    run(lambda *counts: seen.append(counts))
    run(False)
    run(None)
    captured = capsys.readouterr()
    assert seen == [(1, 3), (3, 3)] and captured.out == captured.err == ""
    run(True)
    captured = capsys.readouterr()
    assert "3/3" in captured.err and captured.out == ""


def test_without_works_there_is_no_bar(capsys):
    with pytest.raises(KeyError), shown_progress("fits", True):
        raise KeyError
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shell", ["notebook", "terminal"])
def test_in_a_notebook_the_bar_is_drawn_anew_in_its_place(monkeypatch, capsys, shell):
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(
        HTML=lambda text: text, display=lambda first, display_id: shown.append(first) or handle
    )
    kernel = SimpleNamespace(kernel=object()) if shell == "notebook" else SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel, display=display))
    run(True)
    if shell == "terminal":
        assert shown == [] and "3/3" in capsys.readouterr().err
        return
    assert capsys.readouterr().err == ""
    first, second, third = shown
    assert first == "fits &lt;of&gt; a"
    assert 'value="1" max="3"' in second and "fits &lt;of&gt; a: 1 of 3" in second and "s left" in second
    assert "3 of 3" in third and "left" not in third and 'role="status"' in third
