"""Losses of the regressors, whose penalties may be in units of the targets."""

from typing import Any

from .._typing import Array
from .._validation import check_choice, check_number
from ..core.inputs import price_samples, standard_deviation
from ..core.svm.losses import EpsilonInsensitive, Loss, SquaredError

_FREE_SHARE = 0.1  # of the standard deviation of y: errors that are not penalized by default


def check_penalty(model: Any) -> None:
    """Refuse a ``loss``, ``C`` or ``epsilon`` of a regressor that is none."""
    check_choice("loss", model.loss, ("epsilon_insensitive", "squared"))
    for name, bound in (("C", {"above": 0.0}), ("epsilon", {"at_least": 0.0})):
        value = getattr(model, name)
        if isinstance(value, str):
            check_choice(f"{name}, where it is not a number,", value, ("auto",))
        else:
            check_number(name, value, **bound)


def regression_loss(model: Any, targets: Array, weights: Array) -> Loss:
    """The loss of a regressor; "auto" is in units of the standard deviation of the targets."""
    if model.loss == "squared":
        C = 1.0 if isinstance(model.C, str) else float(model.C)
        return SquaredError(targets, 1.0 / price_samples(C, weights), True)
    spread = standard_deviation(targets, weights)
    prices = price_samples(spread if isinstance(model.C, str) else float(model.C), weights)
    epsilon = _FREE_SHARE * spread if isinstance(model.epsilon, str) else float(model.epsilon)
    return EpsilonInsensitive(targets, prices, epsilon)
