"""Newton's steps of a machine's free dual variables: for kernels on which pairs crawl.

All the free β move at once, by K_FF⁻¹ times what the dual value still gains along them. A kernel of low rank
leaves more β free than it determines: along its null space the value is linear, only a ridge holds the step
back, and some β is always near a bound. So a step is as long as the value rises, the β that meet a bound
first stay there, and the others go on without them.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .free_system import solve_free_system

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray[Any, np.dtype[Any]]

_FULL = 2.0  # lengths up to this are Newton's own, but for rounding
_LONGEST = 1e10
_MOST_BOUNDS, _FEW = 50, 300  # bounds met in one step, if so few β are free that a solution costs little


def newton_step(machine: "Machine") -> None:
    """Move the free β within their bounds, if that raises the dual value."""
    rows = machine.free()
    few = rows.size <= _FEW
    for _ in range(_MOST_BOUNDS if few else 1):
        if rows.size < 2:
            return
        old = machine.beta[rows]
        ascent = machine.gradient[rows] - machine.loss.epsilon * np.sign(old)
        # the sensitivity to a "kernel" whose adjoint is −ascent is the Newton direction
        direction = solve_free_system(machine.stack, rows, -ascent[None]).direction(np.ones(1))
        length = _best_length(machine, rows, direction, ascent)
        if (length <= _FULL or not few) and _try(machine, rows, direction, ascent):
            return
        low, high = machine.limits(rows)
        room = np.full(rows.size, np.inf)
        np.divide(np.where(direction > 0, high, low) - old, direction, out=room, where=direction != 0.0)
        first = float(room.min())
        _try(machine, rows, min(first, length) * direction, ascent)
        if first > length:
            return
        rows = rows[room > first]


def _best_length(machine: "Machine", rows: Array, direction: Array, ascent: Array) -> float:
    """How far along the direction the dual value rises, as multiples of it."""
    slope = float(direction @ ascent)
    curvature = float((direction @ machine.stack.combined[rows])[rows] @ direction)
    return max(slope / curvature, 1.0) if 0.0 < slope < _LONGEST * curvature else _LONGEST


def _try(machine: "Machine", rows: Array, change: Array, ascent: Array) -> bool:
    """The change, clipped to the bounds; kept if the dual value rises."""
    old = machine.beta[rows]
    if not machine.place_balanced(rows, old + change, *machine.limits(rows)):
        return False
    change = machine.beta[rows] - old
    product = change @ machine.stack.combined[rows]
    if float(change @ ascent) - 0.5 * float(product[rows] @ change) <= 0.0:
        machine.beta[rows] = old
        return False
    machine.gradient -= product
    return True
