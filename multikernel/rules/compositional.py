"""One kernel of all samples, each counted once for every kernel (Lee, Verzakov & Duin).

    𝐊 = (K_mh), m, h = 1 … P,   (P n) × (P n),   K_mm = K_m

K_mh is a kernel between a sample as kernel m sees it and another as kernel h does. For any kernels,

    K_mh = K_m^{1/2} K_h^{1/2},      k_mh(x, ·) = k_m(x, ·) K_m^{−1/2} K_h^{1/2}

(pseudo-inverse), so that 𝐊 = RR' with R the square roots below each other: semidefinite, of rank n at most.
For Gaussians of widths γ_m on the same d features, K_mm(x, z) is the inner product of the bumps
(4γ_m/π)^{d/4} exp(−2γ_m‖x − u‖²), functions of u, around x and z; that of bumps of two widths is

    k_mh(x, z) = (2√(γ_m γ_h) / (γ_m + γ_h))^{d/2} exp(−2γ_m γ_h / (γ_m + γ_h) ‖x − z‖²).
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.linalg
from sklearn.base import ClassifierMixin

from .._typing import Array
from .._validation import check_choice
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.inputs import encode_labels, require_two_classes
from ..core.stack.sums import mean_diagonals
from ..kernels import Gaussian
from ..views import View, as_views, make_bank
from ..views.precomputed import storage_of
from .machines import fit_machine, machine_for, machine_weights

CROSSES = ("sqrt", "gaussian")
_NOTHING = 1e-10  # of the largest eigenvalue: what counts as zero


class SquareRootCross:
    """Cross-kernels by square roots; it keeps 2 P n² numbers. Ks (P, n, n) is never modified.

    Examples
    --------
    >>> cross = SquareRootCross(np.array([np.diag([4.0, 9.0]), np.eye(2)]))
    >>> cross.matrix()[:2, 2:].round(6)
    array([[2., 0.],
           [0., 3.]])
    >>> cross.rows(0, np.array([[8.0, 9.0]])).round(6)
    array([[8., 9., 4., 3.]])
    """

    def __init__(self, Ks: Array) -> None:
        n = Ks.shape[1]
        self.roots, self.inverses = np.empty((len(Ks), n, n)), np.empty((len(Ks), n, n))
        for m, K in enumerate(Ks):
            values, V = scipy.linalg.eigh(K.astype(np.float64))
            kept = values > _NOTHING * max(values[-1], 0.0)
            sizes, V = np.sqrt(values[kept]), V[:, kept]
            self.roots[m] = (V * sizes) @ V.T
            self.inverses[m] = (V / sizes) @ V.T

    def matrix(self) -> Array:
        """𝐊 (P n, P n), ordered by kernels, then samples."""
        R = self.roots.reshape(-1, self.roots.shape[2])
        return np.asarray(R @ R.T)

    def rows(self, m: int, K: Array) -> Array:
        """Rows of 𝐊 (n_samples, P n) for new samples as kernel m sees them, from K = k_m(x, ·)."""
        R = self.roots.reshape(-1, self.roots.shape[2])
        return np.asarray(np.asarray(K, np.float64) @ self.inverses[m] @ R.T)


def gaussian_cross(gamma: float, other: float, d: int) -> tuple[float, float]:
    """The factor and the width of the cross-kernel of two Gaussians on d features.

    Examples
    --------
    >>> gaussian_cross(1.0, 1.0, 3)
    (1.0, 1.0)
    >>> factor, width = gaussian_cross(1.0, 4.0, 2)
    >>> round(factor, 6), round(width, 6)
    (0.8, 1.6)
    """
    total = gamma + other
    return float((2.0 * np.sqrt(gamma / total * (other / total))) ** (d / 2.0)), 2.0 * gamma * (other / total)


@dataclass(eq=False, repr=False)
class CompositionalKernelClassifier(ClassifierMixin, KernelEstimator):
    r"""A kernel classifier on samples that occur once for each kernel, with kernels between kernels.

    Use it for few samples and kernels, where different samples need different kernels. With many samples, use
    :class:`multikernel.localized.LocalizedMKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`; each is scaled to a mean diagonal of 1.
    machine : classifier with ``decision_function`` on a precomputed kernel, default=None
        Default ``SVC(kernel="precomputed")``. It needs one score for each class: ``decision_function_shape``
        is set to "ovr". Do not search its parameters within (``machine=GridSearchCV(...)``): copies of one
        sample fall on both sides of a fold, and its scores are too good. Search from outside, as in
        ``GridSearchCV(CompositionalKernelClassifier(machine=SVC()), {"machine__C": [1, 10]})``, or
        give the inner search the folds of the samples, ``cv=PredefinedSplit(np.tile(fold, P))``.
    cross : {"sqrt", "gaussian"}, default="sqrt"
        :math:`K_{mh} = K_m^{1/2} K_h^{1/2}`, for any kernels; or the inner product of bumps of two widths,
        for Gaussian kernels on the same columns (``multikernel.rules.compositional``).

    Attributes
    ----------
    machine_ : the fitted copy of ``machine``, on P n samples ordered by kernels
    n_kernels_ : int, P
    view_names_ : list of str
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.rules import CompositionalKernelClassifier
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> widths = [Gaussian(gamma=0.05), Gaussian(gamma=1.0)]
    >>> model = CompositionalKernelClassifier(widths, cross="gaussian").fit(X[::2], y[::2])
    >>> model.n_kernels_, round(model.score(X[1::2], y[1::2]), 2)
    (2, 0.96)

    Notes
    -----
    The model is

    .. math::

        \mathbf{K} = \begin{pmatrix} K_{11} & \cdots & K_{1P} \\ \vdots & & \vdots \\ K_{P1} & \cdots & K_{PP}
        \end{pmatrix}, \quad K_{mm} = K_m, \qquad f(x) = \frac{1}{P} \sum_m f_m(x), \quad
        f_m(x) = \sum_{h,j} \beta_{hj}\, k_{mh}(x, x_j) + b

    :math:`K_{mh}` is a kernel between a sample in the space of kernel m and another in that of kernel h; one
    SVM learns all :math:`P n` coefficients :math:`\beta_{hj}`, so that different kernels may matter at
    different samples. A new sample occurs P times, too, and its scores are averaged.

    The matrix has :math:`(P n)^2` entries, and the classifier gets each sample P times: keep both small.

    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Lee, Verzakov & Duin, Kernel combination versus classifier combination, MCS 2007.
    """

    about = About(
        family="nonlinear",
        problem="one SVM on the (P n)² matrix of all kernels and cross-kernels K_m^½ K_h^½",
        solver="that of the classifier",
        cost="(P n)² memory, P n³ for the square roots, and a classifier on P n samples",
        use="Few samples and kernels, where different samples need different kernels.",
        reference="Lee, Verzakov & Duin 2007",
    )

    kernels: Any = "auto"
    _: KW_ONLY
    machine: Any = None
    cross: str = "sqrt"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CompositionalKernelClassifier":
        """Fit ``machine`` on all kernels and cross-kernels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the loss of ``machine``, which must accept them.
        """
        check_choice("cross", self.cross, CROSSES)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = machine_weights(sample_weight, codes.size)
        require_two_classes(self.classes_, codes if weights is None else codes[weights > 0.0])
        K = self._fit_roots(X) if self.cross == "sqrt" else self._fit_gaussians(X)
        machine = machine_for("classification", self.machine)
        if not hasattr(machine, "decision_function"):
            raise TypeError(f"machine must have a decision_function, such as SVC; got {machine!r}.")
        given = machine.get_params()
        shapes = (name for name in given if name.endswith("decision_function_shape"))
        # classes are scored, not pairs of them: means of pairwise scores do not vote
        machine.set_params(**{name: "ovr" for name in shapes if given[name] == "ovo"})
        copies = None if weights is None else np.tile(weights, self.n_kernels_)
        self.machine_ = fit_machine(machine, K, np.tile(self.classes_[codes], self.n_kernels_), copies)
        scored, n_classes = np.shape(self.machine_.decision_function(K[:1])), self.classes_.size
        expected = (1,) if n_classes == 2 else (1, n_classes)
        if scored != expected:
            raise ValueError(
                f"machine must score each of {n_classes} classes, one row {expected} a sample; its "
                f"decision_function gives {scored}. Wrap it in sklearn.multiclass.OneVsRestClassifier."
            )
        return self

    # ------------------------------------------------------------------ kernels and cross-kernels
    def _fit_roots(self, X: Any) -> Array:
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_, self.n_kernels_ = list(self._bank.view_names_), len(Ks)
        self._scales = mean_diagonals(Ks)
        self._cross = SquareRootCross(Ks)
        self._cross.roots /= np.sqrt(self._scales)[:, None, None]
        self._cross.inverses *= np.sqrt(self._scales)[:, None, None]
        return self._cross.matrix()

    def _fit_gaussians(self, X: Any) -> Array:
        views = _gaussian_views(self.kernels)
        fitted = replace(self._storage, kernels=views, normalize=None).fit(X).views_
        self.view_names_, self.n_kernels_ = [view.name for view in views], len(views)
        columns = {view.selection.positions for view in fitted}
        if len(columns) > 1:
            raise ValueError(
                "cross='gaussian' needs kernels on the same columns; got views of different ones. "
                "Use cross='sqrt'."
            )
        gammas = [cast(Gaussian, view.kernel)._coefficient for view in fitted]
        d = fitted[0].rows.values.shape[1]
        self._pairs = [(m, h) for m in range(len(views)) for h in range(m, len(views))]
        crosses = [gaussian_cross(gammas[m], gammas[h], d) for m, h in self._pairs]
        self._factors = [factor for factor, _ in crosses]
        kernels = [
            View(f"{m}-{h}", Gaussian(gamma=width), views[m].columns, standardize=views[m].standardized)
            for (m, h), (_, width) in zip(self._pairs, crosses, strict=True)
        ]
        self._bank = replace(self._storage, kernels=kernels, normalize=None)
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
        """The mean of the scores over kernels: (n_samples,) for two classes, else (n_samples, n_classes)."""

        def answer(rows: Any) -> Array:
            ask: Callable[[Array], Array] = self.machine_.decision_function
            return np.mean([ask(copy) for copy in self._copies(rows)], axis=0)

        return np.concatenate(list(self._by_batches(X, answer)))

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])


def _gaussian_views(kernels: Any) -> list[View]:
    kernels = storage_of(kernels).kernels
    if isinstance(kernels, str):
        raise ValueError(f"cross='gaussian' needs a list of Gaussian kernels; got kernels={kernels!r}.")
    views = as_views(kernels)
    for view in views:
        if not isinstance(view.kernel, Gaussian) or view.transforms or view.normalize not in ("auto", None):
            raise ValueError(
                f"cross='gaussian' needs Gaussian kernels without transforms and normalize; view "
                f"{view.name!r} is {view!r}. Use cross='sqrt'."
            )
    if len({view.standardized for view in views}) > 1:
        raise ValueError("cross='gaussian' needs the same features: standardize all views or none.")
    return views
