"""Our side: views, estimators that tell the times of the two stages of a fit, and the solver alone."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.child import timed
from benchmarks.scale.data import N_VIEWS, view_columns, view_name
from benchmarks.scale.objective import Problem, Verdict, judge
from multikernel import KernelBank, MKLClassifier, MKLRidge, View
from multikernel.core.optim.loop import Options
from multikernel.core.svm.primal import PrimalHinge, PrimalLoss, PrimalSquaredError, PrimalSquaredHinge
from multikernel.core.weights.factors import BlockResult, learn_block_weights
from multikernel.kernels import Gaussian
from multikernel.rows import LocalRows

FloatArray = NDArray[np.float64]

LOSSES: dict[str, PrimalLoss] = {
    "hinge": PrimalHinge(),
    "squared_hinge": PrimalSquaredHinge(),
    "squared": PrimalSquaredError(),
}


def views(approximation: str | None = None) -> list[View]:
    """One Gaussian kernel for each view of the generated rows, its width from the median distance."""
    options: dict[str, Any] = {"standardize": False, "normalize": None, "approximation": approximation}
    return [View(view_name(m), Gaussian(), view_columns(m), **options) for m in range(N_VIEWS)]


class _Watched:
    """Keeps the times of the two stages, the solver's result and the factors."""

    def fit(self, *arguments: Any, **options: Any) -> Any:
        """Fit, with the two stages timed where the module of the estimator calls them."""
        base = type(self).__mro__[2]
        module = sys.modules[base.__module__]
        stages = {
            "fit_factors": ("factor_times", "factors"),
            "learn_on_factors": ("solver_times", "result"),
        }
        with ExitStack() as stack:
            for name, kept in stages.items():
                stage = partial(self._watch, getattr(module, name), kept)
                stack.enter_context(patch.object(module, name, stage))
            return super().fit(*arguments, **options)  # type: ignore[misc]

    def _watch(self, stage: Any, kept: tuple[str, str], *arguments: Any, **options: Any) -> Any:
        times, found = timed(lambda: stage(*arguments, **options), collect=False)
        setattr(self, kept[0], times)
        setattr(self, kept[1], found)
        return found


class WatchedClassifier(_Watched, MKLClassifier):
    """An MKLClassifier with `factor_times`, `solver_times`, `result` and `factors`."""


class WatchedRidge(_Watched, MKLRidge):
    """The same of an MKLRidge."""


def watched(loss: str, C: float = 1.0, *, rank: int, dtype: str, **settings: Any) -> Any:
    """The estimator of a loss on factors; the ridge has the price 1/C."""
    bank = KernelBank(views(), gram="low_rank", rank=rank, dtype=dtype)
    settings = {"kernels": bank, "random_state": 0} | settings
    if loss == "squared":
        return WatchedRidge(alpha=1.0 / C, **settings)
    return WatchedClassifier(loss=loss, C=C, **settings)


def judge_fit(model: Any, y: FloatArray, loss: str, C: float) -> Verdict:
    """What the judge says of a fit in this process, on the factors of the fit."""
    parts = model.factors.rows.map(_factors)
    problem = Problem(lambda: iter(parts), _offsets(model), y, C, loss, float(model.norm))
    return judge_result(problem, model.result)


def judge_result(problem: Problem, result: BlockResult) -> Verdict:
    """What the judge says of coefficients, and of the witness that the solver names for its lower bound."""
    witness = result.witness
    return judge(
        problem, result.coefficients[0], width=witness.smoothing or None, witness=witness.coefficients[0]
    )


def solve(Z: NDArray[np.floating], y: FloatArray, problem: Problem, tol: float) -> BlockResult:
    """The solver alone, on ready factors."""
    rows = LocalRows((Z, y[:, None], np.full((len(y), 1), problem.C)))
    return learn_block_weights(
        rows, problem.offsets, LOSSES[problem.loss], n_tasks=1, norm=problem.norm, options=Options(tol=tol)
    )


def _factors(block: Any) -> NDArray[np.floating]:
    return block.parts[0]


def _offsets(model: Any) -> tuple[int, ...]:
    """Of all views, those without weight included."""
    return tuple(int(offset) for offset in model.factors.bank.offsets_)
