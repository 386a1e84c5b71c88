"""Kernel ridge regression on pairs of objects, with several kernels on each side."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import (
    RowError,
    check_choice,
    check_number,
    check_positive_integer,
    check_split,
    split_pairs,
    warn_caller,
)
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.inputs import check_sample_weights, check_targets
from ..core.optim.loop import Status, reason_to_stop
from ..rows.tables import count_rows, distinct_rows, join_rows, take_rows
from ..views import make_bank
from ..views.precomputed import is_precomputed
from .sampling import PairSplit, named_alike
from .solver.ridge import Cells, PairMachine, entries_of_product, left_out_residuals, solve_pairs
from .solver.weights import LearnedPairs, PairProblem, fit_pairs

FORMS = ("ordered", "symmetric")
WEIGHTS = ("learn", "uniform")
N_FOLDS = 5
CLOSED = ("pairs", "left", "right")  # what can be left out in closed form
_BLOCK_OBJECTS = 2048


@dataclass(frozen=True)
class Objects:
    """The distinct objects of one side, and the row of X in which each comes first."""

    table: Any
    rows: Array
    side: str

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors about an object name its row in the caller's table."""
        try:
            yield
        except RowError as error:
            raise error.in_row(int(self.rows[error.row]), f"{self.side} objects: ") from None


@dataclass(frozen=True)
class Pairs:
    """Pairs as positions of their objects."""

    left: Objects
    right: Objects  # the left ones where both objects are from one set
    rows: Array  # (n_pairs,) of int, the left object of each pair
    columns: Array  # the right object of each pair


def pairs_of(X: Any, split: Any, *, one_set: bool, same_columns: bool = False) -> Pairs:
    """Find the distinct objects of a table of pairs.

    ``one_set``: whether both sides are one set of objects; their columns then have the names of the left
    ones, as with ``same_columns``.
    """
    left, right = split_pairs(X, split, "X")
    n = count_rows(left)
    if one_set or same_columns:
        right = named_alike(left, right, 'method="symmetric" needs')
    if not one_set:
        first, rows = distinct_rows(left)
        second, columns = distinct_rows(right)
        lefts = Objects(take_rows(left, first), first, "left")
        return Pairs(lefts, Objects(take_rows(right, second), second, "right"), rows, columns)
    both = join_rows([left, right])
    first, codes = distinct_rows(both)
    objects = Objects(take_rows(both, first), first % n, "all")
    return Pairs(objects, objects, codes[:n], codes[n:])


def cells_of(pairs: Pairs, y: Array, weights: Array, *, one_set: bool) -> tuple[Cells, float]:
    """The cells of the pairs, repeated pairs merged, and the squared errors that no prediction can avoid.

    Equal pairs are one with the sum of their weights and the mean of their values. Where both objects are
    from one set, the problem with κ(a, c) κ(b, d) + κ(a, d) κ(b, c) is half of the one with the product of
    both sides on each pair in both orders, a pair of an object with itself counted twice.
    """
    shape = count_rows(pairs.left.table), count_rows(pairs.right.table)
    rows, columns = pairs.rows, pairs.columns
    if one_set:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    codes, merged = np.unique(rows.astype(np.int64) * shape[1] + columns, return_inverse=True)
    sums = np.bincount(merged, weights)
    means = np.bincount(merged, weights * y) / sums
    lost = float(weights @ (y - means[merged]) ** 2)
    rows, columns = np.divmod(codes, shape[1])
    if one_set:
        other = np.flatnonzero(rows != columns)
        doubled = np.where(rows == columns, 2.0, 1.0) * sums
        rows, columns = np.append(rows, columns[other]), np.append(columns, rows[other])
        means, sums = np.append(means, means[other]), np.append(doubled, doubled[other])
    return Cells(rows, columns, means, sums, shape), lost


@dataclass(eq=False, repr=False)
class PairwiseRidge(RegressorMixin, KernelEstimator):
    r"""Kernel ridge regression on pairs of objects, without the Gram matrix of the pairs.

    Use it for values of pairs, such as drugs and targets or two proteins, also for objects that are new. For
    classification with few of the pairs, use :class:`MKLClassifier` with kernels of
    :mod:`multikernel.kernels` between pairs.

    Parameters
    ----------
    left : "auto", kernel, View, or list of kernels, views and tuples, default="auto"
        Kernels of the left objects, as ``kernels`` of :class:`MKLClassifier`; the columns of a view are
        counted among the columns of the left objects. ``Precomputed(K)`` reads one column of positions.
    right : as `left`, or None, default=None
        Kernels of the right objects; None: the same as `left`, and nothing else for symmetric pairs.
    method : {"ordered", "symmetric"}, default="ordered"
    split : None, int or two lists of columns, default=None
        Which columns of X hold the left object: the first half, the given number of first columns, or those
        listed first, by position or, of a DataFrame, by name; the second list is the right object's.
    alpha : float, default=1.0
        Strength of the regularisation, as in scikit-learn's KernelRidge.
    alphas : sequence of float, default=None
        Instead of `alpha`: the one with the least squared error on pairs that were left out. Weights of
        kernels are those learned from all pairs, so that these errors are a little too small.
    hold_out : {"pairs", "left", "right", "both", "one"}, default="pairs"
        What is new in a pair that was left out, see :class:`PairSplit`. For ordered pairs without gaps and
        with equal weights there is a closed form that leaves out each pair, each left or each right object;
        else, and for "both", pairs or objects are left out in five folds.
    weights : {"learn", "uniform"}, default="learn"
        Whether the weights of the kernels are learned, or all equal with sum 1. Learned ones depend on the
        scale of the kernels: give them unit diagonal, or unit trace.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=1000
        Maximum number of products with the kernels in one solution, and of alternations between the two
        sides' weights.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    left_weights_, right_weights_ : array of shape (n_kernels,)
        Of each side's kernels.
    kernel_weights_ : array of shape (n_left_kernels + n_right_kernels,)
        Both together; one set for symmetric pairs.
    view_names_ : list of str, such as "left: gaussian"
    alpha_ : float, as given or as chosen
    validation_errors_ : array of shape (n_alphas,)
        Mean squared error of each of `alphas`; None without them.
    dual_coef_ : array of shape (n_left, n_right)
        B of f = K_left B K_right, zero for pairs that were not observed.
    objective_ : float, the value of the problem above
    dual_gap_ : float
        How much smaller the objective can be at most, relatively: with these weights; where they are learned,
        also with any other weights of one side, those of the other fixed.
    n_iter_ : int, products with the kernels, or turns of the two sides
    status_ : str
    history_ : list of dict with iteration, objective, gap, n_active
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.pairs import PairwiseRidge
    >>> from multikernel.kernels import Precomputed
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    >>> pairs = np.argwhere(np.ones((30, 20)))
    >>> y = (drugs @ targets.T)[pairs[:, 0], pairs[:, 1]]
    >>> model = PairwiseRidge(Precomputed(drugs @ drugs.T), Precomputed(targets @ targets.T), alpha=0.1)
    >>> round(model.fit(pairs[::2], y[::2]).score(pairs[1::2], y[1::2]), 3)
    1.0

    Notes
    -----
    It solves

    .. math::

        \min_{\mu, \nu}\ \min_f\ \sum_i w_i \big(y_i - f(a_i, b_i)\big)^2 + \alpha \|f\|^2

    for pairs of a left object :math:`a_i` and a right object :math:`b_i`, where f is in the space of

    ==============  ==============================================================  ==========================
    method          k((a, b), (c, d))                                               for
    ==============  ==============================================================  ==========================
    "ordered"       :math:`\kappa_\mu(a, c)\, \kappa_\nu(b, d)`                     drugs and targets
    "symmetric"     :math:`\kappa_\mu(a, c) \kappa_\mu(b, d) + \kappa_\mu(a, d)     proteins and proteins
                    \kappa_\mu(b, c)`
    ==============  ==============================================================  ==========================

    with :math:`\kappa_\mu = \sum_m \mu_m \kappa_m` a weighted sum of the kernels of a side, weights in the
    unit simplex. If every left object was observed with every right one, the eigenvectors of the two kernels
    solve it; else conjugate gradients do, on the pairs that were observed.

    Repeated pairs count as one with the sum of their weights; for symmetric pairs, (b, a) repeats (a, b).
    There is no intercept: far from all objects, f is 0. Memory is that of the kernels of the objects and of a
    few matrices of n_left times n_right; the time for a product is n_pairs (n_left + n_right) at most. A
    saved model holds all training objects.

    References
    ----------
    Ben-Hur & Noble, Kernel methods for predicting protein-protein interactions, Bioinformatics 21, 2005;
    Pahikkala, Airola et al., Toward more realistic drug-target interaction predictions, Briefings in
    Bioinformatics 16, 2015;
    Airola & Pahikkala, Fast Kronecker product kernel methods via generalized vec trick, IEEE Transactions on
    Neural Networks and Learning Systems 29, 2018;
    Stock, Pahikkala, Airola, De Baets & Waegeman, A comparative study of pairwise learning methods based on
    kernel ridge regression, Neural Computation 30, 2018.
    """

    _kernel_parameters = ("left", "right")
    _storage_options = ("psd",)
    _reads_columns = True
    about = About(
        family="ridge",
        problem=(
            "min Σ w(y − f(a, b))² + α‖f‖² in the space of Σ μ_m K_m ⊗ Σ ν_m K'_m, or of its symmetric form; "
            "μ, ν in simplices"
        ),
        solver=(
            "two eigendecompositions, or conjugate gradients where pairs are missing; duality gap; weights: "
            "alternating Newton steps, stationarity"
        ),
        cost="n_left³ + n_right³ once, or pairs · (n_left + n_right) a product; no Gram matrix of pairs",
        use="Values of pairs, such as drugs and targets or two proteins, also for new objects.",
        reference="Ben-Hur & Noble 2005; Airola & Pahikkala 2018; Stock et al. 2018",
    )
    _precomputed = False

    left: Any = "auto"
    right: Any = None
    _: KW_ONLY
    method: str = "ordered"
    split: Any = None
    alpha: float = 1.0
    alphas: Sequence[float] | None = None
    hold_out: str = "pairs"
    weights: str = "learn"
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    @property
    def certificate(self) -> str:
        """What the gap certifies: with learned weights of both sides the problem is not convex."""
        return "optimality" if self.weights == "uniform" else "stationarity"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PairwiseRidge":
        """Learn from pairs and their values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_pairs, n_features)
            In each row the columns of a left and of a right object: positions into precomputed kernels, or
            features.
        y : array of shape (n_pairs,)
        sample_weight : array of shape (n_pairs,), default=None
            Multiplies the squared error of each pair.
        """
        X = self._validate_table(X, reset=True)
        alphas = self._check_parameters()
        y = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, y.size)
        used = np.flatnonzero(weights > 0)
        one_set = self.method == "symmetric"
        pairs = pairs_of(take_rows(X, used), check_split(self.split, "split"), one_set=one_set)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
            cells, lost = cells_of(pairs, y[used], weights[used], one_set=one_set)
        self._left_bank, left = self._fit_side(self.left, pairs.left, used)
        right = None
        if not one_set:
            kernels = self.left if self.right is None else self.right
            self._right_bank, right = self._fit_side(kernels, pairs.right, used)
        problems = [PairProblem(cells, left, right, alpha) for alpha in alphas]
        with np.errstate(over="ignore", invalid="ignore"):
            self._store(self._choose(problems), cells, lost)
        return self

    # ------------------------------------------------------------------ fit
    def _kernel_arguments(self) -> list[Any]:
        return [self.left] if self.right is None else [self.left, self.right]

    def _check_parameters(self) -> list[float]:
        """All parameters; the alphas to try."""
        check_choice("method", self.method, FORMS)
        check_choice("weights", self.weights, WEIGHTS)
        check_number("tol", self.tol, above=0.0)
        check_positive_integer("max_iter", self.max_iter)
        self._check_storage()
        for name, kernels in (("left", self.left), ("right", self.right)):
            if is_precomputed(kernels):
                raise ValueError(
                    f'{name}="precomputed" is not known here: X holds pairs. Use {name}=Precomputed(K), or a '
                    "list of such, and a column of positions into K."
                )
        if self.method == "symmetric" and self.right is not None:
            raise ValueError(
                'method="symmetric" has one set of objects and takes its kernels from left; right must be '
                "None."
            )
        self._folds()
        if self.alphas is None:
            return [check_number("alpha", self.alpha, above=0.0)]
        listed = np.ravel(np.asarray(self.alphas, dtype=object))
        if not listed.size:
            raise ValueError("alphas must hold at least one number; got none.")
        return [check_number("alphas, each of them,", alpha, above=0.0) for alpha in listed]

    def _folds(self) -> PairSplit:
        return PairSplit(N_FOLDS, self.hold_out, symmetric=self.method == "symmetric")

    def _fit_side(self, kernels: Any, objects: Objects, used: Array) -> tuple[Any, Array]:
        """The bank of a side and its kernels (n_kernels, n, n)."""
        bank = make_bank(kernels, encodes=False)
        with Objects(objects.table, used[objects.rows], objects.side).naming():
            return bank, np.asarray(bank.fit_stack(objects.table))

    def _choose(self, problems: list[PairProblem]) -> LearnedPairs:
        """The machine of the one alpha, or of the alpha with the least error."""
        learn, self.validation_errors_ = self.weights == "learn", None
        if self.alphas is None:
            return fit_pairs(problems[0], self.tol, self.max_iter, learn=learn)
        best, errors = None, np.full(len(problems), np.nan)
        for number, problem in enumerate(problems):
            found = fit_pairs(problem, self.tol, self.max_iter, learn=learn)
            error = validation_error(found.machine, self._folds(), self.tol, self.max_iter)
            over = reason_to_stop()
            if best is not None and over is not None:
                best = replace(best, status=over)
                break
            if best is None or error < np.nanmin(errors):
                best = found
            errors[number] = error
        self.validation_errors_ = errors
        assert best is not None
        return best

    def _store(self, found: LearnedPairs, cells: Any, lost: float) -> None:
        half = 0.5 if self.method == "symmetric" else 1.0
        if not np.isfinite([found.solution.objective, lost, found.gap]).all():
            raise ValueError(
                "PairwiseRidge: squared errors are too large for floating point. Rescale y, the weights of "
                "the pairs or the kernels."
            )
        self.alpha_ = found.machine.alpha
        self.left_weights_, self.right_weights_ = found.left, found.right
        self.dual_coef_ = cells.scatter(found.solution.beta)
        self.objective_ = half * found.solution.objective + lost
        self.dual_gap_, self.n_iter_, self.status_ = found.gap, found.n_iter, str(found.status)
        self.history_ = found.history
        names = list(self._left_bank.view_names_)
        if self.method == "symmetric":
            self.view_names_, self.kernel_weights_ = names, found.left
        else:
            self.view_names_ = [f"left: {name}" for name in names]
            self.view_names_ += [f"right: {name}" for name in self._right_bank.view_names_]
            self.kernel_weights_ = np.concatenate([found.left, found.right])
        if found.status != Status.OPTIMAL:
            limit = "max_time" if found.status == Status.MAX_TIME else "max_iter"
            warn_caller(
                f"PairwiseRidge did not reach tol={self.tol:g}: the relative duality gap is "
                f"{self.dual_gap_:.1e} after {self.n_iter_} iterations (status {self.status_!r}). Raise "
                f"{limit}, tol or alpha, or normalise the kernels.",
                ConvergenceWarning,
            )

    # ------------------------------------------------------------------ predict
    def predict(self, X: Any) -> Array:
        """Predicted values of pairs, of known objects or of new ones.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_pairs,)
        """
        check_is_fitted(self)
        X = self._validate_table(X, reset=False)
        alike = self.method == "symmetric"
        pairs = pairs_of(X, check_split(self.split, "split"), one_set=False, same_columns=alike)
        right_bank = self._left_bank if alike else self._right_bank
        left = self._similarities(self._left_bank, self.left_weights_, pairs.left)
        right = self._similarities(right_bank, self.right_weights_, pairs.right)
        return entries_of_product(left @ self.dual_coef_, right, pairs.rows, pairs.columns)

    @staticmethod
    def _similarities(bank: Any, weights: Array, objects: Objects) -> Array:
        """The learned kernel between objects and the training objects of a side."""
        n = objects.rows.size
        K = np.zeros((n, bank.n_train_))
        with objects.naming():
            for start in range(0, n, _BLOCK_OBJECTS):
                block = slice(start, min(start + _BLOCK_OBJECTS, n))
                for m, part in bank.iter_kernels(take_rows(objects.table, block)):
                    K[block] += weights[m] * part
        return K

    def _weight_columns(self) -> dict[str, Any]:
        n_left = self.left_weights_.size
        sides = ["left"] * n_left + ["right"] * (self.kernel_weights_.size - n_left)
        sides = ["both"] * n_left if self.method == "symmetric" else sides
        return {"side": sides, "weight": self.kernel_weights_}


def validation_error(machine: PairMachine, split: PairSplit, tol: float, max_iter: int) -> float:
    """Mean squared error of held-out pairs at the kernels and the alpha of a machine.

    Every pair, or object, is left out by itself where there is a closed form; else folds of them are.
    """
    cells = machine.cells
    if cells.is_complete and not split.symmetric and split.hold_out in CLOSED:
        return float(np.mean(left_out_residuals(machine, split.hold_out) ** 2))
    errors, weight = 0.0, 0.0
    for train, test in split.split(np.column_stack([cells.rows, cells.columns])):
        part = Cells(
            cells.rows[train], cells.columns[train], cells.values[train], cells.weights[train], cells.shape
        )
        learned = solve_pairs(PairMachine(part, machine.left, machine.right, machine.alpha), tol, max_iter)
        known = machine.left.K @ part.scatter(learned.beta)
        found = entries_of_product(known, machine.right.K, cells.rows[test], cells.columns[test])
        errors += float(cells.weights[test] @ (cells.values[test] - found) ** 2)
        weight += float(cells.weights[test].sum())
    return errors / weight
