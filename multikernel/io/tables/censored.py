"""Censored times from the columns of a table: the time, whether its event was seen, and the entry time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from multikernel.io.tables.data import is_number, require_column, some

Place = Callable[[int], str]
_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True)
class Censored:
    """Which columns, beside that of the time, say what was observed.

    Attributes
    ----------
    event : str
        A column of 0 and 1, or true and false; or ``column=value``, where the value stands for the event.
    entry : str or None
        The column of the times from which on samples were observed, where that is not from 0.
    """

    event: str
    entry: str | None = None

    @property
    def written(self) -> list[str]:
        """What the column of the event may be called: all of the text, or what comes before its value."""
        column = self.event.rpartition("=")[0]
        return [self.event, column] if column else [self.event]

    def event_column(self, known: Sequence[str], name: str) -> tuple[str, str | None]:
        """The column of the event among those of a table, and the value that stands for it, if any."""
        if self.event in known or "=" not in self.event:
            require_column(self.event, known, name)
            return self.event, None
        column, _, value = self.event.rpartition("=")
        require_column(column, known, name)
        return column, value

    def columns(self, known: Sequence[str], name: str) -> list[str]:
        """The columns that are no features."""
        if self.entry is not None:
            require_column(self.entry, known, name)
        return [self.event_column(known, name)[0], *([] if self.entry is None else [self.entry])]


def censored_times(
    censored: Censored, time: str, columns: Mapping[str, Any], cells: Mapping[str, Sequence[str]],
    place: Place, name: str,
) -> np.ndarray:  # fmt: skip
    """A structured array with the fields ``event``, ``time`` and, if asked for, ``entry``.

    Parameters
    ----------
    censored : Censored
    time : str
        The column of the times.
    columns : mapping of str to array-like
        All columns of the table.
    cells : mapping of str to list of str
        What is written in some of them.
    place : callable
        From the number of a row to where it stands in the file.
    name : str
        Of the file.
    """
    event, value = censored.event_column(list(columns), name)
    found = {"event": _events(columns[event], cells.get(event), event, value, place, name)}
    found["time"] = _times(columns[time], "time", time, place, name)
    if censored.entry is not None:
        found["entry"] = _times(columns[censored.entry], "entry time", censored.entry, place, name)
        late = np.flatnonzero(found["entry"] >= found["time"])
        if late.size:
            raise ValueError(
                f"the entry time {censored.entry!r} of {name} must be less than the time; it is not in "
                f"{place(int(late[0]))}. Correct it, or remove the row."
            )
    made = np.empty(len(found["time"]), dtype=[(key, array.dtype) for key, array in found.items()])
    for key, array in found.items():
        made[key] = array
    return made


def _times(column: Any, what: str, label: str, place: Place, name: str) -> np.ndarray:
    numbers = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wanted = f"the {what} {label!r} of {name} must hold finite numbers of at least 0"
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0.0)))
    if bad.size:
        row = int(bad[0])
        more = f", and in {bad.size - 1} more rows it is none" if bad.size > 1 else ""
        raise ValueError(
            f"{wanted}; it holds {str(pd.Series(column).iloc[row])!r} in {place(row)}{more}. Correct it, or "
            "remove the row."
        )
    return numbers


def _events(
    column: Any, cells: Sequence[str] | None, label: str, value: str | None, place: Place, name: str
) -> np.ndarray:
    texts = [str(each).strip() for each in (np.asarray(column).tolist() if cells is None else cells)]
    if value is not None:
        return _equal(texts, label, value, name)
    coded = [_TRUTHS.get(text.lower()) for text in texts]
    row = next((row for row, each in enumerate(coded) if each is None), None)
    if row is None:
        return np.array(coded, dtype=bool)
    others = sorted({text for text in texts if text.lower() not in _TRUTHS}) or [""]
    raise ValueError(
        f"the event {label!r} of {name} must hold 1 and 0, or true and false; it holds {texts[row]!r} in "
        f"{place(row)}. Name the value of the event, such as --event {label}={others[-1]}."
    )


def _equal(texts: Sequence[str], label: str, value: str, name: str) -> np.ndarray:
    wanted = value.strip()
    number = float(wanted) if is_number(wanted) else None
    found = np.array(
        [
            text == wanted or (number is not None and is_number(text) and float(text) == number)
            for text in texts
        ]
    )
    if not found.any():
        raise ValueError(
            f"the event {label!r} of {name} never is {wanted!r}; it holds {some(sorted(set(texts)))}."
        )
    return found
