"""Localized MKL: classification, regression and novelty detection with a gate over the kernels."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import Array
from .._validation import check_choice, check_number, warn_caller
from ..core.decisions import (
    IN_ONE_MACHINE,
    MachineClassifier,
    MachineNovelty,
    binary_problems,
    calibrate,
    decide,
    votes,
)
from ..core.inputs import (
    check_finite_price,
    check_nu,
    check_sample_weights,
    check_targets,
    encode_labels,
    require_two_classes,
    weigh_samples,
)
from ..core.svm.losses import EpsilonInsensitive, Hinge
from .base import BaseLocalized, Fit
from .descents import MACHINE_TOL, class_machines, one_class_machine
from .solver.machines import BinaryMachines, Machines

STRATEGIES = ("ovr", "ovo", *IN_ONE_MACHINE)
_COLLAPSED = 0.99  # a mean gate above this is open nearly everywhere


@dataclass(eq=False, repr=False)
class LocalizedMKLClassifier(MachineClassifier, BaseLocalized):
    r"""Support vector classifier whose gate decides, sample by sample, which kernels count.

    Use it where different kernels matter for different samples, and to see which matters where. The problem
    is not convex; where one set of weights is enough, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        One gate for each. A kernel may be given several times: three copies of a linear kernel make a
        piecewise linear boundary of up to three pieces. Copies are stored once.
    C : float, default=1.0
        Penalty on margin violations.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        What the gate looks at, standardised with the numbers of the training samples. None: the columns that
        the kernels read. Columns by name, position, list, slice, mask or function, as for a view; the name of
        a view, or of one of several tables, stands for its columns. ``"kernel"``: the similarities to all
        training samples (empirical kernel map), by the mean of the kernels; also the default, and the
        meaning of a kernel's name, where kernels are precomputed. A :class:`View` or a kernel: the
        similarities by a kernel that only the gate reads.
    gate_only : bool, default=False
        Whether the view that `gating_features` names is for the gate alone, and no kernel of the SVM:
        a view of low cost then decides which of the costly ones are needed.
    multiclass : {"ovr", "ovo", "joint", "crammer_singer"}, default="ovr"
        One classifier for each class, or pair of classes; or all classes in one problem (one gate), with
        all the margins between them or the worst of each sample, as for :class:`MKLClassifier`.
    shared_gate : bool, default=False
        Whether the machines of "ovr" and "ovo" share one gate, learned on the sum of their objectives.
    n_init : int, default=1
        Random starts, of which that with the lowest :math:`J` is kept. The first start of sigmoid gates tells
        copies of a kernel apart, along the directions in which the curvature of :math:`J` is most negative.
    solver : {"gradient", "lbfgs"}, default="gradient"
        Steps of at most unit length against the gradient, or along L-BFGS directions. The latter usually
        ends at a lower :math:`J`, and at equal or lower accuracy.
    gating_reg : float or "auto", default="auto"
        Adds ``gating_reg / 2`` times the squares of the gate's parameters, without its biases or widths.
        Infinite: a gate that does not depend on the sample, :math:`\eta_m = \sqrt{\mu_m}` with the kernel
        weights of :class:`MKLClassifier`. ``"auto"`` takes the largest of ∞, 10, 1, 0.1 and 0 times C whose
        error on five folds of the Gram stack is within one standard error of the least: a gate that depends
        on the sample has to earn its place. Where a class has one sample only, it is infinite. The thesis
        has 0.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        What a value of each kernel costs; 1 where a dict does not name it. Only the proportions matter.
    cost_reg : float, default=0.1
        With `costs`, adds C times `cost_reg` times :math:`\sum_i \sum_m d_m \eta_m(x_i)`, where the largest
        cost :math:`d_m` is 1: a fully open gate of the costliest kernel counts as this share of a margin
        violation of 1. Errors on the folds of ``gating_reg="auto"`` count the costs too, and no gate is
        constant.
    gating_sparsity : float, default=0.0
        Adds ``gating_sparsity`` · :math:`\sum_m \log(1 + \sum_i \eta_m(x_i))`, a Dirichlet-type prior on the
        mean gate that closes the gates of kernels, or copies, that are not needed. C is a strength to try
        first, with more copies than can be needed; see the notes.
    patience : int, default=1
        Number of consecutive steps that have to fall below `tol`.
    init_scale : float, default=1e-2
        Linear gates start with parameters between plus and minus this.
    tol : float, default=1e-3
        The relative decrease of :math:`J` in a step at which to stop. Machines are solved to a relative
        duality gap of a tenth of it.
    max_iter : int, default=100
        Maximum number of steps from each start.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    prune : bool or float, default=False
        Whether prediction leaves out the kernel values between a sample and a support sample where the gate
        of the kernel is closed at either of them, and does not compute them: at most 0.001, or the number
        given. The default is exact; :meth:`pruning_bound` says how far scores can move.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    n_jobs : int, default=None
        Gates learned at the same time, in threads.
    callback : callable, default=None
        Called with a dict after each step; a true answer stops the fit, and the model is that of the last
        step.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.
    random_state : int, RandomState or None, default=None
        Of the starts and of the folds of the calibration; None always means the same.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean gate over the training samples (and gates).
    machine_weights_ : array of shape (n_machines, n_kernels)
        The same of each machine's gate.
    view_names_, machine_names_ : list of str
    gating_ : list of array of shape (n_kernels, n_gating_features + 1)
        The parameters of each gate: :math:`v_m` and :math:`v_{m0}`, or :math:`\mu_m` and :math:`\sigma_m`,
        for standardised gating features.
    dual_coef_ : array of shape (n_machines, n_support)
        Label × dual.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    intercept_ : array of shape (n_machines,)
    classes_ : array of shape (n_classes,)
    objective_ : float, :math:`J` with the gating_reg, the sum over the gates
    dual_gap_ : float
        The relative duality gap of the machines at the learned kernel, the largest of them. It certifies the
        machines; the gate is where a descent ended, and another start may end lower.
    gradient_norm_ : float, the norm of dJ/dV relative to :math:`J`, the largest of the gates
    start_objectives_ : list of array, :math:`J` reached from each start, gate by gate
    n_solves_ : int, support vector machines solved, all starts together
    n_iter_ : int, steps of the start that was kept
    status_ : str
        "optimal": a step gained no more than `tol`; "stalled": none lowered :math:`J`, or a machine at the
        learned kernel did not reach `tol`; "max_iter"; "interrupted".
    gating_reg_ : float, the ridge in use
    gating_scores_ : DataFrame or None
        For each ridge that was compared, its ``loss`` on the folds, and ``se``, the standard error of its
        difference from the least. None where nothing was chosen.
    saturated_ : list of str, the views whose gate is 0 or 1 at nearly all training samples
    history_ : list of dict, the steps of the start that was kept; ``objective`` never rises

    Examples
    --------
    >>> from multikernel import LocalizedMKLClassifier
    >>> from multikernel.kernels import Polynomial
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(300, 2))
    >>> y = X[:, 1] > np.abs(X[:, 0])  # two lines
    >>> model = LocalizedMKLClassifier([Polynomial(1), Polynomial(1)], C=100.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> left, right = model.sample_kernel_weights([[-2.0, 2.0], [2.0, 2.0]])
    >>> bool(left.argmax() != right.argmax())
    True

    Notes
    -----
    It solves

    .. math::

        f(x) = \sum_m \eta_m(x) \sum_i y_i \alpha_i\, k_m(x, x_i)\, \eta_m(x_i) + b, \qquad
        \min_V\ J(V) = \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ \sum_i \alpha_i
        - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j\, k_\eta(x_i, x_j)

    with the locally combined kernel :math:`k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)` and a
    gate :math:`\eta(x; V)` of the gating features :math:`x_G`:

    - ``"softmax"``: :math:`\eta_m \propto \exp(v_m' x_G + v_{m0})`, of sum 1;
    - ``"sigmoid"``: :math:`\eta_m = 1 / (1 + \exp(-v_m' x_G - v_{m0}))`, each kernel by itself;
    - ``"gaussian"``: :math:`\eta_m \propto \exp(-\|x_G - \mu_m\|^2 / \sigma_m^2)`, of sum 1.

    Gate and machine are learned together, by steps against the gradient of :math:`J`; each value of
    :math:`J` is the solution of a support vector machine, started from the last one.

    The problem is not convex. A few starts (`n_init`) guard against a poor end, which copies of a kernel have
    now and then. Where copies stay alike the fit warns: a larger `init_scale` or `patience` helps. Beyond
    that a lower objective is not a better predictor: stopping early (`tol`)
    regularises, and L-BFGS often lowers :math:`J` and the accuracy alike. Choose by cross-validation. On
    separable data :math:`J` creeps towards zero; sigmoid gates above all then need a larger `tol`.

    ``contributions(X) / gate(X)`` is the function that each kernel has by itself, without the gate at x. A
    gate may look at columns that no kernel reads: append them to X and name them in `gating_features`.

    Where nothing in the data is piecewise, a gate is a way to overfit: with many columns, the automatic
    kernels and no ridge it can be points worse than :class:`MKLClassifier`. Folds find that out, at the cost
    of about twenty fits; `callback` and `verbose` show the last fit alone.

    Costs make gates small before they close them, since a kernel counts with the squares of its gate: a
    `prune` of some hundredths turns small values into kernel values that are not computed.

    Whether a gate helps depends on scaling too: where the kernels are normalised to unit diagonal and the
    columns standardised, a linear and a quadratic kernel with a gate beat their global combination by points
    on data made of pieces; on unscaled columns the gain can vanish.

    How many copies of a kernel are needed need not be known: with `gating_sparsity`, twenty of them end with
    a few open gates, at the accuracy of the right number. It prunes and does not count: copies that all found
    samples of their own stay open, so that of five often none closes, and of ten not always.

    A linear kernel has no bias of its own: all regions share the intercept. ``Polynomial(1)`` gives each
    piece its own. Gates that saturate (0 or 1 everywhere) have no gradient and stay as they are: with very
    many gating features, keep `init_scale` small.

    Rounding can lead a descent to another end: on another machine the same seed may give another model; on
    the same one it gives the same, on any number of threads.

    Each value takes n_kernels · n² operations to combine the kernels and a warm-started machine; memory is
    the stack of distinct kernels and two more matrices of its size n × n. The folds of ``gating_reg="auto"``
    take part of the stack once more each.

    References
    ----------
    Gönen & Alpaydın, Localized multiple kernel learning, ICML 2008.
    Gönen & Alpaydın, Localized algorithms for multiple kernel learning, Pattern Recognition 46, 2013.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    C: float = 1.0
    gating: str = "softmax"
    gating_features: Any = None
    gate_only: bool = False
    multiclass: str = "ovr"
    shared_gate: bool = False
    n_init: int = 1
    solver: str = "gradient"
    gating_reg: Any = "auto"
    costs: Any = None
    cost_reg: float = 0.1
    patience: int = 1
    init_scale: float = 0.01
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    prune: bool | float = False
    gating_sparsity: float = 0.0
    class_weight: Any = None
    probability: bool = False
    n_jobs: int | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LocalizedMKLClassifier":
        """Learn the gate and the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        check_choice("multiclass", self.multiclass, STRATEGIES)
        C = check_finite_price(self.C)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        Ks = self._fit_kernels(X, samples)
        self._votes = self.multiclass == "ovo" and self.classes_.size > 2
        codes, bounds = codes[samples.rows], C * samples.weights
        fit = Fit(
            groups=lambda rows: self._groups(codes[rows], bounds[rows]),
            bounds=samples.weights,
            loss=lambda scores, rows: (self._codes_of(scores) != codes[rows]).astype(float),
            targets=codes,
            unit=C,
        )
        self._learn_and_store(Ks, fit, samples)
        self._calibration = calibrate(self, X, y, sample_weight)
        return self

    def _groups(self, codes: Array, bounds: Array) -> list[tuple[Machines, Array, list[str]]]:
        """The machines that share a gate, their samples and their names, for each gate."""
        if self.shared_gate or self.multiclass in IN_ONE_MACHINE or self.classes_.size == 2:
            machines, names = class_machines(self, codes, bounds)
            return [(machines, np.arange(codes.size), names)]
        tol = MACHINE_TOL * float(self.tol)
        return [
            (BinaryMachines([Hinge(p.signs[0], bounds[p.rows])], tol=tol), p.rows, p.names)
            for p in binary_problems(codes, self.classes_, self.multiclass)
        ]

    def _codes_of(self, scores: Array) -> Array:
        """The classes that scores (n, n_machines) decide for, by their numbers."""
        numbers = np.arange(self.classes_.size)
        if numbers.size == 2:
            return decide(scores[:, 0], numbers)
        return decide(votes(scores, numbers.size) if self._votes else scores, numbers)


@dataclass(eq=False, repr=False)
class LocalizedMKLRegressor(RegressorMixin, BaseLocalized):
    r"""ε-support vector regression whose gate decides, sample by sample, which kernels count.

    Use it where different kernels matter for different samples, and to see which matters where. The problem
    is not convex; where one set of weights is enough, use :class:`MKLRegressor`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`LocalizedMKLClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`LocalizedMKLClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`LocalizedMKLClassifier`.
    gate_only : bool, default=False
        As for :class:`LocalizedMKLClassifier`.
    n_init : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`LocalizedMKLClassifier`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        As for :class:`LocalizedMKLClassifier`.
    patience : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    init_scale : float, default=1e-2
        As for :class:`LocalizedMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`LocalizedMKLClassifier`.
    max_iter : int, default=100
        As for :class:`LocalizedMKLClassifier`.
    max_time : float, default=None
        As for :class:`LocalizedMKLClassifier`.
    prune : bool or float, default=False
        As for :class:`LocalizedMKLClassifier`.
    gating_sparsity : float, default=0.0
        As for :class:`LocalizedMKLClassifier`.
    callback : callable, default=None
        As for :class:`LocalizedMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`LocalizedMKLClassifier`.
    verbose : int, default=0
        As for :class:`LocalizedMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`LocalizedMKLClassifier`.
    gating_reg : float or "auto", float, default="auto"
        As for :class:`LocalizedMKLClassifier`.
    cost_reg : float or "auto", float, default=0.1
        As for :class:`LocalizedMKLClassifier`, with squared errors on the folds. The ridges to choose from,
        and `cost_reg`, are in units of C times the mean distance of the targets from their median.
    C : float, default=1.0
        Penalty on errors beyond epsilon.
    epsilon : float >= 0, default=0.1
        Errors below it are free.

    Attributes
    ----------
    kernel_weights_, view_names_, gating_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, gating_reg_, gating_scores_, saturated_,
    history_
        As for :class:`LocalizedMKLClassifier`, with one machine.

    Examples
    --------
    >>> from multikernel import LocalizedMKLRegressor
    >>> from multikernel.kernels import Polynomial
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> y = np.abs(X[:, 0])  # two lines
    >>> model = LocalizedMKLRegressor([Polynomial(1), Polynomial(1)], C=10.0, epsilon=0.05).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True

    Notes
    -----
    It solves

    .. math::

        f(x) = \sum_m \eta_m(x) \sum_i \beta_i\, k_m(x, x_i)\, \eta_m(x_i) + b, \qquad
        \min_V\ J(V) = \max_{-C \le \beta \le C,\ 1'\beta = 0}\ y'\beta - \epsilon \|\beta\|_1
        - \tfrac12 \sum_{ij} \beta_i \beta_j\, k_\eta(x_i, x_j)

    with targets :math:`y`, dual variables :math:`\beta`, the locally combined kernel
    :math:`k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)` and a gate :math:`\eta(x; V)`.

    C and epsilon are in the units of the targets: standardise these, or choose both accordingly.

    Copies of a linear kernel make a piecewise linear fit whose pieces the gate blends. They share one
    intercept; ``Polynomial(1)`` gives each piece its own.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    C: float = 1.0
    epsilon: float = 0.1
    gating: str = "softmax"
    gating_features: Any = None
    gate_only: bool = False
    n_init: int = 1
    solver: str = "gradient"
    gating_reg: Any = "auto"
    costs: Any = None
    cost_reg: float = 0.1
    patience: int = 1
    init_scale: float = 0.01
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    prune: bool | float = False
    gating_sparsity: float = 0.0
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LocalizedMKLRegressor":
        """Learn the gate and the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        check_finite_price(self.C)
        check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = self._distinct(X, targets, weights)
        Ks = self._fit_kernels(X, samples)
        middle = float(np.median(targets[samples.rows]))
        centred, bounds = targets[samples.rows] - middle, float(self.C) * samples.weights
        size = float(np.average(np.abs(centred), weights=samples.weights))
        fit = Fit(
            groups=lambda rows: self._groups(centred[rows], bounds[rows]),
            bounds=samples.weights,
            loss=lambda scores, rows: ((scores[:, 0] - centred[rows]) / size) ** 2,
            targets=centred,
            unit=float(self.C) * size,
        )
        self._learn_and_store(Ks, fit, samples)
        self.intercept_ = self.intercept_ + middle
        return self

    def _groups(self, targets: Array, bounds: Array) -> list[tuple[Machines, Array, list[str]]]:
        """The one machine, of targets that are centred."""
        loss = EpsilonInsensitive(targets, bounds, float(self.epsilon))
        machine = BinaryMachines([loss], tol=MACHINE_TOL * float(self.tol))
        return [(machine, np.arange(targets.size), ["y"])]

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]


@dataclass(eq=False, repr=False)
class LocalizedMKLOneClass(MachineNovelty, BaseLocalized):
    r"""One-class support vector machine with a gate over its kernels.

    Use it to detect outliers where different kernels matter for different samples. The gate often collapses
    on one class; compare with :class:`MKLOneClass`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`LocalizedMKLClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`LocalizedMKLClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`LocalizedMKLClassifier`.
    gate_only : bool, default=False
        As for :class:`LocalizedMKLClassifier`.
    n_init : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`LocalizedMKLClassifier`.
    gating_reg : float or "auto", default=0.0
        As for :class:`LocalizedMKLClassifier`.
    patience : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    init_scale : float, default=1e-2
        As for :class:`LocalizedMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`LocalizedMKLClassifier`.
    max_iter : int, default=100
        As for :class:`LocalizedMKLClassifier`.
    max_time : float, default=None
        As for :class:`LocalizedMKLClassifier`.
    prune : bool or float, default=False
        As for :class:`LocalizedMKLClassifier`.
    gating_sparsity : float, default=0.0
        As for :class:`LocalizedMKLClassifier`.
    callback : callable, default=None
        As for :class:`LocalizedMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`LocalizedMKLClassifier`.
    verbose : int, default=0
        As for :class:`LocalizedMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`LocalizedMKLClassifier`.
    nu : float in (0, 1], default=0.5
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    kernel_weights_, view_names_, gating_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, gating_reg_, gating_scores_, saturated_,
    history_
        As for :class:`LocalizedMKLClassifier`, with one machine.

    Examples
    --------
    >>> from multikernel import KernelBank
    >>> from multikernel.localized import LocalizedMKLOneClass
    >>> from multikernel.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> bank = KernelBank([("x", Gaussian(), [0]), ("y", Gaussian(), [1])], normalize="diagonal")
    >>> model = LocalizedMKLOneClass(bank, nu=0.1, gating_reg=0.1)
    >>> model.fit(X).predict([[0.0, 0.1], [9.0, 9.0]]).tolist()
    [1, -1]

    Notes
    -----
    It solves

    .. math::

        \min_V\ J(V) = \max_{0 \le \beta \le 1/(\nu n),\ 1'\beta = 1}\
        - \tfrac12 \sum_{ij} \beta_i \beta_j\, k_\eta(x_i, x_j)

    with dual variables :math:`\beta`, the locally combined kernel
    :math:`k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)` and a gate :math:`\eta(x; V)`. The scores
    are :math:`1/(\nu n)` times those of scikit-learn's OneClassSVM at the same kernel.

    **The problem is ill-posed as published**: :math:`J` has no term that rewards a fit, and it falls when the
    kernel grows. Softmax and Gaussian gates collapse onto the kernel with the largest values (the widest
    Gaussian), sigmoid gates open wherever that makes the kernel larger. The fit warns when it ends so.
    Kernels of one size, few steps (`max_iter`) and a `gating_reg` soften it; but this leaves the biases free,
    and these alone can close a gate. :class:`MKLOneClass` has the same taste for large kernels.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    nu: float = 0.5
    gating: str = "softmax"
    gating_features: Any = None
    gate_only: bool = False
    n_init: int = 1
    solver: str = "gradient"
    gating_reg: float = 0.0
    patience: int = 1
    init_scale: float = 0.01
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    prune: bool | float = False
    gating_sparsity: float = 0.0
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LocalizedMKLOneClass":
        """Learn the gate and the support of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the bound of each sample; only the proportions count.
        """
        check_nu(self.nu)
        X = self._validate_table(X, reset=True)
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = check_sample_weights(sample_weight, n_samples)
        samples = self._distinct(X, np.zeros(n_samples), weights)
        Ks = self._fit_kernels(X, samples)
        everything = (one_class_machine(self, samples.weights), np.arange(samples.rows.size), ["inside"])
        fit = Fit(
            groups=lambda rows: [everything],
            bounds=samples.weights,
            loss=lambda scores, rows: np.zeros(rows.size),  # nothing is chosen
            targets=np.zeros(samples.rows.size),
            unit=1.0,
        )
        self._learn_and_store(Ks, fit, samples)
        self.offset_ = -float(self.intercept_[0])
        self._warn_if_collapsed()
        return self

    _chooses_ridge = False

    def _warn_if_collapsed(self) -> None:
        """Nothing in J rewards a fit: say so when the gate shows it."""
        is_open = self.kernel_weights_ > _COLLAPSED
        if len(self.view_names_) == 1 or not is_open.any():
            return
        if is_open.all():
            warn_caller(
                "all gates are open nearly everywhere: the objective of localized one-class machines rewards "
                "large kernel values and no fit, and sigmoid gates open for every view. This is the plain "
                "sum of the kernels. Use gating='softmax', lower max_iter, or use MKLOneClass."
            )
            return
        names = [repr(name) for name, wide in zip(self.view_names_, is_open, strict=True) if wide]
        warn_caller(
            f"the gate is open for view{'s' if len(names) > 1 else ''} {', '.join(names)} nearly everywhere: "
            "the objective of localized one-class machines rewards large kernel values and no fit, and has "
            "collapsed. The gate does not tell which view matters. Make the kernels alike in size, lower "
            "max_iter, or use MKLOneClass."
        )
