"""Machines with an l1 or l2 penalty over the columns of all kernels, or over at most so many of them.

    min_{a, b}  Σ|a| + risk   or   ½ Σa² + risk,    risk = Σ_i c_i loss(y_i, b + Σ_{m,j} a_mj h_mj(i))

The machine over all columns is solved first, see :mod:`.column_whole`. Where it has more columns than wanted,
or where a linear program is too badly scaled for it, columns are generated instead: each round solves the
machine on the columns chosen so far, prices all columns with its duals, and adds those with the largest
|h'β|. The gap of the value reached to the largest lower bound of the machine over all columns is the
certificate.
"""

from typing import Any

import numpy as np

from ..core.optim.loop import Options, Recorder, Status
from .column_masters import LinearMaster, Master, PricedLoss, QuadraticMaster
from .column_whole import Whole
from .columns import Columns, ColumnsResult

Array = np.ndarray[Any, np.dtype[Any]]

PENALTIES = ("l1", "l2")
_ZERO = 1e-12  # of the largest coefficient
_ROUGH = 1e-2  # gap of the first machines: they are as precise as the bounds ask for
_SHARE = 0.05  # of the gap, for the next machine


def generate_columns(
    columns: Columns, loss: PricedLoss, penalty: str, *, max_columns: int | None = None, options: Options
) -> ColumnsResult:
    """Find the machine over all columns, to a relative duality gap.

    Parameters
    ----------
    columns : Columns
    loss : Hinge or EpsilonInsensitive
    penalty : {"l1", "l2"}
    max_columns : int, optional
        At most so many columns are used.
    options : Options
        ``tol`` for the gap, ``max_iter`` steps over all columns or rounds of generation, ``callback``.

    Examples
    --------
    >>> from multikernel.criteria.margin import Hinge
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> columns = Columns(np.outer(x, x)[None], normalise=False)
    >>> found = generate_columns(columns, Hinge(y, 10.0), "l1", options=Options())
    >>> found.numbers.size, round(found.objective, 6), str(found.status)
    (1, 0.5, 'optimal')
    """
    generation = _Generation(columns, loss, penalty, options)
    silent = Options(tol=options.tol, max_iter=options.max_iter)
    whole = generation.run_whole(options if max_columns is None else silent)
    limit = columns.sizes.size if max_columns is None else max_columns
    fits = whole.numbers.size <= limit
    if fits and (penalty == "l2" or whole.status != Status.STALLED):
        return whole
    part = generation.run(limit)
    return whole if fits and whole.objective < part.objective else part


class _Generation:
    """Columns are divided by their unit u and targets by their size t: a → a u/t, b → b/t."""

    def __init__(self, columns: Columns, loss: PricedLoss, penalty: str, options: Options) -> None:
        self.columns, self.options = columns, options
        master: Any = LinearMaster if penalty == "l1" else QuadraticMaster
        self.size = float(np.abs(loss.target).max()) or 1.0
        self.factor = (self.size / columns.unit) ** master.power
        self.loss: Any = loss.rescaled(self.size**2 / self.factor, self.size)
        self.penalty = penalty
        self.master: Master = master(self.loss)
        self.precision = _ROUGH
        self.numbers = np.empty(0, int)
        self.H = columns.take(self.numbers)
        self.upper, self.lower = np.inf, 0.0
        self.best = (self.numbers, np.empty(0), 0.0)
        self.pruned_at = np.inf
        self.record = Recorder(options.tol, callback=options.callback)

    @property
    def gap(self) -> float:
        return max(self.upper - self.lower, 0.0) / max(self.upper, np.finfo(float).tiny)

    def run_whole(self, options: Options) -> ColumnsResult:
        """Over all columns; what is found of bounds is kept."""
        whole = Whole(self.columns, self.loss, self.penalty)
        status = whole.solve(options, self.factor)
        numbers = np.flatnonzero(whole.a)
        self.lower = whole.lower
        best = (numbers, whole.a[numbers], whole.intercept)
        return self._result(status, best, whole.upper, whole.record.history)

    def run(self, max_columns: int) -> ColumnsResult:
        """By generation of columns."""
        for iteration in range(self.options.max_iter):
            a, beta = self.master.solve(self.H, self.precision)
            prices = self.columns.prices(beta)
            self._bound(a, beta, prices)
            self.precision = max(min(_SHARE * self.gap, self.precision), _SHARE * self.options.tol)
            if self._note(iteration):
                break
            reason = self._grow(a, prices, max_columns)
            if reason is not None:
                self.record.stop(reason)
                break
        return self._result(self.record.status, self.best, self.upper, self.record.history)

    def _bound(self, a: Array, beta: Array, prices: Array) -> None:
        """The value of the machine, and what its duals say of the whole problem."""
        risk, intercept = self.loss.risk(self.H @ a)
        value = self.master.penalty(a) + risk
        if value < self.upper:
            self.upper, self.best = value, (self.numbers, a, intercept)
        self.lower = max(self.lower, self.master.lower_bound(beta, prices))

    def _grow(self, a: Array, prices: Array, max_columns: int) -> Status | None:
        """Add the columns of the largest prices; the reason to stop if that cannot be."""
        sizes = np.abs(prices)
        sizes[self.numbers] = 0.0
        order = np.argsort(-sizes, kind="stable")[: 1 + self.numbers.size // 2]
        order = order[sizes[order] > self.master.threshold]
        if order.size == 0:
            return self._sharpen()
        if self.numbers.size >= max_columns and not self._prune(a):
            return Status.MAX_COLUMNS
        order = order[: max_columns - self.numbers.size]
        self.numbers = np.concatenate([self.numbers, order])
        self.H = np.asfortranarray(np.hstack([self.H, self.columns.take(order)]))
        return None

    def _sharpen(self) -> Status | None:
        """No column is of use: only a more precise machine can be, if there is one."""
        finest = _SHARE * self.options.tol
        if self.precision <= finest:
            return Status.STALLED
        self.precision = finest
        return None

    def _prune(self, a: Array) -> bool:
        """Make room: drop columns without a coefficient, if the value has fallen since the last time."""
        kept = np.abs(a) > _ZERO * np.abs(a).max(initial=0.0)
        if not self.master.sparse or kept.all() or not self.upper < self.pruned_at * (1.0 - _ZERO):
            return False
        self.pruned_at = self.upper
        self.numbers, self.H = self.numbers[kept], self.H[:, kept]
        return True

    def _note(self, iteration: int) -> bool:
        entry = {
            "iteration": iteration,
            "objective": self.factor * self.upper,
            "lower_bound": self.factor * self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(self.best[1])),
        }
        return self.record.note(entry)

    def _result(
        self, status: Status, best: tuple[Array, Array, float], upper: float, history: list[dict[str, float]]
    ) -> ColumnsResult:
        numbers, a, intercept = best
        kept = np.abs(a) > _ZERO * np.abs(a).max(initial=0.0)
        numbers, a = numbers[kept], a[kept]
        alpha = self.columns.unscaled(numbers, a * self.size)
        return ColumnsResult(
            numbers=numbers,
            coefficients=alpha,
            sizes=np.abs(alpha) * self.columns.sizes[numbers],
            intercept=self.size * intercept,
            objective=self.factor * upper,
            lower_bound=self.factor * self.lower,
            gap=max(upper - self.lower, 0.0) / max(upper, np.finfo(float).tiny),
            n_iter=len(history),
            status=status,
            history=history,
        )
