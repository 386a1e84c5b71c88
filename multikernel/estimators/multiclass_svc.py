"""All classes in one support vector machine, with one kernel or learned kernel weights."""

from collections.abc import Callable
from typing import Any

from ._about import MULTICLASS
from .mkl_classifier import MKLClassifier


class MulticlassSVC(MKLClassifier):
    r"""Support vector classifier with all classes in one machine.

    .. math::

        \min_{\mu,\, w,\, b}\ \tfrac12 \sum_{m,l} \|w_{ml}\|^2 / \mu_m
        + C \sum_i \sum_{l \ne y_i} \bigl[2 - (f^{y_i}(x_i) - f^l(x_i))\bigr]_+ ,\qquad
        f^l(x) = \sum_m \langle w_{ml}, \phi_m(x) \rangle + b_l,\quad \sum_l b_l = 0

    over weights :math:`\mu \ge 0` with :math:`\sum_m (d_m^2 \mu_m)^p \le 1`; the class with the largest
    :math:`f^l` is predicted. One problem sees all the margins between classes at once, where machines for
    single classes or pairs, which are :class:`MKLClassifier`'s default, do not know of each other. With one
    kernel this is the machine of Weston & Watkins, with several the multiclass MKL of Zien & Ong.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, or list of kernels, views and (name, kernel, columns)
        As for :class:`MKLClassifier`. One kernel is used as it is.
    C : float
        Price of errors.
    norm : float >= 1
        p of the weight set: 1 gives sparse weights, infinity the plain sum.
    costs : array (n_kernels,) or dict by view name, optional
        A kernel with a larger :math:`d_m` has to earn its weight.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    probability : bool
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        At most so many weight updates.
    psd : {"error", "clip", "shift"}
        What to do with an indefinite Gram matrix.
    gram : {"dense", "memmap"}
        Where the Gram stack is kept during fit.
    dtype : {"float64", "float32"}
        Its precision.
    callback : callable, optional
        Called with a dict after each iteration; a true answer stops the fit.
    verbose : int
        1 writes progress to standard error.
    random_state : int, RandomState or None
        Of the rough start and of the folds of the calibration; None always means the same start.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the learned weights
    view_names_ : list of str
    dual_coef_ : array (n_classes, n_support)
        :math:`B_{li} = [l = y_i] \sum_k \alpha_{ik} - \alpha_{il}`, with
        :math:`f^l(x) = \sum_i B_{li}\, k(x_i, x) + b_l`.
    support_ : array (n_support,), indices of the support samples
    intercept_ : array (n_classes,), of sum zero
    classes_ : array (n_classes,)
    objective_ : float, the dual value at the learned kernel
    dual_gap_ : float, the relative duality gap reached
    total_cost_ : float, the cost of a prediction, as for :class:`MKLClassifier`
    n_iter_ : int
    status_ : str
    history_ : list of dict

    Notes
    -----
    Two classes are one binary machine of the same C, which decides the same: its value is half that of the
    program above and :math:`f = (f^1 - f^0)/2`; ``dual_coef_`` has one row then.

    The loss of ``LinearSVC(multi_class="crammer_singer")`` is another one: only the worst class counts there.

    References
    ----------
    Weston & Watkins, Support vector machines for multi-class pattern recognition, ESANN 1999.
    Zien & Ong, Multiclass multiple kernel learning, ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MulticlassSVC
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> views = [("sepal", Gaussian(), [0, 1]), ("petal", Gaussian(), [2, 3])]
    >>> model = MulticlassSVC(views, C=10.0).fit(X, y)
    >>> bool(model.kernel_weights_[1] > model.kernel_weights_[0]), bool(model.score(X, y) > 0.95)
    (True, True)
    >>> model.dual_coef_.shape[0], bool(abs(model.dual_coef_.sum(axis=0)).max() < 1e-9)
    (3, True)
    """

    about = MULTICLASS

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        C: float = 1.0,
        norm: float = 1.0,
        costs: Any = None,
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = 300,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernels, C=C, norm=norm, costs=costs, multiclass="joint", class_weight=class_weight,
            probability=probability, tol=tol, max_iter=max_iter, psd=psd, gram=gram, dtype=dtype,
            callback=callback, verbose=verbose, random_state=random_state,
        )  # fmt: skip

    def _why_not_low_rank(self) -> str:
        return (
            "MulticlassSVC has no low-rank route: its classes share one machine. Use gram='dense' or "
            "'memmap', or MKLClassifier with multiclass='shared', 'ovr' or 'ovo'."
        )
