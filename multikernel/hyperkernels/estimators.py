"""Support vector machines that learn their kernel as a function, by hyperkernels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_number
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import binary_problems, decide
from ..core.estimator import KernelEstimator, refusing_overflow
from ..core.fitted import FittedKernels
from ..core.inputs import (
    Samples,
    check_finite_price,
    check_sample_weights,
    check_targets,
    encode_labels,
    price_samples,
    require_two_classes,
    standard_deviation,
    weigh_samples,
)
from ..core.optim.loop import Options
from ..core.svm.losses import EpsilonInsensitive, Hinge, Loss
from ..kernels import Gaussian
from ..views import View, make_bank
from ..views.view import is_automatic
from .solver.harmonic import Harmonic, sum_of_powers
from .solver.learn import HyperkernelResult, learn_hyperkernel

_ROUNDING = 1e-9
_FREE_SHARE = 0.1  # of the standard deviation of y: errors that are not penalized by default

HYPERKERNELS = About(
    family="margin",
    problem="min_k,f ½ ‖f‖²_k + C Σ ℓ(y_i, f(x_i) + b) + (ρ/2) C n ‖k‖², k in the space of a hyperkernel",
    solver="cutting planes: an SVM and a small quadratic program each; duality gap",
    cost="about five SVM fits with about 30 P n² each; memory P n²",
    use="A kernel learned as a function, certified over the whole space; its shape changes little.",
    reference="Ong, Smola & Williamson 2005",
)


@dataclass(frozen=True)
class HyperKernels:
    """Kernels Σ_r c_mr u_m^r of base kernels u_m by dual coefficients over support samples."""

    bank: Any  # fitted bank of the support samples and the base kernels in use
    coefficients: Array  # (n_machines, n_support)
    power_weights: Array  # (n_kernels, n_powers)

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        for m, U in self.bank.iter_kernels(X):
            yield m, sum_of_powers(U, self.power_weights[m]) @ self.coefficients.T


@dataclass(eq=False, repr=False)
class _Hyperkernel(KernelEstimator):
    """What the classifier and the regressor share."""

    about = HYPERKERNELS
    _adds_kernels = True
    _easier = "lower C or raise reg"
    _storage_options = ("psd", "dtype")

    kernels: Any = "auto"
    _: KW_ONLY
    C: Any = 1.0  # a number; for regression also "auto"
    reg: float = 1.0
    decay: float = 0.6
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    def _check_parameters(self) -> None:
        self._check_numerics()
        self._check_penalty()
        check_number("reg", self.reg, above=0.0)
        if not 0.0 < check_number("decay", self.decay, above=0.0) <= 0.95:
            raise ValueError(f"decay must be at most 0.95; got {self.decay!r}.")

    def _check_penalty(self) -> None:
        check_finite_price(self.C)

    def _fit_base(self, X: Any, samples: Samples) -> Harmonic:
        """The base kernels of the samples; the bank is kept for prediction."""
        self._check_storage()
        self._bank = make_bank(self._base_kernels(), **self._bank_options)
        Us = np.asarray(self._fit_stack(X, samples))
        self._tell_of_kernels(Us)
        for name, U in zip(self.view_names_, Us, strict=True):
            low, high = float(U.min()), float(U.max())
            if low < -_ROUNDING or high > 1.0 + _ROUNDING:
                raise ValueError(
                    f"a hyperkernel is made of kernels with values from 0 to 1; those of kernel {name!r} are "
                    f"from {low:.3g} to {high:.3g}. Use Gaussian or Laplacian kernels, or one that is never "
                    'negative with View(..., normalize="diagonal").'
                )
        return Harmonic(Us, float(self.decay))

    def _base_kernels(self) -> Any:
        """The kernels, not normalized unless a view or bank says so: centered ones have negative values."""
        stored = self._storage
        if self._precomputed:
            return self.kernels
        kernels = View("gaussian", Gaussian(), encode=True) if is_automatic(stored) else stored.kernels
        normalize = None if stored.normalize == "auto" else stored.normalize
        return replace(stored, kernels=kernels, normalize=normalize)

    def _learn(self, base: Harmonic, losses: Sequence[Loss], C: float, samples: Samples) -> HyperkernelResult:
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self))
        penalty = float(self.reg) * C * float(samples.weights.sum())
        with refusing_overflow():
            found = learn_hyperkernel(base, losses, penalty, options)
        if found.suspicious:
            self._require_psd(base.Us, range(len(base.Us)))
        return found

    def _store(self, found: HyperkernelResult, base: Harmonic, samples: Samples) -> None:
        """Keep the kernel by its weights of powers, and the machines by their support samples."""
        used = np.flatnonzero(found.duals.any(axis=0))
        used = used if used.size else np.array([0])  # a model without support samples is its intercept
        self.power_weights_ = base.power_weights(found.v)
        self.kernel_weights_ = self.power_weights_.sum(axis=1)
        self.support_ = samples.rows[used]
        self.dual_coef_ = found.duals[:, used]
        self.intercept_ = found.intercepts
        self.objective_, self.dual_gap_ = found.objective, found.gap
        self.n_iter_, self.status_, self.history_ = found.n_iter, str(found.status), found.history
        active = np.flatnonzero(self.kernel_weights_)
        active = active if active.size else np.array([0])
        bank = self._bank.restrict(self.support_ if self._precomputed else used, active)
        self._support_rows = self.support_
        shape = (len(self.dual_coef_), len(self.kernel_weights_))
        self._fitted = FittedKernels([HyperKernels(bank, self.dual_coef_, self.power_weights_)], shape)
        del self._bank
        self._warn_unless_converged()

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}


@dataclass(eq=False, repr=False)
class HyperkernelClassifier(ClassifierMixin, _Hyperkernel):
    r"""Support vector classifier that learns its kernel as a sum of powers of given ones, by a hyperkernel.

    Use it for a kernel that is learned as a function, at all pairs of samples, with a certificate over the
    whole space of kernels; of a Gaussian kernel the powers are Gaussian kernels of smaller widths. Do not use
    it to find a width or the views that matter: the penalty on the kernel keeps its mixture of powers near
    that of the hyperkernel, and is not sparse over views. :class:`MKLClassifier` with kernels of several
    widths does both.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        Base kernels, with values from 0 to 1, such as Gaussian ones. "auto" is a Gaussian kernel of all
        columns. They are not normalized unless a view or bank says so. Powers are narrower than the kernel
        itself, and the mixture hardly makes up for one of a wrong width.
    C : float, default=1.0
        Penalty on margin violations.
    reg : float, default=1.0
        Strength of the penalty on the norm of the kernel, relative to C times the number of samples.
    decay : float, default=0.6
        :math:`\lambda` of the hyperkernel, in (0, 0.95]: the larger, the more narrow kernels (high powers)
        count.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    tol : float, default=1e-3
        Tolerance on ``dual_gap_``.
    max_iter : int, default=300
        Maximum number of cutting planes.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called after each iteration with the newest entry of the history; True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    power_weights_ : array of shape (n_kernels, n_powers)
        :math:`c_{mr} \ge 0` of :math:`k = \sum_m \sum_r c_{mr} u_m^r`, from the power 0.
    kernel_weights_ : array of shape (n_kernels,)
        Their sums over the powers: what view m adds to k(x, x) where its kernel is 1.
    dual_coef_ : array of shape (n_machines, n_support)
        One machine for two classes, else one for each class against the others, on one kernel.
    support_ : array of shape (n_support,)
    intercept_ : array of shape (n_machines,)
    objective_ : float, the primal value
    dual_gap_ : float
        Relative to the objective, from a bound that holds for all kernels of the hyperkernel.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel.hyperkernels import HyperkernelClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = HyperkernelClassifier().fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True

    Notes
    -----
    .. math::

        \min_{k, f, b}\ \tfrac12 \|f\|_k^2 + C \sum_i w_i \bigl[1 - y_i (f(x_i) + b)\bigr]_+ +
        \tfrac{\rho}{2} C \Bigl(\sum_i w_i\Bigr) \|k\|^2, \quad
        k = \sum_{i, j} \beta_{ij} h\bigl((x_i, x_j), \cdot\bigr),\ \beta \ge 0

    with the harmonic hyperkernel :math:`h(p, q) = \frac1P \sum_m \sum_r (1 - \lambda) \lambda^r u_m(p)^r
    u_m(q)^r` of the P base kernels :math:`u_m`; powers beyond the share 1e-8 of its weights are left out. The
    paper solves this as a semidefinite program of :math:`n^2` variables. Here the same problem is solved by
    cutting planes, since the kernel depends on the pairs through its weights of powers only; a test compares
    it with the semidefinite program.

    References
    ----------
    Ong, Smola & Williamson, Learning the kernel with hyperkernels, Journal of Machine Learning Research 6,
    2005.
    """

    class_weight: Any = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "HyperkernelClassifier":
        """Learn the kernel and the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        base = self._fit_base(X, samples)
        problem = binary_problems(codes[samples.rows], self.classes_, "shared")[0]
        C = float(self.C)
        prices = price_samples(C, samples.weights)
        self.machine_names_ = problem.names
        losses = [Hinge(signs, prices) for signs in problem.signs]
        self._store(self._learn(base, losses, C, samples), base, samples)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes.

        Parameters
        ----------
        X : as for ``fit``, or of shape (n_samples, n_samples, n_kernels) when precomputed

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
        X : as for ``decision_function``

        Returns
        -------
        array of shape (n_samples,)
        """
        return decide(self.decision_function(X), self.classes_)


@dataclass(eq=False, repr=False)
class HyperkernelRegressor(RegressorMixin, _Hyperkernel):
    r"""Support vector regression that learns its kernel as a sum of powers of given ones, by a hyperkernel.

    For when to use it, see :class:`HyperkernelClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        Base kernels, with values from 0 to 1, such as Gaussian ones. "auto" is a Gaussian kernel of all
        columns. They are not normalized unless a view or bank says so. Powers are narrower than the kernel
        itself, and the mixture hardly makes up for one of a wrong width.
    C : float or "auto", default="auto"
        Penalty on errors beyond epsilon. "auto" is the square root of the standard deviation of y: the
        kernel grows by the same factor, and the model does not depend on the unit of y.
    epsilon : float or "auto", default="auto"
        Errors below it are not penalized. "auto" is a tenth of the standard deviation of y.
    reg : float, default=1.0
        Strength of the penalty on the norm of the kernel, relative to C times the number of samples.
    decay : float, default=0.6
        :math:`\lambda` of the hyperkernel, in (0, 0.95]: the larger, the more narrow kernels (high powers)
        count.
    tol : float, default=1e-3
        Tolerance on ``dual_gap_``.
    max_iter : int, default=300
        Maximum number of cutting planes.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called after each iteration with the newest entry of the history; True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    C_, epsilon_ : float, the penalty and the width of this fit
    power_weights_, kernel_weights_, support_, dual_coef_, intercept_, objective_, dual_gap_
        As for :class:`HyperkernelClassifier`, with one machine.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.hyperkernels import HyperkernelRegressor
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> model = HyperkernelRegressor(C=10.0).fit(x, np.sin(2 * x[:, 0]))
    >>> model.score(x, np.sin(2 * x[:, 0])) > 0.9
    True

    Notes
    -----
    The problem is that of :class:`HyperkernelClassifier` with the loss
    :math:`[\,|y_i - f(x_i) - b| - \epsilon]_+`.

    References
    ----------
    Ong, Smola & Williamson, Learning the kernel with hyperkernels, Journal of Machine Learning Research 6,
    2005.
    """

    C: Any = field(default="auto", kw_only=True)
    epsilon: float | str = field(default="auto", kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "HyperkernelRegressor":
        """Learn the kernel and the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=False)[:, 0]
        samples = self._distinct(X, values, check_sample_weights(sample_weight, values.size))
        base = self._fit_base(X, samples)
        self.machine_names_ = ["y"]
        own = values[samples.rows]
        middle = float(np.median(own))
        self._in_units(standard_deviation(own, samples.weights))
        loss = EpsilonInsensitive(own - middle, price_samples(self.C_, samples.weights), self.epsilon_)
        self._store(self._learn(base, [loss], self.C_, samples), base, samples)
        self.intercept_ = self.intercept_ + middle
        return self

    def _check_penalty(self) -> None:
        for name in ("C", "epsilon"):
            if isinstance(value := getattr(self, name), str):
                check_choice(f"{name}, where it is not a number,", value, ("auto",))
        if not isinstance(self.C, str):
            check_finite_price(self.C)
        if not isinstance(self.epsilon, str):
            check_number("epsilon", self.epsilon, at_least=0.0)

    def _in_units(self, spread: float) -> None:
        """Penalty and width in numbers: with C and the kernel in √spread, all terms are in spread^1.5."""
        self.C_ = float(np.sqrt(spread)) if isinstance(self.C, str) else float(self.C)
        self.epsilon_ = _FREE_SHARE * spread if isinstance(self.epsilon, str) else float(self.epsilon)

    def predict(self, X: Any) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``, or of shape (n_samples, n_samples, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])
