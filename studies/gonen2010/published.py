"""Every number that the thesis prints, as it is printed: `NUMBERS`.

Chapters 1 and 2 and sections 5.1 and 5.2 are in ``published_combining``, chapters 3 and 4 and sections 5.3
and 5.4 in ``published_localized``.
"""

from __future__ import annotations

from studies.gonen2010 import published_combining, published_localized
from studies.published import Published

# Stem of a table or a figure (``"table5.6"``) to its numbers, by place.
NUMBERS: dict[str, dict[str, Published]] = published_combining.NUMBERS | {
    stem: {cell.place: cell for cell in published_localized.cells_of(stem)}
    for stem in published_localized.NUMBERS
}


def cells_of(stem: str) -> tuple[Published, ...]:
    """Return every number of a table or a figure, e.g. ``"table5.6"``; none if it prints none."""
    return tuple(NUMBERS.get(stem, {}).values())
