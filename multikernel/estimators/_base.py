"""What every estimator with learned kernel weights shares: validate, build the kernels, solve, store.

A fitted model is a list of machines (one for a regressor, one for each class or pair of a classifier), kept
together as one matrix of dual coefficients over the support samples of all of them and one row of kernel
weights for each. Only support rows and kernels with weight are kept.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state

from .._validation import check_choice
from ..criteria import JointHinge, Loss
from ..solvers import Options, SolveResult, Status, learn_weights
from ..views import make_bank
from ..views.memory import MemoryEstimate
from ._about import MKL
from ._cost import prediction_cost
from ._estimator import KernelEstimator, on_rows, worst_status
from ._fitted import DualKernels, FittedKernels
from ._missing import (
    FILL_OF,
    MISSING,
    learn_rescaled,
    require_whole_sample,
    sample_scales,
    warn_unless_completed,
)
from ._parameters import check_costs, check_norm
from ._progress import Progress
from ._samples import Samples

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Solved:
    """One solution of the weight learner: ``rows`` are its samples, ``names`` its machines.

    Of samples scaled because they lack views: ``scales`` and the weights behind them, ``reference``.
    """

    result: SolveResult
    rows: Array
    names: list[str]
    scales: Array | None = None
    reference: Array | None = None

    def coefficients(self, n_samples: int) -> Array:
        """What the kernels of all the samples are multiplied with (n_machines, n_samples)."""
        duals = self.duals(n_samples)
        if self.scales is not None:
            duals[:, self.rows] *= self.scales
        return duals

    def duals(self, n_samples: int) -> Array:
        """Dual variables of all the samples (n_machines, n_samples)."""
        full = np.zeros((len(self.names), n_samples))
        full[:, self.rows] = self.result.duals
        return full


_TOO_LARGE = (
    "the solution is too large for floating point: kernels and targets differ too much in scale. Rescale the "
    "targets, or normalise the kernels (transforms='unit_trace')."
)


def require_finite(result: Any) -> None:
    """Refuse a solution that floating point does not hold."""
    if not result.is_finite:
        raise ValueError(_TOO_LARGE)


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Refuse a problem whose numbers leave floating point on the way to a solution."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(_TOO_LARGE) from error
    except ValueError as error:
        if "infs or NaNs" not in str(error):  # as the linear algebra of SciPy and NumPy calls them
            raise
        raise ValueError(_TOO_LARGE) from error


class BaseMKL(KernelEstimator):
    """Parameters and methods common to all estimators with global kernel weights.

    Hooks beside those of :class:`KernelEstimator`: ``_lean``, whether a fit needs little more than the
    weighted sum beside the stack, and ``_why_not_low_rank()``.
    """

    about = MKL
    gram: str
    gram_: str
    memory_: MemoryEstimate
    _adds_kernels = True
    _lean = True  # beside the stack, a fit needs little more than the weighted sum

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: float = 1.0,
        costs: Any = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        missing: str = "error",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.costs = costs
        self.tol = tol
        self.max_iter = max_iter
        self.psd = psd
        self.gram = gram
        self.dtype = dtype
        self.missing = missing
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    # ------------------------------------------------------------------ kernels
    def _why_not_low_rank(self) -> str:
        """Why the problem cannot be solved on factors, with the remedy; empty if it can."""
        return ""

    @property
    def _place_of_stack(self) -> str:
        """Where the training stack is kept."""
        if self.gram != "auto":
            return self.gram
        return "memmap" if getattr(self, "gram_", None) == "memmap" else "dense"

    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        """The training stack (n_kernels, n, n) of the samples; the bank is kept for prediction."""
        self._check_numerics()
        check_norm(self.norm)
        fill = FILL_OF[check_choice("missing", self.missing, MISSING)]
        self._bank = make_bank(
            self.kernels,
            dtype=self.dtype,
            gram=self._place_of_stack,
            psd=self.psd,
            lean=self._lean,
            fill=fill,
        )
        Ks = self._fit_stack(X, samples)
        self.gram_, self.memory_ = self._place_of_stack, self._bank.memory_
        warn_unless_completed(getattr(self._bank, "filling_", None))
        self._costs = check_costs(self.costs, self.view_names_)
        return Ks

    # ------------------------------------------------------------------ solve and store
    def _solve_machines(
        self, Ks: Array, rows: Array, names: list[str], losses: Sequence[Loss | JointHinge], **settings: Any
    ) -> Solved:
        """Machines on some of the samples; scaled where samples lack views and nothing completes them."""
        part = on_rows(Ks, rows)
        if self.missing == "absent":
            require_whole_sample(self._bank.present_[rows])
        if self.missing != "renormalise":
            return Solved(self._learn(part, losses, **settings), rows, names)
        has = self._bank.present_[rows]
        if has.all():
            result = self._learn(part, losses, **settings)
            return Solved(result, rows, names, reference=result.weights)
        start = settings.pop("start", None)
        result, reference = learn_rescaled(
            lambda scaled, warm: self._learn(scaled, losses, start=warm, **settings),
            part, has, start, self._place_of_stack,
        )  # fmt: skip
        return Solved(result, rows, names, sample_scales(has, reference), reference)

    def _learn(
        self,
        Ks: Array,
        losses: Sequence[Loss | JointHinge],
        *,
        learn_ridge: bool = False,
        label: str = "",
        start: SolveResult | None = None,
    ) -> SolveResult:
        result = learn_weights(
            Ks,
            losses,
            norm=float(self.norm),
            costs=self._costs,
            learn_ridge=learn_ridge,
            options=self._options(self._draw_seed(), label),
            start=start,
        )
        if result.suspicious or result.status == Status.INDEFINITE:
            self._require_psd(Ks, np.flatnonzero(result.weights))
        if result.status != Status.INSEPARABLE:
            require_finite(result)
        return result

    def _draw_seed(self) -> int:
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))

    def _options(self, seed: int, label: str) -> Options:
        progress = Progress(label, self.verbose, self.callback)
        return Options(tol=self.tol, max_iter=self.max_iter, seed=seed, callback=progress)

    def _store(self, solutions: Sequence[Solved], samples: Samples) -> None:
        """Keep the machines in compact form: support rows and active kernels only."""
        duals = np.concatenate([solved.duals(samples.rows.size) for solved in solutions])
        self._store_results([solved.result for solved in solutions], [solved.names for solved in solutions])
        spread = samples.spread(duals)
        self.support_ = np.flatnonzero(spread.any(axis=0))
        self.dual_coef_ = spread[:, self.support_]
        self.total_cost_ = prediction_cost(self.machine_weights_, self.dual_coef_, self._costs)
        kept = np.flatnonzero(duals.any(axis=0))
        kept = kept if kept.size else np.array([0])  # a model without support samples is its intercept
        coefficients = np.concatenate([s.coefficients(samples.rows.size) for s in solutions])[:, kept]
        scaled = self.missing == "renormalise"
        reference = np.array([s.reference for s in solutions for _ in s.names]) if scaled else None
        active = np.flatnonzero(self.machine_weights_.any(axis=0))
        active = active if active.size else np.array([0])  # a learned 1/C may have all the weight
        counts_all = self._precomputed and self.missing == "error"  # else those that count, in their order
        bank = self._bank.restrict(samples.rows[kept] if counts_all else kept, active)
        notes_absent = self.missing in ("renormalise", "absent")
        part = DualKernels(bank, coefficients, self.machine_weights_, reference, notes_absent)
        self._fitted = FittedKernels([part], self.machine_weights_.shape)
        del self._bank

    def _store_results(self, results: Sequence[Any], names: Sequence[list[str]]) -> None:
        """What solutions say of the weights, the intercepts and themselves; names of the machines of each."""
        self.machine_names_ = [name for of_result in names for name in of_result]
        self.machine_weights_ = np.repeat(
            [r.weights for r in results], [len(of_result) for of_result in names], axis=0
        )
        self.kernel_weights_ = np.mean([r.weights for r in results], axis=0)
        self.intercept_ = np.concatenate([r.intercepts for r in results])
        self.objective_ = float(sum(r.objective for r in results))
        self.dual_gap_ = float(max(r.gap for r in results))
        self.n_iter_ = max(1, max(r.n_iter for r in results))
        self.status_ = worst_status([r.status for r in results])
        self.history_ = [
            {**entry, "machine": number} for number, r in enumerate(results) for entry in r.history
        ]

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "cost": self._costs}
