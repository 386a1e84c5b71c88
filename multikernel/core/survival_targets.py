"""Targets of survival models: for each sample whether its event was seen, and when it was last observed.

:func:`as_survival` reads them in every form that people have them in, and says what it does not understand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from .._typing import Array
from .._validation import is_missing
from ..rows.tables import count_rows
from ..views.frames import as_pandas
from .inputs import require_ids_of_fit, require_y

# Names of columns that say what they hold, in lower case with "." and " " as "_".
EVENT_NAMES = (
    *("event", "status", "death", "died", "dead", "deceased", "relapse", "observed", "event_observed"),
    *("os_status", "os_event", "fstat", "e", "d", "delta"),
)
TIME_NAMES = (
    *("time", "times", "duration", "durations", "survival_time", "time_to_event", "follow_up", "futime"),
    *("stop", "days", "weeks", "months", "years", "os_time", "os_days", "os_months", "lenfol", "t"),
)
ENTRY_NAMES = ("entry", "entry_time", "start", "left_truncation", "truncation")

FORMS = (
    "Pass a DataFrame or dict with the columns 'event' and 'time' (and 'entry'), a structured array with a "
    "bool and a float field, or the tuple (event, time)"
)


@dataclass(frozen=True, eq=False)
class SurvivalTarget:
    """Censored times, checked; slices and arrays of rows give a part of them.

    Attributes
    ----------
    event : ndarray of bool of shape (n,)
        True: the event was seen at ``time``. False: censored, no event until then.
    time : ndarray of float of shape (n,)
        Finite, at least 0.
    entry : ndarray of float of shape (n,), or None
        Where observation began later than at 0 (left truncation); less than ``time``.
    index : pandas.Index or None
        The samples' names, of targets that had any.

    Examples
    --------
    >>> target = as_survival({"event": [1, 0, 1], "time": [5, 8, 2]})
    >>> target.event.tolist(), target.time.tolist(), len(target[1:])
    ([True, False, True], [5.0, 8.0, 2.0], 2)
    """

    event: Array
    time: Array
    entry: Array | None = None
    index: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.time.size)

    def __getitem__(self, rows: Any) -> Self:
        if isinstance(rows, int | np.integer):
            rows = [rows]
        entry = None if self.entry is None else self.entry[rows]
        index = None if self.index is None else self.index[rows]
        return type(self)(self.event[rows], self.time[rows], entry, index)

    @property
    def n_events(self) -> int:
        """The number of samples whose event was seen."""
        return int(self.event.sum())

    def to_structured(self) -> Array:
        """The fields event, time (and entry) in one array, which scikit-learn's searches cut by rows.

        Examples
        --------
        >>> as_survival(([True, False], [5.0, 8.0])).to_structured()
        array([( True, 5.), (False, 8.)], dtype=[('event', '?'), ('time', '<f8')])
        """
        columns = {"event": self.event, "time": self.time}
        if self.entry is not None:
            columns["entry"] = self.entry
        made = np.empty(len(self), dtype=[(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            made[name] = values
        return made


def as_survival(y: Any, *, event: Any = None, time: Any = None, entry: Any = None) -> SurvivalTarget:
    """Read event and time of each sample from any of the usual forms.

    Parameters
    ----------
    y : one of the following
        - a structured array as scikit-survival has it: a bool field and a field of numbers, of any names;
        - a DataFrame, or a dict of columns, called ``event`` and ``time`` or one of the other usual names
          (``status``, ``died``, ``duration``, ``months``, ...), or by the names given here;
        - a tuple (event, time) or (event, time, entry);
        - an array of shape (n, 2) where exactly one column holds nothing but 0 and 1: that is the event.
    event, time, entry : str, default=None
        Names of the columns of `y`, where they are none of the usual ones.

    Returns
    -------
    SurvivalTarget

    Examples
    --------
    >>> as_survival({"died": [True, False], "months": [3, 4]}, time="months").time
    array([3., 4.])
    >>> as_survival(([0, 2, 1], [3.0, 4.0, 5.0]))
    Traceback (most recent call last):
        ...
    ValueError: the event of y must be True or False, or 1 or 0; entry 1 is 2. ...
    """
    if isinstance(y, SurvivalTarget):
        return y
    columns = _columns_of(y, {"event": event, "time": time, "entry": entry})
    for name, values in columns.items():
        if not _is_column(values):
            raise ValueError(
                f"the {name} of y must be a column, one entry for each sample; got {values!r:.60}."
            )
        if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
            columns[name] = np.array([*values.tolist(), None], dtype=object)[:-1]
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{n} of {name}" for name, n in lengths.items())
        raise ValueError(f"y must have an event and a time for each sample; got {listed}.")
    if not lengths["time"]:
        raise ValueError("y must hold at least one sample; got 0 sample(s).")
    index = _common_index(columns)
    _refuse_swapped(columns["event"], columns["time"])
    events = _as_events(columns["event"])
    times = _as_times(columns["time"], "time")
    entries = _as_times(columns["entry"], "entry time") if "entry" in columns else None
    if entries is not None and (late := np.flatnonzero(entries >= times)).size:
        row = int(late[0])
        raise ValueError(
            f"the entry time of y must be less than its time; row {row} has entry {entries[row]:g} and time "
            f"{times[row]:g}{_and_more(late)}. Leave samples out that were not observed after their entry."
        )
    return SurvivalTarget(events, times, entries, index)


def check_survival(estimator: Any, X: Any, y: Any, *, positive: bool = False) -> SurvivalTarget:
    """The target of a fit: as many rows as X, of the same samples, with an event, and no event at time 0.

    Where the model takes logarithms of the times (``positive``), no time is 0.
    """
    require_y(estimator, y)
    target = as_survival(y)
    n = count_rows(X)
    if len(target) != n:
        raise ValueError(f"X and y must have the same number of samples; got {n} and {len(target)}.")
    require_ids_of_fit(estimator, X, target)
    if not target.event.any():
        raise ValueError(
            f"{type(estimator).__name__} needs samples with an event; all {n} samples of y are censored. Is "
            "the event coded the other way round? True or 1 means that it was seen."
        )
    at_zero = np.flatnonzero((target.time == 0.0) & (target.event | positive))
    if at_zero.size:
        what = "positive times" if positive else "events after time 0"
        raise ValueError(
            f"{type(estimator).__name__} needs {what}; y has time 0 in row {at_zero[0]}{_and_more(at_zero)}. "
            "Give such samples a small positive time, such as half a day, or leave them out."
        )
    return target


def looks_censored(y: Any) -> bool:
    """Whether `y` is a target of survival models by its form: it has an event beside each time.

    Examples
    --------
    >>> looks_censored({"event": [1, 0], "time": [3.0, 4.0]}), looks_censored([1, 0])
    (True, False)
    """
    if isinstance(y, SurvivalTarget):
        return True
    if isinstance(y, tuple):
        return len(y) in (2, 3) and all(_is_column(values) for values in y)
    if isinstance(y, np.ndarray):
        return y.dtype.names is not None
    if not isinstance(y, Mapping) and not hasattr(y, "columns"):
        return False
    names = {_plain_name(name) for name in (y if isinstance(y, Mapping) else y.columns)}
    return bool(names & set(EVENT_NAMES)) and bool(names & set(TIME_NAMES))


def check_risk(values: Any, n: int, name: str = "risk") -> Array:
    """Finite numbers (n,), one for each sample."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers ({error}).") from error
    if numbers.shape != (n,):
        raise ValueError(
            f"{name} must hold one number for each of the {n} samples of y; got shape {numbers.shape}."
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} must be finite; entry {row} is {numbers[row]}.")
    return numbers


# ---------------------------------------------------------------------- which column is what
def _columns_of(y: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The columns event, time and, if there is one, entry, as they stand in `y`."""
    if isinstance(y, tuple | list) and len(y) in (2, 3) and all(_is_column(values) for values in y):
        if any(name is not None for name in given.values()):
            raise ValueError(
                f"a tuple of columns has no names; got {_names_text(given)}. Leave the names out."
            )
        return dict(zip(("event", "time", "entry"), y, strict=False))
    frame = as_pandas(y)
    if isinstance(frame, Mapping) or (hasattr(frame, "iloc") and hasattr(frame, "columns")):
        return _named_columns({name: frame[name] for name in _names_of(frame)}, given)
    array = _as_array(frame)
    if array.dtype.names:
        return _named_columns({name: array[name] for name in array.dtype.names}, given)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"y must hold an event and a time for each sample; got an array of shape {array.shape}. {FORMS}."
        )
    return _told_apart(array)


def _is_column(values: Any) -> bool:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        return False
    return getattr(values, "ndim", 1) == 1


def _names_of(frame: Any) -> list[Any]:
    names = list(frame if isinstance(frame, Mapping) else frame.columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"columns of y must have distinct names; got {twice!r} twice.")
    return names


def _as_array(y: Any) -> Array:
    """An array of any kind; of text in rows it stays one of objects."""
    if isinstance(y, pd.Series | pd.Index):
        y = y.to_numpy()
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y must hold an event and a time for each sample ({error}). {FORMS}.") from error
    if array.ndim == 1 and array.dtype == object and all(isinstance(row, tuple | list) for row in array):
        array = np.array([tuple(row) for row in array], dtype=object)
    return array


def _named_columns(columns: dict[Any, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Choose the columns by the names given, by the usual names, or by their types."""
    found: dict[str, Any] = {}
    for part, name in given.items():
        if name is None:
            continue
        if name not in columns:
            raise ValueError(f"y has no column {name!r} for the {part}; it has {list(columns)}.")
        found[part] = name
    known = {"event": EVENT_NAMES, "time": TIME_NAMES, "entry": ENTRY_NAMES}
    for part in (part for part in known if part not in found):
        _find_usual(part, known[part], columns, found)
    _find_by_type(columns, found)
    missing = [part for part in ("event", "time") if part not in found]
    if missing:
        raise ValueError(
            f"y must have an event and a time for each sample; its columns {list(columns)} do not say which "
            f"is the {' and which the '.join(missing)}. {FORMS}, or rename them."
        )
    others = [name for name in columns if name not in found.values()]
    if others:
        raise ValueError(
            f"y must hold event and time (and entry) only; got the columns {others} too, with "
            f"{_names_text(found)}. Leave them out."
        )
    if len(set(found.values())) < len(found):
        raise ValueError(f"y needs a column for each of event and time; got {_names_text(found)}.")
    return {part: columns[found[part]] for part in ("event", "time", "entry") if part in found}


def _find_usual(part: str, usual: tuple[str, ...], columns: dict[Any, Any], found: dict[str, Any]) -> None:
    """The one column with a usual name; ``event`` and ``time`` themselves come before all others."""
    free = [name for name in columns if _plain_name(name) in usual and name not in found.values()]
    exact = [name for name in free if _plain_name(name) == usual[0]]
    chosen = exact or free
    if len(chosen) > 1:
        raise ValueError(
            f"the columns {chosen} of y may all be the {part}. Leave out those that are not, or rename the "
            f"right one to {part!r}."
        )
    if chosen:
        found[part] = chosen[0]


def _plain_name(name: Any) -> str:
    return str(name).lower().replace(".", "_").replace(" ", "_")


def _find_by_type(columns: dict[Any, Any], found: dict[str, Any]) -> None:
    """The one column of truth values is the event, and the one other column the time."""
    rest = [name for name in columns if name not in found.values()]
    if "event" not in found:
        truths = [name for name in rest if np.asarray(columns[name]).dtype == bool]
        if len(truths) == 1:
            found["event"] = truths[0]
            rest.remove(truths[0])
    if "event" in found and "time" not in found and len(rest) == 1:
        found["time"] = rest[0]


def _told_apart(array: Array) -> dict[str, Any]:
    """The columns of an (n, 2) array, where exactly one of them can be the event."""
    columns = [array[:, 0], array[:, 1]]
    may_be = [j for j in (0, 1) if _are_truths(columns[j])]
    if len(may_be) != 1:
        what = "both columns hold" if may_be else "no column holds"
        raise ValueError(
            f"y of shape {array.shape} does not say which column is the event: {what} nothing but 0 and 1. "
            f"{FORMS}."
        )
    return {"event": columns[may_be[0]], "time": columns[1 - may_be[0]]}


def _names_text(names: dict[str, Any]) -> str:
    return ", ".join(f"{part}={name!r}" for part, name in names.items() if name is not None)


# ---------------------------------------------------------------------- what a column holds
def _common_index(columns: dict[str, Any]) -> Any:
    """The names of the samples, which all columns that have any agree about."""
    named = [(name, getattr(values, "index", None)) for name, values in columns.items()]
    indexed = [(name, index) for name, index in named if isinstance(index, pd.Index)]
    if not indexed:
        return None
    first_name, first = indexed[0]
    for name, index in indexed[1:]:
        if not index.equals(first):
            row = int(np.flatnonzero(np.asarray(index != first))[0])
            raise ValueError(
                f"the columns of y have other samples in the same rows: row {row} is {first[row]!r} of "
                f"{first_name} and {index[row]!r} of {name}. Align them, or pass arrays."
            )
    return first


def _are_truths(values: Any) -> bool:
    """Whether a column holds True and False, or 1 and 0, alone."""
    array = np.asarray(values)
    if array.dtype == bool:
        return True
    if array.dtype.kind in "iuf":
        return bool(np.isin(array, (0, 1)).all())
    return array.dtype == object and all(_is_truth(value) for value in array)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.number | np.bool_) and value in (0, 1)


def _refuse_swapped(event: Any, time: Any) -> None:
    if _are_truths(time) and not _are_truths(event):
        raise ValueError(
            "event and time of y appear to be swapped: the time holds nothing but 0 and 1, and the event "
            "does not. Pass (event, time), in this order, or name the columns 'event' and 'time'."
        )


def _as_events(values: Any) -> Array:
    array = np.asarray(values)
    if array.dtype == bool:
        return array.copy()
    row = next((row for row, value in enumerate(array.tolist()) if not _is_truth(value)), None)
    if row is None:
        return array.astype(np.float64).astype(bool)
    value = array.tolist()[row]
    if is_missing(value):
        raise ValueError(
            f"the event of y must not be missing; entry {row} is {value}. Leave such samples out."
        )
    distinct = pd.unique(pd.Series(array))
    remedy = f"Compare it with the value of the event (it holds {_listed(distinct.tolist())})."
    if array.dtype.kind in "iuf" and set(distinct.tolist()) == {1, 2}:
        remedy = "If 2 means the event, as in R, pass event == 2."
    raise ValueError(f"the event of y must be True or False, or 1 or 0; entry {row} is {value!r}. {remedy}")


def _listed(values: list[Any], most: int = 4) -> str:
    """The first values, as an error shows them."""
    return ", ".join([*(repr(value) for value in values[:most]), *(["..."] if len(values) > most else [])])


def _as_times(values: Any, name: str) -> Array:
    array = np.asarray(values)
    if array.dtype.kind in "mM" or isinstance(getattr(values, "dtype", None), pd.DatetimeTZDtype):
        raise TypeError(
            f"the {name} of y must be numbers; got {array.dtype}. Convert durations by "
            "time / numpy.timedelta64(1, 'D'), and dates by subtracting the first day."
        )
    try:
        numbers = np.array([np.nan if is_missing(v) else v for v in array.tolist()], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the {name} of y must be numbers ({error}).") from error
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise ValueError(
            f"the {name} of y must be finite; row {bad[0]} has {numbers[bad[0]]}{_and_more(bad)}. Leave such "
            "samples out."
        )
    negative = np.flatnonzero(numbers < 0.0)
    if negative.size:
        raise ValueError(
            f"the {name} of y must not be negative; row {negative[0]} has {numbers[negative[0]]:g}"
            f"{_and_more(negative)}. Correct these times, or leave the samples out."
        )
    return numbers


def _and_more(rows: Array) -> str:
    """The further rows, the first five of them by number."""
    if rows.size < 2:
        return ""
    listed = ", ".join(str(row) for row in rows[1:6])
    return f" (also rows {listed}{', ...' if rows.size > 6 else ''})"
