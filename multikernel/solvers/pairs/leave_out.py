"""Errors of pairs that were left out, for a complete matrix of pairs: closed forms.

With K_left = U Λ U', K_right = V N V' and d_ab = α / (λ_a ν_b + α), the residual of the fit is
U (D ∘ U'YV) V', and that of a pair, had it been left out (Stock et al. 2018),

    pairs   (Y − F)_ij / ((U∘U) D (V∘V)')_ij
    left    all pairs of a left object at once: in the basis V the columns are apart,
            ((Y − F) V)_ib / ((U∘U) D)_ib, times V'
    right   the same of the transpose
"""

from typing import Any

import numpy as np

from .ridge import PairMachine

Array = np.ndarray[Any, np.dtype[Any]]


def left_out_residuals(machine: PairMachine, alpha: float, hold_out: str) -> Array:
    """y − f of each cell, f learned without its pair, its left object or its right object.

    Parameters
    ----------
    machine : PairMachine
        Of complete cells; its alpha is not read.
    alpha : float
    hold_out : {"pairs", "left", "right"}

    Returns
    -------
    array (n_cells,)
    """
    cells = machine.cells
    if not cells.is_complete:
        raise ValueError("closed forms are for complete cells with one weight.")
    (values, U), (others, V) = machine.left.eigenpairs, machine.right.eigenpairs
    shrunk = alpha / (float(cells.weights[0]) * np.multiply.outer(values, others) + alpha)
    spectrum = shrunk * (U.T @ cells.scatter(cells.values) @ V)
    if hold_out == "pairs":
        residuals = (U @ spectrum @ V.T) / ((U * U) @ shrunk @ (V * V).T)
    elif hold_out == "left":
        residuals = ((U @ spectrum) / ((U * U) @ shrunk)) @ V.T
    else:
        residuals = U @ ((spectrum @ V.T) / (shrunk @ (V * V).T))
    return cells.gather(residuals)
