"""Support vector classification with learned kernel weights."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .._validation import check_choice
from ..criteria import HardMargin, Hinge, JointHinge, Loss, SquaredHinge
from ..solvers import SolveResult, Status
from ._base import BaseMKL, Solved
from ._calibration import calibrate
from ._decisions import MachineClassifier
from ._machine import on_rows
from ._multiclass import STRATEGIES, Machines, binary_problems
from ._parameters import check_C, check_weight_range, price_samples, weigh_samples
from ._samples import Samples
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]

LOSSES = ("hinge", "squared_hinge")


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
    kernels : "auto", "precomputed", kernel, or list of kernels, views and (name, kernel, columns)
        ``"auto"``: linear, quadratic, five Gaussians on standardised columns. ``"precomputed"``: X (n, n, m).
    C : float, numpy.inf or "learn"
        Price of errors; infinity is the hard margin, ``"learn"`` (squared hinge, binary or ovr/ovo) learns
        1/C as the weight of the identity kernel, in the same budget of weights.
    loss : {"hinge", "squared_hinge"}
    norm : float >= 1
        p of the weight set: 1 gives sparse weights, infinity the plain sum.
    costs : array (n_kernels,) or dict by view name, optional
        A kernel with a larger :math:`d_m` has to earn its weight.
    multiclass : {"ovr", "ovo", "shared", "joint"}
        One machine for each class, or pair of classes, with weights of its own; or one for each class with
        the same weights for all; or all classes in one machine (hinge, finite C; see
        :class:`MulticlassSVC`). Two classes are one binary machine in any case.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    probability : bool
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        At most so many weight updates.
    psd : {"error", "clip", "shift"}
        What to do with an indefinite Gram matrix. With "error", large ones are only spot-checked before the
        fit (blocks of them are factored), and again where the solver meets negative curvature; a repair looks
        at every matrix whole.
    gram : {"dense", "memmap"}
        Where the Gram stack is kept during fit.
    dtype : {"float64", "float32"}
        Its precision; a ready-made stack of either keeps its own.
    n_jobs : int, optional
        Machines solved at the same time, in threads.
    callback : callable, optional
        Called with a dict after each iteration; a true answer stops the fit.
    verbose : int
        1 writes progress to standard error.
    random_state : int, RandomState or None
        Of the rough start and of the folds of the calibration; None always means the same start.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,)
        Learned weights (their mean over the machines for ovr and ovo); ``sum(d**2 * mu) == 1`` at norm 1, the
        learned 1/C included.
    machine_weights_ : array (n_machines, n_kernels)
    view_names_ : list of str
    dual_coef_ : array (n_machines, n_support), label × dual
    support_ : array (n_support,), indices of the support samples
    intercept_ : array (n_machines,)
    C_ : array (n_machines,), the C used or learned
    classes_ : array (n_classes,)
    total_cost_ : float
        Of predicting one sample: number of support samples · Σ d_m / Σ_k d_k over the kernels m with more
        than 1 % of the weight, where d are the ``costs`` (1 without). Of machines with weights of their own,
        each kernel asks for the support samples of those that use it; what two of them need counts once.
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
    distinct samples, each once; a :class:`KernelBank` of its own, or a ready-made stack, counts every row.

    References
    ----------
    Lanckriet et al., Learning the kernel matrix with semidefinite programming, JMLR 5, 2004.
    Bach, Lanckriet & Jordan, Multiple kernel learning, conic duality, and the SMO algorithm, ICML 2004.
    Kloft et al., lp-norm multiple kernel learning, JMLR 12, 2011.
    Zien & Ong, Multiclass multiple kernel learning, ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> views = [("sepal", Gaussian(), [0, 1]), ("petal", Gaussian(), [2, 3])]
    >>> model = MKLClassifier(views, multiclass="shared").fit(X, y)
    >>> model.kernel_weights_[1] > model.kernel_weights_[0]
    np.True_
    >>> bool(model.score(X, y) > 0.95), bool(model.dual_gap_ <= 1e-3)
    (True, True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        C: Any = 1.0,
        loss: str = "hinge",
        norm: float = 1.0,
        costs: Any = None,
        multiclass: str = "ovr",
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = 300,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        n_jobs: int | None = None,
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernels, norm=norm, costs=costs, tol=tol, max_iter=max_iter, psd=psd, gram=gram, dtype=dtype,
            callback=callback, verbose=verbose, random_state=random_state,
        )  # fmt: skip
        self.C = C
        self.loss = loss
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.probability = probability
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKLClassifier":
        """Learn the kernel weights and the machines.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels
        sample_weight : array (n,), optional
            Multiplies C sample by sample.
        """
        Ks, problems, samples = self._prepare(X, y, sample_weight)
        self._store(self._solve_all(Ks, problems, samples.weights), samples)
        self._calibration = calibrate(self, X, y, sample_weight)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, list[Machines], Samples]:
        """Check the input and build the kernels: the training stack, the machines to solve, the samples."""
        check_choice("loss", self.loss, LOSSES)
        check_choice("multiclass", self.multiclass, STRATEGIES)
        check_C(self.C, self.loss)
        if self.multiclass == "joint":
            self._check_joint()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        if isinstance(self.C, str):
            check_weight_range(weights)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        Ks = self._fit_kernels(X, samples)
        self._votes = self.multiclass == "ovo"
        return Ks, binary_problems(codes[samples.rows], self.classes_, self.multiclass), samples

    def _solve_all(
        self,
        Ks: Array,
        problems: Sequence[Machines],
        weights: Array,
        starts: Sequence[SolveResult] | None = None,
    ) -> list[Solved]:
        """Every group of machines, from the results of an earlier call if there are any."""
        solve = delayed(self._solve)
        warm = [None] * len(problems) if starts is None else starts
        jobs = (solve(Ks, problem, weights, start) for problem, start in zip(problems, warm, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs))

    @property
    def _lean(self) -> bool:  # type: ignore[override]
        return self.multiclass != "joint"

    def _check_joint(self) -> None:
        if self.loss != "hinge":
            raise ValueError(
                f'multiclass="joint" needs loss="hinge"; got {self.loss!r}. Use "ovr", "ovo" or "shared".'
            )
        if np.isinf(self.C):
            raise ValueError(
                'multiclass="joint" needs a finite C; got inf. Use a large one, or "ovr", "ovo" or "shared".'
            )

    def _losses(self, problem: Machines, weights: Array) -> Sequence[Loss | JointHinge]:
        C = check_C(self.C, self.loss)
        if problem.codes is not None:
            assert C is not None
            return [JointHinge(problem.codes, self.classes_.size, price_samples(C, weights))]
        if C is None or np.isinf(C):  # a learned C is the hard margin with the identity as one more kernel
            return [HardMargin(signs, weights) for signs in problem.signs]
        kind = Hinge if self.loss == "hinge" else SquaredHinge
        prices = price_samples(C, weights)
        return [kind(signs, prices) for signs in problem.signs]

    def _solve(self, Ks: Array, problem: Machines, weights: Array, start: SolveResult | None) -> Solved:
        """One group of machines, on the samples that it has."""
        rows = problem.rows
        label = "" if self.classes_.size == 2 or len(problem.names) > 1 else f"{problem.names[0]}: "
        learn = isinstance(self.C, str)
        losses = self._losses(problem, weights[rows])
        result = self._learn(on_rows(Ks, rows), losses, learn_ridge=learn, label=label, start=start)
        if result.status == Status.INSEPARABLE:
            raise ValueError(
                "the hard margin (C=inf) needs separable classes; no function of these kernels was found to "
                f"separate {' and '.join(problem.names)!r} from the rest. Use a finite C, or richer kernels."
            )
        return Solved(result, rows, problem.names)

    def _store(self, solutions: Any, samples: Samples) -> None:
        super()._store(solutions, samples)
        learned = isinstance(self.C, str)
        ridges = np.concatenate([[s.result.ridge] * len(s.names) for s in solutions])
        with np.errstate(divide="ignore"):
            self.C_ = 1.0 / ridges if learned else np.full(ridges.size, float(self.C))
