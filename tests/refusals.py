"""What is refused: a test made of a table of calls and of what each must say."""

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
