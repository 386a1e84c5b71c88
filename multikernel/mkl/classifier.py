"""Support vector classification with learned kernel weights."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils import compute_class_weight

from .._typing import Array
from .._validation import check_choice
from ..core.about import About
from ..core.decisions import (
    IN_ONE_MACHINE,
    STRATEGIES,
    WORST,
    MachineClassifier,
    Machines,
    binary_problems,
    calibrate,
    refuse_calibration,
    votes_by,
)
from ..core.estimator import BaseMKL, Solved
from ..core.inputs import (
    Samples,
    check_C,
    check_weight_range,
    encode_labels,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.low_rank import BlockProblem, Factors, fit_factors, goes_low_rank, learn_on_factors, store_factors
from ..core.optim.loop import Status, carried
from ..core.row_input import labelled_rows, signed_rows
from ..core.svm.losses import HardMargin, Hinge, JointHinge, Loss, SquaredHinge, WorstHinge
from ..core.svm.primal import PrimalHinge, PrimalSquaredHinge
from ..core.weights.factors import BlockResult
from ..core.weights.loop import SolveResult
from ..rows import LocalRows
from .vanished import warn_of_vanished
from .working_sets import Group, fit_working_sets, may_take_sets

LOSSES = ("hinge", "squared_hinge")

MKL = About(
    family="margin",
    problem=("min J(μ), μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, J the optimal value of an SVM on Σ μ_m K_m, d the costs"),
    solver="Newton's method on the weights, warm-started SMO on the active kernels; duality gap",
    cost=("about ten SVM fits, passes over the active kernels; memory 1.3 P n²"),
    use="The first model with learned weights to try: sparse at norm=1, all kernels in use at norm=2.",
    reference="Lanckriet et al. 2004; Bach, Lanckriet & Jordan 2004; Kloft et al. 2011",
)


@dataclass(eq=False, repr=False)
class MKLClassifier(MachineClassifier, BaseMKL):
    r"""Support vector classifier that learns the weights of its kernels.

    Use it to see how much each view of the samples counts, with a classifier on top. To have C and the norm
    chosen for you, use :class:`MKLClassifierCV`. With one kernel, scikit-learn's ``SVC`` is the same model.

    Parameters
    ----------
    kernels : "auto", "rich", "precomputed", kernel, list, dict or KernelBank, default="auto"
        - "auto" and "rich": six and twelve kernels of all columns.
        - "precomputed": X holds Gram matrices: a dict, a list or an array of shape (n_samples, n_samples,
          n_kernels).
        - a list of kernels, views or ``(name, kernel, columns)``; a dict has the kernels of each of several
          tables.
        - a :class:`KernelBank` of any of these also says how the kernels are stored.
    C : float, numpy.inf or "learn", default=1.0
        Penalty on margin violations. Infinity is the hard margin; "learn" learns 1/C as the weight of the
        identity kernel (``loss="squared_hinge"``).
    loss : {"hinge", "squared_hinge"}, default="hinge"
    norm : float >= 1, default=1.0
        1 gives sparse weights, infinity the plain sum of the kernels.
    costs : array of shape (n_kernels,) or dict of view name to cost, default=None
        A kernel with a larger cost gets weight only if it helps more.
    max_kernels : int or KernelLimit, default=None
        Maximum number of kernels with weight, or a limit of what they cost together. ``dual_gap_`` is then
        the gap to the best of all subsets.
    multiclass : {"ovr", "ovo", "dag", "shared", "joint", "crammer_singer"}, default="ovr"
        - "ovr", "ovo", "dag": a binary classifier, with its own weights, for each class or each pair of
          classes; pairs vote, or leave out one class after the other ("dag").
        - "shared": as "ovr", with the same weights for all classes.
        - "joint", "crammer_singer": all classes in one problem, with all margins between classes, or the
          worst of each sample (hinge loss, finite C).
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether to calibrate ``predict_proba`` on five folds.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
        Maximum number of weight updates.
    max_time : float, default=None
        Maximum time of the fit in seconds.
    n_jobs : int, default=None
        Number of classifiers learned at the same time, in threads.
    callback : callable, default=None
        Called with a dict after each iteration; returning True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt, or ends the fit at the next iteration and keeps the model.
    verbose : int, default=0
        1 writes progress to standard error.
    random_state : int, RandomState or None, default=None
        Seed for the coarse start, landmarks and calibration folds. None always gives the same result.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean where classifiers have weights of their own.
    machine_weights_ : array of shape (n_machines, n_kernels)
        Weights of each binary classifier.
    view_names_, kept_views_ : lists of str, all views, and those with ``keep``
    classes_ : array of shape (n_classes,)
    objective_, dual_gap_ : float, dual value and relative duality gap (sum and maximum over classifiers)
    n_iter_, status_, history_ : int, str and list of dict, how the fit went
    intercept_, C_ : arrays of shape (n_machines,)
    dual_coef_, support_ : arrays of shapes (n_machines, n_support) and (n_support,), label × dual and the
        indices of the support samples (Gram matrices only)
    kernel_factors_ : list of KernelFactor, for kernels too large for dual variables in double precision
    coef_, approximation_ : array of shape (n_machines, n_columns) and DataFrame of errors, low rank only
    working_sets_ : DataFrame of the rows of each working set (many rows only)
    gram_, missing_, memory_ : str, str and MemoryEstimate, kernel representation, treatment of missing views
        and memory needed
    total_cost_ : float, cost of predicting one sample

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import Gaussian, MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> views = [("sepal", Gaussian(), [0, 1]), ("petal", Gaussian(), [2, 3])]
    >>> model = MKLClassifier(views, multiclass="shared").fit(X, y)
    >>> model.weights_frame()["weight"].idxmax(), bool(model.dual_gap_ <= 1e-3)
    ('petal', True)

    Notes
    -----
    With kernels :math:`K_m`, weights :math:`\mu`, costs :math:`d_m` and labels :math:`y_i = \pm 1`, it solves

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \max_{0 \le \alpha \le C,\ y'\alpha = 0}\
        \sum_i \alpha_i - \tfrac12 \sum_m \mu_m\, \alpha' Y K_m Y \alpha

    with p the ``norm``. The squared hinge has no upper bound on :math:`\alpha` and adds :math:`I/C` to the
    kernel. Equal rows with equal labels count as one sample with the sum of their weights. The user guide
    states the problems for several classes, missing views, many rows and ``max_kernels``.

    References
    ----------
    Lanckriet et al., Learning the kernel matrix with semidefinite programming, JMLR 5, 2004.
    Bach, Lanckriet & Jordan, Multiple kernel learning, conic duality, and the SMO algorithm, ICML 2004.
    Kloft et al., lp-norm multiple kernel learning, JMLR 12, 2011.
    """

    about = MKL
    _answers_chunks = True
    _has_factors = True

    kernels: Any = "auto"
    _: KW_ONLY
    C: Any = 1.0
    loss: str = "hinge"
    norm: float = 1.0
    costs: Any = None
    max_kernels: Any = None
    multiclass: str = "ovr"
    class_weight: Any = None
    probability: bool = False
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKLClassifier":
        """Learn the kernel weights and the classifiers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
            Or a dask array or dataframe, its rows in chunks.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_parameters()
        if not goes_low_rank(self, X):
            Ks, problems, samples = self._prepare(X, y, sample_weight)
            self._store(self._solve_all(Ks, problems, samples.weights), samples)
        elif not (may_take_sets(self, X) and self._fit_working_sets(X, y, sample_weight)):
            self._fit_low_rank(X, y, sample_weight)
        self._warn_unless_converged()
        self._calibration = calibrate(self, X, y, sample_weight)
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_choice("multiclass", self.multiclass, STRATEGIES)
        check_C(self.C, self.loss)
        if self.max_kernels is not None and isinstance(self.C, str):
            raise ValueError('max_kernels needs a number as C; got "learn". Choose C by cross-validation.')
        if self.multiclass not in IN_ONE_MACHINE:
            return
        if self.loss != "hinge":
            raise ValueError(
                f'multiclass="{self.multiclass}" needs loss="hinge"; got {self.loss!r}. Use "ovr", "ovo" or '
                '"shared".'
            )
        if np.isinf(self.C):
            raise ValueError(
                f'multiclass="{self.multiclass}" needs a finite C; got inf. Use a large one, or "ovr", "ovo" '
                'or "shared".'
            )

    # ------------------------------------------------------------------ on factors
    def _why_not_low_rank(self) -> str:
        if self.multiclass in IN_ONE_MACHINE:
            return (
                f"multiclass={self.multiclass!r} is not available with low-rank kernels. Use "
                "'shared', 'ovr' or 'ovo', or gram='dense' or 'memmap'."
            )
        if isinstance(self.C, str) or np.isinf(self.C):
            return (
                f"C={self.C!r} has no low-rank route, which needs a finite C. Use a number (a large "
                "one for a hard margin), or gram='dense' or 'memmap'."
            )
        return super()._why_not_low_rank()

    def _fit_low_rank(self, X: Any, y: Any, sample_weight: Any) -> None:
        refuse_calibration(self, X)
        self.classes_, given = labelled_rows(self, X, y, sample_weight)
        require_two_classes(self.classes_, np.flatnonzero(given.totals > 0.0))
        by_class = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_, sample_weight=given.totals
        )
        require_two_classes(self.classes_, np.flatnonzero(by_class > 0.0))
        machines = binary_problems(np.arange(self.classes_.size), self.classes_, self.multiclass)
        n_jobs = self.n_jobs if isinstance(given.rows, LocalRows) else None  # else each takes the cluster
        together = min(effective_n_jobs(n_jobs), len(machines))
        factors = fit_factors(self, given, together * max(len(group.names) for group in machines))
        solve = delayed(carried(self._solve_factors))
        jobs = (solve(factors, group, by_class) for group in machines)
        results = list(Parallel(n_jobs=n_jobs, require="sharedmem")(jobs))
        self._votes = votes_by(self.multiclass)
        store_factors(self, factors, results, [group.names for group in machines])
        self.C_ = np.full(self.intercept_.size, float(self.C))
        warn_of_vanished(self, given, factors)

    def _solve_factors(self, factors: Factors, group: Machines, by_class: Array) -> BlockResult:
        """One group of machines, whose rows are the classes that take part."""
        signs, weights = np.ones((by_class.size, len(group.names))), np.zeros(by_class.size)
        signs[group.rows] = np.column_stack(group.signs)
        weights[group.rows] = by_class[group.rows]
        loss = PrimalHinge() if self.loss == "hinge" else PrimalSquaredHinge()
        priced = factors.rows.derive(signed_rows, signs, weights, float(self.C), keep=False)
        problem = BlockProblem(priced, loss, group.names)
        return learn_on_factors(self, factors, problem, self._label(group))

    # ------------------------------------------------------------------ on working sets
    def _fit_working_sets(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Solve on exact kernels of the rows that matter; False where these are too many."""
        X, codes, samples = self._samples(X, y, sample_weight)
        problems = binary_problems(codes[samples.rows], self.classes_, self.multiclass)
        groups = [self._group(problem, samples) for problem in problems]
        self._votes = votes_by(self.multiclass)
        if not fit_working_sets(self, X, samples, groups, self.n_jobs):
            return False
        self.C_ = np.full(self.intercept_.size, float(self.C))
        return True

    def _group(self, problem: Machines, samples: Samples) -> Group:
        weights = samples.weights[problem.rows]

        def losses(places: Array) -> Sequence[Any]:
            chosen = problem._replace(signs=[signs[places] for signs in problem.signs])
            return self._losses(chosen, weights[places])

        return Group(
            problem.rows,
            problem.names,
            np.column_stack(problem.signs),
            price_samples(float(self.C), weights),
            PrimalHinge() if self.loss == "hinge" else PrimalSquaredHinge(),
            losses,
            self._label(problem),
        )

    # ------------------------------------------------------------------ on a Gram stack
    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, list[Machines], Samples]:
        """Check the input and build the kernels: the training stack, the machines to solve, the samples."""
        self._check_parameters()
        X, codes, samples = self._samples(X, y, sample_weight)
        Ks = self._fit_kernels(X, samples, on_demand=True)
        self._votes = votes_by(self.multiclass)
        problems = binary_problems(codes[samples.rows], self.classes_, self.multiclass)
        if self.max_kernels is not None and len(problems) > 1:
            raise ValueError(
                "max_kernels needs one set of weights for all classes; got "
                f'multiclass={self.multiclass!r}, with weights for each. Use multiclass="shared" or "joint".'
            )
        return Ks, problems, samples

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Samples]:
        """The checked table, the codes of the classes, and the distinct samples with their weights."""
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        if isinstance(self.C, str):
            check_weight_range(weights)
        require_two_classes(self.classes_, codes[weights > 0])
        return X, codes, self._distinct(X, codes, weights)

    def _solve_all(
        self,
        Ks: Array,
        problems: Sequence[Machines],
        weights: Array,
        starts: Sequence[SolveResult] | None = None,
    ) -> list[Solved]:
        """Every group of machines, from the results of an earlier call if there are any."""
        warm: Sequence[SolveResult | None] = starts or [None] * len(problems)
        if len(problems) == 1:
            return [self._solve(Ks, problems[0], warm[0], weights)]
        solve = delayed(carried(self._solve))
        jobs = (solve(Ks, *job, weights) for job in zip(problems, warm, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, require="sharedmem")(jobs))

    @property
    def _lean(self) -> bool:  # type: ignore[override]
        return self.multiclass not in IN_ONE_MACHINE

    def _losses(self, problem: Machines, weights: Array) -> Sequence[Loss | JointHinge]:
        C = check_C(self.C, self.loss)
        if problem.codes is not None:
            assert C is not None
            joint = WorstHinge if self.multiclass == WORST else JointHinge
            return [joint(problem.codes, self.classes_.size, price_samples(C, weights))]
        if C is None or np.isinf(C):  # a learned C is the hard margin with the identity as one more kernel
            return [HardMargin(signs, weights) for signs in problem.signs]
        kind = Hinge if self.loss == "hinge" else SquaredHinge
        prices = price_samples(C, weights)
        return [kind(signs, prices) for signs in problem.signs]

    def _label(self, problem: Machines) -> str:
        """What progress calls a group of machines."""
        return "" if self.classes_.size == 2 or len(problem.names) > 1 else f"{problem.names[0]}: "

    def _solve(self, Ks: Array, problem: Machines, start: SolveResult | None, weights: Array) -> Solved:
        """One group of machines, on the samples that it has."""
        rows, settings = problem.rows, {"learn_ridge": isinstance(self.C, str), "label": self._label(problem)}
        losses = self._losses(problem, weights[rows])
        solved = self._solve_machines(Ks, rows, problem.names, losses, start=start, **settings)
        if solved.result.status == Status.INSEPARABLE:
            raise ValueError(
                "the hard margin (C=inf) needs separable classes; no function of these kernels was found to "
                f"separate {' and '.join(problem.names)!r} from the rest. Use a finite C, or richer kernels."
            )
        return solved

    def _store(self, solutions: Any, samples: Samples) -> None:
        super()._store(solutions, samples)
        learned = isinstance(self.C, str)
        ridges = np.concatenate([[s.result.ridge] * len(s.names) for s in solutions])
        with np.errstate(divide="ignore"):
            self.C_ = 1.0 / ridges if learned else np.full(ridges.size, float(self.C))
