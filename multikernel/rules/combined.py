"""A learner of kernel weights with a kernel estimator: classifier, regressor and outlier detector.

fit: kernels → the learner's weights → one combined kernel → the estimator on it. Prediction combines the
kernels of the new rows in the same way, one kernel and a few thousand rows at a time, and calls the
estimator.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin, clone
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._typing import Array
from .._validation import OldName
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.inputs import check_targets, encode_labels, require_two_classes
from ..views import make_bank
from .fixed import MeanRule
from .learner import WeightLearner
from .machines import default_machine, fit_machine, is_estimator, machine_for, machine_weights
from .similarity import CenteredAlignment
from .targets import Targets, class_targets, no_targets, value_targets


def learner_is_local(estimator: Any) -> bool:
    """For ``available_if``: whether the weights of the learner depend on the sample."""
    return hasattr(getattr(estimator, "learner_", estimator.learner), "sample_kernel_weights")


class CombinedKernel(KernelEstimator):
    """What estimators on the kernel of a learner have in common."""

    about = About(
        family="combined",
        problem=("η = learner(K_1, …, K_P, y), then an estimator on s Σ η_m K_m, mean diagonal 1"),
        solver="that of the learner, with its certificate; then that of the estimator",
        cost="the learner and one fit of the estimator; memory P n² for the kernels and n² for the sum",
        use="Any rule for the weights, including plain sums, with any estimator on top.",
        reference="Gönen & Alpaydın 2011 (survey)",
    )
    _default_learner: ClassVar[type[WeightLearner]] = CenteredAlignment

    learner: Any
    normalize: bool

    # ------------------------------------------------------------------ fit
    def _fit_kernel(self, X: Any, targets: Targets) -> Array:
        """Learn the weights; the combined kernel of the training samples (n, n)."""
        if isinstance(self.kernels, WeightLearner):
            raise TypeError(
                f"kernels come first, then the learner; got kernels={self.kernels!r}. Use "
                f"{type(self).__name__}(kernels, learner), or learner=... with the default kernels."
            )
        learner = self._default_learner() if self.learner is None else self.learner
        if not isinstance(learner, WeightLearner):
            raise TypeError(
                f"learner must be a weight learner, such as multikernel.rules.EasyMKL(); got {learner!r}."
                + (" Call the class." if isinstance(learner, type) else "")
            )
        if targets.n < 2:
            raise ValueError(f"learning weights needs two samples or more; got n_samples={targets.n}.")
        self._check_storage()
        self._bank = make_bank(self.kernels, **self._bank_options)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        self._tell_of_kernels(Ks, scaled=True)  # most learners do not depend on the scales
        self.learner_ = clone(learner)
        self.learner_.fit_stack(Ks, targets, self.view_names_)
        self.kernel_weights_ = self.learner_.kernel_weights_
        self.kernel_shares_ = self.learner_.kernel_shares_
        self.status_, self.n_iter_ = self.learner_.status_, self.learner_.n_iter_
        self.objective_, self.history_ = self.learner_.objective_, self.learner_.history_
        self.dual_gap_ = self.learner_.dual_gap_ if np.isfinite(self.objective_) else np.nan
        K = self.learner_.combine_training(Ks)
        self.scale_ = self._scale(K)
        K *= self.scale_
        self._bank = self._bank.restrict(np.arange(len(K)), self.learner_.active_kernels)
        return K

    def _scale(self, K: Array) -> float:
        if not self.normalize:
            return 1.0
        size = float(np.diagonal(K).mean())
        if not size > 0.0 or not np.isfinite(1.0 / size):
            raise ValueError(
                f"the combined kernel has a mean diagonal of {size:.1e}: it cannot be scaled to 1. Normalize "
                'the kernels (normalize="trace" of each View, or unit_trace(K) of a matrix), or use '
                "normalize=False."
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

        A model that was loaded from a file has only the training samples that ``machine`` reads, and no such
        kernel.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_train)
        """
        check_is_fitted(self)
        if not hasattr(self, "_bank"):
            raise ValueError(
                "combined_kernel needs all training samples, and a model from a file has only the support "
                "samples. Use the fitted model itself, or fit again."
            )
        return np.concatenate(list(self._by_batches(X, lambda rows: self._combine(self._bank, rows))))

    sample_weights_name: ClassVar[str] = "weight of each view at the sample"

    @available_if(learner_is_local)
    def sample_kernel_weights(self, X: Any) -> Array:
        """The weight of each kernel at each sample, where the learner has such weights.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        weights : array of shape (n_samples, n_kernels)
        """
        check_is_fitted(self)

        def of_rows(rows: Any) -> Array:
            return np.asarray(self.learner_.weights_of_rows(self._bank.iter_kernels(rows)))

        return np.concatenate(list(self._by_batches(X, of_rows)))

    def _combine(self, bank: Any, X: Any) -> Array:
        K = self.learner_.combine_rows(bank.iter_kernels(X))
        K *= self.scale_
        return K

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.kernel_shares_}


@dataclass(eq=False, repr=False)
class CombinedMachine(CombinedKernel):
    """Parameters and methods of all estimators that put an estimator on the kernel of a learner."""

    _task: ClassVar[str]  # what the machine predicts

    kernels: Any = "auto"
    learner: Any = None
    machine: Any = None
    _: KW_ONLY
    normalize: bool = True

    def _keep(self, machine: Any) -> None:
        """Store the fitted machine, and of the training samples by themselves those that it reads."""
        self.machine_ = machine
        self._kept = None if self._precomputed or not self.learner_.is_linear else read_columns(machine)
        if self._kept is not None:
            self._kept_bank = self._bank.restrict(self._kept, self.learner_.active_kernels)

    def _ask(self, X: Any, question: str) -> Array:
        """What a method of the machine says of new rows, a few thousand at a time."""

        def answer(rows: Any) -> Array:
            return np.asarray(getattr(self.machine_, question)(self._combined_rows(rows)))

        return np.concatenate(list(self._by_batches(X, answer)))

    def _combined_rows(self, X: Any) -> Array:
        """The learned kernel as the machine gets it, with zeros for the training samples it does not read."""
        if getattr(self, "_kept", None) is None:
            return self._combine(self._bank, X)
        part = self._combine(self._kept_bank, X)
        K = np.zeros((len(part), self.learner_.n_train_))
        K[:, self._kept] = part
        return K


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


class CombinedKernelClassifier(ClassifierMixin, CombinedMachine):
    r"""A kernel classifier on kernels that a weight learner has combined.

    Use it to choose the weight rule and the classifier yourself, plain sums and means included. To learn
    weights and SVM as one convex problem, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    learner : weight learner, default=None
        From :mod:`multikernel.rules`; default ``CenteredAlignment()``.
    machine : classifier on a precomputed kernel, default=None
        Default ``SVC(kernel="precomputed")``. Also :class:`KernelDiscriminantClassifier`,
        :class:`KernelKNNClassifier`, :class:`MKLClassifier` with ``"precomputed"``, or a grid search over one
        of them. A kernel left at its default is set to "precomputed", also within the search.
    normalize : bool, default=True
        Whether to scale the combined kernel to a mean diagonal of 1, so that the C of ``machine`` means the
        same under every learner.
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite.
    gram : {"dense", "memmap"}
        Where the training kernels live.
    dtype : {"float64", "float32"}

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Those of the learner.
    kernel_shares_ : array of shape (n_kernels,)
        Each kernel's part of the learned kernel's trace.
    objective_, dual_gap_ : float, of the learner's problem; nan for a rule that solves none
    status_, n_iter_, history_ : how the learner ended
    scale_ : float, s
    learner_, machine_ : the fitted copies
    view_names_ : list of str
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import CombinedKernelClassifier
    >>> from multikernel.rules import MeanRule
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CombinedKernelClassifier(learner=MeanRule()).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.96

    Notes
    -----
    The learner sets the weights, then ``machine`` is fitted:

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        f = \text{machine}(K, y)

    or another combination of the learner; :math:`s` scales the mean of the diagonal to 1.
    """

    _task = "classification"
    classes_: Array

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CombinedKernelClassifier":
        """Learn the weights, then fit ``machine``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the loss of ``machine``, which must accept them. The kernel weights are
            learned from all samples alike.
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = machine_weights(sample_weight, codes.size)
        require_two_classes(self.classes_, codes if weights is None else codes[weights > 0.0])
        K = self._fit_kernel(X, class_targets(codes, self.classes_))
        self._keep(fit_machine(machine, K, self.classes_[codes], weights))
        return self

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        return self._ask(X, "predict")

    @available_if(machine_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """The scores, (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._ask(X, "decision_function")

    @available_if(machine_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """The probabilities (n_samples, n_classes)."""
        return self._ask(X, "predict_proba")


class CombinedKernelRegressor(RegressorMixin, CombinedMachine):
    r"""A kernel regressor on kernels that a weight learner has combined.

    Use it to choose the weight rule and the regressor yourself, plain sums and means included. To learn
    weights and regressor as one convex problem, use :class:`MKLRegressor` or :class:`MKLRidge`.

    Parameters
    ----------
    learner : weight learner, default=None
        From :mod:`multikernel.rules`, one for regression; default ``CenteredAlignment()``.
    machine : regressor on a precomputed kernel, default=None
        Default ``KernelRidge(kernel="precomputed")``, on targets whose mean is taken away and added again;
        also ``SVR(kernel="precomputed")``.
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`CombinedKernelClassifier`.
    normalize : bool, default=True
        As for :class:`CombinedKernelClassifier`.
    psd
        As for :class:`CombinedKernelClassifier`.
    gram
        As for :class:`CombinedKernelClassifier`.
    dtype
        As for :class:`CombinedKernelClassifier`.

    Attributes
    ----------
    kernel_weights_, scale_, learner_, machine_, view_names_
        As for :class:`CombinedKernelClassifier`.
    intercept_ : array of shape (n_outputs,)
        The mean of the targets, which is added to what the regressor predicts.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import CombinedKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CombinedKernelRegressor().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 1)
    0.5

    Notes
    -----
    The learner sets the weights, then ``machine`` is fitted:

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        f = \text{machine}(K, y)

    A saved model holds all training samples for kernel ridge regression, the support samples for SVR.
    """

    _task = "regression"
    offset_ = OldName("intercept_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CombinedKernelRegressor":
        """Learn the weights, then fit ``machine``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,), or (n_samples, n_outputs) if ``machine`` can
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the loss of ``machine``, which must accept them. The kernel weights are
            learned from all samples alike.
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=self._many_outputs())
        weights = machine_weights(sample_weight, len(values))
        K = self._fit_kernel(X, value_targets(values))
        targets = values[:, 0] if np.asarray(y).ndim == 1 or not self._many_outputs() else values
        # kernel ridge regression has no intercept of its own
        self.intercept_ = np.atleast_1d(np.average(targets, axis=0, weights=weights))
        self._keep(fit_machine(machine, K, targets - self.intercept_, weights))
        return self

    def _many_outputs(self) -> bool:
        machine = default_machine(self._task) if self.machine is None else self.machine
        return is_estimator(machine) and bool(get_tags(machine).target_tags.multi_output)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._many_outputs()
        return tags

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,), or (n_samples, n_outputs)."""
        return self._ask(X, "predict") + self.intercept_


class CombinedKernelOneClass(OutlierMixin, CombinedMachine):
    r"""A one-class estimator on kernels that a weight learner combines.

    Use it to choose the weight rule and the outlier detector yourself. To learn weights and detector as one
    convex problem, use :class:`MKLOneClass`.

    Parameters
    ----------
    learner : weight learner, default=None
        From :mod:`multikernel.rules`, one that needs no targets; default ``MeanRule()``.
    machine : outlier detector on a precomputed kernel, default=None
        Default ``OneClassSVM(kernel="precomputed")``.
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`CombinedKernelClassifier`.
    normalize : bool, default=True
        As for :class:`CombinedKernelClassifier`.
    psd
        As for :class:`CombinedKernelClassifier`.
    gram
        As for :class:`CombinedKernelClassifier`.
    dtype
        As for :class:`CombinedKernelClassifier`.

    Attributes
    ----------
    kernel_weights_, scale_, learner_, machine_, view_names_
        As for :class:`CombinedKernelClassifier`.
    offset_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import CombinedKernelOneClass
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> CombinedKernelOneClass().fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])

    Notes
    -----
    The learner sets the weights, then ``machine`` is fitted:

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P), \qquad f = \text{machine}(K)
    """

    _task = "unsupervised"
    _default_learner = MeanRule
    offset_: float

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "CombinedKernelOneClass":
        """Learn the weights, then fit ``machine``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the loss of ``machine``, which must accept them. The kernel weights are
            learned from all samples alike.
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        weights = machine_weights(sample_weight, _num_samples(X))
        K = self._fit_kernel(X, no_targets(_num_samples(X)))
        self._keep(fit_machine(machine, K, None, weights))
        self.offset_ = float(np.ravel(self.machine_.offset_)[0])
        return self

    def score_samples(self, X: Any) -> Array:
        """Scores before the threshold is subtracted (n_samples,)."""
        return self._ask(X, "score_samples")

    def decision_function(self, X: Any) -> Array:
        """Scores (n_samples,), negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for inliers, −1 for outliers."""
        return self._ask(X, "predict")
