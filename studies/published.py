"""A number as a publication prints it: all its digits, its ±, where it stands, and what is doubtful about it.

Each study has its numbers in ``studies/<study>/published.py``. A test of the study counts them and compares
their sums with sums that were made by hand from the text (`count_and_sum`), so that a slip of the pen is
noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

Spread = Literal["sd", "se", "within"]


@dataclass(frozen=True)
class Published:
    """One printed number.

    Attributes
    ----------
    value : str
        As it is printed, with all its digits: ``"84.60"``.
    plus_minus : str or None
        What is printed after ±, as it is printed.
    place : str
        Names the cell within the publication, differently from all others, e.g. ``"table 1, heart, SM1, K3,
        TSA"``. A cell is counted once, and its place says which it is.
    doubt : str
        What is wrong with the number or with the text at hand, in one sentence; it is counted apart.
    spread : {"sd", "se", "within"}
        What ± is: the standard deviation over the splits, the standard error of the mean, or the standard
        deviation within one split, over its folds, which says nothing of other splits.

    Examples
    --------
    >>> cell = Published("84.60", "2.1", "table 1, heart, SM1")
    >>> float(cell), cell.decimal, cell.digits, str(cell)
    (84.6, Decimal('84.60'), 2, '84.60 ± 2.1')
    """

    value: str
    plus_minus: str | None = None
    place: str = ""
    doubt: str = ""
    spread: Spread = "sd"

    def __post_init__(self) -> None:
        for name in ("value", "plus_minus"):
            given = getattr(self, name)
            if given is not None:
                _decimal(name, given, self.place)
        if self.plus_minus is not None and Decimal(self.plus_minus) < 0:
            raise ValueError(f"plus_minus must not be negative{_at(self.place)}; got {self.plus_minus!r}.")

    @property
    def decimal(self) -> Decimal:
        """The value with exactly the digits that are printed."""
        return Decimal(self.value)

    @property
    def digits(self) -> int:
        """How many digits are printed after the point."""
        exponent = self.decimal.as_tuple().exponent
        assert isinstance(exponent, int)
        return max(-exponent, 0)

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit: by how much rounding can have changed the number."""
        exponent = self.decimal.as_tuple().exponent
        assert isinstance(exponent, int)
        return 0.5 * 10.0**exponent

    def variance_of_mean(self, splits: int | None) -> float | None:
        """Return the square of the standard error of the value, None where no ± is printed that tells it.

        Parameters
        ----------
        splits : int or None
            Over how many splits the value is a mean; a standard deviation must have it.
        """
        if self.plus_minus is None or self.spread == "within":
            return None
        squared = float(self.plus_minus) ** 2
        if self.spread == "se":
            return squared
        if splits is None:
            raise ValueError(
                f"published_splits must be given where ± is a standard deviation{_at(self.place)}; got None. "
                "Pass the number of splits, or say spread='se'."
            )
        return squared / splits

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return self.value if self.plus_minus is None else f"{self.value} ± {self.plus_minus}"


def count_and_sum(cells: Iterable[Published]) -> tuple[int, Decimal, Decimal]:
    """Return how many cells there are, the sum of their values and the sum of their ±, with all digits.

    Places must differ, so that no cell is entered twice.

    Examples
    --------
    >>> count_and_sum([Published("84.60", "2.1", "a"), Published("0.15", place="b")])
    (2, Decimal('84.75'), Decimal('2.1'))
    """
    listed = list(cells)
    places = [cell.place for cell in listed]
    if not all(places) or len(set(places)) < len(places):
        twice = sorted({place for place in places if places.count(place) > 1})
        raise ValueError(f"each cell must have a place of its own; got these more than once: {twice}.")
    spreads = (Decimal(cell.plus_minus) for cell in listed if cell.plus_minus is not None)
    return len(listed), sum((cell.decimal for cell in listed), Decimal(0)), sum(spreads, Decimal(0))


def _decimal(name: str, given: object, place: str) -> None:
    try:
        sound = isinstance(given, str) and Decimal(given).is_finite()
    except InvalidOperation:
        sound = False
    if not sound:
        raise ValueError(
            f"{name} must be the number as it is printed, in quotes, such as '84.60'{_at(place)}; "
            f"got {given!r}."
        )


def _at(place: str) -> str:
    return f" ({place})" if place else ""
