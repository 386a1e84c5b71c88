"""What the results of this package have in common: a sentence, a table, a picture, plain numbers, HTML."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pandas as pd


class Found(ABC):
    """A result: an `answer` in a sentence, a table, a picture, and all of it as plain numbers.

    Every result class has `answer`, `summary`, `to_frame`, `to_dict`, `plot`, and shows itself as text and in
    notebooks.
    """

    _index: ClassVar[bool] = True  # whether the index of the table is shown
    _n_rows: ClassVar[int | None] = 10  # of the table that are shown; None for all

    @property
    @abstractmethod
    def answer(self) -> str:
        """What was found, in a sentence."""

    @property
    def summary(self) -> str:
        """What was found, in a sentence: the ``answer``."""
        return self.answer

    @abstractmethod
    def to_frame(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Return the table."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold."""

    @abstractmethod
    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw what was found."""

    # ------------------------------------------------------------------ as text and as HTML
    def _shown(self) -> pd.DataFrame:
        """The table in the order in which it is shown."""
        return self.to_frame()

    def _remarks(self) -> Sequence[str]:
        """What is said below the table."""
        return ()

    def _first_rows(self) -> tuple[pd.DataFrame, list[str]]:
        """The first rows of the table, and what is said below them."""
        every = self._shown()
        shown = every if self._n_rows is None else every.head(self._n_rows)
        left = len(every) - len(shown)
        more = [f"{left} more row{'s' if left > 1 else ''} in to_frame()."] if left else []
        return shown.round(4), [*more, *self._remarks()]

    def __str__(self) -> str:
        frame, notes = self._first_rows()
        table = [frame.to_string(index=self._index)] if len(frame) else []
        return "\n\n".join([self.answer, *table, *notes])

    def _repr_html_(self) -> str:
        frame, notes = self._first_rows()
        table = frame.to_html(index=self._index, na_rep="–") if len(frame) else ""
        below = "".join(f"<p><small>{html.escape(text)}</small></p>" for text in notes)
        return f"<p>{html.escape(self.answer)}</p>{table}{below}"


class FoundTable(Found):
    """A result with one table, its attribute ``table``, and a picture of what `to_dict` returns."""

    table: pd.DataFrame
    _picture: ClassVar[Callable[..., Any]]

    def to_frame(self) -> pd.DataFrame:
        """Return the table, whose columns the attribute ``table`` describes.

        Returns
        -------
        DataFrame
            A copy.
        """
        return self.table.copy()

    def plot(self, ax: Any = None, *, most: int | None = None) -> Any:
        """Draw what was found.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Without it a figure is made.
        most : int, default=None
            Maximum number of views, sets, or features of a view; None is as many as are easily read.

        Returns
        -------
        matplotlib axes
        """
        limit = {} if most is None else {"most": most}
        return type(self)._picture(self.to_dict(), ax=ax, **limit)
