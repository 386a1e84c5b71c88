"""What every estimator with a gate shares: validate, build the kernels, learn the gate, store.

A fitted model is a list of gates, each with its machines (all of them share one gate, or each has its own).
The score of machine k is Σ_m η_m(x) Σ_i K_m(x, x_i) η_m(x_i) B_ik + b_k, so that a model is kept as one array
of products η_m(x_i) B_ik over the support samples, (n_machines, n_kernels, n_support), and the gates'
parameters.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._threads import one_thread
from .._validation import NotFiniteError, check_choice, check_number, check_positive_integer
from ..combine.gates import GATES, OPEN, saturated_gates
from ..solvers.localized.descent import OPTIMIZERS, DescentOptions
from ..solvers.localized.gating import GatedObjective
from ..solvers.localized.learn import LocalizedResult, learn_gates
from ..solvers.localized.machines import Machines
from ..views import as_views, distinct_views, fit_gating_features, make_bank
from ._about import LOCALIZED
from ._descent_record import record_descents
from ._estimator import KernelEstimator, on_rows
from ._fitted import FittedKernels
from ._localized_warnings import warn_of_descent, warn_of_equal_copies, warn_of_machines
from ._one_kernel import fixed_seed
from ._progress import Progress
from ._samples import Samples

Array = np.ndarray[Any, np.dtype[Any]]

MACHINE_TOL = 0.1  # the machines' relative gap, in units of the tolerance of the descent


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
    """Kernels by products of gates and dual coefficients, η_m(x_i) B_ik.

    Attributes
    ----------
    bank : fitted bank of the support samples and the stored kernels
    coefficients : array (n_machines, n_kernels, n_support)
    gating : str, the gating model
    parameters : list of arrays, one of each gate
    features : what the gates look at, fitted
    gate_of : array (n_machines,), the gate of each machine
    sources : array (n_kernels,), the stored kernel that each kernel is
    prune : bool, whether kernels are computed only where one of their gates is open
    """

    bank: Any
    coefficients: Array
    gating: str
    parameters: list[Array]
    features: Any
    gate_of: Array
    sources: Array
    prune: bool = False

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

    about = LOCALIZED
    _adds_kernels = True
    certificate = "machine"

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        gating: str = "softmax",
        gating_features: Any = None,
        n_init: int = 1,
        optimizer: str = "gradient",
        ridge: float = 0.0,
        patience: int = 1,
        init_scale: float = 0.01,
        tol: float = 1e-3,
        max_iter: int = 100,
        prune: bool = False,
        psd: str = "error",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.gating = gating
        self.gating_features = gating_features
        self.n_init = n_init
        self.optimizer = optimizer
        self.ridge = ridge
        self.patience = patience
        self.init_scale = init_scale
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.psd = psd
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    # ------------------------------------------------------------------ kernels
    def _check_gating(self) -> None:
        check_choice("gating", self.gating, tuple(GATES))
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_positive_integer("n_init", self.n_init)
        check_positive_integer("patience", self.patience)
        check_number("ridge", self.ridge, at_least=0.0)
        check_number("init_scale", self.init_scale, above=0.0)
        self._check_numerics()

    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        """The stack of the distinct kernels; which of them each gate reads, and what the gate looks at."""
        self._check_gating()
        given = None if isinstance(self.kernels, str) else as_views(self.kernels)
        distinct, sources = ([], []) if given is None else distinct_views(given)
        self._bank = make_bank(self.kernels if given is None else distinct, psd=self.psd)
        Ks = self._fit_stack(X, samples)
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
        objective = GatedObjective(
            np.asarray(on_rows(Ks, rows)),
            self._sources,
            self._train_features[rows],
            GATES[self.gating],
            machines,
            float(self.ridge),
        )
        options = DescentOptions(
            optimizer=self.optimizer,
            tol=float(self.tol),
            patience=int(self.patience),
            max_iter=int(self.max_iter),
            callback=Progress(label, self.verbose, self.callback),
        )
        # One thread: the path of the descent hangs on the last digit of its sums.
        with one_thread():
            result = learn_gates(objective, int(self.n_init), rng, options, float(self.init_scale))
        if result.suspicious:
            self._require_psd(Ks, range(len(Ks)))
        return result

    def _generators(self, count: int) -> list[np.random.Generator]:
        """A source of starts for each gate; ``random_state=None`` always means the same ones."""
        return np.random.default_rng(fixed_seed(self.random_state)).spawn(count)

    def _store(self, gates: Sequence[Gated], samples: Samples) -> None:
        """Keep the model in compact form: support samples and kernels that are read."""
        n = samples.rows.size
        results = [gated.result for gated in gates]
        duals = np.concatenate([gated.coefficients(n) for gated in gates])
        self.machine_names_ = [name for gated in gates for name in gated.names]
        gate_of = np.repeat(np.arange(len(gates)), [len(gated.names) for gated in gates])
        self.gating_ = [r.point.V.copy() for r in results]
        eta = [GATES[self.gating].values(V, self._train_features) for V in self.gating_]
        means = np.stack([np.average(values, axis=0, weights=samples.weights) for values in eta])
        self.machine_weights_ = means[gate_of]
        self.kernel_weights_ = means.mean(axis=0)
        spread = samples.spread(duals)
        self.support_ = np.flatnonzero(spread.any(axis=0))
        self.dual_coef_ = spread[:, self.support_]
        self.intercept_ = np.concatenate([r.point.intercepts for r in results])
        kept = np.flatnonzero(duals.any(axis=0))
        kept = kept if kept.size else np.array([0])  # a model without support samples is its intercept
        coefficients = np.stack([eta[g][kept].T * duals[k, kept] for k, g in enumerate(gate_of)])
        self._store_diagnostics(gates, eta)
        self._gated = GatedKernels(
            self._bank.restrict(samples.rows[kept] if self._precomputed else kept, np.unique(self._sources)),
            np.ascontiguousarray(coefficients),  # as a pickle keeps it
            self.gating,
            self.gating_,
            self._features,
            gate_of,
            self._sources,
        )
        sources = self._sources
        del self._train_features, self._features, self._sources, self._bank
        warn_of_machines(self, results)
        warn_of_descent(self, results)
        warn_of_equal_copies(self, sources, eta)

    def _store_diagnostics(self, gates: Sequence[Gated], eta: list[Array]) -> None:
        results = [gated.result for gated in gates]
        ends = np.any([saturated_gates(values) for values in eta], axis=0)
        saturated = [name for name, at_end in zip(self.view_names_, ends, strict=True) if at_end]
        record_descents(self, results, saturated)
        self.start_objectives_ = [np.array(r.objectives) for r in results]
        self.n_solves_ = sum(
            r.n_solves * self._solves_per_value(gated) for r, gated in zip(results, gates, strict=True)
        )
        self.history_ = [{**entry, "machine": g} for g, r in enumerate(results) for entry in r.history]

    def _solves_per_value(self, gated: Gated) -> int:
        """How many machines one value of the objective takes."""
        return len(gated.names)

    # ------------------------------------------------------------------ predict
    @property
    def _fitted(self) -> FittedKernels:  # type: ignore[override]
        """The kernels behind the gates; ``prune`` may be set after the fit, and does not change the model."""
        part = replace(self._gated, prune=bool(self.prune))
        return FittedKernels([part], self.machine_weights_.shape)

    def gate(self, X: Any) -> Array:
        """The gate: how much each kernel counts at each sample.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array (n_samples, n_kernels), or (n_samples, n_gates, n_kernels) where the machines have gates of
        their own
        """
        values = np.concatenate(
            [np.moveaxis(eta, 0, 1) for eta in self._by_batches(X, lambda rows: self._gated.gates(rows))]
        )
        return values[:, 0] if len(self.gating_) == 1 else values

    def active_kernels(self, X: Any) -> Array:
        """Which kernels count at each sample: those whose gate is above 0.001.

        Returns
        -------
        array of bool, of the shape of ``gate(X)``; its sum over the last axis is the number of kernels that
        a prediction needs
        """
        return self.gate(X) > OPEN

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}
