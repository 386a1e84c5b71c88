"""Multiple kernel learning over all widths of an interval: classifier, regressor, novelty detector."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_number
from ..core.about import About
from ..core.decisions import MachineClassifier, MachineNovelty, Machines, binary_problems, calibrate
from ..core.estimator import BaseMKL, Solved, refusing_overflow, require_finite
from ..core.inputs import (
    Samples,
    check_nu,
    check_sample_weights,
    check_targets,
    encode_labels,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.optim.loop import Status
from ..core.svm.losses import Hinge, Loss, OneClass, SquaredHinge
from ..rows import count_rows
from ..views import make_bank
from ..views.tables import as_table
from ..views.view import as_views, place_views
from .families import DEFAULT_BOX, Family, Found, bank_of_found, make_families
from .penalties import check_penalty, regression_loss
from .solver.columns import learn_widths

INFINITE = About(
    family="margin",
    problem="min J(μ) over the measures μ ≥ 0 on all widths γ of a box, μ(all) ≤ 1, with the kernel ∫ K_γ dμ",
    solver="column generation; the widths that were not tried are bounded by branch and bound; duality gap",
    cost="about five MKL fits; memory P n² for the distances of P views, and the kernels in use",
    use="Gaussian or Laplacian kernels whose width is not known, one for each view.",
    reference="Argyriou, Micchelli & Pontil 2005; Gehler & Nowozin 2008",
)


def _fit_families(model: Any, X: Any, samples: Samples) -> tuple[Array, list[int], list[Family]]:
    """The fixed kernels (n_fixed, n, n) with their positions, and the families; the bank is kept."""
    model._check_numerics()
    model._check_storage()
    if samples.rows.size < 2 and not model._precomputed:
        n = samples.group.size
        alike = "" if n == 1 else ", all the same (samples of weight 0 do not count)"
        raise ValueError(
            f"widths are learned from two samples at least that differ; got n_samples={n}{alike}."
        )
    model._bank = make_bank(model.kernels, **model._bank_options)
    Ks = np.asarray(model._fit_stack(X, samples), np.float64)
    model._tell_of_kernels(Ks)
    model.gram_, model.missing_, model.memory_, model.kept_views_ = "dense", "error", model._bank.memory_, []
    if model._precomputed:
        return Ks, list(range(len(Ks))), []
    views = place_views(as_views(model._bank), as_table(X))
    fixed, families = make_families(model._bank, views, model.box)
    return Ks[fixed], fixed, families


def _fit_widths(
    model: Any, X: Any, samples: Samples, names: list[str], losses: Callable[[], Sequence[Loss]]
) -> None:
    """Learn widths and weights, common to all machines, and store them in the estimator."""
    Ks, fixed, families = _fit_families(model, X, samples)
    options = model._options(model._draw_seed(), "")
    with refusing_overflow():
        result, columns = learn_widths(Ks, [family.kernels for family in families], losses(), options)
    if result.suspicious or result.status == Status.INDEFINITE:
        model._require_psd(Ks, range(len(Ks)))
    require_finite(result)
    found = [Found(name, name, np.nan) for name in model.view_names_]
    if not model._precomputed:
        model._bank, found = bank_of_found(model._bank, fixed, families, columns)
    model.view_names_ = [kernel.name for kernel in found]
    model.gammas_ = np.array([kernel.gamma for kernel in found])
    model._found_views = [kernel.view for kernel in found]
    model._costs = np.ones(len(found))
    model._store([Solved(result, np.arange(samples.rows.size), names)], samples)


def _found_frame(self: Any) -> pd.DataFrame:
    """The kernels that were found, one row for each.

    Returns
    -------
    DataFrame
        By the name of the kernel: ``view``, ``gamma`` (NaN where it was not learned) and ``weight``.
    """
    check_is_fitted(self)
    columns = {"view": self._found_views, "gamma": self.gammas_, "weight": self.kernel_weights_}
    return pd.DataFrame(columns, index=pd.Index(self.view_names_, name="kernel"))


@dataclass(eq=False, repr=False)
class InfiniteMKLClassifier(MachineClassifier, BaseMKL):
    r"""Support vector classifier that learns the widths of its kernels and their weights.

    Use it instead of a list of Gaussian kernels of several widths, for each view if there are several.
    If few widths are enough, :class:`MKLClassifier` on a list of kernels is faster.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, list, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`. The width of a `Gaussian`, `Laplacian` or `Chi2` kernel is learned if
        it is not a number, as in ``Gaussian()``. All other kernels are fixed, and so is
        ``Gaussian(gamma=0.5)``.
    C : float, default=1.0
        Penalty on margin violations.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    box : pair (low, high) or dict of view name to pair, default=(0.0625, 16.0)
        Interval of ``gamma``, in multiples of the estimate that the kernel has by itself, such as the inverse
        of the median squared distance. Views that a dict does not name have the default.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether to calibrate ``predict_proba`` on five folds.
    tol : float, default=1e-3
        Relative duality gap to reach, over all widths of the box.
    max_iter : int, default=300
        Maximum number of rounds, in each of which kernels come in.
    max_time : float, default=None
        As for :class:`MKLClassifier`.
    callback : callable, default=None
        As for :class:`MKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifier`.
    verbose : int, default=0
        As for :class:`MKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifier`.

    Attributes
    ----------
    gammas_ : array of shape (n_kernels,)
        The widths that were found, NaN for fixed kernels. All fixed kernels are there; others have weight.
    kernel_weights_ : array of shape (n_kernels,)
    machine_weights_ : array of shape (n_machines, n_kernels)
        Several classes have one classifier for each class against the others, with the same weights.
    view_names_ : list of str, names of the kernels, of their view and width
    classes_ : array of shape (n_classes,)
    dual_coef_, support_ : arrays of shapes (n_machines, n_support) and (n_support,)
    intercept_ : array of shape (n_machines,)
    objective_, dual_gap_ : float
        Dual value, and the duality gap of the problem over **all** widths of the box: the bound on widths
        that were not tried is rigorous, up to rounding.
    n_iter_, status_, history_ : int, str and list of dict, how the rounds went
    total_cost_ : float, cost of predicting one sample

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Gaussian
    >>> from multikernel.parametric import InfiniteMKLClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(120, 2))
    >>> y = np.sin(9 * X[:, 0]) > 0
    >>> views = [("wave", Gaussian(), [0]), ("noise", Gaussian(), [1])]
    >>> model = InfiniteMKLClassifier(views, C=10).fit(X, y)
    >>> model.weights_frame().groupby("view")["weight"].sum().idxmax(), bool(model.dual_gap_ <= 1e-3)
    ('wave', True)

    Notes
    -----
    With the intervals :math:`\Gamma_v` of the views :math:`v` and labels :math:`y_i = \pm 1`, it solves

    .. math::

        \min_{\mu \ge 0,\ \mu(\text{all}) \le 1}\ \max_{0 \le \alpha \le C,\ y'\alpha = 0}\
        \sum_i \alpha_i - \tfrac12 \sum_v \int_{\Gamma_v} \alpha' Y K_{v,\gamma} Y \alpha\ d\mu_v(\gamma)

    over measures; one on finitely many widths is optimal. A round learns the weights of the kernels at hand
    and adds widths at which :math:`\alpha' Y K_{v,\gamma} Y \alpha` is larger than at those. Its largest
    value over the box is found by branch and bound: it is a difference of two convex functions of
    :math:`\gamma`. Kernels are divided by their variance, as :class:`View` says, at every width.

    References
    ----------
    Argyriou, Micchelli & Pontil, Learning convex combinations of continuously parameterized basic kernels,
    COLT 2005.
    Argyriou, Hauser, Micchelli & Pontil, A DC-programming algorithm for kernel selection, ICML 2006.
    Gehler & Nowozin, Infinite kernel learning, Technical Report 178, Max Planck Institute for Biological
    Cybernetics, 2008.
    """

    about = INFINITE
    norm = 1.0
    costs = None
    _keeps_views = False
    _storage_options = ("psd",)
    weights_frame = _found_frame
    _votes = False

    kernels: Any = "auto"
    _: KW_ONLY
    C: float = 1.0
    loss: str = "hinge"
    box: Any = DEFAULT_BOX
    class_weight: Any = None
    probability: bool = False
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "InfiniteMKLClassifier":
        """Learn widths, weights and classifiers.

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
        problem: Machines = binary_problems(codes[samples.rows], self.classes_, "shared")[0]
        kind = Hinge if self.loss == "hinge" else SquaredHinge
        prices = price_samples(C, samples.weights)
        _fit_widths(self, X, samples, problem.names, lambda: [kind(signs, prices) for signs in problem.signs])
        self._warn_unless_converged()
        self._calibration = calibrate(self, X, y, sample_weight)
        return self


@dataclass(eq=False, repr=False)
class InfiniteMKLRegressor(RegressorMixin, BaseMKL):
    r"""Kernel regressor that learns the widths of its kernels and their weights.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`InfiniteMKLClassifier`.
    box : pair (low, high) or dict of view name to pair, default=(0.0625, 16.0)
        As for :class:`InfiniteMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`InfiniteMKLClassifier`.
    max_iter : int, default=300
        As for :class:`InfiniteMKLClassifier`.
    max_time : float, default=None
        As for :class:`InfiniteMKLClassifier`.
    callback : callable, default=None
        As for :class:`InfiniteMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`InfiniteMKLClassifier`.
    verbose : int, default=0
        As for :class:`InfiniteMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`InfiniteMKLClassifier`.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        Support vector regression, or ridge regression with the penalty 1/C.
    C : float or "auto", default="auto"
        Penalty on errors. "auto" is the standard deviation of y for ``"epsilon_insensitive"``, and 1 for
        ``"squared"``.
    epsilon : float or "auto", default="auto"
        Errors below it are not penalized. "auto" is a tenth of the standard deviation of y.

    Attributes
    ----------
    gammas_, kernel_weights_, view_names_, dual_coef_, support_, intercept_, total_cost_, objective_,
    dual_gap_, n_iter_, status_, history_
        As for :class:`InfiniteMKLClassifier`, with ``n_machines = 1``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Gaussian
    >>> from multikernel.parametric import InfiniteMKLRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(100, 1))
    >>> y = np.sin(12 * X[:, 0])
    >>> model = InfiniteMKLRegressor(Gaussian(), C=10).fit(X, y)
    >>> model.weights_frame().columns.tolist(), bool(model.score(X, y) > 0.95)
    (['view', 'gamma', 'weight'], True)
    """

    about = INFINITE
    norm = 1.0
    costs = None
    _keeps_views = False
    _storage_options = ("psd",)
    weights_frame = _found_frame

    kernels: Any = "auto"
    _: KW_ONLY
    C: float | str = "auto"
    loss: str = "epsilon_insensitive"
    epsilon: float | str = "auto"
    box: Any = DEFAULT_BOX
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "InfiniteMKLRegressor":
        """Learn widths, weights and the regressor.

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
        _fit_widths(self, X, samples, ["y"], lambda: [regression_loss(self, own - middle, samples.weights)])
        self.intercept_ = self.intercept_ + middle
        self._warn_unless_converged()
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
class InfiniteMKLOneClass(MachineNovelty, BaseMKL):
    r"""One-class support vector machine that learns the widths of its kernels and their weights.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`InfiniteMKLClassifier`.
    box : pair (low, high) or dict of view name to pair, default=(0.0625, 16.0)
        As for :class:`InfiniteMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`InfiniteMKLClassifier`.
    max_iter : int, default=300
        As for :class:`InfiniteMKLClassifier`.
    max_time : float, default=None
        As for :class:`InfiniteMKLClassifier`.
    callback : callable, default=None
        As for :class:`InfiniteMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`InfiniteMKLClassifier`.
    verbose : int, default=0
        As for :class:`InfiniteMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`InfiniteMKLClassifier`.
    nu : float in (0, 1], default=0.5
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    gammas_, kernel_weights_, view_names_, dual_coef_, support_, intercept_, total_cost_, objective_,
    dual_gap_, n_iter_, status_, history_
        As for :class:`InfiniteMKLClassifier`, with ``n_machines = 1``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Gaussian
    >>> from multikernel.parametric import InfiniteMKLOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = InfiniteMKLOneClass(Gaussian(), nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.1], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    about = INFINITE
    norm = 1.0
    costs = None
    _keeps_views = False
    _storage_options = ("psd",)
    weights_frame = _found_frame

    kernels: Any = "auto"
    _: KW_ONLY
    nu: float = 0.5
    box: Any = DEFAULT_BOX
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "InfiniteMKLOneClass":
        """Learn widths, weights and the support of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the bound of each sample; only the proportions count.
        """
        nu = check_nu(self.nu)
        X = self._validate_table(X, reset=True)
        n_samples = count_rows(X)
        samples = self._distinct(X, np.zeros(n_samples), check_sample_weights(sample_weight, n_samples))
        prices = samples.weights / (nu * samples.weights.sum())
        _fit_widths(self, X, samples, ["inside"], lambda: [OneClass(np.zeros(prices.size), prices)])
        self.offset_ = -float(self.intercept_[0])
        self._warn_unless_converged()
        return self
