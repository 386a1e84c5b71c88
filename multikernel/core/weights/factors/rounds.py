"""Rounds of map-reduce over the rows, and how many bytes they move."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...._numba import kept_njit
from ...._typing import Array

S = TypeVar("S")


class Rows(Protocol):
    """What the solver asks of :class:`multikernel.rows.RowBlocks`."""

    n_rows: int
    n_blocks: int

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any: ...
    def derive(self, function: Callable[..., Any], *arguments: Any) -> Any: ...


def n_bytes(thing: Any) -> int:
    """The bytes of the arrays that an object is made of; a number counts as eight."""
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, tuple | list):
        return sum(n_bytes(part) for part in thing)
    return n_bytes(tuple(vars(thing).values())) if hasattr(thing, "__dict__") else 8


class Rounds:
    """Rows that count what is asked of them.

    Attributes
    ----------
    rows : the rows
    rounds : int, map-reduces until now
    bytes_moved : int, what went to the blocks and what came back, over all blocks and rounds
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.rounds = 0
        self.bytes_moved = 0

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Σ over the blocks of ``function(block, *arguments)``: one round."""
        result: S = self.rows.sum(function, *arguments)
        self.rounds += 1
        self.bytes_moved += self.rows.n_blocks * (n_bytes(arguments) + n_bytes(result))
        return result

    def part(self, function: Callable[..., Any], *arguments: Any) -> "Rounds":
        """The rows that ``function`` makes of these; what they count is added to these by :meth:`add`."""
        return Rounds(self.rows.derive(function, *arguments))

    def add(self, other: "Rounds") -> None:
        self.rounds += other.rounds
        self.bytes_moved += other.bytes_moved


# -----------------------------------------------------------------------------
# What is asked of the rows, and what they answer: the objects that go to the blocks and come back.
#
# With the scores f = Z w + b and β_i = −C_i ∂ℓ_δ/∂f_i, the rows give Σ C ℓ and Σ C ℓ_δ, and by task and by
# the sign of β the sums that the dual value is made of: Z'β, Σβ, Σ yβ, Σ β²/C, max |β|/C. They are kept by
# sign so that Σβ = 0 can be had by scaling one side. The Hessian Z'DZ comes back packed (its upper triangle).


class FactorBlock(Protocol):
    """A block whose parts are factors Z (n, R), targets (n, T), prices (n, T) or (n, 1)."""

    @property
    def start(self) -> int: ...
    @property
    def parts(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class ChosenRows:
    """Some rows of a block; as the only part of derived rows it stands for all of them."""

    n_rows: int
    parts: tuple[Array, Array, Array]

    def __len__(self) -> int:
        return self.n_rows


def factors_of(block: FactorBlock) -> tuple[Array, Array, Array]:
    """Factors, targets and prices of a block, of the chosen rows where some were chosen."""
    first = block.parts[0]
    Z, targets, prices = first.parts if isinstance(first, ChosenRows) else block.parts
    return Z, targets, prices


class Query(NamedTuple):
    """Where sums are asked for: a point, one or two widths of the smoothing, and whether the Hessian, too.

    The Hessian, and what is said of the rows inside the parabola, is that of the last width.
    """

    coefficients: Array  # (T, R)
    intercepts: Array  # (T,)
    widths: tuple[float, ...]
    curvature: bool


class Line(NamedTuple):
    """A line from a point, and the step lengths at which the smoothed loss is asked for."""

    coefficients: Array
    intercepts: Array
    direction: Array  # (T, R)
    slope: Array  # (T,), of the intercepts
    lengths: Array
    width: float


@dataclass(frozen=True)
class Sums:
    """Sums over rows; the leading axis k is that of the widths, signs are (positive, negative).

    Attributes
    ----------
    risk, price : array (1,), Σ C ℓ and Σ C
    smoothed : array (k,), Σ C ℓ_δ
    adjoint : array (k, T, 2, R), Z'β
    total, reward, shifted : array (k, T, 2), Σ β, Σ target β and Σ β²/C
    peak : array (k, T, 2), the largest |β|/C
    inner : array (T, 4), over the rows inside the last parabola: their number, Σ C, Σ C u and Σ C u², where
        u is the excess; empty for losses without a kink
    inner_sides : array (T, 2), over the same rows: Σ C s and Σ C s u, s the sign of β
    inner_adjoint : array (T, 2, R), Z' of these
    hessian : array (h, R (R + 1) / 2), packed; h is 1 where all tasks share it, 0 where it was not asked for
    edge : array (h, R), Z'D1
    corner : array (h,), 1'D1
    """

    risk: Array
    price: Array
    smoothed: Array
    adjoint: Array
    total: Array
    reward: Array
    shifted: Array
    peak: Array
    inner: Array
    inner_sides: Array
    inner_adjoint: Array
    hessian: Array
    edge: Array
    corner: Array

    def __add__(self, other: "Sums") -> "Sums":
        parts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Sums(**{**parts, "peak": np.maximum(self.peak, other.peak)})


@kept_njit()
def unpacked(packed: Array, n_columns: int) -> Array:  # pragma: no cover (compiled)
    """The symmetric matrix of a packed upper triangle, column after column, in double precision."""
    full = np.empty((n_columns, n_columns))
    place = 0
    for j in range(n_columns):
        for i in range(j + 1):
            full[i, j] = full[j, i] = packed[place + i]
        place += j + 1
    return full
