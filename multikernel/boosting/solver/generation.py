"""Machines with an l1 or l2 penalty over the columns of all kernels, or over a limited number of them.

    min_{a, b}  Σ|a| + risk   or   ½ Σa² + risk,    risk = Σ_i c_i loss(y_i, b + Σ_{m,j} a_mj h_mj(i))

Their duals, with lower ≤ β ≤ upper and 1'β = 0 in both, are

    l1   max y'β − ε‖β‖₁,                 |h'β| ≤ 1 for every column h
    l2   max y'β − ε‖β‖₁ − ½‖H'β‖²

Any β within these bounds, made smaller until it keeps to the constraints of all columns (l1) or to the best
multiple (l2), gives a lower bound of the whole problem.

The machine over all columns is solved first (`Whole`), by an interior point method on the duals β, with n
unknowns and one product of the columns with themselves: with an l2 penalty once, ½ β'Gβ with G the sum of hh'
over the columns h; with an l1 penalty in every step, for the constraints |h'β| ≤ 1. Every β that it passes
bounds the value from below, every set of coefficients from above. Under the l1 penalty the last ones are tiny
but not zero where they should be: those of the columns in use solve the equations of the samples on the edge
of their loss, or the linear program of these columns.

Where that machine has more columns than wanted, or where a linear program is too badly scaled for it, columns
are generated instead: each round solves the machine on the columns chosen so far, prices all columns with its
duals, and adds those with the largest |h'β|. The gap of the value reached to the largest lower bound of the
machine over all columns is the certificate.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Status, time_left
from ...core.svm.losses import EpsilonInsensitive, Hinge
from .columns import ChosenColumns, Columns, ColumnsResult
from .path import ColumnPath, PathPoint, Quadratic, Slopes

PricedLoss = Hinge | EpsilonInsensitive

_HIGHS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
_FINE = 1e-8  # gap at which the columns in use can be told from the others
_STARTS = (1.0, 100.0)  # the second where the first leads nowhere
_ZERO = 1e-12  # of the largest coefficient
_ROUGH = 1e-2  # gap of the first machines: they are as precise as the bounds ask for
_SHARE = 0.05  # of the gap, for the next machine


def generate_columns(
    columns: Columns, loss: PricedLoss, penalty: str, *, max_columns: int | None = None, options: Options
) -> ColumnsResult:
    """Find the machine over all columns with penalty "l1" or "l2", to a relative duality gap.

    ``max_iter`` counts steps over all columns, or rounds of generation.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> columns = Columns(np.outer(x, x)[None], normalize=False)
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


# ------------------------------------------------------------------ machines on some columns
# Both masters have a ``power``, how the penalty grows with a: what to divide the prices by, if columns or
# targets are rescaled; ``sparse``: whether columns may end without a coefficient; ``threshold``: above it the
# price of a column outside is of use. They solve for (a, β) on the columns H, to a relative gap, β feasible.
@dataclass(frozen=True)
class LinearMaster:
    """The l1 penalty, by HiGHS."""

    loss: PricedLoss

    power, sparse, threshold = 1, True, 1.0 + 1e-9

    def solve(self, H: Array, tol: float = 0.0) -> tuple[Array, Array]:
        """y = H(p − q) + b + free + above − below, with a price for p, q, above, below; β are multipliers.

        `free` is what costs nothing: within ±ε of a value, on the right side of a class.
        """
        n, k = H.shape
        scale = min(1.0, float(np.max(self.loss.upper - self.loss.lower)))
        above, below = self.loss.upper > 0.0, self.loss.lower < 0.0  # which sides have a price
        errors = eye_array(n, format="csc")
        prices = np.concatenate([self.loss.upper[above], -self.loss.lower[below]])
        epsilon = self.loss.epsilon
        free = np.column_stack([np.where(below, -epsilon, -np.inf), np.where(above, epsilon, np.inf)])
        positive = np.tile([0.0, np.inf], (2 * k + prices.size + 1, 1))
        positive[2 * k] = -np.inf, np.inf
        found = linprog(
            np.concatenate([np.ones(2 * k), [0.0], prices, np.zeros(n)]) / scale,
            A_eq=hstack([H, -H, np.ones((n, 1)), errors[:, above], -errors[:, below], errors], format="csc"),
            b_eq=self.loss.target,
            bounds=np.vstack([positive, free]),
            method="highs-ds",
            options={**_HIGHS, "time_limit": time_left()},
        )
        if found.x is None:
            return np.zeros(k), np.zeros(n)
        beta = scale * found.eqlin.marginals
        return found.x[:k] - found.x[k : 2 * k], balanced(beta, self.loss)

    @staticmethod
    def penalty(a: Array) -> float:
        return float(np.abs(a).sum())

    def lower_bound(self, beta: Array, prices: Array) -> float:
        """The reward of β / max(1, largest |price|)."""
        return reward(beta, self.loss) / max(1.0, float(np.abs(prices).max()))


@dataclass(frozen=True)
class QuadraticMaster:
    """The l2 penalty: a support vector machine with the kernel HH', by an interior point method."""

    loss: PricedLoss

    power, sparse, threshold = 2, False, 0.0

    def solve(self, H: Array, tol: float = 0.0) -> tuple[Array, Array]:
        """Without a column both penalties are one."""
        if H.shape[1] == 0:
            return LinearMaster(self.loss).solve(H)
        best = None
        for point in ColumnPath(self.loss, Quadratic(ChosenColumns(H))).steps():
            best = point if best is None or point.gap < best.gap else best
            if point.gap <= tol:
                break
        if best is None:
            return np.zeros(H.shape[1]), np.zeros(self.loss.target.size)
        return best.a, balanced(best.beta, self.loss)

    @staticmethod
    def penalty(a: Array) -> float:
        return 0.5 * float(a @ a)

    def lower_bound(self, beta: Array, prices: Array) -> float:
        """t reward − ½ t² ‖prices‖² at the best multiple t ≤ 1 of β."""
        gain, square = max(reward(beta, self.loss), 0.0), float(prices @ prices)
        t = min(1.0, gain / square) if square > 0.0 else 1.0
        return t * gain - 0.5 * t * t * square


def reward(beta: Array, loss: PricedLoss) -> float:
    """y'β − ε‖β‖₁."""
    return float(loss.target @ beta - loss.epsilon * np.abs(beta).sum())


def balanced(beta: Array, loss: PricedLoss) -> Array:
    """β within its bounds and of sum zero: what rounding left over is taken from the larger side."""
    beta = np.clip(beta, loss.lower, loss.upper)
    positive, negative = float(beta[beta > 0.0].sum()), float(-beta[beta < 0.0].sum())
    smaller = min(positive, negative)
    up = smaller / positive if positive > 0.0 else 0.0
    down = smaller / negative if negative > 0.0 else 0.0
    return np.where(beta > 0.0, up * beta, down * beta)


# ------------------------------------------------------------------ the machine over all columns
class _Bounds:
    """The penalty of a machine over all columns, the bounds of its value, and the record of them.

    Values are reported times ``factor``.
    """

    def __init__(self, columns: Columns, loss: PricedLoss, penalty: str, factor: float = 1.0) -> None:
        self.columns, self.loss, self.factor = columns, loss, factor
        self.master = LinearMaster(loss) if penalty == "l1" else QuadraticMaster(loss)
        self.upper, self.lower = np.inf, 0.0
        self.record = Recorder()

    @property
    def gap(self) -> float:
        """Relative to the value."""
        return max(self.upper - self.lower, 0.0) / max(self.upper, np.finfo(float).tiny)

    def _entry(self, a: Array) -> dict[str, float]:
        return {
            "iteration": len(self.record.history),
            "objective": self.factor * self.upper,
            "lower_bound": self.factor * self.lower,
            "gap": self.gap,
            "n_active": int(np.count_nonzero(a)),
        }


class Whole(_Bounds):
    """The machine, in units where targets and columns are of size 1; ``a``: the best coefficients found."""

    def __init__(self, columns: Columns, loss: PricedLoss, penalty: str, factor: float = 1.0) -> None:
        super().__init__(columns, loss, penalty, factor)
        self.a, self.intercept = np.zeros(columns.sizes.size), 0.0

    def solve(self, options: Options) -> Status:
        """Follow the path."""
        # entries are counted from 0: as many as max_iter says
        self.record = Recorder(options.tol, options.max_iter - 1, options.callback)
        self._try(self.a)
        if self.upper == 0.0:
            self._note()
            return Status.OPTIMAL
        for push in _STARTS:
            term = Slopes(self.columns) if self.master.sparse else Quadratic(self.columns)
            status = self._follow(ColumnPath(self.loss, term, push), options)
            if self.gap <= options.tol:
                return Status.OPTIMAL
            if status != Status.STALLED:
                break
        return status

    def _follow(self, path: ColumnPath, options: Options) -> Status:
        """One path, to its end or as far as is of use."""
        aim = min(options.tol, _FINE) if self.master.sparse else 0.5 * options.tol
        for point in path.steps():
            self._bound(point)
            stopped = self._note()
            if point.gap <= aim and (self.master.sparse or self.gap <= options.tol):
                break
            if stopped:
                return self.record.status
        if self.master.sparse and not path.empty:
            self._finish(path, options.tol)
            self._note()
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

    def _note(self) -> bool:
        """Whether to stop for another reason than that the gap is reached, which is no end of a path."""
        return self.record.note(self._entry(self.a), reached=False)


# ------------------------------------------------------------------ generation of columns
class _Generation(_Bounds):
    """Columns are divided by their unit u and targets by their size t: a → a u/t, b → b/t."""

    def __init__(self, columns: Columns, loss: PricedLoss, penalty: str, options: Options) -> None:
        self.penalty, self.options = penalty, options
        self.size = float(np.abs(loss.target).max()) or 1.0
        power = LinearMaster.power if penalty == "l1" else QuadraticMaster.power
        factor = (self.size / columns.unit) ** power
        super().__init__(columns, loss.rescaled(self.size**2 / factor, self.size), penalty, factor)
        self.precision = _ROUGH
        self.numbers = np.empty(0, int)
        self.H = columns.take(self.numbers)
        self.best = (self.numbers, np.empty(0), 0.0)
        self.pruned_at = np.inf
        self.record = Recorder(options.tol, callback=options.callback)

    def run_whole(self, options: Options) -> ColumnsResult:
        """Over all columns; what is found of bounds is kept."""
        whole = Whole(self.columns, self.loss, self.penalty, self.factor)
        status = whole.solve(options)
        numbers = np.flatnonzero(whole.a)
        self.lower = whole.lower
        return self._result(whole, status, (numbers, whole.a[numbers], whole.intercept))

    def run(self, max_columns: int) -> ColumnsResult:
        """By generation of columns."""
        for _ in range(self.options.max_iter):
            a, beta = self.master.solve(self.H, self.precision)
            prices = self.columns.prices(beta)
            self._bound(a, beta, prices)
            self.precision = max(min(_SHARE * self.gap, self.precision), _SHARE * self.options.tol)
            if self.record.note(self._entry(self.best[1])):
                break
            reason = self._grow(a, prices, max_columns)
            if reason is not None:
                self.record.stop(reason)
                break
        return self._result(self, self.record.status, self.best)

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

    def _result(self, found: _Bounds, status: Status, best: tuple[Array, Array, float]) -> ColumnsResult:
        """In the caller's units."""
        numbers, a, intercept = best
        kept = np.abs(a) > _ZERO * np.abs(a).max(initial=0.0)
        numbers, a = numbers[kept], a[kept]
        alpha = self.columns.unscaled(numbers, a * self.size)
        return ColumnsResult(
            numbers=numbers,
            coefficients=alpha,
            sizes=np.abs(alpha) * self.columns.sizes[numbers],
            intercept=self.size * intercept,
            objective=self.factor * found.upper,
            lower_bound=self.factor * found.lower,
            gap=found.gap,
            n_iter=len(found.record.history),
            status=status,
            history=found.record.history,
        )
