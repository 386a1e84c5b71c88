"""What a user should know of fitted mixtures: samples unused or all at their bound, another solver."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._validation import warn_caller
from ..solvers.nonstationary.learn import MixturesResult

Array = np.ndarray[Any, np.dtype[Any]]

_AT_BOUND = 1e-3  # an interior point method leaves a rest, the larger the smaller C is


def warn_of_mixtures(model: Any, results: Sequence[MixturesResult], weights: Array) -> None:
    """Warn of machines whose mixtures are constant, or whose samples are all at their bound."""
    if model.n_fallbacks_:
        warn_caller(
            f'solver="smo" stalled on {model.n_fallbacks_} of the convex problems; the interior point method '
            'solved them instead, as exactly. solver="ipm" avoids the detour.'
        )
    for name, result in zip(model.machine_names_, results, strict=True):
        used = sum(np.abs(s).sum(axis=0) for s in result.point.coefficients) / 2.0
        if result.objective > (1.0 + _AT_BOUND) * result.indifferent:
            warn_caller(
                f"the mixtures for class {name!r} are worse than mixtures that say the same of every sample "
                f"(objective {result.objective:.3g}, above {result.indifferent:.3g}): the "
                "kernels are too different in size. Normalise them to unit diagonal, or scale the columns."
            )
        elif not used.any():
            warn_caller(
                f"the mixtures for class {name!r} use no sample: the margin is met without. Raise margin, or "
                "normalise the kernels to unit diagonal."
            )
        elif np.isfinite(model.C) and (used >= (1.0 - _AT_BOUND) * model.C * weights).all():
            warn_caller(
                f"every sample is at its bound C={model.C:g} for class {name!r}: all fall short of the "
                "margin, and the offsets are determined but for an interval. Raise C."
            )
