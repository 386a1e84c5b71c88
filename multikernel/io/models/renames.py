"""Parameters and fitted attributes of format version 3 under their present names: a change for each class.

Each change takes the attributes in a file (a dict) and returns those of version 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

State = dict[str, Any]
Change = Callable[[State], State]


def _renamed(**names: str) -> Change:
    """Attributes by their old names, and the new ones."""
    return lambda state: {names.get(name, name): value for name, value in state.items()}


def _converted(change: Change, **conversions: Callable[[Any], Any]) -> Change:
    """A change, then other values of some attributes, by their new names."""

    def convert(state: State) -> State:
        state = change(state)
        return {
            name: conversions[name](value) if name in conversions else value for name, value in state.items()
        }

    return convert


def _inverse(power: int = 1) -> Callable[[Any], Any]:
    """One over a number, to a power; names stay."""
    return lambda value: value if isinstance(value, str) else 1.0 / float(value) ** power


def _without_formulation(state: State) -> State:
    return {name: value for name, value in state.items() if name != "formulation"}


def _scores_by_gamma(table: Any) -> Any:
    """The table of the kernels tried, with their widths as γ."""
    table = table.rename(columns={"width": "gamma", "alpha": "reg"})
    return table.assign(gamma=1.0 / table["gamma"].astype(float))


_NORMALIZE = _renamed(normalise="normalize")
_SPECTRAL = _converted(
    _renamed(
        criterion="method", method="solver", width="gamma", alpha="reg",
        width_="gamma_", alpha_="reg_", alpha_star_="reg_star_",
    ),
    gamma=_inverse(), gamma_=_inverse(), loo_scores_=_scores_by_gamma,
)  # fmt: skip

RENAMES: dict[str, Change] = {
    **dict.fromkeys(
        (
            "AccuracyRule", "AlignmentRule", "ColumnBoostingClassifier", "ColumnBoostingRegressor",
            "CombinedKernelClassifier", "CombinedKernelOneClass", "CombinedKernelPCA", "IdealDistance",
            "KimDiscriminant", "MSERule", "MeanRule", "PearsonRule", "PolynomialRidge", "RidgeBall",
        ),
        _NORMALIZE,
    ),
    **dict.fromkeys(
        ("LocalizedMKLClassifier", "LocalizedMKLOneClass", "LocalizedMKLRegressor"),
        _renamed(optimizer="solver", ridge="gating_reg"),
    ),
    **dict.fromkeys(
        ("ProjectionKernelClassifier", "ProjectionKernelOneClass", "ProjectionKernelRegressor"),
        _renamed(
            kernel="kernels", optimizer="solver", ridge="gating_reg",
            projection_ridge="projection_reg", norm="projection_norm",
        ),
    ),
    **dict.fromkeys(("DiscriminantMKL", "KernelDiscriminantClassifier"), _without_formulation),
    **dict.fromkeys(("FunctionalForm", "KLDivergence", "PairwiseRidge"), _renamed(form="method")),
    "BayesianMKLRegressor": _converted(_renamed(), intercept_=np.atleast_1d),
    "CombinedKernelRegressor": _converted(
        _renamed(normalise="normalize", offset_="intercept_"), intercept_=np.atleast_1d
    ),
    "ConformalKernel": _renamed(method="solver"),
    "EasyMKL": _renamed(balance="reg"),
    "FungDiscriminant": _converted(_renamed(nu="reg"), reg=_inverse()),
    "KernelBoosting": _renamed(balance="class_balance"),
    "MultipleKernelKMeans": _converted(_renamed(), weights=lambda v: "uniform" if v == "equal" else v),
    "NonstationaryClassifier": _renamed(mode="method"),
    "PosteriorSVC": _converted(_renamed(width="gamma"), gamma=_inverse(2)),
    "RegularizedMKLClassifier": _renamed(search="method"),
    "SpectralKernelClassifier": _SPECTRAL,
    "TransductiveMKLClassifier": _renamed(criterion="method", weights="weight_set"),
}  # fmt: skip
