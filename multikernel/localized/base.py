"""The base of the estimators with a gate over their kernels.

A fitted model with gates is a list of them, each with its machines (all of them share one gate, or each has
its own). The score of machine k is Σ_m η_m(x) Σ_i K_m(x, x_i) η_m(x_i) B_ik + b_k, so that a model is kept as
one array of products η_m(x_i) B_ik over the support samples, (n_machines, n_kernels, n_support), and the
gates' parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed

from .._threads import one_thread
from .._typing import Array
from .._validation import (
    NotFiniteError,
    OldName,
    check_number,
    warn_caller,
)
from ..core.about import About
from ..core.estimator import KernelEstimator, on_rows
from ..core.fitted import FittedKernels
from ..core.inputs import Samples, check_costs
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import carried, limited, time_left
from ..kernels import Kernel, Linear
from ..views import MultiTable, View, as_views, distinct_views, fit_gating_features, make_bank, own_view
from ..views.layout import layout_of
from .descents import (
    check_descent,
    check_prune,
    descent_options,
    store_descents,
    store_duals,
    warn_of_descent,
    warn_of_machines,
)
from .gated import GatedKernels
from .ridge import RIDGES, Search, choose_ridge, gating_folds
from .solver.constant import learn_constant
from .solver.gates import ALL_GATES, CONSTANT, GATES, OPEN
from .solver.learn import Gated, GatedObjective, learn_gates
from .solver.machines import Machines
from .solver.prior import gated_objective

_SEARCH_SHARE = 0.8  # of the time that is left: the rest is for the last model
_ALIKE = 0.2  # copies that were distinguished differ by nearly 1 somewhere


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
                f"{type(model).__name__} stopped before it distinguished them, and they count as one kernel. "
                "Raise init_scale (to 0.1) or patience (to 3), or give fewer copies."
            )


@dataclass(frozen=True)
class Part:
    """What gates are learned on: the stack of some samples, and what their gates look at and cost."""

    Ks: Array
    features: Array
    prices: Array | None  # (n, n_kernels), None where nothing has a cost
    counts: Array  # the weight of each sample in the mean gate

    def among(self, Ks: Array, rows: Array) -> "Part":
        """Some of the samples; ``Ks`` is their stack."""
        prices = None if self.prices is None else self.prices[rows]
        return Part(Ks, self.features[rows], prices, self.counts[rows])


@dataclass(frozen=True)
class Fit:
    """What a fit asks for.

    Attributes
    ----------
    groups : function of samples to the machines that share a gate, their samples among these, and their names
    bounds : array (n,), what an error at each sample costs, in the units of the objective
    loss : function of scores (n, n_machines) and samples to the loss of each, in units of one error
    targets : array (n,), the classes or the values, for the folds
    unit : float
        The ridge and the costs of the gate are in units of it: C times the size of the targets.
    """

    groups: Callable[[Array], list[tuple[Machines, Array, list[str]]]]
    bounds: Array
    loss: Callable[[Array, Array], Array]
    targets: Array
    unit: float


class BaseLocalized(KernelEstimator):
    """Parameters and methods common to all estimators with a gate over their kernels."""

    about = About(
        family="localized",
        problem=(
            "min_V J(V), J the value of a support vector machine on Σ η_m(x) k_m(x, z) η_m(z), η a gate "
            "with parameters V"
        ),
        solver="gradient descent around warm-started SVMs; the SVM has a duality gap, the gate none",
        cost="tens of SVM fits with P n² each, about twenty times that to choose the ridge; memory of "
        "the distinct kernels, the same again for the folds, and two n²",
        use="Kernels that are right in one part of the space and wrong in another; to see which counts "
        "where.",
        reference="Gönen & Alpaydın 2008, 2013",
    )
    _adds_kernels = True
    _storage_options = ("psd",)
    _reads_columns = True
    _chooses_ridge = True
    certificate = "machine"
    intercept_: Array
    gating: str
    gating_features: Any
    gate_only: bool = False
    n_init: int
    n_jobs: int | None = None
    gating_reg: Any
    gating_sparsity: float
    costs: Any = None
    cost_reg: float = 0.0
    init_scale: float
    prune: bool | float

    # ------------------------------------------------------------------ kernels
    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        """The stack of the distinct kernels; which of them each gate reads, and what the gate looks at."""
        check_descent(self, self._chooses_ridge)
        check_number("init_scale", self.init_scale, above=0.0)
        check_prune(self.prune)
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
        self._leave_to_gate()
        try:
            fitted = fit_gating_features(wanted, table, self._bank, names, Ks, rows)
        except NotFiniteError as error:
            raise error.in_row(int(samples.rows[error.row])) from None
        self._features, self._train_features = fitted
        self._support_norms = np.sqrt(np.maximum(np.einsum("kii->ki", Ks), 0.0))
        self._costs = self._relative_costs()
        self._gate_counts = samples.weights
        return Ks

    def _leave_to_gate(self) -> None:
        """Take the kernel that only the gate reads out of those of the machines."""
        if not self.gate_only:
            return
        wanted, names = self.gating_features, self.view_names_
        if not (isinstance(wanted, str) and wanted in names) or len(names) == 1:
            raise ValueError(
                "gate_only=True needs gating_features to be the name of one of several kernels; got "
                f"{wanted!r}, and the kernels are {names}."
            )
        place = names.index(wanted)
        self._sources = np.delete(self._sources, place)
        self.view_names_ = [name for name in names if name != wanted]

    def _layout_of(self, X: Any) -> Any:
        """What the gate reads by itself is kept too."""
        wanted = self.gating_features
        own: list[View] = []
        if isinstance(wanted, View | Kernel):
            own = [own_view(wanted)]
        elif isinstance(wanted, str) and isinstance(X, MultiTable) and wanted in X.names:
            own = [View("gating_features", Linear(), table=wanted)]
        return layout_of(X, [*self._listed_views(), *own]) if own else super()._layout_of(X)

    def _relative_costs(self) -> Array | None:
        """What a fully open gate of each kernel costs, in units of one error; None if nothing does."""
        share = check_number("cost_reg", self.cost_reg, at_least=0.0)
        is_constant = isinstance(self.gating_reg, float) and np.isinf(self.gating_reg)
        if is_constant and self.gating_sparsity > 0.0:
            raise ValueError(
                "gating_sparsity needs a gate that depends on the sample; got gating_reg=inf. Use a finite "
                "ridge."
            )
        if self.costs is None:
            return None
        costs = check_costs(self.costs, self.view_names_)
        if is_constant:
            raise ValueError(
                "costs need a gate that depends on the sample; got gating_reg=inf. Use a finite ridge, or "
                "MKLClassifier(costs=...)."
            )
        return np.asarray(share * (costs / costs.max()))

    def _distinct_name(self, wanted: Any) -> Any:
        """The name of a copy stands for the kernel that is stored."""
        if isinstance(wanted, str) and wanted in self.view_names_:
            return self._bank.view_names_[self._sources[self.view_names_.index(wanted)]]
        return wanted

    # ------------------------------------------------------------------ solve and store
    def _learn_and_store(self, Ks: Array, fit: Fit, samples: Samples) -> None:
        """Choose the ridge if that is asked for, learn the gates with it, and keep them."""
        whole = Part(Ks, self._train_features, self._prices(fit), self._gate_counts)
        everything = np.arange(samples.rows.size)
        groups = fit.groups(everything)
        seed = fixed_seed(self.random_state)
        with one_thread():  # around all: gates that set and restore it each would mix it up
            self._choose_ridge(whole, fit, samples, seed)
            sources = np.random.default_rng(seed).spawn(len(groups))
            jobs = [(whole, *group, rng) for group, rng in zip(groups, sources, strict=True)]
            if len(jobs) == 1:
                gates = [self._learn(*jobs[0], self.gating_reg_)]
            else:
                parallel = Parallel(n_jobs=self.n_jobs, require="sharedmem")
                gates = parallel(delayed(carried(self._learn))(*job, self.gating_reg_, True) for job in jobs)
        if any(gated.result.suspicious for gated in gates):
            self._require_psd(Ks, range(len(Ks)))
        self._store(gates, samples)

    def _learn(
        self,
        part: Part,
        machines: Machines,
        rows: Array,
        names: list[str],
        rng: np.random.Generator,
        ridge: float,
        labelled: bool = False,
        quiet: bool = False,
    ) -> Gated:
        """One gate over its machines, on some of the samples of the part; ``quiet``: nothing shows it."""
        own = part.among(np.asarray(on_rows(part.Ks, rows)), rows)
        label = f"{names[0]}: " if labelled and len(names) == 1 else ""
        options = descent_options(self, label)
        options = replace(options, callback=None) if quiet else options
        held = (own.Ks, self._sources, own.features, GATES[self.gating], machines)
        if np.isinf(ridge):
            result = learn_constant(GatedObjective(*held), self.tol, self.max_iter, options.callback)
            return Gated(result, rows, names, CONSTANT)
        sparsity = float(self.gating_sparsity)
        objective = gated_objective(sparsity, own.counts, *held, float(ridge), own.prices)
        result = learn_gates(objective, int(self.n_init), rng, options, float(self.init_scale))
        return Gated(result, rows, names, self.gating)

    def _prices(self, fit: Fit) -> Array | None:
        """What open gates cost at each sample (n, n_kernels), in the units of the objective."""
        if self._costs is None:
            return None
        return fit.bounds[:, None] * fit.unit * self._costs

    def _choose_ridge(self, whole: Part, fit: Fit, samples: Samples, seed: int) -> None:
        """Set ``gating_reg_``, by folds where that is asked for and there is something to choose."""
        self.gating_reg_, self.gating_scores_ = self.gating_reg, None
        if not isinstance(self.gating_reg, str):
            return
        trivial = self._sources.size == 1 and self.gating != "sigmoid"
        # what a constant gate costs, and what closes gates, is not part of the problem of a constant gate
        open_to_all = self._costs is None and self.gating_sparsity == 0.0
        ridges = [r * fit.unit for r in RIDGES if np.isfinite(r) or open_to_all]
        folds = gating_folds(fit.targets, classifier=hasattr(self, "classes_"), seed=seed)
        if trivial or not folds or fit.unit == 0.0:
            self.gating_reg_ = 0.0 if trivial else ridges[0]
            return
        search = Search(ridges, partial(self._learn_quietly, whole, fit, seed), partial(self._loss, fit))
        with limited(_SEARCH_SHARE * time_left()):
            self.gating_reg_, self.gating_scores_ = choose_ridge(
                search, whole.Ks, self._sources, whole.features, folds, samples.weights, self.n_jobs
            )

    def _learn_quietly(
        self, whole: Part, fit: Fit, seed: int, Ks: Array, rows: Array, ridge: float
    ) -> list[Gated]:
        """The gates on some of the samples, whose stack is ``Ks``."""
        part, groups = whole.among(Ks, rows), fit.groups(rows)
        sources = np.random.default_rng(seed).spawn(len(groups))
        return [
            self._learn(part, *group, rng, ridge, quiet=True)
            for group, rng in zip(groups, sources, strict=True)
        ]

    def _loss(self, fit: Fit, scores: Array, rows: Array, eta: Array) -> Array:
        """The loss of each sample, with what the gate costs there."""
        losses = fit.loss(scores, rows)
        return losses if self._costs is None else losses + eta @ self._costs

    def _store(self, gates: Sequence[Gated], samples: Samples) -> None:
        """Keep the model in compact form: support samples and kernels that are read."""
        results = [gated.result for gated in gates]
        duals = np.concatenate([gated.coefficients(samples.rows.size) for gated in gates])
        self.machine_names_ = [name for gated in gates for name in gated.names]
        gate_of = np.repeat(np.arange(len(gates)), [len(gated.names) for gated in gates])
        self.gating_ = [r.point.V.copy() for r in results]
        gate = ALL_GATES[gates[0].kind]
        eta = [gate.values(V, self._train_features) for V in self.gating_]
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
            gates[0].kind,
            self.gating_,
            self._features,
            gate_of,
            sources,
            support_gates=np.stack([values[kept].T for values in eta]),
            support_norms=self._support_norms[:, kept],
        )
        del self._train_features, self._features, self._sources, self._bank, self._support_norms
        del self._gate_counts
        warn_of_machines(self, results)
        warn_of_descent(self, results, "", "Lower init_scale, or use fewer gating features.")
        if gates[0].kind != CONSTANT:
            warn_of_equal_copies(self, sources, eta)

    # ------------------------------------------------------------------ predict
    @property
    def _fitted(self) -> FittedKernels:  # type: ignore[override]
        """The kernels behind the gates; ``prune`` may be set after the fit, and does not change the model."""
        return FittedKernels([self._pruned], self.machine_weights_.shape)

    @property
    def _pruned(self) -> GatedKernels:
        """The kernels, to be pruned as the parameter says."""
        return replace(self._gated, prune=check_prune(self.prune))

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

    # ------------------------------------------------------------------ cost of a prediction
    def kernel_evaluations(self, X: Any) -> Array:
        """How many values of each kernel the prediction of each sample needs.

        A value k(x, x_i) is needed where the gates of its kernel are open at the sample and at the support
        sample: above the threshold of `prune`, or above 0.001 where that is False.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        counts : array of int of shape (n_samples, n_kernels)
            Values that machines or copies of a kernel share are counted once, with the first copy.
        """
        return np.concatenate(list(self._by_batches(X, lambda rows: self._pruned.evaluations(rows))))

    def sample_costs(self, X: Any) -> Array:
        """What the prediction of each sample costs, where closed gates save kernel values.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        costs : array of shape (n_samples,)
            The values of the kernels that it needs, times the `costs` of the kernels divided by their sum:
            one unit is all the kernels between the sample and one support sample.
        """
        costs = check_costs(self.costs, self.view_names_)
        return np.asarray(self.kernel_evaluations(X) @ (costs / costs.sum()))

    def pruning_bound(self, X: Any) -> Array:
        """How far at most pruning moves the scores of each sample, at the threshold of `prune` or 0.001.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        bound : array of shape (n_samples, n_machines)
            The sum over the terms that are left out of |η_m(x) η_m(x_i) β_i| √(k_m(x, x) k_m(x_i, x_i)). It
            holds for positive semidefinite kernels: where it is below the size of the score of two classes,
            pruning does not change the prediction.
        """
        if self._precomputed:
            raise ValueError(
                "pruning_bound needs k(x, x) of new samples, which kernels='precomputed' does not have. "
                "Compare the scores at prune=False and prune=True."
            )
        return np.concatenate(list(self._by_batches(X, lambda rows: self._pruned.pruning_bound(rows))))

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}
