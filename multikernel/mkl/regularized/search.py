"""What is searched where kernel weights are regularised: costs, the exponent of costs, or the weights.

Each search measures points on folds and says which was the best; what a point means for the machines is
their costs d (at p = 1), or, for fixed weights μ, the costs 1/√μ (at p = ∞).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.progress import SearchProgress
from .folds import DesignFolds, FoldModel, count_large_eigenvalues, eigenvalue_costs
from .response_surface import Point, ResponseSurface

SEARCHES = ("response_surface", "eigenvalue", "weights")
EXPONENTS = np.linspace(0.0, 1.0, 11).round(1)
_STILL = 1e-2
_WIDEST, _NARROWEST = 10.0, 1e-6


@dataclass(frozen=True)
class Chosen:
    """What a search found.

    Attributes
    ----------
    machine_costs : array (n_kernels,)
    params : list of dict, the points measured
    best : int, which of them was chosen
    surface, exponent : of the searches that have one
    """

    machine_costs: Array
    params: list[dict[str, float]]
    best: int
    surface: ResponseSurface | None = None
    exponent: float | None = None

    @classmethod
    def alone(cls) -> "Chosen":
        """One kernel leaves nothing to search."""
        return cls(np.ones(1), [], 0)


def choose(model: Any, folds: DesignFolds, names: list[str], Ks: Array, progress: SearchProgress) -> Chosen:
    """Search as the parameters of ``model`` say; ``Ks`` are the kernels on all the samples."""
    if model.search == "eigenvalue":
        return _choose_exponent(folds, Ks, progress)
    bounds = (10.0**-model.bound, 1.0, 10.0**model.bound)
    surface = ResponseSurface(
        {name: bounds for name in names[1:]},
        delta=model.delta / model.bound,
        tol=_STILL / model.bound,
        max_steps=model.max_steps,
    )
    as_params = _weights if model.search == "weights" else _costs
    as_costs = _fixing if model.search == "weights" else _themselves
    params: list[dict[str, float]] = []

    def response(point: Point) -> float:
        params.append(as_params(names, point))
        costs = as_costs(params[-1])
        return 1.0 - folds.measure(lambda fold: np.array([costs[name] for name in fold.model.view_names_]))

    def report(entry: dict[str, Any]) -> bool:
        return progress(params[entry["evaluation"] - 1], 1.0 - entry["value"])

    surface.minimize(response, callback=report)
    costs = as_costs(params[surface.best_index_])
    return Chosen(np.array([costs[n] for n in names]), params, surface.best_index_, surface=surface)


def _choose_exponent(folds: DesignFolds, Ks: Array, progress: SearchProgress) -> Chosen:
    """The best γ, of equally good ones the smallest; each fold counts the eigenvalues of its own kernels."""
    params: list[dict[str, float]] = []
    scores: list[float] = []
    for exponent in EXPONENTS.tolist():
        params.append({"exponent": exponent})
        scores.append(folds.measure(_at_exponent(exponent)))
        if progress(params[-1], scores[-1]):
            break
    best = int(np.argmax(scores))
    exponent = params[best]["exponent"]
    costs = eigenvalue_costs(count_large_eigenvalues(Ks), exponent)
    return Chosen(costs, params, best, exponent=exponent)


def _at_exponent(exponent: float) -> Callable[[FoldModel], Array]:
    return lambda fold: eigenvalue_costs(fold.counts, exponent)


def _costs(names: list[str], point: Point) -> dict[str, float]:
    return {names[0]: 1.0, **point}


def _weights(names: list[str], point: Point) -> dict[str, float]:
    total = 1.0 + sum(point.values())
    return {names[0]: 1.0 / total, **{name: ratio / total for name, ratio in point.items()}}


def _themselves(costs: dict[str, float]) -> dict[str, float]:
    return costs


def _fixing(weights: dict[str, float]) -> dict[str, float]:
    """The costs that fix the weights where p = ∞: μ_m = 1 / d_m²."""
    return {name: 1.0 / float(np.sqrt(weight)) for name, weight in weights.items()}


def check_bound(bound: Any) -> float:
    """The search stays where machines can be solved, and has more than one point."""
    value = check_number("bound", bound, above=0.0)
    if not _NARROWEST <= value <= _WIDEST:
        raise ValueError(
            f"bound must lie between {_NARROWEST:g} and {_WIDEST:g}; got {bound!r}. It is a power of ten: 1 "
            "lets costs be from 0.1 to 10."
        )
    return value


def check_delta(delta: Any, bound: float) -> None:
    """The design has to lie within the bounds."""
    if check_number("delta", delta, above=0.0) > bound:
        raise ValueError(
            f"delta must be at most bound={bound:g}, so that the design lies within the bounds; got "
            f"{delta!r}."
        )
