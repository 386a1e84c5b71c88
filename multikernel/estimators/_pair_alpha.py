"""The regularisation of pairs, chosen by the errors on pairs that were left out."""

from typing import Any

import numpy as np

from ..selection import PairSplit
from ..solvers.pairs import Cells, PairMachine, entries_of_product, left_out_residuals, solve_pairs

Array = np.ndarray[Any, np.dtype[Any]]

N_FOLDS = 5
CLOSED = ("pairs", "left", "right")


def validation_error(machine: PairMachine, split: PairSplit, tol: float, max_iter: int) -> float:
    """Mean squared error of held-out pairs at the kernels and the alpha of a machine.

    Every pair, or object, is left out by itself where there is a closed form; else folds of them are.
    """
    cells = machine.cells
    if cells.is_complete and not split.symmetric and split.hold_out in CLOSED:
        return float(np.mean(left_out_residuals(machine, machine.alpha, split.hold_out) ** 2))
    errors, weight = 0.0, 0.0
    for train, test in split.split(np.column_stack([cells.rows, cells.columns])):
        part = Cells(
            cells.rows[train], cells.columns[train], cells.values[train], cells.weights[train], cells.shape
        )
        learned = solve_pairs(PairMachine(part, machine.left, machine.right, machine.alpha), tol, max_iter)
        found = predict_cells(
            machine.left.K, machine.right.K, part.scatter(learned.beta), cells.rows[test], cells.columns[test]
        )
        errors += float(cells.weights[test] @ (cells.values[test] - found) ** 2)
        weight += float(cells.weights[test].sum())
    return errors / weight


def predict_cells(K_left: Array, K_right: Array, B: Array, rows: Array, columns: Array) -> Array:
    """(K_left B K_right') in some cells."""
    return entries_of_product(K_left @ B, K_right, rows, columns)
