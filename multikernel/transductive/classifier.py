"""Classification of given points by a kernel matrix that is learned over labelled and unlabelled ones."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_positive_integer, is_indefinite, raise_indefinite, warn_caller
from ..core.about import About
from ..core.alignment import AlignmentResult, learn_alignment, spectral_alignment
from ..core.callbacks import progress_of
from ..core.decisions import binary_problems, decide
from ..core.estimator import KernelEstimator, worst_status
from ..core.fitted import DualKernels, FittedKernels
from ..core.inputs import (
    check_matrix_C,
    check_sample_weights,
    check_trace,
    encode_labels,
    require_two_classes,
)
from ..core.optim.loop import Options, Status
from ..core.svm.losses import HardMargin, Hinge, Loss, SquaredHinge
from ..core.unlabeled import (
    Bordered,
    join_rows,
    leading_eigenvectors,
    rows_explained,
    validate_unlabelled,
)
from ..views import available_memory, make_bank
from .constraints import read_constraints
from .solver.families import dependence
from .solver.kernel_matrix import WEIGHTS, MatrixProblem, MatrixResult, learn_kernel_matrix
from .vectors import carried_by, orthonormal

CRITERIA = ("hard", "soft1", "soft2", "alignment")
CLASSIFIERS = ("svm", "parzen")
_MORE_STACKS = 5  # beside the one that the solver is given
_DEPENDENT = 1e-12  # smallest over largest eigenvalue of the kernels' cosines
_INVOLVED = 0.1  # part of a kernel in the combination that vanishes
_ROUNDING = 1e-10  # of the trace, for the smallest eigenvalue
_REFIT = "Fit again with these points in X_unlabeled to be sure."

TRANSDUCTIVE = About(
    family="transductive",
    problem=(
        "min over K = Σ μ_i K_i ⪰ 0, tr K = c, of the value of an SVM, or max of the alignment; μ ≥ 0 or free"
    ),
    solver="interior point, or Newton's method on the weights; duality gap to 1e-8",
    cost=("free weights: P n³ for each of about twenty interior-point steps; memory 6 P n² (free) or 2 P n²"),
    use="The points to classify are known at fit; up to a few hundred points.",
    reference="Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan 2004",
)


@dataclass(eq=False, repr=False)
class TransductiveMKLClassifier(ClassifierMixin, KernelEstimator):
    r"""Classifier that learns the kernel matrix of labelled and unlabelled points together.

    Use it where the points to classify are known at fit, up to a few hundred. For new points later, or more
    of them, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        Precomputed: X is (n_labelled, n, n_kernels) and X_unlabeled (n_unlabelled, n, n_kernels), where n
        counts all points, the labelled first: the rows of one stack over all points.
    method : {"hard", "soft1", "soft2", "alignment"}, default="soft1"
        The hard margin (:math:`C = \infty`), the 1-norm soft margin (:math:`\tau = 0`), the 2-norm soft
        margin (no bound on :math:`\alpha`, :math:`\tau = 1/C`), or the alignment of the matrix with the
        labels, followed by a ``classifier``.
    classifier : {"svm", "parzen"}, default="svm"
        What ``method="alignment"`` puts on its matrix: a 1-norm soft-margin SVM, or the Parzen window
        :math:`f(x) = \frac1N \sum_j y_j K(x_j, x)`, which has no parameter and solves nothing. Its mean
        margin on the labelled points is the alignment times :math:`\|K_{tr}\|_F / N`; it has no intercept, so
        that with classes of unequal size ``sample_weight`` should balance them.
    weight_set : {"nonnegative", "free", "spectral"}, default="nonnegative"
        Nonnegative weights; weights of any sign that keep the matrix positive semidefinite on all points;
        or nonnegative weights of the rank-one matrices of eigenvectors of the mean kernel (of an initial
        kernel matrix :math:`K_0`, where that is the only kernel), or of ``vectors``.
    C : float or "learn", default=1.0
        Penalty on margin violations; "learn" (soft2) learns :math:`\tau = 1/C` within the same trace.
    trace : float, default=None
        :math:`c`; by default the sum of the kernels' traces, and n more where C is learned. The result
        depends on C · c only.
    n_components : int or None, default=20
        How many leading eigenvectors (spectral); None takes all with an eigenvalue above 1e-10 of the
        largest, which as rank-one matrices of the same trace tend to overfit. Not used with ``vectors``.
    vectors : array of shape (n_samples, n_components) or callable, default=None
        Orthogonal vectors over all points, the labelled first, instead of eigenvectors (spectral); or a
        function that returns them, of the table of all points, or of the stack (n, n, n_kernels) when
        precomputed. They are scaled to length 1.
    constraints : list of (names or coefficients, lower, upper), default=None
        Linear constraints on the weights, which with ``weight_set`` make the convex set of kernels that is
        searched: ``(["mrna", "cnv"], 0.1, 0.3)`` keeps the part of the trace that these views have, together,
        between 0.1 and 0.3 (a trace budget), and ``({"mrna": 1, "cnv": -2}, 0, None)`` the weights at
        :math:`\mu_{mrna} \ge 2 \mu_{cnv}`. None or infinity is an open end, two equal ends are an equation.
        With a learned C the identity has its part of the trace too. Not for ``method="alignment"``.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called with a dict after each iteration; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.

    Attributes
    ----------
    transduction_ : array of shape (n_unlabelled,)
        The classes of the unlabelled points.
    transduction_scores_ : array of shape (n_unlabelled,) or (n_unlabelled, n_classes)
    kernel_ : array of shape (n_samples, n_samples)
        The learned matrix over all points, labelled first; (n_classes, n, n) for more
        than two classes, one matrix for each class against the rest
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\mu`; (n_components,) for spectral weights; the mean over the
        classifiers for more than two classes
    machine_weights_ : array of shape (n_machines, n_kernels)
        The weights that predictions use.
    eigenvalues_ : array of shape (n_components,)
        With spectral weights.
    eigenvectors_ : array of shape (n_samples, n_components)
        With spectral weights.
    view_names_, weight_names_, machine_names_ : list of str
    dual_coef_ : array of shape (n_machines, n_support)
        Label × dual.
    support_ : array of shape (n_support,)
    intercept_ : array of shape (n_machines,)
    C_ : array of shape (n_machines,)
        The C used or learned; infinity for the hard margin, nan for the Parzen window.
    trace_ : float, :math:`c`
    classes_ : array of shape (n_classes,)
    objective_ : float, :math:`\omega` (its sum over classifiers); for the alignment its value :math:`q'\mu`
        at :math:`\|K\|_F = 1`
    dual_gap_ : float, the relative duality gap reached (maximum over classifiers)
    n_iter_ : int
    status_ : str
    history_ : list of dict

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.transductive import TransductiveMKLClassifier
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TransductiveMKLClassifier([Linear(), Gaussian()], weight_set="free", method="soft2")
    >>> model = model.fit(X[::2], y[::2] == 1, X_unlabeled=X[1::2])
    >>> bool((model.transduction_ == (y[1::2] == 1)).mean() > 0.9), bool(model.dual_gap_ <= 1e-3)
    (True, True)

    Notes
    -----
    It solves

    .. math::

        \omega = \min_{K \in \mathcal K,\ \mathrm{tr}\, K = c}\ \max_{0 \le \alpha \le C,\ y'\alpha = 0}\
        2 e'\alpha - \alpha' (G(K_{tr}) + \tau I) \alpha

    with :math:`G(K)_{jk} = y_j y_k K_{jk}` over the labelled points, :math:`K = \sum_i \mu_i K_i` over all
    points, and the trace :math:`c` over all points too: the unlabelled ones take part in what may be learned.
    This is twice the usual dual value of the SVM.

    Predictions for other points are exact for nonnegative weights. Free weights are used as they are, though
    with a new point the matrix may be indefinite; eigenvectors are carried over by the kernel they come from.
    Both warn, and name the smallest eigenvalue. To be sure, fit again with the new points among the
    unlabelled.

    In a pipeline, earlier steps must transform the unlabelled points too: enable scikit-learn's metadata
    routing, ask for ``X_unlabeled`` with ``set_fit_request(X_unlabeled=True)``, and build
    ``Pipeline(..., transform_input=["X_unlabeled"])``. To choose parameters with ``GridSearchCV``, search
    without unlabelled points and fit the best with them: scikit-learn cuts a fit parameter that has as many
    rows as X into folds.

    Beside the stack of kernels (8 n² bytes each), the fit takes the memory of about six stacks for weights of
    any sign, of two for the others. ``MKLClassifier`` is the same program with nonnegative weights of sum 1:
    for unit-diagonal kernels weights and C differ by the factor trace / n, predictions do not.

    Where kernels are linearly dependent, their weights are not unique, and there is a warning; of free
    weights the smallest are returned. Combinations of the scaled kernels that are smaller than 1e-7 of the
    largest count as zero.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, Learning the kernel matrix with semidefinite
    programming, JMLR 5, 2004.
    """

    about = TRANSDUCTIVE
    _adds_kernels = True
    _storage_options = ("psd",)

    kernels: Any = "auto"
    _: KW_ONLY
    method: str = "soft1"
    classifier: str = "svm"
    weight_set: str = "nonnegative"
    C: Any = 1.0
    trace: float | None = None
    n_components: int | None = 20
    vectors: Any = None
    constraints: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    # ------------------------------------------------------------------ fit
    def fit(
        self, X: Any, y: Any, X_unlabeled: Any = None, sample_weight: Any = None
    ) -> "TransductiveMKLClassifier":
        """Learn the kernel matrix, the classifier, and the classes of the unlabelled points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_labelled, n_features)
            With ``kernels="precomputed"``: the labelled rows of a precomputed stack.
        y : array of shape (n_labelled,) of labels
        X_unlabeled : like X, (n_unlabelled, d), default=None
            The points to classify. Weights of any sign need them.
        sample_weight : array-like of shape (n_labelled,), default=None
            Positive; multiplies C of each labelled point, or its part of the Parzen window. Not with
            ``method="hard"`` and not with ``C="learn"``, which have no C.
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        X_unlabeled = validate_unlabelled(self, X, y, X_unlabeled)
        if X_unlabeled is None and self.weight_set == "free":
            raise ValueError(
                'weight_set="free" needs the points to be classified, fit(X, y, X_unlabeled=...): weights of '
                "any sign are only right for points that took part. Without such points use "
                'weight_set="nonnegative".'
            )
        self.classes_, codes = encode_labels(self, X, y)
        prices = self._prices(sample_weight, codes)
        if X_unlabeled is None:
            warn_of_a_label(self.classes_)
        with rows_explained(codes.size, X_unlabeled):
            points = join_rows(X, X_unlabeled, self._precomputed)
            Ks = self._fit_kernels(points)
        self._learn(Ks, points, codes, prices)
        return self

    def _prices(self, sample_weight: Any, codes: Array) -> Array:
        """C of each labelled point relative to the parameter C."""
        prices = check_sample_weights(sample_weight, codes.size)
        require_two_classes(self.classes_, codes[prices > 0.0])
        if (prices != 1.0).any() and (self.method == "hard" or isinstance(self.C, str)):
            raise ValueError(
                f"sample_weight multiplies C, and method={self.method!r} with C={self.C!r} has none that is "
                'given. Use method="soft1" or "soft2" with a number, or leave sample_weight out.'
            )
        if not (prices > 0.0).all():
            raise ValueError(
                f"sample_weight must be positive; that of row {np.flatnonzero(prices <= 0.0)[0]} is 0. Leave "
                "such rows out, or pass them as X_unlabeled."
            )
        if prices.min() < 1e-300:
            raise ValueError(
                f"sample_weight must be at least 1e-300; got {prices.min():.1e}. Multiply all weights by the "
                "same number, and divide C by it."
            )
        return prices

    def _check_parameters(self) -> None:
        check_choice("method", self.method, CRITERIA)
        check_choice("classifier", self.classifier, CLASSIFIERS)
        if self.classifier == "parzen" and self.method != "alignment":
            raise ValueError(
                f'classifier="parzen" needs method="alignment"; got method={self.method!r}, which learns the '
                "weights together with a support vector machine."
            )
        check_choice("weight_set", self.weight_set, WEIGHTS)
        self._check_numerics()
        if self.n_components is not None:
            check_positive_integer("n_components", self.n_components)
        if self.vectors is not None and self.weight_set != "spectral":
            raise ValueError(
                f'vectors are for weight_set="spectral"; got weight_set={self.weight_set!r}. Leave them out.'
            )
        if self.constraints is not None and self.method == "alignment":
            raise ValueError(
                'constraints need a margin: method="hard", "soft1" or "soft2"; got "alignment", whose '
                "weights are known only up to a factor. Leave constraints out, or choose another method."
            )
        check_trace(self.trace)
        check_matrix_C(self.C, self.method)

    def _fit_kernels(self, points: Any) -> Array:
        """The stack (m, n, n) over all points, every matrix checked whole."""
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._bank.fit_stack(points), float)
        self.view_names_ = list(self._bank.view_names_)
        for K, name in zip(Ks, self.view_names_, strict=True):
            if is_indefinite(K, full=True):
                raise_indefinite(K, f"kernel {name!r}")
        self._require_memory(Ks)
        return Ks

    def _require_memory(self, Ks: Array) -> None:
        """What the stack itself takes has been asked for by the bank."""
        needed, available = _MORE_STACKS * Ks.nbytes, available_memory()
        if self.weight_set == "free" and available is not None and needed > available:
            raise ValueError(
                f'weight_set="free" on {Ks.shape[1]} points and {len(Ks)} kernels needs about '
                f"{needed / 2**30:.1f} GiB more; {available / 2**30:.1f} GiB are available. Use fewer "
                'unlabelled points or kernels, or weight_set="nonnegative".'
            )

    def _learn(self, Ks: Array, points: Any, codes: Array, prices: Array) -> None:
        n = Ks.shape[1]
        learned = isinstance(self.C, str)
        traces = np.array([np.trace(K) for K in Ks])
        self.trace_ = float(traces.sum() + n * learned) if self.trace is None else float(self.trace)
        members = Ks
        if self.weight_set != "spectral":
            warn_of_dependence(Ks, self.view_names_, learned)
        else:
            self._mean_weights = n / traces / len(Ks)
            self._find_vectors(np.tensordot(self._mean_weights, Ks, 1), points)
            members, traces = self.eigenvectors_, np.ones(self.eigenvalues_.size)
        self.weight_names_ = self._weight_names()
        self._limits = read_constraints(self.constraints, self.weight_names_, traces, self.trace_)
        problems = binary_problems(codes, self.classes_, "ovr")
        solve = by_alignment if self.method == "alignment" else by_margin
        results = [solve(self, members, problem.signs[0], prices, problem.names[0]) for problem in problems]
        del self._limits
        self._store(Ks, results, n)

    def _find_vectors(self, mean: Array, points: Any) -> None:
        """The vectors of the spectral family, and how the mean kernel carries them to new points."""
        if self.vectors is None:
            self.eigenvalues_, self.eigenvectors_ = leading_eigenvectors(mean, self.n_components)
            self._carriers: Array | None = self.eigenvectors_ / self.eigenvalues_
            return
        given = self.vectors(points) if callable(self.vectors) else self.vectors
        self.eigenvectors_ = orthonormal(given, len(mean))
        self.eigenvalues_ = np.einsum("ij,ij->j", self.eigenvectors_, mean @ self.eigenvectors_)
        self._carriers = carried_by(mean, self.eigenvectors_)

    # ------------------------------------------------------------------ store
    def _store(self, Ks: Array, results: Sequence[MatrixResult], n: int) -> None:
        learned = np.array([result.weights for result in results])
        duals = np.array([result.dual for result in results])
        self._learned = learned
        self.kernel_weights_ = learned.mean(axis=0)
        self.machine_names_ = [str(name) for name in self.classes_[-len(results) :]]
        self.support_ = np.flatnonzero(duals.any(axis=0))
        self.dual_coef_ = duals[:, self.support_]
        self.intercept_ = np.array([result.intercept for result in results])
        self.C_ = np.array([self._price(result) for result in results])
        self.objective_ = float(sum(result.objective for result in results))
        self.dual_gap_ = float(max(result.gap for result in results))
        self.n_iter_ = max(1, max(result.n_iter for result in results))
        self.status_ = worst_status([result.status for result in results])
        self.history_ = [
            {**entry, "machine": number} for number, result in enumerate(results) for entry in result.history
        ]
        kernels = [self._matrix(Ks, weights) for weights in learned]
        scores = np.column_stack(
            [K[:, : duals.shape[1]] @ dual for K, dual in zip(kernels, duals, strict=True)]
        )
        scores += self.intercept_
        self.kernel_ = kernels[0] if len(kernels) == 1 else np.array(kernels)
        unlabelled = scores[duals.shape[1] :]
        self.transduction_scores_ = unlabelled[:, 0] if len(results) == 1 else unlabelled
        self.transduction_ = decide(self.transduction_scores_, self.classes_)
        self._keep(learned, duals, n)
        warn_of_nothing(learned)
        self._warn_unless_converged()

    def _weight_names(self) -> list[str]:
        if self.weight_set == "spectral":
            kind = "eigenvector" if self.vectors is None else "vector"
            return [f"{kind} {i + 1}" for i in range(self.eigenvalues_.size)]
        return self.view_names_

    def _price(self, result: MatrixResult) -> float:
        if self.method == "hard":
            return np.inf
        if self.classifier == "parzen":
            return np.nan
        if isinstance(self.C, str):
            return 1.0 / result.ridge if result.ridge > 0.0 else np.inf
        return float(self.C)

    def _matrix(self, Ks: Array, weights: Array) -> Array:
        """The learned matrix over all points, exactly symmetric."""
        if self.weight_set == "spectral":
            K = (self.eigenvectors_ * weights) @ self.eigenvectors_.T
        else:
            K = np.tensordot(weights, Ks, 1)
        return 0.5 * (K + K.T)

    def _keep(self, learned: Array, duals: Array, n: int) -> None:
        """What predictions need: a row of kernel weights and of coefficients for each machine."""
        self._carried = True
        every = np.zeros((len(duals), n))
        every[:, : duals.shape[1]] = duals
        if self.weight_set == "spectral":
            carriers = self._carriers
            self._carried = carriers is not None
            coefficients = every if carriers is None else (every @ self.eigenvectors_ * learned) @ carriers.T
            del self._carriers
            self.machine_weights_ = np.tile(self._mean_weights, (len(duals), 1))
        else:
            coefficients = every
            self.machine_weights_ = learned
        self._extends = self.weight_set == "nonnegative" or (
            self.weight_set == "free" and bool((learned >= 0.0).all())
        )
        kept = np.flatnonzero(coefficients.any(axis=0)) if self._extends else np.arange(n)
        kept = kept if kept.size else np.array([0])
        active = np.flatnonzero(self.machine_weights_.any(axis=0))
        active = active if active.size else np.array([0])  # a learned 1/C may have all the weight
        part = DualKernels(self._bank.restrict(kept, active), coefficients[:, kept], self.machine_weights_)
        self._fitted = FittedKernels([part], self.machine_weights_.shape)
        del self._bank

    # ------------------------------------------------------------------ predict
    def decision_function(self, X: Any) -> Array:
        """Scores: (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_labeled + n_unlabeled, n_kernels).
        """
        if not getattr(self, "_carried", True):
            raise ValueError(
                "vectors that are no combinations of the columns of the mean kernel cannot be carried to "
                "other points by it. Fit again with these points in X_unlabeled, and read transduction_."
            )
        scores = self._scores(X) + self.intercept_
        if not self._extends:
            warn_of_extension(self, X)
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        return decide(self.decision_function(X), self.classes_)

    def weights_frame(self) -> pd.DataFrame:
        """The learned weights as a table, one row for each view, or for each eigenvector.

        Returns
        -------
        DataFrame
            ``weight``, for spectral weights ``eigenvalue`` too; with several classifiers ``weight[class]``.
        """
        check_is_fitted(self)
        kind = "eigenvector" if self.weight_set == "spectral" else "view"
        frame = pd.DataFrame({"weight": self.kernel_weights_}, index=pd.Index(self.weight_names_, name=kind))
        if self.weight_set == "spectral":
            frame["eigenvalue"] = self.eigenvalues_
        if len(self._learned) > 1:
            for name, weights in zip(self.machine_names_, self._learned, strict=True):
                frame[f"weight[{name}]"] = weights
        return frame


# ------------------------------------------------------------------ one binary problem
def _options(model: Any, name: str) -> Options:
    label = "" if model.classes_.size == 2 else f"{name}: "
    progress = progress_of(model, label)
    return Options(tol=model.tol, max_iter=model.max_iter, callback=progress)


def _loss(model: Any, signs: Array, prices: Array) -> Loss:
    if model.method == "hard" or isinstance(model.C, str):
        return HardMargin(signs)
    C = model.C if (prices == 1.0).all() else model.C * prices
    return SquaredHinge(signs, C) if model.method == "soft2" else Hinge(signs, C)


def by_margin(model: Any, members: Array, signs: Array, prices: Array, name: str) -> MatrixResult:
    """The matrix of best margin and its machine."""
    learn_ridge = isinstance(model.C, str)
    loss = _loss(model, signs, prices)
    problem = MatrixProblem(members, loss, model.weight_set, model.trace_, learn_ridge, model._limits)
    result = learn_kernel_matrix(problem, _options(model, name))
    if result.status == Status.INSEPARABLE:
        raise ValueError(
            'method="hard" needs separable classes; no matrix of this family separates '
            f"{_opponents(model, name)} by a margin that floating point can tell from zero. Use "
            'method="soft1" or "soft2", or richer kernels.'
        )
    if result.status == Status.INFEASIBLE:
        raise ValueError(
            f"no weights of trace {model.trace_:.4g} keep the constraints"
            + (", or none with room around them" if model.weight_set == "free" else "")
            + ". Widen them, state as an equation (lower = upper) what leaves no room, or give another trace."
        )
    return result


def _opponents(model: Any, name: str) -> str:
    if model.classes_.size > 2:
        return f"{name!r} from the rest"
    return " from ".join(repr(label) for label in model.classes_.tolist()[::-1])


def by_alignment(model: Any, members: Array, signs: Array, prices: Array, name: str) -> MatrixResult:
    """Weights by alignment, then a machine with the matrix that they give."""
    if model.weight_set == "spectral":
        aligned = spectral_alignment(members, signs)
        K = (members * aligned.weights) @ members.T
    else:
        aligned = learn_alignment(members, signs, model.weight_set, tol=model.tol, max_iter=model.max_iter)
        K = np.tensordot(aligned.weights, members, 1)
    scale = model.trace_ / float(np.trace(K))
    if model.classifier == "parzen":
        return parzen_window(aligned, scale, signs * prices / prices.sum())
    problem = MatrixProblem((scale * K)[None], _loss(model, signs, prices), "nonnegative", model.trace_)
    machine = learn_kernel_matrix(problem, _options(model, name))
    return replace(
        machine,
        weights=scale * aligned.weights,
        objective=aligned.objective,
        gap=max(aligned.gap, machine.gap),
        status=machine.status if aligned.status == Status.OPTIMAL else aligned.status,
    )


def parzen_window(aligned: AlignmentResult, scale: float, dual: Array) -> MatrixResult:
    """The machine f = K β with β the labels over their number, on a matrix of best alignment."""
    return MatrixResult(
        weights=scale * aligned.weights,
        ridge=0.0,
        dual=dual,
        intercept=0.0,
        objective=aligned.objective,
        upper_bound=aligned.upper_bound,
        lower_bound=aligned.objective,
        gap=aligned.gap,
        n_iter=aligned.n_iter,
        status=aligned.status,
    )


# ------------------------------------------------------------------ warnings
def warn_of_dependence(Ks: Array, names: list[str], with_identity: bool) -> None:
    """Name the kernels whose weights are not unique."""
    ratio, combination = dependence(Ks, with_identity)
    if ratio >= _DEPENDENT:
        return
    members = [*names, "the identity (of the learned C)"]
    involved = [members[i] for i in np.flatnonzero(np.abs(combination) > _INVOLVED)]
    warn_caller(
        f"kernels {', '.join(involved)} are linearly dependent to working precision: their weights are not "
        "unique. Leave one of them out to compare weights."
    )


def warn_of_nothing(weights: Array) -> None:
    """A learned C may leave nothing for the kernels."""
    if not weights.any():
        warn_caller(
            "no kernel has a weight: the learned 1/C took the whole trace, and predictions are the "
            "intercept. These kernels tell nothing of the labels; give others, or a fixed C."
        )


def warn_of_a_label(classes: Array) -> None:
    """A third label -1 is likely to mean unlabelled points, as elsewhere."""
    if classes.size > 2 and classes.dtype.kind in "if" and classes[0] == -1:
        warn_caller(
            "the label -1 is treated as a class. If it marks unlabeled points, pass those rows as "
            "X_unlabeled and leave them out of X and y."
        )


def warn_of_extension(model: Any, X: Any) -> None:
    """Name the smallest eigenvalue that a prediction for new points X depends on."""
    if model.weight_set == "spectral":
        text = (
            "eigenvectors are carried to new points by the kernel they come from (of mean diagonal 1), "
            f"divided by its eigenvalues, of which the smallest used is {model.eigenvalues_[-1]:.3g}."
        )
        if model.vectors is not None:
            text = (
                "vectors are carried to new points by the mean kernel, from their values at the points of "
                "fit."
            )
    elif model._precomputed:
        text = (
            "weights of any sign need not give a kernel at new points; the smallest eigenvalue on the points "
            f"of fit is {smallest_eigenvalue_with(model, None):.3g}, and precomputed kernels do not tell how "
            "similar the new points are to themselves."
        )
    else:
        lowest = smallest_eigenvalue_with(model, X)
        verdict = (
            "no longer a kernel" if lowest < -_ROUNDING * model.trace_ else "still positive semidefinite"
        )
        text = (
            "weights of any sign need not give a kernel at new points; with one of these added, the smallest "
            f"eigenvalue of the learned matrix is {lowest:.3g} ({verdict})."
        )
    warn_caller(f"{type(model).__name__}: {text} {_REFIT}")


def smallest_eigenvalue_with(model: Any, X: Any) -> float:
    """Of the learned matrices, alone (None) or with each row of X added, one at a time."""
    matrices = model.kernel_ if model.kernel_.ndim == 3 else model.kernel_[None]
    bordered = [Bordered(K) for K in matrices]
    if X is None:
        return float(min(matrix.values[0] for matrix in bordered))
    own = model._fitted.bank.self_similarities(X) @ model.machine_weights_.T
    rows = np.zeros((len(matrices), own.shape[0], matrices.shape[1]))
    for m, K in model._fitted.bank.iter_kernels(X):
        rows += model.machine_weights_[:, m, None, None] * K
    return float(min(matrix.smallest(rows[i], own[:, i]).min() for i, matrix in enumerate(bordered)))
