"""Machines with an l1 or l2 penalty over the columns of all kernels, all at once.

An interior point method on the duals β, with n unknowns and one product of the columns with themselves: with
an l2 penalty once, ½ β'Gβ with G the sum of hh' over the columns h; with an l1 penalty in every step, for the
constraints |h'β| ≤ 1. Every β that it passes bounds the value from below, every set of coefficients from
above. Under the l1 penalty the last ones are tiny but not zero where they should be: those of the columns in
use solve the equations of the samples on the edge of their loss, or the linear program of these columns.
"""

from typing import Any

import numpy as np

from ..core.optim.loop import Options, Recorder, Status
from .column_masters import LinearMaster, Master, PricedLoss, QuadraticMaster, balanced
from .column_path import ColumnPath, PathPoint, Quadratic, Slopes
from .columns import Columns

Array = np.ndarray[Any, np.dtype[Any]]

_FINE = 1e-8  # gap at which the columns in use can be told from the others
_STARTS = (1.0, 100.0)  # the second where the first leads nowhere


class Whole:
    """The machine, in units where targets and columns are of size 1.

    Parameters
    ----------
    columns : Columns
    loss : Hinge or EpsilonInsensitive
    penalty : {"l1", "l2"}

    Attributes
    ----------
    a : array (n_columns,), the best coefficients found
    intercept : float
    upper, lower : float
        The value of a, and a bound of all values.
    """

    def __init__(self, columns: Columns, loss: PricedLoss, penalty: str) -> None:
        self.columns, self.loss = columns, loss
        self.sparse = penalty == "l1"
        self.master: Master = LinearMaster(loss) if self.sparse else QuadraticMaster(loss)
        self.a, self.intercept = np.zeros(columns.sizes.size), 0.0
        self.upper, self.lower = np.inf, 0.0
        self.record = Recorder()

    @property
    def gap(self) -> float:
        """Relative to the value."""
        return max(self.upper - self.lower, 0.0) / max(self.upper, np.finfo(float).tiny)

    def solve(self, options: Options, factor: float = 1.0) -> Status:
        """Follow the path; values are reported times ``factor``."""
        # entries are counted from 0: as many as max_iter says
        self.record = Recorder(options.tol, options.max_iter - 1, options.callback)
        self._try(self.a)
        if self.upper == 0.0:
            self._note(factor)
            return Status.OPTIMAL
        for push in _STARTS:
            term = Slopes(self.columns) if self.sparse else Quadratic(self.columns)
            status = self._follow(ColumnPath(self.loss, term, push), options, factor)
            if self.gap <= options.tol:
                return Status.OPTIMAL
            if status != Status.STALLED:
                break
        return status

    def _follow(self, path: ColumnPath, options: Options, factor: float) -> Status:
        """One path, to its end or as far as is of use."""
        aim = min(options.tol, _FINE) if self.sparse else 0.5 * options.tol
        for point in path.steps():
            self._bound(point)
            stopped = self._note(factor)
            if point.gap <= aim and (self.sparse or self.gap <= options.tol):
                break
            if stopped:
                return self.record.status
        if self.sparse and not path.empty:
            self._finish(path, options.tol)
            self._note(factor)
        return Status.STALLED

    def _bound(self, point: PathPoint) -> None:
        beta = balanced(point.beta, self.loss)
        prices = self.columns.prices(beta)
        bound = self.master.lower_bound(beta, prices)
        if np.isfinite(bound):
            self.lower = max(self.lower, bound)
        self._try(point.a)

    def _try(self, a: Array, slack: float = 0.0) -> bool:
        """Keep the coefficients if their value is the best, but for some slack."""
        risk, intercept = self.loss.risk(self.columns.scores(a))
        value = self.master.penalty(a) + risk
        if not value < self.upper * (1.0 + slack):
            return False
        self.upper, self.a, self.intercept = value, a, intercept
        return True

    def _finish(self, path: ColumnPath, tol: float) -> None:
        """Coefficients of the columns in use, zero for the others."""
        active, rows, edge = path.identified()
        slack = 0.1 * tol
        H = self.columns.take(active)
        if active.size < rows.size:
            system = np.column_stack([H[rows], np.ones(rows.size)])
            if self._try(self._spread(active, np.linalg.lstsq(system, edge)[0][:-1]), slack):
                return
        self._try(self._spread(active, LinearMaster(self.loss).solve(H)[0]), slack)

    def _spread(self, active: Array, values: Array) -> Array:
        a = np.zeros(self.a.size)
        a[active] = values
        return a

    def _note(self, factor: float) -> bool:
        """Whether to stop for another reason than that the gap is reached, which is no end of a path."""
        entry = {
            "iteration": len(self.record.history),
            "objective": factor * self.upper,
            "lower_bound": factor * self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(self.a)),
        }
        return self.record.note(entry, reached=False)
