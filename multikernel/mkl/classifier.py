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
    problem=(
        "min J(μ), μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, J the value of a support vector machine on Σ μ_m K_m, d its "
        "costs"
    ),
    solver="Newton's steps over warm-started machines (SMO), active kernels only; duality gap",
    cost=(
        "some ten machines, reads of the active kernels; memory P n² for the kernels and a third beside them"
    ),
    use="The first learned model to try: sparse weights of views at norm=1, all kernels in use at norm=2.",
    reference="Lanckriet et al. 2004; Bach, Lanckriet & Jordan 2004; Kloft et al. 2011",
)


@dataclass(eq=False, repr=False)
class MKLClassifier(MachineClassifier, BaseMKL):
    r"""Support vector classifier that learns the weights of its kernels.

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \max_{0 \le \alpha \le C,\ y'\alpha = 0}\
        \sum_i \alpha_i - \tfrac12 \sum_m \mu_m\, \alpha' Y K_m Y \alpha

    with kernels :math:`K_m`, their weights :math:`\mu` and costs :math:`d_m`, labels :math:`y_i = \pm 1`,
    dual variables :math:`\alpha`. For ``loss="squared_hinge"`` the upper bound on :math:`\alpha` is gone and
    :math:`I/C` is added to the kernel (primal :math:`\tfrac12\|w\|^2 + \tfrac C2 \sum \xi_i^2`); ``C=np.inf``
    is the hard margin.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, list of kernels and views, dict or KernelBank, default="auto"
        ``"auto"`` and ``"rich"``: six and twelve kernels of all columns. ``"precomputed"``: X holds Gram
        matrices (n, n), by name in a dict, or in a list or an array (n, n, m). A dict names the kernels of
        each of several tables. A :class:`KernelBank` of any of these says how the kernels are stored:
        ``psd``, ``gram``, ``dtype``, ``rank`` and ``missing``.
    C : float, numpy.inf or "learn"
        Penalty on margin violations; infinity is the hard margin, ``"learn"`` (squared hinge, binary or
        ovr/ovo) learns 1/C as the weight of the identity kernel, in the same budget of weights.
    loss : {"hinge", "squared_hinge"}
    norm : float >= 1
        p of the weight set: 1 gives sparse weights, infinity the plain sum.
    costs : array (n_kernels,) or dict by view name, optional
        A kernel with a larger :math:`d_m` has to earn its weight.
    max_kernels : int or KernelLimit, default=None
        Maximum number of kernels with weight, or a limit of what they cost together. The best subset is found
        by a search, and ``dual_gap_`` bounds how far any other subset could be better (see Notes).
    multiclass : {"ovr", "ovo", "dag", "shared", "joint", "crammer_singer"}
        One machine for each class, or pair of classes, with weights of its own; or one for each class with
        the same weights for all; or all classes in one machine (hinge, finite C; see Notes), with all the
        margins between them ("joint") or the worst of each sample ("crammer_singer"). Of pairs, all machines
        vote ("ovo"), or the first and the last of the classes that are left decide which of them is
        left out, until one is left ("dag"). Two classes are one binary machine in any case.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    probability : bool
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        Maximum number of weight updates.
    max_time : float, optional
        Maximum time of the fit in seconds; None for no limit.
    n_jobs : int, optional
        Machines solved at the same time, in threads.
    callback : callable, optional
        Called with a dict after each iteration; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int
        1 writes progress to standard error.
    random_state : int, RandomState or None
        Of the rough start, of the reference rows and landmarks of factors, and of the folds of the
        calibration; None always means the same ones.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,)
        Learned weights (their mean over the machines for ovr, ovo and dag); ``sum(d**2 * mu) == 1`` at norm
        1, the learned 1/C included.
    machine_weights_ : array (n_machines, n_kernels)
    view_names_ : list of str
    kept_views_ : list of str, views whose weight has a lower bound (``View(keep=...)``)
    dual_coef_ : array (n_machines, n_support), label × dual
        On a Gram stack only.
    support_ : array (n_support,), indices of the support samples
        On a Gram stack only.
    kernel_factors_ : list of KernelFactor
        On a Gram stack: kernels so large that ``dual_coef_`` does not hold the function in double precision.
        They predict by explicit features where the kernel has some (``basis``), else by its values at pivots
        (``root``), with ``coef`` of their own. Empty for kernels of common sizes.
    coef_ : array (n_machines, n_columns)
        On factors only: of the columns of the views with weight.
    gram_ : {"dense", "low_rank", "memmap", "working_set"}, the kernel representation used
    working_sets_ : DataFrame
        On working sets only, by machine: ``rows`` of its set, how many of them are ``support`` rows, and how
        many ``rounds`` it took.
    missing_ : {"error", "renormalize", "absent", "mean", "complete"}
        What was done with samples that lack views.
    memory_ : MemoryEstimate
        What the fit needed, and what there was; ``str`` tells it in words.
    approximation_ : DataFrame
        On factors only, by view: ``approximation`` and ``rank``, ``trace_error`` (1 − Σ‖z‖² / Σ k(x, x) over
        all rows; none for random features) and ``gram_error`` (of the Gram matrix in the Frobenius norm, on
        some 500 reference rows, relative).
    intercept_ : array (n_machines,)
    C_ : array (n_machines,), the C used or learned
    classes_ : array (n_classes,)
    total_cost_ : float
        Of predicting one sample: number of support samples · Σ d_m / Σ_k d_k over the kernels m with more
        than 1 % of the weight, where d are the ``costs`` (1 without). Of machines with weights of their own,
        each kernel asks for the support samples of those that use it; what two of them need counts once. On
        factors, the rank of each view stands for the number of support samples.
    objective_ : float, the dual value at the learned kernel (sum over the machines)
    dual_gap_ : float, the relative duality gap reached (the largest of the machines)
    n_iter_ : int
    status_ : str
    history_ : list of dict

    Notes
    -----
    :class:`TransductiveMKLClassifier` has the same program with the trace of the kernels in the place of
    Σμ = 1: its weights, and 1/C where it is learned, are larger by that factor, the predictions the same.

    Equal rows with equal labels are one sample with the sum of their weights, and the order of the rows does
    not matter. What kernels take from the data (median width, means and deviations) they take from these
    distinct samples, each once; a :class:`KernelBank` fitted alone, or a precomputed stack, counts every row.

    On factors, the same problem is solved with :math:`Z_m Z_m^\top` in the place of :math:`K_m`, to the same
    gap. What kernels take from the data, and the landmarks, come from at least 5000 reference rows, drawn by
    ``random_state``; equal ones count once, but equal rows are not merged elsewhere. There is no such route
    for precomputed kernels, repairs (``KernelBank(psd="clip")``), ``multiclass="joint"``, and C that is
    learned or infinite. With dask arrays or dataframes everything but the reference rows stays where it
    lives, and predictions are lazy.

    ``multiclass="joint"`` solves

    .. math::

        \min_{\mu,\, w,\, b}\ \tfrac12 \sum_{m,l} \|w_{ml}\|^2 / \mu_m
        + C \sum_i \sum_{l \ne y_i} \bigl[2 - (f^{y_i}(x_i) - f^l(x_i))\bigr]_+ ,\qquad \sum_l b_l = 0

    with one score :math:`f^l` for each class: the SVM of Weston & Watkins with one kernel, the multiclass MKL
    of Zien & Ong with several, Gönen's "single-machine" MCSVM. ``dual_coef_`` has a row for each class,
    :math:`B_{li} = [l = y_i] \sum_k \alpha_{ik} - \alpha_{il}`, and the intercepts sum to zero.
    ``multiclass="crammer_singer"`` has :math:`\max_{l \ne y_i}` in the place of the sum over l, and no
    intercepts: only the worst class of each sample counts, :math:`\sum_k \alpha_{ik} \le C`, and its dual
    problem has one such constraint for each sample and no other. With one linear kernel it is scikit-learn's
    ``LinearSVC(multi_class="crammer_singer", fit_intercept=False)``, whose margin is 1, at half the C.

    With ``max_kernels``, the minimum is also over the subsets of at most so many kernels: branch and bound,
    whose lower bounds are certified fits of more kernels. ``tol`` is the relative gap to the best subset,
    ``n_iter_`` the number of nodes and ``history_`` has an entry for each. The search may take long: it ends
    with the best subset so far, and its gap, after ``max_time`` or ``KernelLimit(max_nodes=...)``. More than
    two classes need ``multiclass="shared"`` or ``"joint"``, and C a number.

    With ``KernelBank(kernels, missing="renormalize")`` an absent kernel is 0, and sample i is scaled by
    :math:`c_i`, with :math:`c_i^2 = \sum_m \mu_m / \sum_{m \in S_i} \mu_m`, :math:`S_i` the views that it
    has, but at most what it is at equal weights. The weights are learned with the c of the weights before,
    until c is stable: ``dual_gap_`` certifies the last of these problems, for its c. ``"absent"``: the margin
    of a sample is in the space of its own views, :math:`\max_i \Omega(w_{S_i})^2` is what is small. As soon
    as one training sample has all views, which is asked for, this is the usual problem with 0 for absent
    kernels. ``"mean"``: an absent sample lies at the mean of the samples that have the view. ``"complete"``:
    the em algorithm completes each kernel from all the others, so that the divergence between the kernels and
    their common model never rises; the model keeps all training samples and kernels. In all these ways a view
    may be absent at prediction only.

    References
    ----------
    Lanckriet et al., Learning the kernel matrix with semidefinite programming, JMLR 5, 2004.
    Crammer & Singer, On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2,
    2001.
    Bach, Lanckriet & Jordan, Multiple kernel learning, conic duality, and the SMO algorithm, ICML 2004.
    Kloft et al., lp-norm multiple kernel learning, JMLR 12, 2011.
    Liu et al., Absent multiple kernel learning, AAAI 2015.
    Platt, Cristianini & Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 1999.
    Weston & Watkins, Support vector machines for multi-class pattern recognition, ESANN 1999.
    Zien & Ong, Multiclass multiple kernel learning, ICML 2007.
    Tsuda, Akaho & Asai, The em algorithm for kernel matrix completion with auxiliary data, JMLR 4, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import KernelBank, MKLClassifier
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> views = [("sepal", Gaussian(), [0, 1]), ("petal", Gaussian(), [2, 3])]
    >>> model = MKLClassifier(views, multiclass="shared").fit(X, y)
    >>> model.kernel_weights_[1] > model.kernel_weights_[0]
    np.True_
    >>> bool(model.score(X, y) > 0.95), bool(model.dual_gap_ <= 1e-3)
    (True, True)

    On factors of low rank:

    >>> bank = KernelBank(views, gram="low_rank", rank=0.01)
    >>> model = MKLClassifier(bank, multiclass="shared").fit(X, y)
    >>> bool((model.approximation_["trace_error"] <= 0.01).all()), bool(model.score(X, y) > 0.95)
    (True, True)
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
        """Learn the kernel weights and the machines.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a dict or stack of Gram matrices when precomputed
            Or a dask array or dataframe, its rows in chunks.
        y : array (n,) of labels
        sample_weight : array (n,), optional
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
                f"multiclass={self.multiclass!r} has no low-rank route: its classes share one machine. Use "
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
