"""Global and local projection kernels: classification, regression and novelty detection."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import Array
from .._validation import check_choice, check_number, warn_caller
from ..core.decisions import MachineClassifier, MachineNovelty, calibrate
from ..core.inputs import (
    check_finite_price,
    check_nu,
    check_sample_weights,
    check_targets,
    distinct_samples,
    encode_labels,
    require_two_classes,
    weigh_samples,
)
from ..views.scaling import Scaling
from .descents import class_machines, one_class_machine, regression_machine
from .projection_base import BaseProjection

STRATEGIES = ("joint", "crammer_singer", "ovr", "ovo")
_COLLAPSED = 0.99  # a region with more than this share of the gates counts alone


@dataclass(eq=False, repr=False)
class ProjectionKernelClassifier(MachineClassifier, BaseProjection):
    r"""Support vector classifier in subspaces that it learns, and a transformer into them.

    Use it where a few directions of many columns matter, or to plot samples in the plane that the classifier
    uses. The problem is not convex; columns have to be numeric features.

    Parameters
    ----------
    kernels : {"linear", "poly", "gaussian"}, or a list or dict of them, default="linear"
        :math:`z't`, :math:`(z't + 1)^{degree}` or :math:`\exp(-\gamma \|z - t\|^2)` of projected samples.
        `kernels`, `columns`, `n_components`, `degree` and `gamma` have one value for all regions, or a list
        or a dict with one for each. The keys of a dict name the regions.
    n_regions : int, default=None
        Regions, each with a projection of its own; 1 has no gate. None: as many as the lists or dicts have
        values, or 1.
    columns : None, or a list or dict of columns, default=None
        What each region projects: None for all columns, else names, positions, a slice, mask or function, as
        for a view.
    n_components : int, or a list or dict of int, default=2
        Dimensions of each projection. It may exceed the number of columns, which adds nothing for the linear
        kernel.
    degree : int, or a list or dict of int, of the polynomial, default=2
    gamma : float or "scale", or a list or dict of them, of the Gaussian, default="scale"
        ``"scale"`` is 1 / (n_components × the mean variance of the region's columns that vary); that variance
        is 1 for standardised columns. Projections on unit columns then differ by about one width of the
        kernel.
    C : float, default=1.0
        Penalty on margin violations.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        The gate over several regions, as in :class:`LocalizedMKLClassifier`.
    gating_features : None, columns, or name of a region, default=None
        What the gate reads, standardised: None for all columns, the columns of a region by its name, or
        columns by name, position, list, slice, mask or function. It may be columns that no region projects.
    projection_norm : None or "unit", default=None
        ``"unit"`` keeps the columns of the projections at length 1; see the notes.
    multiclass : {"joint", "crammer_singer", "ovr", "ovo"}, default="joint"
        More than two classes in a single machine, or by a machine for each class or pair of classes.
    n_init : int, default=1
        Descents, of which that with the least :math:`J` is kept.
    n_screen : int, default=10
        Random starts that are solved once before each descent, which sets out from the one with the least
        :math:`J`. Their columns are unit differences of random samples of different classes.
    solver : {"gradient", "lbfgs"}, default="gradient"
    alternate : bool, default=False
        Whether projections and gate move alternately, with a machine solved after each move, as in the
        published algorithm. The default moves both in one step: about half the solves; alternately often ends
        at a lower :math:`J`, and at the same accuracy.
    gating_reg : float, default=0.0
        Adds gating_reg/2 ‖v‖² for the gate's parameters without the biases (or widths).
    projection_reg : float, default=0.0
        Adds projection_reg/2 ‖W‖²; only without projection_norm="unit".
    patience : int, float, default=1
        Stop when :math:`J` has fallen by no more than `tol` of itself, `patience` times running.
    tol : int, float, default=1e-3
        Stop when :math:`J` has fallen by no more than `tol` of itself, `patience` times running.
    max_iter : int, default=100
        Steps of each descent.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    standardize : bool, default=True
        Whether the projected columns are standardised by the training samples; the gate's always are.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether `predict_proba` is to be calibrated, on five folds, which takes five more fits.
    callback : callable, default=None
        Called with a dict after each step; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.
    random_state : int, RandomState or None, default=None
        Of the starts and of the folds of the calibration; None always means the same.

    Attributes
    ----------
    projections_ : array of shape (n_regions, n_features, n_components)
        :math:`W_m`, for standardised columns (if `standardize`); zeros for columns that a region does not
        project and components that it does not have.
    columns_ : list of array, positions of the columns that each region projects
    n_components_ : array of shape (n_regions,)
        Dimensions of each projection.
    region_kernels_ : list of kernel, :math:`k_m` as used
    gating_ : array of shape (n_regions, n_gating_features + 1) or None
        Parameters of the gate, biases or widths last, for standardised columns; None for one region.
    mean_, scale_ : array of shape (n_features,)
        What standardises the columns; the scale of constant columns is 1.
    gamma_ : float, the width of the Gaussian as used; NaN where regions differ (see `region_kernels_`)
    dual_coef_ : array of shape (n_machines, n_support)
        Label × dual.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    intercept_ : array of shape (n_machines,)
    classes_ : array of shape (n_classes,)
    machine_names_ : list of str
    view_names_ : list of str, the regions: ``region0``, …
    kernel_weights_ : array of shape (n_regions,)
        The mean gate over the training samples; 1 for one region.
    machine_weights_ : array of shape (n_machines, n_regions)
        The same for every machine.
    objective_ : float, :math:`J` with the ridges, the sum over the machines
    dual_gap_ : float
        The relative duality gap of the machines at the learned kernel, the largest of them. It certifies the
        machines; the projections are where a descent ended, and another start may end lower.
    gradient_norm_ : float, the norm of the gradient relative to :math:`J`
    start_objectives_ : array of shape (n_init,)
        :math:`J` reached by each descent.
    n_solves_ : int, support vector machines solved, screening included
    n_iter_ : int, steps of the descent that was kept
    status_ : str
        "optimal": a step gained no more than `tol`; "stalled": none lowered :math:`J`; "max_iter";
        "interrupted".
    saturated_ : list of str, the regions whose gate is 0 or 1 at nearly all training samples
    history_ : list of dict, the steps of the descent that was kept; ``objective`` never rises
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.localized import ProjectionKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProjectionKernelClassifier(n_regions=2, n_components=1, C=10.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.transform(X).shape, model.projections_.shape
    ((150, 2), (2, 4, 1))

    Notes
    -----
    It solves

    .. math::

        \min_{W, V}\ J(W, V) = \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ \sum_i \alpha_i
        - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j\, k(x_i, x_j), \qquad
        k(x, z) = \sum_m \eta_m(x)\, k_m(W_m' x, W_m' z)\, \eta_m(z)

    with projections :math:`W_m` (d × n_components) of standardised samples, kernels :math:`k_m` of projected
    samples, dual variables :math:`\alpha`, labels :math:`y_i = \pm 1`, and a gate :math:`\eta(x; V)`. One
    region is the global projection kernel, which has no gate; several regions are the local projection
    kernel: each has its own subspace, and the gate says where it counts. All machines of a model share
    projections and gate.

    :math:`J` does not regularise :math:`W`: with the linear or polynomial kernel, larger projections have a
    lower :math:`J` always, down to C times the hinge loss alone. `tol` and `max_iter` are the only brake,
    so a smaller `tol` is a weaker regularisation; ``projection_norm="unit"`` and `projection_reg` are others.
    Nor is a lower :math:`J` a better classifier: choose by cross-validation.

    Where a projection tells nothing of the classes, and one class is larger, the machine is constant and the
    gradient zero: a descent that starts there stays. Hence `n_screen`; a warning tells of a fit that ended
    so.

    The problem is not convex, and rounding can lead to another end. The same seed gives the same model, on
    any number of threads. Equal rows with equal labels are one sample with the sum of their weights,
    counted once in the standardisation; the order of the rows does not matter.

    Memory is one n × n matrix, and one more for several regions of nonlinear kernels. A fitted model keeps
    the projections of its support samples.

    References
    ----------
    Gönen & Alpaydın, Supervised learning of local projection kernels, Neurocomputing 73, 2010.
    """

    kernels: Any = "linear"
    _: KW_ONLY
    n_regions: int | None = None
    columns: Any = None
    n_components: Any = 2
    degree: Any = 2
    gamma: Any = "scale"
    C: float = 1.0
    gating: str = "softmax"
    gating_features: Any = None
    projection_norm: str | None = None
    multiclass: str = "joint"
    n_init: int = 1
    n_screen: int = 10
    solver: str = "gradient"
    alternate: bool = False
    gating_reg: float = 0.0
    projection_reg: float = 0.0
    patience: int = 1
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    standardize: bool = True
    class_weight: Any = None
    probability: bool = False
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ProjectionKernelClassifier":
        """Learn projections, gate and machines.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_parameters()
        check_choice("multiclass", self.multiclass, STRATEGIES)
        C = check_finite_price(self.C)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = distinct_samples(X, codes[:, None], weights)
        codes = codes[samples.rows]
        self._votes = self.multiclass == "ovo" and self.classes_.size > 2
        machines, self.machine_names_ = class_machines(self, codes, C * samples.weights)
        result = self._fit_projections(X, samples, codes, machines)
        flat = self._flat_machines(result, units=1.0)
        if flat:
            names = ", ".join(repr(self.machine_names_[k]) for k in flat)
            self._warn_of_plateau(
                X,
                f"{names}: decision values differ by no more than {max(flat.values()):.2g} of the margin",
                "Raise C, n_screen, n_init or n_components, or use class_weight='balanced'.",
            )
        self._calibration = calibrate(self, X, y, sample_weight)
        return self


@dataclass(eq=False, repr=False)
class ProjectionKernelRegressor(RegressorMixin, BaseProjection):
    r"""ε-support vector regression in subspaces that it learns, and a transformer into them.

    Use it where a few directions of many columns matter. The problem is not convex; columns have to be
    numeric features.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="linear"
        As for :class:`ProjectionKernelClassifier`.
    n_regions : int, default=None
        As for :class:`ProjectionKernelClassifier`.
    columns : None, or a list or dict of columns, default=None
        As for :class:`ProjectionKernelClassifier`.
    n_components : int or None, default=2
        As for :class:`ProjectionKernelClassifier`.
    degree : int, default=2
        As for :class:`ProjectionKernelClassifier`.
    gamma : float or "median", default="scale"
        As for :class:`ProjectionKernelClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`ProjectionKernelClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`ProjectionKernelClassifier`.
    projection_norm : None or "unit", default=None
        As for :class:`ProjectionKernelClassifier`.
    n_init : int, default=1
        As for :class:`ProjectionKernelClassifier`.
    n_screen : int, default=10
        As for :class:`ProjectionKernelClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`ProjectionKernelClassifier`.
    alternate : bool, default=False
        As for :class:`ProjectionKernelClassifier`.
    gating_reg : float or "auto", default=0.0
        As for :class:`ProjectionKernelClassifier`.
    projection_reg : float, default=0.0
        As for :class:`ProjectionKernelClassifier`.
    patience : int, default=1
        As for :class:`ProjectionKernelClassifier`.
    tol : float, default=1e-3
        As for :class:`ProjectionKernelClassifier`.
    max_iter : int, default=100
        As for :class:`ProjectionKernelClassifier`.
    max_time : float, default=None
        As for :class:`ProjectionKernelClassifier`.
    standardize : bool or "auto", default=True
        As for :class:`ProjectionKernelClassifier`.
    callback : callable, default=None
        As for :class:`ProjectionKernelClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`ProjectionKernelClassifier`.
    verbose : int, default=0
        As for :class:`ProjectionKernelClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`ProjectionKernelClassifier`; starts are differences of a sample with a target above the
        median and one with a target that is not.
    C : float, default=1.0
        Penalty on errors beyond epsilon. It is in units of the targets: scale them.
    epsilon : float >= 0, default=0.1
        Errors below it are free.

    Attributes
    ----------
    projections_, columns_, n_components_, region_kernels_, gating_, mean_, scale_, gamma_, dual_coef_,
    support_, intercept_, objective_, dual_gap_, gradient_norm_, start_objectives_, n_solves_, n_iter_,
    status_, saturated_, history_, kernel_weights_, machine_weights_, machine_names_, view_names_
        As for :class:`ProjectionKernelClassifier`, with one machine.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.localized import ProjectionKernelRegressor
    >>> X = np.random.default_rng(0).normal(size=(120, 5))
    >>> y = np.sin(X[:, 0] + X[:, 1])
    >>> model = ProjectionKernelRegressor(n_components=1, kernels="gaussian", C=10.0, projection_norm="unit")
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    >>> np.abs(model.projections_[0, :, 0]).round(1).tolist()
    [0.7, 0.7, 0.0, 0.0, 0.0]

    Notes
    -----
    It solves

    .. math::

        \min_{W, V}\ J(W, V) = \max_{-C \le \beta \le C,\ 1'\beta = 0}\
        y'\beta - \epsilon \|\beta\|_1 - \tfrac12 \beta' K \beta, \qquad
        k(x, z) = \sum_m \eta_m(x)\, k_m(W_m' x, W_m' z)\, \eta_m(z)

    with targets :math:`y`, dual variables :math:`\beta`, projections :math:`W_m`, gate :math:`\eta(x; V)`.

    With the linear kernel and several regions this is a piecewise linear fit, softly joined; all pieces
    share the intercept, and ``kernels="poly", degree=1`` gives each its own. The notes of
    :class:`ProjectionKernelClassifier` on what regularises the projections hold here too.
    """

    kernels: Any = "linear"
    _: KW_ONLY
    n_regions: int | None = None
    columns: Any = None
    n_components: Any = 2
    degree: Any = 2
    gamma: Any = "scale"
    C: float = 1.0
    epsilon: float = 0.1
    gating: str = "softmax"
    gating_features: Any = None
    projection_norm: str | None = None
    n_init: int = 1
    n_screen: int = 10
    solver: str = "gradient"
    alternate: bool = False
    gating_reg: float = 0.0
    projection_reg: float = 0.0
    patience: int = 1
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    standardize: bool = True
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ProjectionKernelRegressor":
        """Learn projections, gate and machine.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_parameters()
        check_finite_price(self.C)
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = distinct_samples(X, targets[:, None], weights)
        y = targets[samples.rows]
        machine, middle = regression_machine(self, y, samples.weights)
        self.machine_names_ = ["y"]
        sides = y > middle if (y > middle).any() else y >= middle
        result = self._fit_projections(X, samples, sides, machine)
        self.intercept_ = self.intercept_ + middle
        spread = float(Scaling.fit(y[:, None]).scale[0]) if y.min() < y.max() else 0.0
        flat = self._flat_machines(result, spread) if spread > epsilon else {}
        if flat:
            self._warn_of_plateau(
                X,
                f"the targets: predictions differ by no more than {flat[0]:.2g} of their standard deviation",
                "Raise C, which is in the units of the targets, n_screen, n_init or n_components.",
            )
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]


@dataclass(eq=False, repr=False)
class ProjectionKernelOneClass(MachineNovelty, BaseProjection):
    r"""One-class support vector machine in subspaces that it learns, and a transformer into them.

    Use it to detect outliers along a few directions of many columns. The problem is not convex; compare with
    :class:`MKLOneClass`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="gaussian"
        As for :class:`ProjectionKernelClassifier`.
    n_regions : int, default=None
        As for :class:`ProjectionKernelClassifier`.
    columns : None, or a list or dict of columns, default=None
        As for :class:`ProjectionKernelClassifier`.
    n_components : int or None, default=2
        As for :class:`ProjectionKernelClassifier`.
    degree : int, default=2
        As for :class:`ProjectionKernelClassifier`.
    gamma : float or "median", default="scale"
        As for :class:`ProjectionKernelClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`ProjectionKernelClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`ProjectionKernelClassifier`.
    projection_norm : None or "unit", default="unit"
        As for :class:`ProjectionKernelClassifier`.
    n_init : int, default=1
        As for :class:`ProjectionKernelClassifier`.
    n_screen : int, default=10
        As for :class:`ProjectionKernelClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`ProjectionKernelClassifier`.
    alternate : bool, default=False
        As for :class:`ProjectionKernelClassifier`.
    gating_reg : float or "auto", default=0.0
        As for :class:`ProjectionKernelClassifier`.
    projection_reg : float, default=0.0
        As for :class:`ProjectionKernelClassifier`.
    patience : int, default=1
        As for :class:`ProjectionKernelClassifier`.
    tol : float, default=1e-3
        As for :class:`ProjectionKernelClassifier`.
    max_iter : int, default=100
        As for :class:`ProjectionKernelClassifier`.
    max_time : float, default=None
        As for :class:`ProjectionKernelClassifier`.
    standardize : bool or "auto", default=True
        As for :class:`ProjectionKernelClassifier`.
    callback : callable, default=None
        As for :class:`ProjectionKernelClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`ProjectionKernelClassifier`.
    verbose : int, default=0
        As for :class:`ProjectionKernelClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`ProjectionKernelClassifier`, but ``kernels="gaussian", projection_norm="unit"`` unless
        told otherwise; starts are differences of any two samples.
    nu : float in (0, 1], default=0.5
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    projections_, columns_, n_components_, region_kernels_, gating_, mean_, scale_, gamma_, dual_coef_,
    support_, intercept_, objective_, dual_gap_, gradient_norm_, start_objectives_, n_solves_, n_iter_,
    status_, saturated_, history_, kernel_weights_, machine_weights_, machine_names_, view_names_
        As for :class:`ProjectionKernelClassifier`, with one machine; the objective is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.localized import ProjectionKernelOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:, 2] = X[:, 0] + 0.05 * X[:, 2]  # two columns that agree
    >>> model = ProjectionKernelOneClass(n_components=1, nu=0.1, n_init=5).fit(X)
    >>> model.predict([[2.0, 0.0, 2.0], [2.0, 0.0, 0.0]]).tolist()
    [1, -1]

    Notes
    -----
    It solves

    .. math::

        \min_{W, V}\ J(W, V) = \max_{0 \le \beta \le 1/(\nu n),\ 1'\beta = 1}\ - \tfrac12 \beta' K \beta,
        \qquad k(x, z) = \sum_m \eta_m(x)\, k_m(W_m' x, W_m' z)\, \eta_m(z)

    with dual variables :math:`\beta`, projections :math:`W_m`, gate :math:`\eta(x; V)`. With the Gaussian
    kernel and unit columns the samples are brought as close together as a projection can: what stays
    constant in them is found, and new samples in which it does not are outliers.

    **This objective has no term that fits anything**: it is lowered by whatever makes samples more alike.
    Without ``projection_norm="unit"`` it falls without end as linear or polynomial projections grow, and
    Gaussian ones shrink until every sample is the same. Several regions have their lowest objective where the
    gate opens one of them everywhere. Both are allowed, with a warning where it happens. With the linear
    kernel and standardised columns the origin lies among the samples, no plane keeps them from it, and the
    model is constant: use another kernel, or ``standardize=False`` for samples that lie away from the origin.

    There are many local optima: a descent from one start often misses the direction that a few more find
    (`n_init`). Columns of one region are not kept apart, and may become equal.
    """

    kernels: Any = "gaussian"
    _: KW_ONLY
    n_regions: int | None = None
    columns: Any = None
    n_components: Any = 2
    degree: Any = 2
    gamma: Any = "scale"
    nu: float = 0.5
    gating: str = "softmax"
    gating_features: Any = None
    projection_norm: str | None = "unit"
    n_init: int = 1
    n_screen: int = 10
    solver: str = "gradient"
    alternate: bool = False
    gating_reg: float = 0.0
    projection_reg: float = 0.0
    patience: int = 1
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    standardize: bool = True
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "ProjectionKernelOneClass":
        """Learn projections, gate and the support of the samples.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
        y : ignored, default=None
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the bound of each sample; only the proportions count.
        """
        self._check_parameters()
        check_nu(self.nu)
        X = self._validate_table(X, reset=True)
        weights = check_sample_weights(sample_weight, len(X))
        samples = distinct_samples(X, np.zeros((len(X), 1)), weights)
        self.machine_names_ = ["inside"]
        machine = one_class_machine(self, samples.weights)
        result = self._fit_projections(X, samples, np.arange(samples.rows.size), machine)
        self.offset_ = -float(self.intercept_[0])
        self._warn_of_collapse(result.point.eta)
        return self

    def _warn_of_collapse(self, eta: Array) -> None:
        """The objective of one class has no term that fits: say where that decides the model."""
        name = type(self).__name__
        if self.projection_norm is None:
            end = "shrink until all samples are one" if self._is_gaussian else "grow without end"
            warn_caller(
                f"the objective of {name} has no term that fits: without projection_norm='unit' its "
                f"projections {end}, held back by tol, max_iter and projection_reg alone. Use "
                "projection_norm='unit'."
            )
        means = eta.mean(axis=0)
        if means.size > 1 and means.max() > _COLLAPSED * means.sum():
            largest = self.view_names_[int(means.argmax())]
            warn_caller(
                f"the gate of {name} collapsed onto {largest!r}: the objective has no term that fits, and "
                "prefers the region with the largest kernel everywhere. Use n_regions=1."
            )
