"""What goes wrong with model files."""

from typing import Any

_SHOWN = 120


class ModelFileError(ValueError):
    """A model cannot be saved, or a file cannot be loaded; the message says why and what helps."""


class ModelVersionWarning(UserWarning):
    """A model was saved by another version of a library than the one that loads it."""


def shown(text: Any) -> str:
    """Text from a file as a message may show it: quoted, escaped, not endless.

    Examples
    --------
    >>> shown("os.system")
    "'os.system'"
    """
    quoted = ascii(str(text))
    return quoted if len(quoted) <= _SHOWN else f"{quoted[:_SHOWN]}…"
