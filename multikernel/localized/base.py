"""What the estimators of this room share, and the base of those with a gate over their kernels.

Gates and projections are learned by the same descents over warm-started machines: the functions here check
and read the parameters that both kinds of models have, store what a fitted model says of its descents, and
warn of what went wrong.

A fitted model with gates is a list of them, each with its machines (all of them share one gate, or each has
its own). The score of machine k is Σ_m η_m(x) Σ_i K_m(x, x_i) η_m(x_i) B_ik + b_k, so that a model is kept as
one array of products η_m(x_i) B_ik over the support samples, (n_machines, n_kernels, n_support), and the
gates' parameters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from .._threads import one_thread
from .._typing import Array
from .._validation import (
    NotFiniteError,
    OldName,
    check_choice,
    check_number,
    check_positive_integer,
    warn_caller,
)
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import binary_problems
from ..core.estimator import KernelEstimator, on_rows, worst_status
from ..core.fitted import FittedKernels
from ..core.inputs import Samples
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import ENDED_EARLY, Status
from ..core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from ..views import as_views, distinct_views, fit_gating_features, make_bank
from .solver.gates import GATES, OPEN, saturated_gates
from .solver.learn import OPTIMIZERS, DescentOptions, LocalizedResult, learn_gates
from .solver.machines import BinaryMachines, JointMachines, Machines
from .solver.prior import gated_objective

MACHINE_TOL = 0.1  # the machines' relative gap, in units of the tolerance of the descent
_ALIKE = 0.2  # copies that were told apart differ by nearly 1 somewhere


# ------------------------------------------------------------------ descents over gates or projections
def check_descent(model: Any) -> None:
    """The parameters that gates and projections have in common."""
    check_choice("gating", model.gating, tuple(GATES))
    check_choice("solver", model.solver, OPTIMIZERS)
    check_positive_integer("n_init", model.n_init)
    check_positive_integer("patience", model.patience)
    check_number("gating_reg", model.gating_reg, at_least=0.0)
    model._check_numerics()


def descent_options(model: Any, label: str = "", blocks: Sequence[Array] | None = None) -> DescentOptions:
    """The numerics of a descent, from the parameters of the model."""
    return DescentOptions(
        optimizer=model.solver,
        tol=float(model.tol),
        patience=int(model.patience),
        max_iter=int(model.max_iter),
        callback=progress_of(model, label),
        blocks=blocks,
    )


def generator(model: Any) -> np.random.Generator:
    """The source of starts; ``random_state=None`` always means the same ones."""
    return np.random.default_rng(fixed_seed(model.random_state))


def regression_machine(model: Any, y: Array, weights: Array) -> tuple[BinaryMachines, float]:
    """The machine of a regressor for its targets less their median, and that.

    The intercept absorbs the median, and the numbers stay small.
    """
    middle = float(np.median(y))
    loss = EpsilonInsensitive(y - middle, float(model.C) * weights, float(model.epsilon))
    return BinaryMachines([loss], tol=MACHINE_TOL * float(model.tol)), middle


def one_class_machine(model: Any, weights: Array) -> BinaryMachines:
    """The machine of a novelty detector."""
    loss = OneClass(np.zeros(weights.size), weights / (float(model.nu) * weights.sum()))
    return BinaryMachines([loss], tol=MACHINE_TOL * float(model.tol))


def class_machines(model: Any, codes: Array, bounds: Array) -> tuple[Machines, list[str]]:
    """The machines of all classes on one kernel, and their names; two classes are one machine."""
    tol, n_classes = MACHINE_TOL * float(model.tol), model.classes_.size
    if n_classes > 2 and model.multiclass == "joint":
        return JointMachines(codes, n_classes, bounds, tol), [str(c) for c in model.classes_]
    problems = binary_problems(codes, model.classes_, model.multiclass)
    losses = [Hinge(p.signs[0], bounds[p.rows]) for p in problems]
    rows = [p.rows for p in problems] if model._votes else None
    return BinaryMachines(losses, rows, codes.size, tol), [p.names[0] for p in problems]


# ------------------------------------------------------------------ what a fitted model says of its descents
def store_duals(model: Any, samples: Samples, duals: Array, intercepts: Array) -> Array:
    """Store support samples and intercepts; the rows (of the distinct samples) that predictions need.

    ``duals`` (n_machines, n_distinct) are signed. A model without support samples is its intercept, and keeps
    the first row.
    """
    spread = samples.spread(duals)
    model.support_ = np.flatnonzero(spread.any(axis=0))
    model.dual_coef_ = spread[:, model.support_]
    model.intercept_ = intercepts
    kept = np.flatnonzero(duals.any(axis=0))
    return kept if kept.size else np.array([0])


def store_descents(model: Any, results: Sequence[LocalizedResult], eta: Sequence[Array]) -> None:
    """Store J, its certificate and how the descents ended; ``eta``: the gates at the training samples."""
    model.objective_ = float(sum(r.objective for r in results))
    model.dual_gap_ = float(max(r.gap for r in results))
    model.gradient_norm_ = float(max(r.gradient_norm / max(abs(r.objective), 1e-300) for r in results))
    model.n_iter_ = max(1, max(r.n_iter for r in results))
    model.n_solves_ = sum(r.n_solves for r in results)
    ends = np.any([saturated_gates(values) for values in eta], axis=0)
    model.saturated_ = [name for name, at_end in zip(model.view_names_, ends, strict=True) if at_end]
    solved = [r.gap <= model.tol or r.status != Status.OPTIMAL for r in results]
    statuses = [r.status if done else Status.STALLED for r, done in zip(results, solved, strict=True)]
    model.status_ = worst_status(statuses)


def warn_of_machines(model: Any, results: Sequence[LocalizedResult], remedy: str = "") -> None:
    """Warn of machines that were not solved; ``remedy``: another sentence on what to do."""
    name = type(model).__name__
    if any(r.exhausted for r in results):
        warn_caller(
            f"{name}: a machine used all the steps it is allowed; the relative duality gap at the learned "
            f"kernel is {model.dual_gap_:.1e}. Kernels of low rank with a large C converge slowly: lower C, "
            f"normalise the kernels, or raise tol.{remedy}",
            ConvergenceWarning,
        )
    if any(r.gap > model.tol and not r.exhausted and r.status not in ENDED_EARLY for r in results):
        warn_caller(
            f"{name}: the relative duality gap of a machine at the learned kernel is {model.dual_gap_:.1e}, "
            "and floating point allows no better: the objective is nearly zero. Bring targets and kernels to "
            "the size of 1; a single class must lie away from the origin of its kernels.",
            ConvergenceWarning,
        )


def warn_of_descent(model: Any, results: Sequence[LocalizedResult], brake: str, restart: str) -> None:
    """Warn of a descent that was cut short, and of starts at saturated gates, each with a remedy."""
    name = type(model).__name__
    if any(r.status == Status.MAX_ITER for r in results):
        warn_caller(
            f"{name} did not settle to tol={model.tol:g} in {model.max_iter} steps: the last one still "
            f"lowered the objective by {_last_fall(results):.1e} of it. Raise max_iter or tol.{brake}",
            ConvergenceWarning,
        )
    if model.status_ == Status.MAX_TIME:
        warn_caller(
            f"{name} ended after max_time={model.max_time:g} seconds, before it settled to tol={model.tol:g} "
            f"from all starts: the last step still lowered the objective by {_last_fall(results):.1e} of it, "
            f"and the gap of the machines is {model.dual_gap_:.1e}. Raise max_time or tol, or lower n_init.",
            ConvergenceWarning,
        )
    if any(r.start_saturated for r in results):
        warn_caller(
            f"{name}: nearly all gate values were 0 or 1 at the start, where the gradient vanishes and "
            f"nothing is learned. {restart}"
        )


def _last_fall(results: Sequence[LocalizedResult]) -> float:
    """The largest relative fall in the last step of a descent that was cut short."""
    falls = []
    for r in results:
        if r.status in (Status.MAX_ITER, Status.MAX_TIME) and len(r.history) > 1:
            before, after = r.history[-2]["objective"], r.history[-1]["objective"]
            falls.append((before - after) / max(abs(before), 1e-300))
    return max(falls, default=0.0)


# ------------------------------------------------------------------ models with a gate over their kernels
def warn_of_equal_copies(model: Any, sources: Array, eta: Sequence[Array]) -> None:
    """Warn where the gates of all copies of a kernel are the same at every sample: they are one kernel."""
    for source in np.unique(sources):
        copies = np.flatnonzero(sources == source)
        spread = max(float(np.ptp(values[:, copies], axis=1).max()) for values in eta)
        is_open = any(values[:, copies].sum(axis=1).max() > _ALIKE for values in eta)
        if copies.size > 1 and is_open and spread < _ALIKE:
            names = ", ".join(repr(model.view_names_[m]) for m in copies)
            warn_caller(
                f"the gates of the copies {names} are nearly alike at every sample: the descent of "
                f"{type(model).__name__} stopped before it told them apart, and they count as one kernel. "
                "Raise init_scale (to 0.1) or patience (to 3), or take gating='softmax'."
            )


@dataclass(frozen=True)
class Gated:
    """One learned gate: ``rows`` are its samples, ``names`` its machines."""

    result: LocalizedResult
    rows: Array
    names: list[str]

    def coefficients(self, n_samples: int) -> Array:
        """Signed duals of all the samples (n_machines, n_samples)."""
        full = np.zeros((len(self.names), n_samples))
        full[:, self.rows] = self.result.point.coefficients.T
        return full


@dataclass(frozen=True)
class GatedKernels:
    """Kernels by products of gates and dual coefficients, η_m(x_i) B_ik."""

    bank: Any  # fitted bank of the support samples and the stored kernels
    coefficients: Array  # (n_machines, n_kernels, n_support)
    gating: str  # the gating model
    parameters: list[Array]  # one of each gate
    features: Any  # what the gates look at, fitted
    gate_of: Array  # (n_machines,), the gate of each machine
    sources: Array  # (n_kernels,), the stored kernel that each kernel is
    prune: bool = False  # whether kernels are computed only where one of their gates is open

    def gates(self, X: Any) -> Array:
        """η of every gate, (n_gates, n_samples, n_kernels)."""
        features = self.features.of(X)
        return np.stack([GATES[self.gating].values(V, features) for V in self.parameters])

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel."""
        eta = self.gates(X)
        if self.prune:
            eta[eta <= OPEN] = 0.0
        each = eta[self.gate_of]
        for source, rows, K in self._open_kernels(X, eta) if self.prune else self._all_kernels(X):
            for m in np.flatnonzero(self.sources == source):
                scores = np.zeros((eta.shape[1], len(self.gate_of)))
                scores[rows] = (K @ self.coefficients[:, m].T) * each[:, rows, m].T
                yield int(m), scores

    def _all_kernels(self, X: Any) -> Iterator[tuple[int, Any, Array]]:
        """Every stored kernel at all the rows."""
        for source, K in self.bank.iter_kernels(X):
            yield source, slice(None), K

    def _open_kernels(self, X: Any, eta: Array) -> Iterator[tuple[int, Any, Array]]:
        """Every stored kernel at the rows where one of its gates is open, and nowhere else."""
        for source in np.unique(self.sources):
            rows = np.flatnonzero((eta[:, :, self.sources == source] > 0.0).any(axis=(0, 2)))
            if rows.size:
                part = X if rows.size == eta.shape[1] else _safe_indexing(X, rows)
                try:
                    [(_, K)] = self.bank.only([int(source)]).iter_kernels(part)
                except NotFiniteError as error:
                    raise error.in_row(int(rows[error.row])) from None
                yield int(source), rows, K


class BaseLocalized(KernelEstimator):
    """Parameters and methods common to all estimators with a gate over their kernels."""

    about = About(
        family="localized",
        problem=(
            "min_V J(V), J the value of a support vector machine on Σ η_m(x) k_m(x, z) η_m(z), η a gate "
            "with parameters V"
        ),
        solver="steps against the gradient over warm-started machines; the machine has a duality gap, the "
        "gate none",
        cost="some tens of machines, each with P n²; memory of the distinct kernels and two n² more",
        use="Kernels that are right in one part of the space and wrong in another; to see which counts "
        "where.",
        reference="Gönen & Alpaydın 2008, 2013",
    )
    _adds_kernels = True
    _storage_options = ("psd",)
    _reads_columns = True
    certificate = "machine"
    intercept_: Array
    gating: str
    gating_features: Any
    n_init: int
    gating_reg: float
    gating_sparsity: float
    init_scale: float
    prune: bool

    # ------------------------------------------------------------------ kernels
    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        """The stack of the distinct kernels; which of them each gate reads, and what the gate looks at."""
        check_descent(self)
        check_number("init_scale", self.init_scale, above=0.0)
        check_number("gating_sparsity", self.gating_sparsity, at_least=0.0)
        given = None if isinstance(self._storage.kernels, str) else as_views(self.kernels)
        distinct, sources = ([], []) if given is None else distinct_views(given)
        self._check_storage()
        kernels = self.kernels if given is None else replace(self._storage, kernels=distinct)
        self._bank = make_bank(kernels, **self._bank_options)
        Ks = self._fit_stack(X, samples)
        self._tell_of_kernels(Ks)
        self._sources = np.arange(len(Ks)) if given is None else np.array(sources, np.intp)
        if given is not None:
            self.view_names_ = [view.name for view in given]
        table = None if self._precomputed else samples.take(X)
        rows = samples.rows if self._precomputed else np.arange(samples.rows.size)
        wanted = self._distinct_name(self.gating_features)
        names = list(self._bank.view_names_)
        try:
            fitted = fit_gating_features(wanted, table, self._bank, names, Ks, rows)
        except NotFiniteError as error:
            raise error.in_row(int(samples.rows[error.row])) from None
        self._features, self._train_features = fitted
        self._gate_counts = samples.weights
        return Ks

    def _distinct_name(self, wanted: Any) -> Any:
        """The name of a copy stands for the kernel that is stored."""
        if isinstance(wanted, str) and wanted in self.view_names_:
            return self._bank.view_names_[self._sources[self.view_names_.index(wanted)]]
        return wanted

    # ------------------------------------------------------------------ solve and store
    def _learn(
        self, Ks: Array, machines: Machines, rows: Array, rng: np.random.Generator, label: str = ""
    ) -> LocalizedResult:
        """The gate over the machines, on some of the samples."""
        objective = gated_objective(
            float(self.gating_sparsity),
            self._gate_counts[rows],
            np.asarray(on_rows(Ks, rows)),
            self._sources,
            self._train_features[rows],
            GATES[self.gating],
            machines,
            float(self.gating_reg),
        )
        options = descent_options(self, label)
        # One thread: the path of the descent hangs on the last digit of its sums.
        with one_thread():
            result = learn_gates(objective, int(self.n_init), rng, options, float(self.init_scale))
        if result.suspicious:
            self._require_psd(Ks, range(len(Ks)))
        return result

    def _learn_and_store(self, Ks: Array, machine: Machines, name: str, samples: Samples) -> None:
        """One machine with its gate, on all the samples."""
        rows = np.arange(samples.rows.size)
        [rng] = generator(self).spawn(1)
        self._store([Gated(self._learn(Ks, machine, rows, rng), rows, [name])], samples)

    def _store(self, gates: Sequence[Gated], samples: Samples) -> None:
        """Keep the model in compact form: support samples and kernels that are read."""
        results = [gated.result for gated in gates]
        duals = np.concatenate([gated.coefficients(samples.rows.size) for gated in gates])
        self.machine_names_ = [name for gated in gates for name in gated.names]
        gate_of = np.repeat(np.arange(len(gates)), [len(gated.names) for gated in gates])
        self.gating_ = [r.point.V.copy() for r in results]
        eta = [GATES[self.gating].values(V, self._train_features) for V in self.gating_]
        means = np.stack([np.average(values, axis=0, weights=samples.weights) for values in eta])
        self.machine_weights_ = means[gate_of]
        self.kernel_weights_ = means.mean(axis=0)
        kept = store_duals(self, samples, duals, np.concatenate([r.point.intercepts for r in results]))
        store_descents(self, results, eta)
        self.start_objectives_ = [np.array(r.objectives) for r in results]
        self.history_ = [{**entry, "machine": g} for g, r in enumerate(results) for entry in r.history]
        coefficients = np.stack([eta[g][kept].T * duals[k, kept] for k, g in enumerate(gate_of)])
        sources = self._sources
        self._gated = GatedKernels(
            self._bank.restrict(samples.rows[kept] if self._precomputed else kept, np.unique(sources)),
            np.ascontiguousarray(coefficients),  # as a pickle keeps it
            self.gating,
            self.gating_,
            self._features,
            gate_of,
            sources,
        )
        del self._train_features, self._features, self._sources, self._bank, self._gate_counts
        warn_of_machines(self, results)
        warn_of_descent(self, results, "", "Lower init_scale, or use fewer gating features.")
        warn_of_equal_copies(self, sources, eta)

    # ------------------------------------------------------------------ predict
    @property
    def _fitted(self) -> FittedKernels:  # type: ignore[override]
        """The kernels behind the gates; ``prune`` may be set after the fit, and does not change the model."""
        part = replace(self._gated, prune=bool(self.prune))
        return FittedKernels([part], self.machine_weights_.shape)

    gate = OldName("sample_kernel_weights")
    sample_weights_name: ClassVar[str] = "value of the gate of each view at the sample"

    def sample_kernel_weights(self, X: Any) -> Array:
        """How much each kernel counts at each sample: the value of its gate.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        weights : array of shape (n_samples, n_kernels)
            The mean over the gates, where the machines have gates of their own; ``kernel_weights_`` is their
            mean over the training samples.
        """
        return np.concatenate(list(self._by_batches(X, lambda rows: self._gated.gates(rows).mean(axis=0))))

    def sample_machine_weights(self, X: Any) -> Array:
        """How much each kernel counts at each sample in each machine.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        weights : array of shape (n_samples, n_machines, n_kernels)
            Machines that share a gate have the same weights.
        """
        gates = [np.moveaxis(eta, 0, 1) for eta in self._by_batches(X, lambda rows: self._gated.gates(rows))]
        return np.concatenate(gates)[:, self._gated.gate_of]

    def active_kernels(self, X: Any) -> Array:
        """Which kernels count at each sample: those with a gate above 0.001, in one machine at least.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        active : array of bool of shape (n_samples, n_kernels)
            The sum of a row is the number of kernels that a prediction needs.
        """
        return np.asarray((self.sample_machine_weights(X) > OPEN).any(axis=1))

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}
