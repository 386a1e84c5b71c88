"""Any kernel classifier on the kernel of any weight learner."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ..weights._machines import machine_for
from ..weights.targets import class_targets
from ._combined import CombinedKernel, machine_has
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]


class CombinedKernelClassifier(ClassifierMixin, CombinedKernel):
    r"""A kernel classifier on kernels that a weight learner has combined.

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        f = \text{machine}(K, y)

    or what else the learner makes of the kernels :math:`K_m`; :math:`s` brings the mean of the diagonal to 1.

    Parameters
    ----------
    learner : weight learner, optional
        From :mod:`multikernel.weights`; default ``CenteredAlignment()``.
    machine : classifier on a precomputed kernel, optional
        Default ``SVC(kernel="precomputed")``. Also :class:`KernelDiscriminantClassifier`,
        :class:`KernelKNNClassifier`, :class:`MKLClassifier` with ``"precomputed"``, or a grid search over one
        of them. A kernel left at its default is set to "precomputed", also within the search.
    kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
        As for :class:`MKLClassifier`.
    normalise : bool
        Whether to scale the combined kernel to a mean diagonal of 1, so that the machine's C means the same
        under every learner.
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite.
    gram : {"dense", "memmap"}
        Where the training kernels live.
    dtype : {"float64", "float32"}

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), those of the learner
    kernel_shares_ : array (n_kernels,), each kernel's part of the learned kernel's trace
    objective_, dual_gap_ : float, of the learner's problem; nan for a rule that solves none
    status_, n_iter_, history_ : how the learner ended
    scale_ : float, s
    learner_, machine_ : the fitted copies
    view_names_ : list of str
    classes_ : array (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import CombinedKernelClassifier
    >>> from multikernel.weights import MeanRule
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CombinedKernelClassifier(MeanRule()).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.95
    """

    _task = "classes"
    classes_: Array

    def fit(self, X: Any, y: Any) -> "CombinedKernelClassifier":
        """Learn the weights, then the machine.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        K = self._fit_kernel(X, class_targets(codes, self.classes_))
        self._keep(machine.fit(K, self.classes_[codes]))
        return self

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        return self._ask(X, "predict")

    @available_if(machine_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """The machine's scores: (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._ask(X, "decision_function")

    @available_if(machine_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """The machine's probabilities (n_samples, n_classes)."""
        return self._ask(X, "predict_proba")
