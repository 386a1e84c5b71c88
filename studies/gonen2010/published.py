"""Every number that the thesis prints, as it is printed: `NUMBERS`.

Chapters 1 and 2 and sections 5.1 and 5.2 are in ``published_combining``, chapters 3 and 4 and sections 5.3
and 5.4 in ``published_localized``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from studies.published import Published

_PARTS = ("published_combining", "published_localized")


def _assembled() -> dict[str, dict[str, Published]]:
    names = [f"{__package__}.{part}" for part in _PARTS]
    parts = [import_module(name).NUMBERS for name in names if find_spec(name) is not None]
    return {stem: numbers for part in parts for stem, numbers in part.items()}


# Stem of a table or a figure (``"table5.6"``) to its numbers, by place.
NUMBERS = _assembled()


def cells_of(stem: str) -> tuple[Published, ...]:
    """Return every number of a table or a figure, e.g. ``"table5.6"``; none if it prints none."""
    return tuple(NUMBERS.get(stem, {}).values())
