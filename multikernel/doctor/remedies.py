"""Remedies as lines of code that fit what was given, and as options of the command line.

The lines run as they are where `X`, `y` and `model` are the caller's, with ``numpy as np``, ``pandas as pd``
and what is called of scikit-learn. What follows a colon in a remedy is code; an alternative begins with "Or".
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse

_MOST_NAMES = 20  # in a line of code; of more the line shows the beginning
_FEW_NAMES = 4  # in a command


@dataclass(frozen=True)
class Recipes:
    """How things are done to the `X` and `y` that were given.

    Attributes
    ----------
    kind : {"frame", "array", "list", "sparse", "kernels", "matrices"}
        Kernels are a stack (n, n, m), matrices a dict of them.
    has_target : bool
        Whether there is a `y` that must stay beside `X`.
    """

    kind: str
    has_target: bool

    @classmethod
    def for_table(cls, X: Any, y: Any) -> Recipes:
        """Those for a table of features."""
        if scipy.sparse.issparse(X):
            kind = "sparse"
        elif hasattr(X, "iloc"):
            kind = "frame"
        else:
            kind = "array" if hasattr(X, "__array__") else "list"
        return cls(kind, y is not None)

    # --- rows ----------------------------------------------------------------------------------------------

    def take_rows(self, rows: str, selected: str) -> str:
        """Keep some rows of X and of y: `rows` names what `selected` computes, a mask or positions."""
        taken = self._rows_of_x(rows)
        both = f"X, y = {taken}, np.asarray(y)[{rows}]" if self.has_target else f"X = {taken}"
        return f"{rows} = {selected}; {both}"

    def _rows_of_x(self, rows: str) -> str:
        forms = {
            "frame": f"X.iloc[{rows}]",
            "list": f"np.asarray(X)[{rows}]",
            "sparse": f"X.tocsr()[{rows}]",
            "kernels": f"X[np.ix_({rows}, {rows})]",
            "matrices": f"{{name: K[np.ix_({rows}, {rows})] for name, K in X.items()}}",
        }
        return forms.get(self.kind, f"X[{rows}]")

    def draw_rows(self, size: int, n: int) -> str:
        """Rows drawn by chance."""
        return self.take_rows("rows", f"np.random.default_rng(0).choice({n}, {size}, replace=False)")

    def known_rows(self, positions: Sequence[int], d: int) -> str:
        """The rows that lack nothing in the columns at some positions."""
        frame = self._frame_of(positions, d)
        return self.take_rows("keep", f"{frame}.notna().all(axis=1).to_numpy()")

    def distinct_rows(self, positions: Sequence[int], d: int, with_target: bool) -> str:
        """Every row once; rows that differ in their target are different ones where that is a value."""
        frame = self._frame_of(positions, d) + (".assign(_y=np.asarray(y))" if with_target else "")
        return self.take_rows("keep", f"~{frame}.duplicated().to_numpy()")

    def _frame_of(self, positions: Sequence[int], d: int) -> str:
        table = {"frame": "X", "sparse": "pd.DataFrame(X.toarray())"}.get(self.kind, "pd.DataFrame(X)")
        chosen = list(map(int, positions))
        return table if len(chosen) in (0, d) or len(chosen) > _MOST_NAMES else f"{table}.iloc[:, {chosen}]"

    # --- columns -------------------------------------------------------------------------------------------

    def drop(self, names: Sequence[Any]) -> str:
        """Leave columns out."""
        shown = _listed(names)
        if self.kind == "frame":
            return f"X = X.drop(columns={shown})"
        if self.kind == "sparse":
            return f"X = X.tocsr()[:, np.setdiff1d(np.arange(X.shape[1]), {shown})]"
        return f"X = np.delete(X, {shown}, axis=1)"

    def column(self, name: Any) -> tuple[str, str]:
        """A line that makes a frame of X, which may be empty, and the column in that frame.

        The line does nothing to a frame that it made before, so that remedies can follow one another.
        """
        if self.kind == "frame":
            return "", f"X[{name!r}]"
        inner = "X.toarray()" if self.kind == "sparse" else "X"
        return f"X = pd.DataFrame({inner}).rename(columns=str).infer_objects(); ", f"X[{str(name)!r}]"

    def clip(self, name: Any, low: float, high: float) -> str:
        """Bring a column of numbers within bounds."""
        bounds = f".clip({low:.6g}, {high:.6g})"
        if self.kind == "frame":
            return f"X = X.copy(); X[{name!r}] = X[{name!r}]{bounds}"
        made = "X.toarray().astype(float)" if self.kind == "sparse" else "np.array(X, dtype=float)"
        return f"X = {made}; X[:, {name}] = X[:, {name}]{bounds}"

    def one_hot(self, name: Any) -> str:
        """A column of 0 and 1 for each value of a column."""
        frame, _ = self.column(name)
        label = name if self.kind == "frame" else str(name)
        return f"{frame}X = pd.get_dummies(X, columns=[{label!r}], dtype=float)"

    # --- values --------------------------------------------------------------------------------------------

    def fill(self, texts: bool) -> str:
        """A model that fills gaps with what it saw in training; names of columns are kept for the views."""
        how = 'strategy="most_frequent"' if texts else ""
        names = '.set_output(transform="pandas")' if self.kind == "frame" else ""
        return f"model = make_pipeline(SimpleImputer({how}){names}, model)"

    def infinite_to_missing(self) -> str:
        """NaN in the place of what is infinite."""
        if self.kind == "frame":
            return "X = X.replace([np.inf, -np.inf], np.nan)"
        if self.kind == "sparse":
            return "X = X.tocsr().copy(); X.data[np.isinf(X.data)] = np.nan"
        return "X = np.where(np.isinf(X), np.nan, X)"


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return f"[{shown}{', ...' if len(names) > _MOST_NAMES else ''}]"


def option(name: str, values: Sequence[Any]) -> str:
    """An option of the command line, once for each value.

    Examples
    --------
    >>> option("--ignore", ["a", "b c"])
    "--ignore a --ignore 'b c'"
    """
    shown = [f"{name} {shlex.quote(str(value))}" for value in values[:_FEW_NAMES]]
    return " ".join(shown) + (" ..." if len(values) > _FEW_NAMES else "")
