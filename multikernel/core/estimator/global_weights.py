"""The steps of a fit with one set of kernel weights for each machine: validate, kernels, solve, store.

Models are lists of machines (one for a regressor, one for each class or pair of a classifier) over common
support samples, each with a row of kernel weights; only support samples and kernels with weight are kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from ..._typing import Array
from ..._validation import (
    warn_caller,
)
from ...views import KernelBank, MissingViewsWarning, make_bank
from ...views.memory import MemoryEstimate
from ...views.tables import as_table
from ...views.view import (
    as_views,
    kept_views,
    place_views,
)
from ..callbacks import progress_of
from ..fitted import DualKernels, FittedKernels, KernelFactor, prediction_cost, sample_scales
from ..folds import random_source
from ..inputs import (
    Samples,
    check_costs,
    check_limit,
    check_norm,
    lower_bounds,
)
from ..kernel_checks import Memory, remembered, tell_of_memorizing
from ..missing_views import (
    FILL_OF,
    learn_rescaled,
    missing_of,
    require_whole_sample,
)
from ..optim.loop import Options, Status
from ..stack.sums import stack_diagonals
from ..svm.losses import JointHinge, Loss
from ..weights.learn import learn_weights
from ..weights.loop import SolveResult
from ..weights.second import Exact, is_lost, lost_shares
from ..weights.subset import Allowed, learn_subset_weights
from .base import STORAGE, KernelEstimator, on_rows, worst_status

_TOO_LARGE = (
    "the solution is too large for floating point: the kernels, or the targets of a regression, have values "
    'of very different scale. Normalize the kernels, by normalize="trace" of each View or unit_trace(K) of a '
    "matrix, or rescale the targets."
)


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
    memories: Sequence[Memory | None] = ()  # of classifiers
    remedy: str = ""  # where rounding keeps it from its tolerance

    def coefficients(self, n_samples: int) -> Array:
        """What the kernels of all the samples are multiplied with (n_machines, n_samples)."""
        duals = self.duals(n_samples)
        if self.scales is not None:
            duals[:, self.rows] *= self.scales
        return duals

    def factors(self, first: int) -> list[KernelFactor]:
        """The kernels that predict by factors, whose ``support`` are samples; ``first`` machine as number."""
        machines = first + np.arange(len(self.names))
        found = []
        for m, part in self.result.factors.items():
            _, pivots, root, basis = part.factor
            places = np.zeros(0, np.intp) if pivots is None else self.rows[pivots]
            if root is not None and self.scales is not None:
                root = root / self.scales[pivots]
            found.append(KernelFactor(m, machines, places, root, basis, part.coef))
        return found

    def duals(self, n_samples: int) -> Array:
        """Dual variables of all the samples (n_machines, n_samples)."""
        full = np.zeros((len(self.names), n_samples))
        full[:, self.rows] = self.result.duals
        return full


def kernel_factors(solutions: Sequence[Solved]) -> list[KernelFactor]:
    """The kernels of all solutions that predict by factors, whose ``support`` are samples."""
    firsts = np.cumsum([0] + [len(solved.names) for solved in solutions])
    return [
        factor
        for solved, first in zip(solutions, firsts, strict=False)
        for factor in solved.factors(int(first))
    ]


def require_finite(result: Any) -> None:
    """Refuse a solution that floating point does not hold."""
    if not result.is_finite:
        raise ValueError(_TOO_LARGE)


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Refuse a problem whose numbers overflow before a solution is found."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(_TOO_LARGE) from error
    except ValueError as error:
        if "infs or NaNs" not in str(error):  # as the linear algebra of SciPy and NumPy calls them
            raise
        raise ValueError(_TOO_LARGE) from error


# ---------------------------------------------------------------------- steps of a fit
class BaseMKL(KernelEstimator):
    """Parameters and methods common to all estimators with global kernel weights.

    A family may also set or override:

    - ``_has_factors`` : whether there is a low-rank route.
    - ``_lean`` : whether a fit needs little more than the weighted sum beside the stack.
    - ``max_kernels`` : a parameter of families whose problems may be limited to a subset of the kernels.
    - ``_why_not_low_rank()`` : why the problem cannot be solved on factors; empty if it can.
    - ``_store(solutions, samples)``, ``_store_results(results, names)`` : what a fit keeps beyond machines.
    """

    norm: float
    costs: Any
    max_kernels: Any = None
    verbose: int
    random_state: Any
    gram_: str
    missing_: str
    memory_: MemoryEstimate
    kept_views_: list[str]
    kernel_factors_: Sequence[KernelFactor] = ()  # also of models that were saved before it was there
    _storage_options: tuple[str, ...] = STORAGE
    _keeps_views = True
    _adds_kernels = True
    _has_factors = False
    _allowed: Allowed | None = None  # subsets of kernels, during a fit
    _lean = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan |= self._storage.missing not in ("auto", "error")
        return tags

    # ------------------------------------------------------------------ kernels
    def _why_not_low_rank(self) -> str:
        """Why the problem cannot be solved on factors, with the remedy; empty if it can."""
        if self.max_kernels is None:
            return ""
        return (
            "max_kernels has no low-rank route: it compares subsets of Gram matrices. Leave max_kernels out, "
            "use fewer samples, or use gram='dense'."
        )

    @property
    def _place_of_stack(self) -> str:
        """Where the training stack is kept."""
        if self._storage.gram == "auto":
            return "memmap" if getattr(self, "gram_", None) == "memmap" else "dense"
        return self._storage._place

    def _fit_kernels(self, X: Any, samples: Samples, *, on_demand: bool = False) -> Any:
        """The training stack (n_kernels, n, n) of the samples; the bank is kept for prediction.

        With `on_demand` it may be one that writes its kernels when they are asked for.
        """
        self._check_numerics()
        check_norm(self.norm)
        self._check_storage()
        self.missing_ = self._choose_missing(X)
        place = self._place_of_stack
        fill = FILL_OF[self.missing_]
        self._bank = make_bank(self.kernels, gram=place, lean=self._lean, fill=fill, **self._bank_options)
        Ks = self._fit_stack(X, samples, on_demand=on_demand)
        self.gram_, self.memory_ = place, self._bank.memory_
        filling: Any = getattr(self._bank, "filling_", None)
        if not getattr(filling, "converged", True):
            warn_caller(
                f"the completion of the kernels still changes entries by {filling.change:.1e} (of a mean "
                "diagonal of 1). They are positive semidefinite all the same; missing='mean' does not "
                "iterate.",
                ConvergenceWarning,
            )
        self._costs = check_costs(self.costs, self.view_names_)
        self._tell_of_kernels(Ks, costs=self._costs)
        placed = place_views(as_views(self.kernels), as_table(X)) if kept_views(self.kernels) else []
        self._floor = lower_bounds(placed, self.view_names_, float(self.norm))
        self.kept_views_ = [self.view_names_[m] for m in np.flatnonzero(self._floor)]
        self._allowed = check_limit(self.max_kernels, self.view_names_, self._floor, place)
        return Ks

    def _choose_missing(self, X: Any) -> str:
        """What to do with samples that lack views, as :func:`missing_of` says; what "auto" fills is told."""
        asked, chosen = self._storage.missing, missing_of(self._storage, X)
        if asked != "auto" or chosen == "error":
            return chosen
        warn_caller(
            "some samples lack a table after the outer join: the kernels of the tables that they have are "
            "rescaled to stand for all (missing='renormalize'). X.counts has the number of samples that each "
            "table lacks. Choose another way, or silence this warning, by KernelBank(kernels, missing=...).",
            MissingViewsWarning,
        )
        return chosen

    # ------------------------------------------------------------------ solve and store
    def _solve_machines(
        self, Ks: Array, rows: Array, names: list[str], losses: Sequence[Loss | JointHinge], **settings: Any
    ) -> Solved:
        """Machines on some of the samples; scaled where samples lack views and nothing completes them."""
        part = on_rows(Ks, rows)
        if self.missing_ == "absent":
            require_whole_sample(self._bank.present_[rows])
        has = self._bank.present_[rows] if self.missing_ == "renormalize" else None
        if has is None or has.all():
            result = self._learn(part, losses, exact=self._explicit_features(rows), **settings)
            reference = None if has is None else result.weights
            remedy = self._remedy_of_scale(part, losses) if result.status == Status.STALLED else ""
            return Solved(result, rows, names, None, reference, remembered(part, losses, result), remedy)
        start = settings.pop("start", None)
        result, reference = learn_rescaled(
            lambda scaled, warm: self._learn(scaled, losses, start=warm, **settings),
            part, has, start, self._place_of_stack,
        )  # fmt: skip
        return Solved(result, rows, names, sample_scales(has, reference), reference)

    def _remedy_of_scale(self, Ks: Array, losses: Sequence[Loss | JointHinge]) -> str:
        """What to do about the kernel that double precision holds least; nothing where it holds all."""
        sizes = stack_diagonals(Ks).mean(axis=1)
        shares = lost_shares(sizes, Ks.shape[1], losses)
        worst = int(np.argmax(shares))
        if not is_lost(float(shares[worst])):
            return ""
        name, size = self.view_names_[worst], f"{sizes[worst]:.1e}"
        how = (
            f"Divide it by {size}"
            if self._precomputed
            else 'Standardize its columns, or normalize it by KernelBank(kernels, normalize="trace")'
        )
        return (
            f"Kernel {name!r} is too large for this {self._easier.split()[-1]}: its mean diagonal is {size}, "
            "and double precision does not hold the solution. "
            f"{how}, {self._easier}, or raise tol."
        )

    def _explicit_features(self, rows: Array) -> Exact | None:
        """The explicit features of a kernel at some of the samples, by its number."""
        bank = self._bank
        if not isinstance(bank, KernelBank) or self.missing_ != "error":
            return None

        def features(kernel: int) -> Array | None:
            Z = bank.explicit_features(kernel)
            return None if Z is None else Z[rows]

        return features

    def _learn(
        self,
        Ks: Array,
        losses: Sequence[Loss | JointHinge],
        *,
        learn_ridge: bool = False,
        label: str = "",
        start: SolveResult | None = None,
        exact: Exact | None = None,
        tol: float | None = None,
    ) -> SolveResult:
        options = self._options(self._draw_seed(), label)
        problem: dict[str, Any] = {
            "norm": float(self.norm),
            "costs": self._costs,
            "floor": self._floor,
            "options": options if tol is None else replace(options, tol=tol),
            "exact": exact,
        }
        if self._allowed is None:
            result = learn_weights(Ks, losses, learn_ridge=learn_ridge, start=start, **problem)
        else:
            result = learn_subset_weights(np.asarray(Ks), losses, self._allowed, **problem)
        if result.suspicious or result.status == Status.INDEFINITE:
            self._require_psd(Ks, np.flatnonzero(result.weights))
        if result.status != Status.INSEPARABLE:
            require_finite(result)
        return result

    def _draw_seed(self) -> int:
        return 0 if self.random_state is None else int(random_source(self.random_state).randint(2**31))

    def _options(self, seed: int, label: str) -> Options:
        progress = progress_of(self, label)
        return Options(tol=self.tol, max_iter=self.max_iter, seed=seed, callback=progress)

    def _store(self, solutions: Sequence[Solved], samples: Samples) -> None:
        """Keep the machines in compact form: support rows and active kernels only."""
        duals = np.concatenate([solved.duals(samples.rows.size) for solved in solutions])
        self._store_results([solved.result for solved in solutions], [solved.names for solved in solutions])
        self._remedy = next((solved.remedy for solved in solutions if solved.remedy), "")
        factors = kernel_factors(solutions)
        used = np.any(duals, axis=0)
        for factor in factors:
            used[factor.support] = True
        # a pivot is the first of equal rows: shares of its coefficients would change its factor
        pivots = samples.rows[np.concatenate([factor.support for factor in factors])] if factors else []
        spread = samples.spread(duals)
        self.support_ = np.union1d(np.flatnonzero(spread.any(axis=0)), pivots).astype(np.intp)
        self.dual_coef_ = spread[:, self.support_]
        self.kernel_factors_ = [
            replace(factor, support=np.searchsorted(self.support_, samples.rows[factor.support]))
            for factor in factors
        ]
        self.total_cost_ = prediction_cost(
            self.machine_weights_, self.dual_coef_, self._costs, self.kernel_factors_
        )
        kept = np.flatnonzero(used)
        kept = kept if kept.size else np.array([0])  # a model without support samples is its intercept
        coefficients = np.concatenate([s.coefficients(samples.rows.size) for s in solutions])[:, kept]
        scaled = self.missing_ == "renormalize"
        reference = np.array([s.reference for s in solutions for _ in s.names]) if scaled else None
        active = np.flatnonzero(self.machine_weights_.any(axis=0))
        active = active if active.size else np.array([0])  # a learned 1/C may have all the weight
        counts_all = self._precomputed and self.missing_ == "error"  # else those that count, in their order
        bank = self._bank.restrict(samples.rows[kept] if counts_all else kept, active)
        notes_absent = self.missing_ in ("renormalize", "absent")
        self._support_rows = samples.rows[kept]  # of fit, in the order of the bank; of equal ones the first
        placed = tuple(replace(factor, support=np.searchsorted(kept, factor.support)) for factor in factors)
        part = DualKernels(bank, coefficients, self.machine_weights_, reference, notes_absent, placed)
        self._fitted = FittedKernels([part], self.machine_weights_.shape)
        tell_of_memorizing([m for s in solutions for m in s.memories], self.view_names_, self.kernel_weights_)
        del self._bank
        self.__dict__.pop("_allowed", None)

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
        kept = {"kept": np.isin(self.view_names_, getattr(self, "kept_views_", []))}
        return {"weight": self.kernel_weights_, **(kept if kept["kept"].any() else {}), "cost": self._costs}
