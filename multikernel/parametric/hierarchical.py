"""Selection of variables and interactions: products of kernels of single variables, with a hierarchy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import binary_problems, decide
from ..core.estimator import KernelEstimator, refusing_overflow, require_finite
from ..core.fitted import FittedKernels
from ..core.inputs import (
    Samples,
    check_sample_weights,
    check_targets,
    encode_labels,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.optim.loop import Options, Status
from ..core.svm.losses import Hinge, Loss, SquaredHinge
from ..kernels import Gaussian, Kernel
from ..views import View, make_bank
from ..views.tables import MultiTable
from .penalties import check_penalty, regression_loss
from .solver.hierarchy import Hierarchy, Node, learn_hierarchy

_NEGLIGIBLE = 1e-6  # of the largest weight, at the default tol

HIERARCHICAL = About(
    family="margin",
    problem="min ½ (Σ_v d_v ‖f_D(v)‖)² + Σ_i ℓ(y_i, Σ_w f_w(x_i) + b), f_w in the space of Π_{i ∈ w} K_i",
    solver="active sets of products, steps over warm-started SVMs; duality gap of all sets",
    cost="about fifty SVMs; memory n² for each variable and each active product",
    use="Which variables and which interactions of them matter, when effects are not linear.",
    reference="Bach 2009",
)


@dataclass(frozen=True)
class ProductKernels:
    """Products of kernels by dual coefficients over support samples."""

    bank: Any  # fitted bank of the support samples and all variables in use
    products: tuple[tuple[int, ...], ...]  # variables of each product
    coefficients: Array  # (n_machines, n_support)
    weights: Array  # (n_machines, n_products)

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each product."""
        grams = dict(self.bank.iter_kernels(X))
        for k in np.flatnonzero(self.weights.any(axis=0)):
            members = self.products[k]
            K = np.prod([grams[m] for m in members], axis=0)
            yield int(k), (K @ self.coefficients.T) * self.weights[:, k]


def _views_of_columns(model: Any, X: Any) -> Any:
    """The kernels of the variables: a view for each column where one kernel, or none, is given."""
    if model.kernels != "auto" if isinstance(model.kernels, str) else not isinstance(model.kernels, Kernel):
        return model.kernels
    if isinstance(X, MultiTable):
        raise ValueError(
            f"{type(model).__name__} makes a variable of each column of one table; got several tables. Give "
            "a list of views, each of which is a variable."
        )
    kernel = Gaussian() if isinstance(model.kernels, str) else model.kernels
    names = getattr(X, "columns", None)
    names = [f"x{k}" for k in range(X.shape[1])] if names is None else [str(name) for name in names]
    encode = isinstance(model.kernels, str)
    standardize = True if encode else "auto"
    return [
        View(name, kernel, k, transforms="center", standardize=standardize, encode=encode)
        for k, name in enumerate(names)
    ]


def _fit_products(
    model: Any, X: Any, samples: Samples, names: list[str], losses: Callable[[], Sequence[Loss]]
) -> None:
    """Learn the products and their weights, common to all machines, and store them."""
    growth = check_number("growth", model.growth, above=0.0)
    degree = check_positive_integer("degree", model.degree)
    model._check_numerics()
    model._check_storage()
    bank = model._bank = make_bank(_views_of_columns(model, X), **model._bank_options)
    Ks = np.asarray(model._fit_stack(X, samples), np.float64)
    model._tell_of_kernels(Ks)
    options = Options(tol=model.tol, max_iter=model.max_iter, callback=progress_of(model, ""))
    problem = Hierarchy(Ks, min(degree, len(Ks)), growth)
    with refusing_overflow():
        result, nodes = learn_hierarchy(problem, losses(), options)
    if result.suspicious or result.status == Status.INDEFINITE:
        model._require_psd(Ks, range(len(Ks)))
    require_finite(result)
    kept = result.weights > min(_NEGLIGIBLE, 1e-3 * model.tol) * result.weights.max()
    weights: dict[Node, float] = {(i,): 0.0 for i in range(len(Ks))}
    weights |= {node: float(w) for node, w, has in zip(nodes, result.weights, kept, strict=True) if has}
    result = replace(result, weights=np.array(list(weights.values())))
    _store_products(model, bank, result, list(weights), names, samples)


def _store_products(
    model: Any, bank: Any, result: Any, nodes: list[Node], names: list[str], samples: Samples
) -> None:
    """Keep support samples, the variables in use, and the products."""
    model.variables_ = list(bank.view_names_)
    model.products_ = [tuple(model.variables_[i] for i in node) for node in nodes]
    model.view_names_ = [" × ".join(product) for product in model.products_]
    model.machine_names_ = names
    model.kernel_weights_ = result.weights
    model.machine_weights_ = np.repeat(result.weights[None], len(names), axis=0)
    model.intercept_ = result.intercepts
    model.objective_, model.dual_gap_ = result.objective, result.gap
    model.n_iter_, model.status_ = max(1, result.n_iter), str(result.status)
    model.history_ = [{**entry, "machine": 0} for entry in result.history]
    spread = samples.spread(result.duals)
    model.support_ = np.flatnonzero(spread.any(axis=0)).astype(np.intp)
    model.dual_coef_ = spread[:, model.support_]
    used = np.flatnonzero(result.duals.any(axis=0))
    used = used if used.size else np.array([0])  # a model without support samples is its intercept
    rows = samples.rows[used]
    active = [node for node, weight in zip(nodes, result.weights, strict=True) if weight > 0.0]
    variables = sorted({i for node in active or nodes[:1] for i in node})
    compact = bank.restrict(rows if model._precomputed else used, variables)
    model._support_rows = rows
    part = ProductKernels(compact, tuple(nodes), result.duals[:, used], model.machine_weights_)
    model._fitted = FittedKernels([part], model.machine_weights_.shape)
    del model._bank
    model._warn_unless_converged()


class _Products(KernelEstimator):
    """What the regressor and the classifier share beside a fit."""

    about = HIERARCHICAL
    _adds_kernels = True
    _storage_options = ("psd",)
    _more_columns = "There is no memory for more interactions: lower C or degree, or raise growth or tol."
    products_: list[tuple[str, ...]]
    kernel_weights_: Array
    intercept_: Array

    def weights_frame(self) -> pd.DataFrame:
        """All variables, and the interactions that were selected, one row for each.

        Returns
        -------
        DataFrame
            By name: ``degree``, the number of variables, and ``weight``, 0 where a variable was not selected.
        """
        check_is_fitted(self)
        columns = {"degree": [len(product) for product in self.products_], "weight": self.kernel_weights_}
        return pd.DataFrame(columns, index=pd.Index(self.view_names_, name="product"))


@dataclass(eq=False, repr=False)
class HierarchicalMKLRegressor(RegressorMixin, _Products):
    r"""Kernel regressor that selects variables and interactions of them, with a hierarchy.

    Use it to find out which columns matter, and which of them together, where effects are not linear. An
    interaction is selected only if all the parts of it are. For linear effects the lasso is the tool.

    Parameters
    ----------
    kernels : "auto", kernel, "precomputed", list, dict or KernelBank, default="auto"
        - "auto": every column is a variable, with a centered `Gaussian` kernel.
        - a kernel: every column is a variable with this kernel, centered.
        - "precomputed", a list, a dict or a :class:`KernelBank`, as for :class:`MKLRegressor`: every view is
          a variable.
    degree : int, default=3
        Largest number of variables in an interaction. With 1 the model is additive, that of
        :class:`MKLRegressor` with ``norm=1``.
    growth : float > 0, default=2.0
        Factor of the penalty on an interaction for each variable more. The larger, the fewer interactions.
    loss : {"epsilon_insensitive", "squared"}, default="squared"
        Support vector regression, or ridge regression with the penalty 1/C.
    C : float or "auto", default="auto"
        Penalty on errors. "auto" is the standard deviation of y for ``"epsilon_insensitive"``, and 1 for
        ``"squared"``.
    epsilon : float or "auto", default="auto"
        Errors below it are not penalized. "auto" is a tenth of the standard deviation of y.
    tol : float, default=1e-3
        Relative duality gap to reach, over all interactions up to `degree`.
    max_iter : int, default=300
        Maximum number of rounds, in each of which up to 40 interactions come in.
    max_time : float, default=None
        As for :class:`MKLRegressor`.
    callback : callable, default=None
        As for :class:`MKLRegressor`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLRegressor`.
    verbose : int, default=0
        As for :class:`MKLRegressor`.

    Attributes
    ----------
    products_ : list of tuples of str, all variables, then the interactions that were selected
    variables_ : list of str, all variables
    kernel_weights_ : array of shape (n_products,)
        Weights of the products of kernels, 0 of variables that were not selected. Interactions weigh no more
        than their parts.
    view_names_ : list of str, names of the products
    machine_weights_, dual_coef_, support_, intercept_
        As for :class:`MKLRegressor`, with ``n_machines = 1``.
    objective_, dual_gap_ : float
        Dual value, and the duality gap of the problem over **all** interactions up to `degree`.
    n_iter_, status_, history_ : int, str and list of dict, how the rounds went

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.parametric import HierarchicalMKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(150, 5))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    >>> model = HierarchicalMKLRegressor(degree=2).fit(X, y)
    >>> frame = model.weights_frame()
    >>> frame["weight"].nlargest(4).index.sort_values().tolist()
    ['x0', 'x1', 'x1 × x2', 'x2']

    Notes
    -----
    With the sets :math:`v` of at most `degree` variables, the sets :math:`D(v)` that contain :math:`v`, and
    functions :math:`f_w` in the space of :math:`\prod_{i \in w} K_i`, it solves

    .. math::

        \min_{f, b}\ \tfrac12 \Bigl( \sum_v d_v \bigl( \textstyle\sum_{w \in D(v)} \|f_w\|^2 \bigr)^{1/2}
        \Bigr)^2 + \sum_i \ell\bigl(y_i, \textstyle\sum_w f_w(x_i) + b\bigr), \qquad d_v = g^{|v| - 1}

    with the `growth` :math:`g`. A norm in the sum is zero for a set and for all sets that contain it at once.
    Sets come in while the duality gap asks for them; the bound for those that did not is a sum over all sets
    that contain a candidate, which has a closed form.

    References
    ----------
    Bach, Exploring large feature spaces with hierarchical multiple kernel learning, NIPS 21, 2009.
    Bach, High-dimensional non-linear variable selection through hierarchical kernel learning,
    arXiv:0909.0844, 2009.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    degree: int = 3
    growth: float = 2.0
    loss: str = "squared"
    C: float | str = "auto"
    epsilon: float | str = "auto"
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "HierarchicalMKLRegressor":
        """Select variables and interactions, and learn their functions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        check_penalty(self)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        samples = self._distinct(X, targets, check_sample_weights(sample_weight, targets.size))
        own = targets[samples.rows]
        middle = float(np.median(own))
        _fit_products(self, X, samples, ["y"], lambda: [regression_loss(self, own - middle, samples.weights)])
        self.intercept_ = self.intercept_ + middle
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])


@dataclass(eq=False, repr=False)
class HierarchicalMKLClassifier(ClassifierMixin, _Products):
    r"""Support vector classifier that selects variables and interactions of them, with a hierarchy.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`HierarchicalMKLRegressor`.
    degree : int, default=3
        As for :class:`HierarchicalMKLRegressor`.
    growth : float > 0, default=2.0
        As for :class:`HierarchicalMKLRegressor`.
    tol : float, default=1e-3
        As for :class:`HierarchicalMKLRegressor`.
    max_iter : int, default=300
        As for :class:`HierarchicalMKLRegressor`.
    max_time : float, default=None
        As for :class:`HierarchicalMKLRegressor`.
    callback : callable, default=None
        As for :class:`HierarchicalMKLRegressor`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`HierarchicalMKLRegressor`.
    verbose : int, default=0
        As for :class:`HierarchicalMKLRegressor`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    C : float, default=1.0
        Penalty on margin violations.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    products_, variables_, kernel_weights_, view_names_, machine_weights_, dual_coef_, support_, intercept_,
    objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`HierarchicalMKLRegressor`; several classes have one classifier for each class against
        the others, with the same weights.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.parametric import HierarchicalMKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = HierarchicalMKLClassifier(degree=2).fit(X, y)
    >>> model.weights_frame()["weight"].nlargest(3).index.sort_values().tolist()
    ['x0', 'x0 × x1', 'x1']

    References
    ----------
    Bach, Exploring large feature spaces with hierarchical multiple kernel learning, NIPS 21, 2009.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    degree: int = 3
    growth: float = 2.0
    C: float = 1.0
    loss: str = "hinge"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "HierarchicalMKLClassifier":
        """Select variables and interactions, and learn their functions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        C = check_number("C", self.C, above=0.0)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        problem = binary_problems(codes[samples.rows], self.classes_, "shared")[0]
        kind = Hinge if self.loss == "hinge" else SquaredHinge
        prices = price_samples(C, samples.weights)
        _fit_products(
            self, X, samples, problem.names, lambda: [kind(signs, prices) for signs in problem.signs]
        )
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        check_is_fitted(self)
        scores = self._scores(X) + self.intercept_
        return np.asarray(scores[:, 0] if self.classes_.size == 2 else scores)

    def predict(self, X: Any) -> Array:
        """The class of each sample.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        return decide(self.decision_function(X), self.classes_)
