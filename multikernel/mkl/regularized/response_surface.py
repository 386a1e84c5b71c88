"""The lowest point of an expensive, noisy response over a few factors, by quadratic response surfaces.

    r(x) ≈ c + g'x + ½ x'Hx,     x_i = log(value of factor i / its centre) / log(its bound / its centre)

The response is measured at the points of a second-order Koshal design, a quadratic is fitted by least
squares, the response is measured where the quadratic is lowest in the box of the factors, and so on until
that point no longer moves. |x_i| = 1 is the bound that is nearer to the centre. The answer is the best
point measured, or the last one as in the algorithm of the paper, never a point of the surface alone.

**Many factors**: the second-order design grows with their square. A first-order one has q + 1 points, and
determines a plane (H = 0). The next point is a step against the slope of the plane around the best point so
far; a step is doubled where it has led to a better point and halved where it has not.

**Quadratic** (:class:`Quadratic`): fitted by least squares on a design that determines it, and its lowest
point in a box; f(x) = c + g'x + ½ x'Hx.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

from ..._typing import Array
from ..._validation import check_choice, check_number, check_positive_integer
from ...core.optim.loop import asks_to_stop

_NOTHING = 1e-10  # a coefficient that moves the values by a smaller part of their spread is rounding
_MOST_CORNERS = 64  # of boxes with more corners, none is a start
_SWEEPS = 200
_STILL = 1e-6
RULES = ("best", "last")
Point = dict[str, float]
_SAME = 5e-4  # points that agree to three decimals are one


# ---------------------------------------------------------------------- design and quadratic
def koshal_design(n_factors: int, delta: Any = 1.0) -> Array:
    """The second-order Koshal design: as many points as a quadratic has coefficients.

    ``delta`` is the distance of the points from the centre, for all factors or for each: 0, then ±Δ e_i for
    each factor, then Δ (e_i + e_j) for each pair.

    Examples
    --------
    >>> koshal_design(2, 0.3).tolist()
    [[0.0, 0.0], [0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3], [0.3, 0.3]]
    """
    steps = np.eye(n_factors)
    stars = [sign * step for step in steps for sign in (1.0, -1.0)]
    pairs = [a + b for a, b in combinations(steps, 2)]
    design = np.array([np.zeros(n_factors), *stars, *pairs])
    return np.asarray(design * delta + 0.0)  # −0 is 0


def first_order_design(n_factors: int, delta: Any = 1.0) -> Array:
    """The first-order Koshal design: 0, then Δ e_i for each factor; a plane has as many coefficients.

    Examples
    --------
    >>> first_order_design(2, 0.3).tolist()
    [[0.0, 0.0], [0.3, 0.0], [0.0, 0.3]]
    """
    return np.vstack([np.zeros(n_factors), np.eye(n_factors) * delta])


@dataclass(frozen=True)
class Quadratic:
    """f(x) = constant + gradient'x + ½ x' hessian x."""

    constant: float
    gradient: Array  # (n_factors,), at x = 0
    hessian: Array  # (n_factors, n_factors), symmetric

    @classmethod
    def fit(
        cls, points: Array, values: Array, weights: Array, scale: float = 1.0, degree: int = 2
    ) -> "Quadratic":
        """The least-squares quadratic; with fewer values than coefficients, the smallest coefficients.

        ``weights`` (n,) say how often each point counts, ``scale`` the order of size of the points, for the
        sake of rounding. Of degree 1 it is a plane, whose hessian is 0.
        """
        q = points.shape[1]
        first, second = np.triu_indices(q if degree == 2 else 0)
        x = points / scale
        terms = np.column_stack([np.ones(len(x)), x, x[:, first] * x[:, second]])
        roots = np.sqrt(weights)
        rises = values - values[0]  # equal values have no slope at all, not even rounding
        found = np.linalg.lstsq(terms * roots[:, None], rises * roots, rcond=None)[0]
        slopes = np.where(np.abs(found[1:]) > _NOTHING * np.abs(rises).max(), found[1:], 0.0)
        upper = np.zeros((q, q))
        upper[first, second] = slopes[q:]
        hessian = (upper + upper.T) / scale**2
        return cls(float(values[0] + found[0]), slopes[:q] / scale, hessian)

    def __call__(self, x: Array) -> Array:
        """Values (n,) at the points x (n, n_factors)."""
        return np.asarray(self.constant + x @ self.gradient + 0.5 * ((x @ self.hessian) * x).sum(axis=1))

    @property
    def is_convex(self) -> bool:
        """Whether there is one lowest point: a positive definite hessian, beyond rounding."""
        eigenvalues = np.linalg.eigvalsh(self.hessian) if self.gradient.size else np.ones(1)
        return bool(eigenvalues[0] > _NOTHING * abs(eigenvalues).max())

    def lowest(self, lower: Array, upper: Array, starts: Array) -> Array:
        """The lowest point of the box, of equally low ones the nearest to 0.

        Exact where the quadratic is convex. Elsewhere coordinate descents from 0, from ``starts`` and from
        the corners of a box of at most six factors, of which the lowest is taken.
        """
        if not self.is_convex:
            return self._descend(lower, upper, starts)
        inside = np.linalg.solve(self.hessian, -self.gradient)
        if np.all((lower <= inside) & (inside <= upper)):
            return np.asarray(inside)
        root = np.linalg.cholesky(self.hessian)  # f = ½ |R'x + R⁻¹g|² + constant
        target = -solve_triangular(root, self.gradient, lower=True)
        return np.asarray(lsq_linear(root.T, target, (lower, upper), method="bvls").x)

    def _descend(self, lower: Array, upper: Array, starts: Array) -> Array:
        """From many starts at once; each coordinate in turn goes to the lowest point of its line."""
        q = lower.size
        corners = product(*zip(lower, upper, strict=True)) if 2**q <= _MOST_CORNERS else ()
        x = np.vstack([np.zeros(q), np.clip(starts, lower, upper), *(np.array(c) for c in corners)])
        slopes = self.gradient + x @ self.hessian
        for _ in range(_SWEEPS):
            before = x.copy()
            for j in range(q):
                curvature = self.hessian[j, j]
                moved = _lowest_on_line(x[:, j], slopes[:, j], curvature, lower[j], upper[j])
                slopes += np.outer(moved - x[:, j], self.hessian[j])
                x[:, j] = moved
            if np.abs(x - before).max() <= _STILL:
                break
        values = self(x)
        spread = np.abs(values - self.constant).max()
        lowest = np.flatnonzero(values <= values.min() + _NOTHING * spread)
        return np.asarray(x[lowest[np.linalg.norm(x[lowest], axis=1).argmin()]])


def _lowest_on_line(x: Array, slope: Array, curvature: float, low: float, high: float) -> Array:
    """The lowest t in [low, high] of (slope − curvature x) t + ½ curvature t², for many x at once."""
    if curvature > 0.0:
        return np.clip(x - slope / curvature, low, high)
    rise = (slope - curvature * x) * (high - low) + 0.5 * curvature * (high**2 - low**2)
    return np.where(rise < 0.0, high, np.where(rise > 0.0, low, np.where(curvature < 0.0, high, x)))


# ---------------------------------------------------------------------- search
class SearchStatus(StrEnum):
    """How a search ended."""

    CONVERGED = "converged"
    MAX_STEPS = "max_steps"
    INTERRUPTED = "interrupted"


class ResponseSurface:
    r"""Minimise a response that is expensive and noisy over a few positive factors.

    Parameters
    ----------
    factors : dict
        Name to bounds ``(low, high)``, or ``(low, centre, high)``; the centre is the geometric mean unless
        given. All are positive, and searched on a logarithmic scale.
    delta : float, default=0.3
        The step of the design, in parts of the way from the centre to the nearer bound, on that scale.
    tol : float, default=1e-2
        The search ends when the lowest point of the surface moves no more than this, in the same units.
    max_steps : int, default=30
        Maximum number of points after the design; 0 measures the design only.
    degree : {1, 2}, default=2
        2 fits a quadratic, whose lowest point is the next one to measure. 1 fits a plane around the best
        point, and takes a step against its slope: for many factors.
    rule : {"best", "last"}, default="best"
        Which of the points measured is chosen: the best, or the last, as in the algorithm of the paper.

    Attributes
    ----------
    names : list of str
    points_ : array of shape (n_evaluations, n_factors)
        The values of the factors measured, in order.
    values_ : array of shape (n_evaluations,)
        The responses.
    best_point_ : dict, the best point measured; of equally good ones the nearest to the centre
    best_value_ : float
    best_index_ : int, its position in ``points_``
    chosen_point_ : dict, the point that `rule` chooses
    chosen_index_ : int, its position in ``points_``
    constant_ : float
    gradient_ : array of shape (n_factors,)
    hessian_ : array of shape (n_factors, n_factors)
        The coefficients of the surface, constant_ + gradient_'u + ½ u'hessian_ u, where u is log₁₀ of the
        ratio of the factors to their centre. For ``degree=1`` the plane around the best point.
    lowest_point_ : dict, where the surface is lowest in the box
    n_design_ : int, the number of points in the design
    n_evaluations_ : int
    n_steps_ : int, fits of the surface that proposed a point to measure
    status_ : str
        "converged"; "max_steps"; "interrupted" by the callback.

    Examples
    --------
    C and gamma of an SVM, by cross-validation:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.svm import SVC
    >>> from multikernel.mkl import ResponseSurface
    >>> X, y = load_iris(return_X_y=True)
    >>> def error(point):
    ...     return 1.0 - cross_val_score(SVC(**point), X, y, cv=5).mean()
    >>> surface = ResponseSurface({"C": (1e-2, 1e3), "gamma": (1e-3, 1e1)}).minimize(error)
    >>> sorted(surface.best_point_), bool(surface.best_value_ < 0.03)
    (['C', 'gamma'], True)
    >>> surface.n_evaluations_ < 20  # a grid of this range has hundreds
    True

    Notes
    -----
    The design has (q + 1)(q + 2) / 2 points for q factors: 6 for two, 231 for twenty; q + 1 for ``degree=1``:
    3 for two, 21 for twenty. A point that was measured before, to three decimals, is not measured again, but
    counts once more in the surface.

    With ``rule="last"`` the search ends as in the paper, too: when the lowest point of the surface is where
    the last point was measured, at first the last one of the design. Where the response is noisy, the last
    point may be worse than others that were measured; with ``rule="best"`` it never is.

    Of a plane, points count the less the farther they are from the best one,
    :math:`1 / (1 + \|x - x_{best}\|^2 / \Delta^2)`.

    References
    ----------
    Myers, Montgomery & Anderson-Cook, Response surface methodology, Wiley, 2009.
    Gönen & Alpaydın, Regularizing multiple kernel learning using response surface methodology, Pattern
    Recognition 44, 2011.
    """

    def __init__(
        self,
        factors: Mapping[str, Iterable[float]],
        *,
        delta: float = 0.3,
        tol: float = 1e-2,
        max_steps: int = 30,
        degree: int = 2,
        rule: str = "best",
    ) -> None:
        if not isinstance(factors, Mapping):
            raise TypeError(f"factors must be a dict of names and bounds; got {factors!r}.")
        self.names = [str(name) for name in factors]
        limits = [_check_factor(name, bounds) for name, bounds in factors.items()]
        low, self._center, high = np.log10(np.array(limits).reshape(-1, 3)).T
        self._unit = np.minimum(self._center - low, high - self._center)
        self._lower, self._upper = (low - self._center) / self._unit, (high - self._center) / self._unit
        self.delta = _check_delta(delta)
        self.tol = check_number("tol", tol, at_least=0.0)
        self.max_steps = 0 if max_steps == 0 else check_positive_integer("max_steps", max_steps)
        self.degree, self.rule = check_degree(degree), rule
        check_choice("rule", rule, RULES)

    def __repr__(self) -> str:
        limits = np.column_stack([self._as_values(x) for x in (self._lower, 0.0 * self._lower, self._upper)])
        factors = [
            f"{name!r}: ({low:.6g}, {center:.6g}, {high:.6g})"
            for name, (low, center, high) in zip(self.names, limits, strict=True)
        ]
        return f"ResponseSurface({{{', '.join(factors)}}}, delta={self.delta:g}, tol={self.tol:g})"

    # ------------------------------------------------------------------ search
    def minimize(
        self,
        response: Callable[[Point], float],
        *,
        map: Callable[..., Iterable[float]] = map,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
    ) -> "ResponseSurface":
        """Measure the response until the lowest point of its surface stays where it is.

        Parameters
        ----------
        response : callable
            From a dict of factor values to a finite number, the smaller the better.
        map : callable, default=map
            ``map(response, points)`` gives the responses of several points in their order: that of an
            executor of ``concurrent.futures`` measures the design in parallel.
        callback : callable, default=None
            Called with a dict after each measurement (``evaluation``, ``point``, ``value``, ``best_value``,
            ``is_design``); a true answer ends the search.

        Returns
        -------
        ResponseSurface
            Itself.
        """
        self._x = np.empty((0, len(self.names)))
        self._visits = np.empty(0)
        self.values_ = np.empty(0)
        self.n_steps_, self._last = 0, 0
        make_design = koshal_design if self.degree == 2 else first_order_design
        design = make_design(len(self.names), self.delta)
        self.n_design_ = len(design)
        go_on = self._measure(design, response, map, callback)
        search = self._search if self.degree == 2 else self._descend
        self.status_ = str(search(response, map, callback) if go_on else SearchStatus.INTERRUPTED)
        self._summarize()
        return self

    def _search(self, response: Any, map: Any, callback: Any) -> SearchStatus:
        """Measure where the surface is lowest, until it is lowest there again."""
        last = self._x[self._best() if self.rule == "best" else self._last]
        while True:
            x = self._fitted().lowest(self._lower, self._upper, self._x)
            if np.linalg.norm(x - last) <= self.tol:
                return SearchStatus.CONVERGED
            if self.n_steps_ == self.max_steps:
                return SearchStatus.MAX_STEPS
            self.n_steps_ += 1
            last = x
            if not self._visit(x, response, map, callback):
                return SearchStatus.INTERRUPTED

    def _descend(self, response: Any, map: Any, callback: Any) -> SearchStatus:
        """Step from the best point against the slope of the plane, until the steps are small."""
        step = self.delta
        while True:
            best = self._best()
            slope = self._fitted().gradient
            length = float(np.linalg.norm(slope))
            against = -slope / length if length > 0.0 else slope
            x = np.clip(self._x[best] + step * against, self._lower, self._upper)
            if np.linalg.norm(x - self._x[best]) <= self.tol:
                return SearchStatus.CONVERGED
            if self.n_steps_ == self.max_steps:
                return SearchStatus.MAX_STEPS
            self.n_steps_ += 1
            if not self._visit(x, response, map, callback):
                return SearchStatus.INTERRUPTED
            step *= 0.5 if self._best() == best else 2.0

    def _visit(self, x: Array, response: Any, map: Any, callback: Any) -> bool:
        """Measure a point, or count it once more if it is known; whether to go on."""
        known = np.flatnonzero((np.abs(self._x - x) <= _SAME).all(axis=1))
        if known.size == 0:
            return self._measure(x[None], response, map, callback)
        self._last = int(known[0])
        self._visits[self._last] += 1.0
        return True

    def _measure(self, xs: Array, response: Any, map: Any, callback: Any) -> bool:
        """The responses at some points, one after the other; whether to go on."""
        points = [self._named(x) for x in xs]
        for x, point, value in zip(xs, points, map(response, points), strict=True):
            self._last = len(self._x)
            self._x = np.vstack([self._x, x])
            self._visits = np.append(self._visits, 1.0)
            self.values_ = np.append(self.values_, _check_response(value, point))
            entry = {
                "evaluation": self.values_.size,
                "point": dict(point),
                "value": float(value),
                "best_value": float(self.values_.min()),
                "is_design": self.values_.size <= self.n_design_,
            }
            if callback is not None and asks_to_stop(callback(entry)):
                return False
        return True

    def _best(self) -> int:
        """The best point measured; of equals the nearest to the centre, of equally near ones the first."""
        equals = np.flatnonzero(self.values_ == self.values_.min())
        distances = np.linalg.norm(self._x[equals], axis=1).round(6)
        return int(equals[distances.argmin()])

    def _fitted(self) -> Quadratic:
        weights = self._visits
        if self.degree == 1:
            away = np.linalg.norm(self._x - self._x[self._best()], axis=1) / self.delta
            weights = weights / (1.0 + away**2)
        return Quadratic.fit(self._x, self.values_, weights, self.delta, self.degree)

    def _summarize(self) -> None:
        self.best_index_, self._surface = self._best(), self._fitted()
        self.points_ = self._as_values(self._x)
        self.n_evaluations_ = self.values_.size
        self.best_point_ = self._named(self._x[self.best_index_])
        self.best_value_ = float(self.values_[self.best_index_])
        self.chosen_index_ = self.best_index_ if self.rule == "best" else self._last
        self.chosen_point_ = self._named(self._x[self.chosen_index_])
        self.constant_ = self._surface.constant
        self.gradient_ = self._surface.gradient / self._unit
        self.hessian_ = self._surface.hessian / np.outer(self._unit, self._unit)
        self.lowest_point_ = self._named(self._surface.lowest(self._lower, self._upper, self._x))

    # ------------------------------------------------------------------ what was found
    def predict(self, points: Any) -> Any:
        """The value of the surface.

        Parameters
        ----------
        points : dict of factor values, or array-like of shape (n_samples, n_factors)

        Returns
        -------
        float for a dict, else array of shape (n_samples,)
        """
        self._require_search()
        if isinstance(points, Mapping):
            if set(points) != set(self.names):
                raise ValueError(f"points must name the factors {self.names}; got {sorted(points)}.")
            return float(self._surface(self._coded([[points[name] for name in self.names]]))[0])
        return self._surface(self._coded(points))

    def plot(self, ax: Any = None) -> Any:
        """Draw the surface of one or two factors, the points measured in their order, and the best.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            A new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from ...viz.results import surface

        self._require_search()
        return surface(self, ax=ax)

    # ------------------------------------------------------------------ units
    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest value of each factor."""
        lows, highs = self._as_values(self._lower).tolist(), self._as_values(self._upper).tolist()
        return dict(zip(self.names, zip(lows, highs, strict=True), strict=True))

    def _as_values(self, x: Array) -> Array:
        return np.asarray(10.0 ** (x * self._unit + self._center))

    def _coded(self, points: Any) -> Array:
        values = np.asarray(points, float)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise ValueError(
                f"points must have shape (n, {len(self.names)}), a column for each of the factors "
                f"{self.names}; got shape {values.shape}."
            )
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError("points must hold positive, finite values of the factors.")
        return np.asarray((np.log10(values) - self._center) / self._unit)

    def _named(self, x: Array) -> Point:
        return dict(zip(self.names, self._as_values(x).tolist(), strict=True))

    def _require_search(self) -> None:
        if not hasattr(self, "best_point_"):
            raise ValueError("nothing is measured yet. Call minimize first.")


def _check_factor(name: str, bounds: Any) -> tuple[float, float, float]:
    """Low, centre and high of one factor."""
    try:
        values = [check_number(f"a bound of factor {name!r}", b, above=0.0) for b in bounds]
    except TypeError as error:
        raise TypeError(f"factor {name!r} must have bounds (low, high); got {bounds!r}.") from error
    if len(values) == 2:
        values.insert(1, float(np.sqrt(values[0]) * np.sqrt(values[1])))
    if len(values) != 3:
        raise ValueError(f"factor {name!r} must have (low, high) or (low, centre, high); got {bounds!r}.")
    if not values[0] < values[1] < values[2]:
        raise ValueError(
            f"factor {name!r} must have bounds in increasing order; got {bounds!r}. Leave out a factor that "
            "is not to be searched."
        )
    return values[0], values[1], values[2]


def _check_delta(delta: Any) -> float:
    if not check_number("delta", delta, above=0.0) <= 1.0:
        raise ValueError(
            f"delta must be at most 1, so that the design lies within the bounds; got {delta!r}."
        )
    return float(delta)


def check_degree(degree: Any) -> int:
    """That of the surface: 1 or 2."""
    if check_positive_integer("degree", degree) > 2:
        raise ValueError(f"degree must be 1, a plane, or 2, a quadratic; got {degree!r}.")
    return int(degree)


def _check_response(value: Any, point: Point) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the response must be a number; got {value!r} at {_spelled(point)}.") from error
    if not np.isfinite(number):
        raise ValueError(
            f"the response must be finite; got {number} at {_spelled(point)}. Narrow the bounds, or return a "
            "large finite number for points that fail."
        )
    return number


def _spelled(point: Point) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in point.items()) or "the only point"
