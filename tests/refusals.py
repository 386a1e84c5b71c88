"""What is refused: a test made of a table of calls and of what each must say."""

from contextlib import contextmanager

import pytest


def refused(*cases, error=ValueError, by=None):
    """A test of cases (call, message) or (call, error, message): each call raises its error and says so.

    With `by`, a function, cases have its argument in the place of the call.
    """
    listed = [(case[0], case[1] if len(case) == 3 else error, case[-1]) for case in cases]

    @pytest.mark.parametrize(("call", "error", "message"), listed)
    def test(call, error, message):
        with pytest.raises(error, match=message):
            call() if by is None else by(call)

    return test


@contextmanager
def refuses(*words, error=ValueError):
    """The block raises the error, and its message has all the words."""
    with pytest.raises(error) as raised:
        yield
    for word in words:
        assert word in str(raised.value), str(raised.value)
