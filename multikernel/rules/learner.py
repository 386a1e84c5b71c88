"""A weight learner: kernels and targets in, kernel weights out, for any kernel estimator.

    learner.fit(kernels, y).kernel_weights_        K = learner.combine(kernels)

A new rule is a class with its parameters, what it says `about` itself (its row in the table of methods), and
`_learn`, which returns the weights (:class:`Learned`). If its kernel is not Σ_m η_m K_m, it says how it is
combined, in `combine_rows`. :class:`multikernel.CombinedKernelClassifier` and its kin put an estimator on
top.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import (
    all_finite,
    check_number,
    check_positive_integer,
    check_real_matrix,
    check_task,
    is_frame,
    new_by_present_names,
    raise_non_finite_gram,
    refuse_old_names,
    warn_caller,
)
from ..core.about import About
from ..core.limits import check_common, limits_of
from ..core.optim.loop import Options, Result, Status
from ..core.stack.sums import mean_diagonals
from ..kernels import Kernel
from ..views import stack_kernels
from ..views.precomputed import PrecomputedBank
from ..views.stacks import match_stack, names_of
from ..viz.card import html_inner, mimebundle, params_html
from .solver.products import combine_powers
from .targets import TASKS, Targets, as_targets

_CALM = (Status.OPTIMAL, Status.INTERRUPTED)
COMBINATIONS = ("sum", "product")


@dataclass(frozen=True)
class Learned(Result):
    """What a learner found.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
    objective : float, the optimised value; nan for a rule that optimises nothing
    gap : float, the certificate: relative duality gap, or stationarity where the problem is not convex
    n_iter : int
    status : Status
    history : list of dict
    """

    weights: Array
    _: KW_ONLY
    objective: float = float("nan")
    gap: float = 0.0
    n_iter: int = 1
    status: Status = Status.OPTIMAL

    @classmethod
    def of(cls, found: Result, weights: Array, **changes: Any) -> "Learned":
        """Weights with what a solver says of itself, but for some changes."""
        told = {name: getattr(found, name) for name in ("objective", "gap", "n_iter", "status", "history")}
        return cls(weights, **(told | changes))


class WeightLearner(BaseEstimator):
    """Base of all weight learners.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
    kernel_shares_ : array of shape (n_kernels,)
        Each kernel's part of the learned kernel's trace, whatever its scale; where that is no sum of kernels,
        its part of all the weight.
    objective_ : float, the optimised value, nan for a rule that optimises nothing
    dual_gap_ : float, the certificate of the weights: see the learner
    n_iter_ : int
    status_ : str
    history_ : list of dict
    view_names_ : list of str
    n_train_ : int, the number of samples that the weights were learned from
    """

    __new__ = new_by_present_names
    about: ClassVar[About]
    _repr_html_inner = html_inner
    _repr_mimebundle_ = mimebundle
    _get_params_html = params_html
    learns_from: ClassVar[tuple[str, ...]] = ("classification", "regression")
    certificate: ClassVar[str] = "optimality"  # what dual_gap_ certifies, or "stationarity"
    is_linear: ClassVar[bool] = True  # whether the learned kernel is Σ_m η_m K_m
    kernel_weights_: Array
    view_names_: list[str]
    n_train_: int
    tol: float  # of learners that have these two
    max_iter: int

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse tasks in ``learns_from`` that do not exist."""
        super().__init_subclass__(**options)
        for task in cls.learns_from:
            check_task(task, TASKS, f"{cls.__name__}.learns_from")

    def __init__(self) -> None:
        """Without parameters, unless a learner has some."""

    # ------------------------------------------------------------------ what users call
    def set_params(self, **params: Any) -> "WeightLearner":
        """Set parameters, as in scikit-learn.

        Parameters
        ----------
        **params : dict
        """
        refuse_old_names(type(self), params)
        super().set_params(**params)
        return self

    def fit(self, kernels: Any, y: Any = None, *, task: str = "auto") -> "WeightLearner":
        """Learn the weights.

        Parameters
        ----------
        kernels : array of shape (n_samples, n_samples, n_kernels), or list or dict of n_kernels arrays
            Gram matrices, symmetric and positive semidefinite.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for values, default=None
            Labels or values of the samples.
        task : {"auto", "classification", "regression", "unsupervised"}, default="auto"
            What y is. "auto": values where y holds fractions or has two dimensions, else classes.
        """
        self._fit_kernels(kernels, y, task)
        return self

    def combine(self, kernels: Any) -> Array:
        """The learned kernel between new samples and the training samples, (n_samples, n_train).

        Parameters
        ----------
        kernels : array of shape (n_samples, n_train, n_kernels), or list or dict of n_kernels arrays
            Kernels that have names, as in a dict, are found by these if they had names in ``fit``.
        """
        return self.combine_rows(enumerate(np.moveaxis(self._new_stack(kernels), 2, 0)))

    def _new_stack(self, kernels: Any) -> Array:
        """The checked stack (n_samples, n_train, n_kernels) between new and training samples."""
        check_is_fitted(self, "kernel_weights_")
        stack = kernels if isinstance(kernels, np.ndarray | Mapping) else stack_kernels(kernels)
        stack = match_stack(stack, self.view_names_ if self._is_named else None)
        stack = check_real_matrix(stack, "the stack of kernels")
        stack = stack[:, :, None] if stack.ndim == 2 else stack
        m = self.kernel_weights_.size
        if stack.ndim != 3 or stack.shape[1:] != (self.n_train_, m):
            raise ValueError(
                "kernels must be between any samples and those of fit, shape "
                f"(n_samples, n_train={self.n_train_}, n_kernels={m}); got shape {stack.shape}."
            )
        for K, name in zip(np.moveaxis(stack, 2, 0), self.view_names_, strict=True):
            if not all_finite(K):
                raise_non_finite_gram(K, f"kernel {name!r}")
        return stack

    def fit_combine(self, kernels: Any, y: Any = None, *, task: str = "auto") -> Array:
        """Learn the weights; the learned kernel of the training samples, (n, n)."""
        return self.combine_training(self._fit_kernels(kernels, y, task))

    def _fit_kernels(self, kernels: Any, y: Any, task: str) -> Array:
        """Learn from what a user calls kernels and y; the stack (n_kernels, n, n)."""
        Ks, names = kernels_first(kernels)
        self.fit_stack(Ks, as_targets(y, Ks.shape[1], task, self.learns_from), names)
        return Ks

    # ------------------------------------------------------------------ what estimators call
    def fit_stack(self, Ks: Array, targets: Targets, names: Sequence[str] | None = None) -> "WeightLearner":
        """Learn from a checked stack, kernels first (n_kernels, n, n)."""
        if targets.task not in self.learns_from:
            given = "no y" if targets.task == "unsupervised" else f"a y for {targets.task}"
            raise ValueError(
                f"{type(self).__name__} is for {' or '.join(self.learns_from)}; got {given}. "
                "Choose another learner, or another estimator for this one."
            )
        self.view_names_ = [f"kernel-{m}" for m in range(len(Ks))] if names is None else list(names)
        self._is_named, self.n_train_ = names is not None, targets.n
        check_common(self)
        with limits_of(self):
            learned = self._solve(Ks, targets)
        self._require_weights(learned.weights)
        self.kernel_weights_ = learned.weights
        self.kernel_shares_ = self._shares(Ks)
        self.objective_, self.dual_gap_ = float(learned.objective), float(learned.gap)
        self.n_iter_, self.status_ = learned.n_iter, str(learned.status)
        self.history_ = learned.history
        self._warn_unless_converged()
        return self

    def combine_training(self, Ks: Array) -> Array:
        """The learned kernel of the training samples (n, n), from the stack (n_kernels, n, n)."""
        return self.combine_rows(enumerate(Ks))

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The learned kernel from pairs of a number and its kernel (n_samples, n_train), one at a time.

        Kernels that are not `active_kernels` need not be among them. Nothing given is modified.
        """
        total: Array | None = None
        for m, K in kernels:
            part = np.multiply(K, self.kernel_weights_[m], dtype=np.float64)
            total = part if total is None else np.add(total, part, out=total)
        assert total is not None, "no kernel is active"
        return total

    @property
    def active_kernels(self) -> Array:
        """Numbers of the kernels that :meth:`combine_rows` reads."""
        return np.flatnonzero(self.kernel_weights_)

    # ------------------------------------------------------------------ what a learner defines
    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        raise NotImplementedError

    def _shares(self, Ks: Array) -> Array:
        parts = self.kernel_weights_ / np.abs(self.kernel_weights_).max()
        if self.is_linear:
            parts = self.kernel_weights_ * mean_diagonals(Ks)
        return np.asarray(parts / np.abs(parts).sum())

    def _options(self) -> Options:
        """Numerics from the parameters ``tol`` and ``max_iter`` of learners that have these."""
        tol = check_number("tol", self.tol, above=0.0)
        return Options(tol=tol, max_iter=check_positive_integer("max_iter", self.max_iter))

    # ------------------------------------------------------------------ checks
    def _solve(self, Ks: Array, targets: Targets) -> Learned:
        try:
            return self._learn(Ks, targets)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"{self!r}: its equations are singular to rounding ({error}). Bring the parameters nearer to "
                'their defaults, or normalize the kernels: normalize="trace" of each View, or unit_trace(K) '
                "of a matrix."
            ) from error

    def _require_weights(self, weights: Array) -> None:
        if not np.isfinite(weights).all():
            raise ValueError(
                f"{self!r}: a weight is not finite; kernels and targets differ too much in scale, or a "
                'parameter is extreme. Normalize the kernels (normalize="trace" of each View, or '
                "unit_trace(K) of a matrix), or bring the parameters nearer to their defaults."
            )
        if not weights.any():
            raise ValueError(
                f"{type(self).__name__} gives no kernel any weight: none has anything in common with the "
                "targets. Look at the kernels, or use MeanRule()."
            )

    def _warn_unless_converged(self) -> None:
        if self.status_ not in _CALM:
            limit = "max_time" if self.status_ == Status.MAX_TIME else "max_iter"
            warn_caller(
                f"{type(self).__name__} ended as {self.status_!r} after {self.n_iter_} iterations with a gap "
                f"of {self.dual_gap_:.1e}. Raise {limit} or tol, or normalise the kernels.",
                ConvergenceWarning,
            )


class TwoClassLearner(WeightLearner):
    """A learner whose criterion knows two classes: of more, the mean over each class against the rest.

    The kernel of each class is scaled to a mean diagonal of 1 before, so that the scales of the kernels do
    not matter; the objective is the sum, the gap the largest.
    """

    learns_from = ("classification",)

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        parts = [self._learn_two(Ks, signs) for signs in targets.signs]
        if len(parts) == 1:
            return parts[0]
        sizes = mean_diagonals(Ks)
        weights = np.mean([part.weights / max(part.weights @ sizes, 1e-300) for part in parts], axis=0)
        worst = max(parts, key=lambda part: (part.status not in _CALM, part.gap))
        return Learned(
            weights,
            objective=sum(part.objective for part in parts),
            gap=max(part.gap for part in parts),
            n_iter=max(part.n_iter for part in parts),
            status=worst.status,
            history=[{**entry, "machine": k} for k, part in enumerate(parts) for entry in part.history],
        )

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        """The weights of two classes, ±1."""
        raise NotImplementedError


class SumOrProductLearner(WeightLearner):
    """A learner of weights of a sum or of exponents of a product, as its parameter ``combination`` says.

    sum        K_η = Σ_m η_m K_m
    product    K_η = ∘_m (K_m / s_m)^{η_m}   (entry by entry), s_m the mean of K_m's diagonal
    """

    combination: str
    _scales: Array  # s

    @property
    def certificate(self) -> str:  # type: ignore[override]
        """What ``dual_gap_`` certifies."""
        return "optimality" if self.is_linear else "stationarity"

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether the learned kernel is Σ_m η_m K_m."""
        return self.combination != "product"

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The sum, or the product of powers."""
        if self.is_linear:
            return super().combine_rows(kernels)
        return combine_powers(kernels, self.kernel_weights_, self.view_names_, self._scales)


def kernels_first(kernels: Any) -> tuple[Array, list[str] | None]:
    """The checked stack (m, n, n) of an array (n, n, m) or (n, n), or of a list or dict; and the names.

    Every kernel must be finite, symmetric, positive semidefinite and not constant.
    """
    _require_grams(kernels)
    stack = kernels if isinstance(kernels, np.ndarray | Mapping) else stack_kernels(kernels)
    return PrecomputedBank().fit_stack(stack), names_of(stack)


def _require_grams(kernels: Any) -> None:
    """Refuse what is most often given instead: a table of features, kernel functions, kernels first."""
    table = "For a table of features put the learner into CombinedKernelClassifier([...], learner)."
    members = list(kernels.values()) if isinstance(kernels, Mapping) else kernels
    members = members if isinstance(members, (list, tuple)) else [members]
    if any(isinstance(member, Kernel) for member in members):
        raise TypeError(f"kernels must be Gram matrices, (n, n) each; got kernel functions. {table}")
    shape: tuple[int, ...] = ()
    if isinstance(kernels, np.ndarray) or is_frame(kernels):
        shape = tuple(kernels.shape)
    if len(shape) == 3 and shape[0] != shape[1] == shape[2]:
        raise ValueError(
            f"kernels come last, (n, n, n_kernels); got shape {shape}, with them first. Use "
            "numpy.moveaxis(kernels, 0, 2), or give a list of the matrices."
        )
    if len(shape) >= 2 and shape[0] != shape[1]:
        raise ValueError(
            f"kernels must be square Gram matrices, (n, n, n_kernels); got shape {shape}. {table}"
        )


__all__ = ["COMBINATIONS", "About", "Learned", "SumOrProductLearner", "TwoClassLearner", "WeightLearner"]
