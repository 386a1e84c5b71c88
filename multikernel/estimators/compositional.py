"""One classifier on all kernels and cross-kernels at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from .._validation import check_choice
from ..combine.stack_sums import mean_diagonals
from ..kernels import Gaussian, Kernel
from ..solvers.compositional import SquareRootCross, gaussian_cross
from ..views import KernelBank, View, as_views, make_bank
from ..weights._machines import machine_for
from ._about import COMPOSITIONAL
from ._estimator import KernelEstimator
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]

CROSSES = ("sqrt", "gaussian")


class CompositionalKernelClassifier(ClassifierMixin, KernelEstimator):
    r"""A kernel classifier on samples that occur once for each kernel, with kernels between kernels.

    .. math::

        \mathbf{K} = \begin{pmatrix} K_{11} & \cdots & K_{1P} \\ \vdots & & \vdots \\ K_{P1} & \cdots & K_{PP}
        \end{pmatrix}, \quad K_{mm} = K_m, \qquad f(x) = \frac{1}{P} \sum_m f_m(x), \quad
        f_m(x) = \sum_{h,j} \beta_{hj}\, k_{mh}(x, x_j) + b

    :math:`K_{mh}` is a kernel between a sample as kernel m sees it and another as kernel h does; one machine
    learns all :math:`P n` coefficients :math:`\beta_{hj}`, so that different kernels may matter at different
    samples. A new sample occurs P times, too, and its scores are averaged.

    The matrix has :math:`(P n)^2` entries, and the machine sees each sample P times: keep both small.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
        As for :class:`MKLClassifier`; each is scaled to a mean diagonal of 1.
    machine : classifier with ``decision_function`` on a precomputed kernel, optional
        Default ``SVC(kernel="precomputed")``. It needs one score for each class: ``decision_function_shape``
        is set to "ovr". Do not search its parameters within (``machine=GridSearchCV(...)``): copies of one
        sample fall on both sides of a fold, and its scores are too good. Search from outside, as in
        ``GridSearchCV(CompositionalKernelClassifier(machine=SVC()), {"machine__C": [1, 10]})``, or
        give the inner search the folds of the samples, ``cv=PredefinedSplit(np.tile(fold, P))``.
    cross : {"sqrt", "gaussian"}
        :math:`K_{mh} = K_m^{1/2} K_h^{1/2}`, for any kernels; or the inner product of bumps of two widths,
        for Gaussian kernels on the same columns (``multikernel.solvers.compositional``).
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite.
    gram : {"dense", "memmap"}
        Where the training kernels live.
    dtype : {"float64", "float32"}

    Attributes
    ----------
    machine_ : the fitted copy of the machine, on P n samples ordered by kernels
    n_kernels_ : int, P
    view_names_ : list of str
    classes_ : array (n_classes,)

    Notes
    -----
    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Lee, Verzakov & Duin, Kernel combination versus classifier combination, MCS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import CompositionalKernelClassifier
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> widths = [Gaussian(gamma=0.05), Gaussian(gamma=1.0)]
    >>> model = CompositionalKernelClassifier(widths, cross="gaussian").fit(X[::2], y[::2])
    >>> model.n_kernels_, round(model.score(X[1::2], y[1::2]), 2)
    (2, 0.96)
    """

    about = COMPOSITIONAL

    classes_: Array

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        machine: Any = None,
        cross: str = "sqrt",
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
    ) -> None:
        self.kernels = kernels
        self.machine = machine
        self.cross = cross
        self.psd = psd
        self.gram = gram
        self.dtype = dtype

    def fit(self, X: Any, y: Any) -> "CompositionalKernelClassifier":
        """Learn the machine on all kernels and cross-kernels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels
        """
        check_choice("cross", self.cross, CROSSES)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        K = self._fit_roots(X) if self.cross == "sqrt" else self._fit_gaussians(X)
        machine = machine_for("classes", self.machine)
        if not hasattr(machine, "decision_function"):
            raise TypeError(f"machine must have a decision_function, such as SVC; got {machine!r}.")
        _score_classes(machine)
        self.machine_ = machine.fit(K, np.tile(self.classes_[codes], self.n_kernels_))
        _check_scores(self.machine_.decision_function(K[:1]), self.classes_.size)
        return self

    # ------------------------------------------------------------------ kernels and cross-kernels
    def _fit_roots(self, X: Any) -> Array:
        self._bank = make_bank(self.kernels, dtype=self.dtype, gram=self.gram, psd=self.psd)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_, self.n_kernels_ = list(self._bank.view_names_), len(Ks)
        self._scales = mean_diagonals(Ks)
        self._cross = SquareRootCross(Ks)
        self._cross.roots /= np.sqrt(self._scales)[:, None, None]
        self._cross.inverses *= np.sqrt(self._scales)[:, None, None]
        return self._cross.matrix()

    def _fit_gaussians(self, X: Any) -> Array:
        views = _gaussian_views(self.kernels)
        fitted = KernelBank(views, dtype=self.dtype, psd=self.psd).fit(X).views_
        self.view_names_, self.n_kernels_ = [view.name for view in views], len(views)
        columns = {view.selection.positions for view in fitted}
        if len(columns) > 1:
            raise ValueError(
                "cross='gaussian' needs kernels on the same columns; got views of different ones. "
                "Use cross='sqrt'."
            )
        gammas = [_width(view.kernel) for view in fitted]
        d = fitted[0].rows.values.shape[1]
        self._pairs = [(m, h) for m in range(len(views)) for h in range(m, len(views))]
        crosses = [gaussian_cross(gammas[m], gammas[h], d) for m, h in self._pairs]
        self._factors = [factor for factor, _ in crosses]
        self._bank = KernelBank(
            [
                View(f"{m}-{h}", Gaussian(gamma=width), views[m].columns, standardize=views[m].standardize)
                for (m, h), (_, width) in zip(self._pairs, crosses, strict=True)
            ],
            dtype=self.dtype, gram=self.gram, psd=self.psd,
        )  # fmt: skip
        Ks = self._bank.fit_stack(X)
        return self._compose(enumerate(Ks))

    def _compose(self, kernels: Any) -> Array:
        """Rows of all P copies of the samples, one copy after the other, from the cross-kernels."""
        K: Array | None = None
        for number, part in kernels:
            (m, h), (rows, n) = self._pairs[number], part.shape
            K = np.empty((self.n_kernels_ * rows, self.n_kernels_ * n)) if K is None else K
            scaled = np.multiply(part, self._factors[number], dtype=np.float64)
            K[m * rows : (m + 1) * rows, h * n : (h + 1) * n] = scaled
            K[h * rows : (h + 1) * rows, m * n : (m + 1) * n] = scaled
        assert K is not None
        return K

    def _copies(self, X: Any) -> list[Array]:
        """Rows of the composed kernel for each of the P copies of the samples, (n_samples, P n)."""
        if self.cross == "sqrt":
            pairs = self._bank.iter_kernels(X)
            return [self._cross.rows(m, np.asarray(K) / self._scales[m]) for m, K in pairs]
        return np.split(self._compose(self._bank.iter_kernels(X)), self.n_kernels_)

    # ------------------------------------------------------------------ predict
    def decision_function(self, X: Any) -> Array:
        """The mean of the machine's scores: (n_samples,) for two classes, else (n_samples, n_classes)."""

        def answer(rows: Any) -> Array:
            ask: Callable[[Array], Array] = self.machine_.decision_function
            return np.mean([ask(copy) for copy in self._copies(rows)], axis=0)

        return np.concatenate(list(self._by_batches(X, answer)))

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])


def _score_classes(machine: Any) -> None:
    """Let a machine score classes, not pairs of them: means of pairwise scores do not vote."""
    names = [
        name for name, value in machine.get_params().items() if isinstance(value, str) and value == "ovo"
    ]
    machine.set_params(**{name: "ovr" for name in names if name.endswith("decision_function_shape")})


def _check_scores(scores: Array, n_classes: int) -> None:
    expected = (1,) if n_classes == 2 else (1, n_classes)
    if np.shape(scores) != expected:
        raise ValueError(
            f"machine must score each of {n_classes} classes, one row {expected} a sample; its "
            f"decision_function gives {np.shape(scores)}. Wrap it in sklearn.multiclass.OneVsRestClassifier."
        )


def _gaussian_views(kernels: Any) -> list[View]:
    if isinstance(kernels, str):
        raise ValueError(f"cross='gaussian' needs a list of Gaussian kernels; got kernels={kernels!r}.")
    views = as_views(kernels)
    for view in views:
        if not isinstance(view.kernel, Gaussian) or view.transforms:
            raise ValueError(
                f"cross='gaussian' needs Gaussian kernels without transforms; view {view.name!r} is "
                f"{view!r}. Use cross='sqrt'."
            )
    if len({view.standardize for view in views}) > 1:
        raise ValueError("cross='gaussian' needs the same features: standardize all views or none.")
    return views


def _width(kernel: Kernel) -> float:
    assert isinstance(kernel, Gaussian)
    return kernel._coefficient
