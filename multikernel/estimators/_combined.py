"""A learner of kernel weights under a kernel machine: what classifiers, regressors and detectors share.

fit: kernels → the learner's weights → one combined kernel → the machine on it. Prediction combines the
kernels of the new rows in the same way, one kernel and some thousand rows at a time, and asks the machine.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from ..views import make_bank
from ..weights._machines import default_machine
from ..weights.learner import WeightLearner
from ..weights.similarity import CenteredAlignment
from ..weights.targets import Targets
from ._about import COMBINED
from ._estimator import KernelEstimator

Array = np.ndarray[Any, np.dtype[Any]]


class CombinedKernel(KernelEstimator):
    """Parameters and methods of all estimators that put a machine on the kernel of a learner."""

    about = COMBINED
    _task: ClassVar[str]  # what the machine predicts
    learner: Any
    machine: Any
    normalise: bool
    psd: str
    gram: str
    dtype: Any

    def __init__(
        self,
        learner: Any = None,
        machine: Any = None,
        kernels: Any = "auto",
        *,
        normalise: bool = True,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
    ) -> None:
        self.learner = learner
        self.machine = machine
        self.kernels = kernels
        self.normalise = normalise
        self.psd = psd
        self.gram = gram
        self.dtype = dtype

    # ------------------------------------------------------------------ fit
    def _fit_kernel(self, X: Any, targets: Targets) -> Array:
        """Learn the weights; the combined kernel of the training samples (n, n)."""
        learner = self._default_learner() if self.learner is None else self.learner
        if not isinstance(learner, WeightLearner):
            raise TypeError(
                f"learner must be a weight learner, such as multikernel.weights.EasyMKL(); got {learner!r}."
                + (" Call the class." if isinstance(learner, type) else "")
            )
        if targets.n < 2:
            raise ValueError(f"weights are learned from two samples or more; got n_samples={targets.n}.")
        self._bank = make_bank(self.kernels, dtype=self.dtype, gram=self.gram, psd=self.psd)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        self.learner_ = clone(learner)
        self.learner_.fit_stack(Ks, targets, self.view_names_)
        self._store_weights(self.learner_)
        K = self.learner_.combine_training(Ks)
        self.scale_ = self._scale(K)
        K *= self.scale_
        self._bank = self._bank.restrict(np.arange(len(K)), self.learner_.active_kernels)
        return K

    def _keep(self, machine: Any) -> None:
        """Store the fitted machine, and of the training samples by themselves those that it reads."""
        self.machine_ = machine
        self._kept = None if self._precomputed or not self.learner_.is_linear else read_columns(machine)
        if self._kept is not None:
            self._kept_bank = self._bank.restrict(self._kept, self.learner_.active_kernels)

    def _store_weights(self, learner: WeightLearner) -> None:
        """The weights, and how they were found if they are the solution of a problem."""
        self.kernel_weights_ = learner.kernel_weights_
        self.kernel_shares_ = learner.kernel_shares_
        self.status_ = learner.status_
        self.n_iter_ = learner.n_iter_
        self.objective_ = learner.objective_
        self.dual_gap_ = learner.dual_gap_ if np.isfinite(learner.objective_) else np.nan
        self.history_ = learner.history_

    def _default_learner(self) -> WeightLearner:
        return CenteredAlignment()

    def _scale(self, K: Array) -> float:
        if not self.normalise:
            return 1.0
        size = float(np.diagonal(K).mean())
        if not size > 0.0 or not np.isfinite(1.0 / size):
            raise ValueError(
                f"the combined kernel has a mean diagonal of {size:.1e}: it cannot be scaled to 1. Normalise "
                "the kernels (transforms='unit_trace'), or use normalise=False."
            )
        return 1.0 / size

    @property
    def tol(self) -> float | None:  # type: ignore[override]
        """The gap that the learner was asked for, where it takes one."""
        return getattr(self.learner, "tol", None)

    @property
    def certificate(self) -> str:
        """What ``dual_gap_`` certifies: "optimality" of the learner's problem, or "stationarity"."""
        return str(self.learner_.certificate) if hasattr(self, "learner_") else "optimality"

    # ------------------------------------------------------------------ predict
    def combined_kernel(self, X: Any) -> Array:
        """The learned kernel between new samples and the training samples.

        A model that was loaded from a file has only the training samples that its machine reads, and no such
        kernel.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array (n_samples, n_train)
        """
        check_is_fitted(self)
        if not hasattr(self, "_bank"):
            raise ValueError(
                "combined_kernel needs all training samples, and a model from a file has only the support "
                "samples. Ask the model that was fitted, or fit again."
            )
        return np.concatenate(list(self._by_batches(X, lambda rows: self._combine(self._bank, rows))))

    def _combine(self, bank: Any, X: Any) -> Array:
        K = self.learner_.combine_rows(bank.iter_kernels(X))
        K *= self.scale_
        return K

    def _combined_rows(self, X: Any) -> Array:
        """The learned kernel as the machine gets it, with zeros for the training samples it does not read."""
        if getattr(self, "_kept", None) is None:
            return self._combine(self._bank, X)
        part = self._combine(self._kept_bank, X)
        K = np.zeros((len(part), self.learner_.n_train_))
        K[:, self._kept] = part
        return K

    def _ask(self, X: Any, question: str) -> Array:
        """What a method of the machine says of new rows, some thousand at a time."""

        def answer(rows: Any) -> Array:
            return np.asarray(getattr(self.machine_, question)(self._combined_rows(rows)))

        return np.concatenate(list(self._by_batches(X, answer)))

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.kernel_shares_}


def read_columns(machine: Any) -> Array | None:
    """The training samples whose similarities a fitted machine reads, where these are not all.

    Support vector machines of scikit-learn read their support samples, also as the best of a search.
    """
    machine = getattr(machine, "best_estimator_", machine)
    if isinstance(machine, SVC | SVR | NuSVC | NuSVR | OneClassSVM) and machine.kernel == "precomputed":
        return np.asarray(machine.support_)
    return None


def machine_has(method: str) -> Callable[[Any], bool]:
    """For ``available_if``: whether the machine, fitted or to be fitted, has a method."""

    def check(estimator: Any) -> bool:
        fitted = getattr(estimator, "machine_", None)
        machine = estimator.machine if fitted is None else fitted
        return hasattr(default_machine(estimator._task) if machine is None else machine, method)

    return check
