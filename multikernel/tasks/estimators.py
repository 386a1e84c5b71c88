"""Classifier and regressor for several tasks on the same views."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_number, is_frame
from ..core.about import About
from ..core.decisions import Machines, binary_problems, decide
from ..core.estimator import BaseMKL, Solved, on_rows
from ..core.inputs import (
    check_norm,
    check_sample_weights,
    check_targets,
    encode_labels,
    price_samples,
    require_two_classes,
    standard_deviation,
    weigh_samples,
)
from ..core.svm.losses import EpsilonInsensitive, Hinge, Loss, SquaredError, SquaredHinge
from ..core.weights.learn import learn_weights
from ..core.weights.loop import SolveResult
from ..rows import count_rows
from ..views.tables import MultiTable, as_table, as_tables
from .solver.coupled import TaskProblem, learn_task_weights

_ONE = "all"  # the name of the task where there is one
_FREE_SHARE = 0.1  # of the standard deviation: errors that are not penalized by default

TASKS = About(
    family="margin",
    problem="min Σ_t J_t(ν_t), ν ≥ 0, (Σ_m (Σ_t (d_m² ν_tm)^q)^(p/q))^(1/p) ≤ T^(1/q)",
    solver="closed-form weights, extrapolated, around warm-started SVMs; duality gap",
    cost="10 to 50 SVM fits for each task; memory P n² for the kernels",
    use="Cohorts, tissues or outputs with their own samples, to which the same views may matter.",
    reference="Jawanpuria & Nath 2011; Rakotomamonjy et al. 2011; Kloft et al. 2011",
)


# ---------------------------------------------------------------------- the column of the task
def split_task(X: Any, column: Any, name: str) -> tuple[Any, Array]:
    """The table without the column of the task, and the task of each row."""
    X = as_tables(X)
    if isinstance(X, MultiTable):
        raise TypeError(
            f"{name} needs one table with a column for the task; got several tables. Join them into one "
            "DataFrame (pandas.concat(tables, axis=1)) and name the columns of each view."
        )
    X = as_table(X)
    if is_frame(X):
        if column not in X.columns:
            raise ValueError(
                f"task_column must name a column of X; got {column!r}, and X has {list(X.columns)[:6]}."
            )
        return X.drop(columns=[column]), _checked_tasks(X[column].to_numpy(), column)
    values = np.asarray(X) if not hasattr(X, "toarray") else X
    is_place = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if values.ndim != 2 or not is_place or not -values.shape[1] <= column < values.shape[1]:
        raise ValueError(
            f"task_column must be the number of a column of X, an array of shape {values.shape}; got "
            f"{column!r}. Use a DataFrame to name it."
        )
    others = np.delete(np.arange(values.shape[1]), column)
    tasks = values[:, [column]]
    tasks = tasks.toarray() if hasattr(tasks, "toarray") else tasks
    return values[:, others], _checked_tasks(tasks[:, 0], column)


def _checked_tasks(values: Array, column: Any) -> Array:
    missing = np.flatnonzero(pd.isna(values))
    if missing.size:
        raise ValueError(
            f"the task of each sample must be known; column {column!r} has none in row {missing[0]}. Leave "
            "these samples out, or give them a task of their own."
        )
    return np.asarray(values)


@dataclass(eq=False, repr=False)
class _MultiTask(BaseMKL):
    """What the classifier and the regressor share: tasks, the coupled problem, predictions by task."""

    about = TASKS
    _storage_options = ("psd", "gram", "dtype")
    _keeps_views = False

    kernels: Any = "auto"
    _: KW_ONLY
    task_column: Any = None
    sharing: Any = 2.0
    clusters: Any = None
    norm: float = 1.0
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    # ------------------------------------------------------------------ input
    def _split(self, X: Any) -> tuple[Any, Array]:
        """The table of the views, and the task of each row."""
        if self.task_column is None:
            return X, np.array([], dtype=object)
        if self._precomputed:
            raise ValueError(
                f"{type(self).__name__} finds the task of a sample in a column of X, and precomputed kernels "
                "have no columns. Put Precomputed kernels into views of a table with numbers of samples and "
                "tasks, or leave task_column out."
            )
        return split_task(X, self.task_column, type(self).__name__)

    def _start(self, X: Any) -> tuple[Any, Array]:
        """The checked table of the views, and the number of the task of each row."""
        self._check_sharing()
        X, tasks = self._split(X)
        X = self._validate_table(X, reset=True)
        if self.task_column is None:
            self.tasks_ = np.array([_ONE], dtype=object)
            return X, np.zeros(count_rows(X), np.intp)
        self.tasks_, codes = np.unique(tasks, return_inverse=True)
        return X, codes

    def _check_sharing(self) -> None:
        if isinstance(self.sharing, str):
            check_choice("sharing, where it is not a number,", self.sharing, ("common", "own"))
        else:
            check_norm(self.sharing, "sharing")

    @property
    def _exponent(self) -> float:
        return np.inf if self.sharing == "common" else float(self.sharing)

    def _clusters(self) -> list[list[int]]:
        """The numbers of the tasks whose weights are coupled."""
        n_tasks = len(self.tasks_)
        if not (self.clusters is None or isinstance(self.clusters, Mapping)):
            raise TypeError(f"clusters must be a dict of task to cluster; got {self.clusters!r}.")
        if isinstance(self.sharing, str) and self.sharing == "own":
            return [[t] for t in range(n_tasks)]
        if self.clusters is None:
            return [list(range(n_tasks))]
        names = list(self.tasks_)
        lacking = [name for name in names if name not in self.clusters]
        if lacking:
            raise ValueError(
                f"clusters must give a cluster for each task; task {lacking[0]!r} has none. The tasks are "
                f"{names}."
            )
        groups: dict[Any, list[int]] = {}
        for number, name in enumerate(names):
            groups.setdefault(self.clusters[name], []).append(number)
        return list(groups.values())

    # ------------------------------------------------------------------ solve
    def _machines_of(self, targets: Array, rows: Array, task: int) -> Machines:
        """The machines of one task, with numbers of samples."""
        raise NotImplementedError

    def _losses(self, problem: Machines, weights: Array) -> list[Loss]:
        """A loss for each machine of a task."""
        raise NotImplementedError

    def _learn_all(self, X: Any, codes: Array, targets: Array, weights: Array) -> None:
        """Make the kernels, solve the coupled problems and store them."""
        samples = self._distinct(X, np.column_stack([codes, targets]), weights)
        Ks = np.asarray(self._fit_kernels(X, samples))
        codes, targets = codes[samples.rows], targets[samples.rows]
        problems = []
        for t in range(len(self.tasks_)):
            rows = np.flatnonzero(codes == t)
            problems.append(self._machines_of(targets[rows], rows, t))
        solved: dict[int, Solved] = {}
        for cluster in self._clusters():
            parts = [
                TaskProblem(
                    np.ascontiguousarray(on_rows(Ks, problems[t].rows)),
                    self._losses(problems[t], samples.weights[problems[t].rows]),
                )
                for t in cluster
            ]
            for t, result in zip(cluster, self._solve_cluster(parts, cluster), strict=True):
                solved[t] = Solved(result, problems[t].rows, problems[t].names)
        self._store([solved[t] for t in range(len(problems))], samples)
        counts = [len(problem.names) for problem in problems]
        self._places = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])

    def _solve_cluster(self, parts: Sequence[TaskProblem], cluster: Sequence[int]) -> list[SolveResult]:
        label = "" if len(self.tasks_) == 1 else f"{', '.join(str(self.tasks_[t]) for t in cluster)}: "
        options = self._options(self._draw_seed(), label)
        if len(parts) == 1:
            Ks, losses = parts[0]
            return [learn_weights(Ks, losses, norm=float(self.norm), costs=self._costs, options=options)]
        return learn_task_weights(
            parts, sharing=self._exponent, norm=float(self.norm), costs=self._costs, options=options
        )

    def _store_results(self, results: Sequence[Any], names: Sequence[list[str]]) -> None:
        super()._store_results(results, names)
        self.task_weights_ = np.array([result.weights for result in results])
        if len(results) > 1 and len(self._clusters()) == 1:  # the history is that of all tasks
            self.objective_ = float(results[0].upper_bound)

    # ------------------------------------------------------------------ predict
    def _rows_of_tasks(self, X: Any) -> tuple[Any, Array]:
        """The table of the views, and the number of the task of each row, which fit has to know."""
        check_is_fitted(self)
        X, tasks = self._split(X)
        if self.task_column is None:
            return X, np.array([], np.intp)
        codes = np.searchsorted(self.tasks_, tasks) if len(self.tasks_) else np.zeros(len(tasks), np.intp)
        codes = np.minimum(codes, len(self.tasks_) - 1)
        unknown = np.flatnonzero(self.tasks_[codes] != tasks)
        if unknown.size:
            raise ValueError(
                f"the tasks of X must be among those of fit, {self.tasks_.tolist()}; row {unknown[0]} has "
                f"{tasks[unknown[0]]!r}."
            )
        return X, codes

    def _own_scores(self, X: Any) -> Array:
        """Scores of the machines of each row's task (n_samples, n_machines of a task)."""
        X, codes = self._rows_of_tasks(X)
        scores = np.asarray(self._scores(X) + self.intercept_)
        if not codes.size:
            return scores[:, self._places[0]] if len(self._places) == 1 else scores
        places = np.array([self._places[t] for t in codes])
        return np.take_along_axis(scores, places, axis=1)

    def contributions(self, X: Any) -> Array:
        """What each view adds to the scores of each sample's task.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_kernels), or (n_samples, n_machines, n_kernels) for several classes
        """
        X, codes = self._rows_of_tasks(X)
        every = super().contributions(X)
        if every.ndim == 2 or not codes.size:
            return every
        places = np.array([self._places[t] for t in codes])
        own = np.take_along_axis(every, places[:, :, None], axis=1)
        return own[:, 0] if own.shape[1] == 1 else own

    def weights_frame(self) -> pd.DataFrame:
        """The learned weights, a row for each view and a column for each task.

        Returns
        -------
        DataFrame
        """
        check_is_fitted(self)
        columns = pd.Index(self.tasks_, name="task")
        return pd.DataFrame(self.task_weights_.T, pd.Index(self.view_names_, name="view"), columns)


@dataclass(eq=False, repr=False)
class MultiTaskMKLClassifier(ClassifierMixin, _MultiTask):
    r"""Support vector classifiers for several tasks, whose kernel weights are learned together.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MKLClassifier`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        As for :class:`MKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MKLClassifier`.
    max_iter : int, default=300
        As for :class:`MKLClassifier`.
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
    task_column : str or int, default=None
        Name of the column of X that holds the task of each sample, or its number in an array. It is not part
        of any view. None: all samples are one task.
    sharing : {"common", "own"} or float >= 1, default=2.0
        How the weights of the tasks are coupled:

        - "common": all tasks have the same weights.
        - "own": each task has weights of its own, as if it was fitted alone.
        - a number q: a kernel that one task uses costs the others less; large q draws the weights to common
          ones. With ``norm=1`` tasks use the same kernels, each with its own weights.
    clusters : dict of task to cluster, default=None
        Weights are coupled within a cluster of tasks only. None: all tasks are one cluster. Not read with
        ``sharing="own"``.
    C : float, default=1.0
        Penalty on margin violations.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.

    Attributes
    ----------
    tasks_ : array of shape (n_tasks,)
    task_weights_ : array of shape (n_tasks, n_kernels)
    kernel_weights_ : array of shape (n_kernels,)
        Mean over classifiers.
    classes_ : array of shape (n_classes,)
    view_names_, machine_weights_, dual_coef_, support_, intercept_, objective_, dual_gap_, n_iter_, status_,
    history_
        As for :class:`MKLClassifier`, with one classifier for each task, or for each task and class.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Gaussian
    >>> from multikernel.tasks import MultiTaskMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 4))
    >>> X[:, 3] = np.arange(90) % 3  # the task
    >>> y = X[:, 0] + 0.3 * (X[:, 3] - 1) > 0
    >>> views = [("signal", Gaussian(), [0]), ("noise", Gaussian(), [1]), ("more noise", Gaussian(), [2])]
    >>> model = MultiTaskMKLClassifier(views, task_column=3).fit(X, y)
    >>> model.weights_frame().shape, bool(model.score(X, y) > 0.9)
    ((3, 3), True)

    Notes
    -----
    .. math::

        \min_{\nu \ge 0}\ \sum_t J_t(\nu_t) \quad \text{subject to} \quad
        \Bigl(\sum_m \bigl(\sum_t (d_m^2 \nu_{tm})^q\bigr)^{p/q}\Bigr)^{1/p} \le T^{1/q}

    with the value :math:`J_t` of the SVM of task t on its own samples, costs :math:`d_m`, p the ``norm``
    and q the ``sharing``. Equal weights of all tasks have the norm that a task alone would have, for every q.
    Kernels take widths and scales from the samples of all tasks. ``dual_gap_`` is that of all tasks together
    (the largest of the clusters).

    References
    ----------
    Jawanpuria & Nath, Multi-task multiple kernel learning, SDM 2011.
    Rakotomamonjy, Flamary, Gasso & Canu, lp-lq penalty for sparse linear and sparse multiple kernel multitask
    learning, IEEE Transactions on Neural Networks 22, 2011.
    """

    C: float = field(default=1.0, kw_only=True)
    loss: str = field(default="hinge", kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MultiTaskMKLClassifier":
        """Learn the kernel weights and the models of all tasks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or with the column of the task.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        check_number("C", self.C, above=0.0)
        X, tasks = self._start(X)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        self._require_classes(tasks[weights > 0], codes[weights > 0])
        self._learn_all(X, tasks, codes, weights)
        self._warn_unless_converged()
        return self

    def _require_classes(self, tasks: Array, codes: Array) -> None:
        """Every task has samples of every class."""
        for t, name in enumerate(self.tasks_):
            lacking = np.setdiff1d(np.arange(self.classes_.size), codes[tasks == t])
            if lacking.size:
                raise ValueError(
                    f"each task needs samples of every class; task {str(name)!r} has none of class "
                    f"{str(self.classes_[lacking[0]])!r}. Leave the task out, or join it with another one."
                )

    def _machines_of(self, targets: Array, rows: Array, task: int) -> Machines:
        problem = binary_problems(targets, self.classes_, "shared")[0]
        names = problem.names
        if len(self.tasks_) > 1:
            names = [f"{self.tasks_[task]}: {name}" for name in names]
        return problem._replace(rows=rows, names=names)

    def _losses(self, problem: Machines, weights: Array) -> list[Loss]:
        kind = Hinge if self.loss == "hinge" else SquaredHinge
        prices = price_samples(float(self.C), weights)
        return [kind(signs, prices) for signs in problem.signs]

    def decision_function(self, X: Any) -> Array:
        """Scores of each sample by the classifiers of its task.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        scores = self._own_scores(X)
        return scores[:, 0] if self.classes_.size == 2 else scores

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


@dataclass(eq=False, repr=False)
class MultiTaskMKLRegressor(RegressorMixin, _MultiTask):
    r"""Kernel regressors for several tasks, whose kernel weights are learned together.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MultiTaskMKLClassifier`.
    task_column : str or int, default=None
        As for :class:`MultiTaskMKLClassifier`.
    sharing : {"common", "own"} or float >= 1, default=2.0
        As for :class:`MultiTaskMKLClassifier`.
    clusters : dict of task to cluster, default=None
        As for :class:`MultiTaskMKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MultiTaskMKLClassifier`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        As for :class:`MultiTaskMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MultiTaskMKLClassifier`.
    max_iter : int, default=300
        As for :class:`MultiTaskMKLClassifier`.
    max_time : float, default=None
        As for :class:`MultiTaskMKLClassifier`.
    callback : callable, default=None
        As for :class:`MultiTaskMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MultiTaskMKLClassifier`.
    verbose : int, default=0
        As for :class:`MultiTaskMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`MultiTaskMKLClassifier`.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        Support vector regression, or ridge regression with the penalty 1/C.
    C : float or "auto", default="auto"
        Penalty on errors. "auto" is the standard deviation of y in the task for
        ``"epsilon_insensitive"``, and 1 for ``"squared"``.
    epsilon : float or "auto", default="auto"
        Errors below it are not penalized. "auto" is a tenth of the standard deviation of y in the task.

    Attributes
    ----------
    tasks_, task_weights_, kernel_weights_, view_names_, dual_coef_, support_, intercept_, objective_,
    dual_gap_, n_iter_, status_, history_
        As for :class:`MultiTaskMKLClassifier`, with one regressor for each task.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from multikernel.kernels import Linear
    >>> from multikernel.tasks import MultiTaskMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["dose", "noise"])
    >>> X["cohort"] = np.where(np.arange(80) % 2, "east", "west")
    >>> y = X["dose"] * np.where(X["cohort"] == "east", 1.0, 2.0)
    >>> views = [("dose", Linear(), ["dose"]), ("noise", Linear(), ["noise"])]
    >>> model = MultiTaskMKLRegressor(views, task_column="cohort").fit(X, y)
    >>> model.weights_frame().columns.tolist(), bool(model.score(X, y) > 0.95)
    (['east', 'west'], True)
    """

    C: Any = field(default="auto", kw_only=True)
    loss: str = field(default="epsilon_insensitive", kw_only=True)
    epsilon: Any = field(default="auto", kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MultiTaskMKLRegressor":
        """Learn the kernel weights and the models of all tasks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or with the column of the task.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_penalty()
        X, tasks = self._start(X)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        self._require_samples(tasks[weights > 0])
        self._middles = np.zeros(len(self.tasks_))
        self._learn_all(X, tasks, targets, weights)
        self.intercept_ = self.intercept_ + self._middles
        self._warn_unless_converged()
        return self

    def _check_penalty(self) -> None:
        check_choice("loss", self.loss, ("epsilon_insensitive", "squared"))
        for name, bound in (("C", {"above": 0.0}), ("epsilon", {"at_least": 0.0})):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(f"{name}, where it is not a number,", value, ("auto",))
            else:
                check_number(name, value, **bound)

    def _require_samples(self, tasks: Array) -> None:
        counts = np.bincount(tasks, minlength=len(self.tasks_))
        if counts.min() < 1:
            raise ValueError(
                "each task needs a sample with a positive weight; task "
                f"{str(self.tasks_[counts.argmin()])!r} has none. Leave the task out."
            )
        if counts.max() < 2 < len(counts):
            raise ValueError(
                f"a task must have at least 2 samples; each of the {len(counts)} tasks has one. "
                f"Is task_column={self.task_column!r} the column of the tasks?"
            )

    def _machines_of(self, targets: Array, rows: Array, task: int) -> Machines:
        self._middles[task] = np.median(targets)
        return Machines(rows, [str(self.tasks_[task])], [targets - self._middles[task]])

    def _losses(self, problem: Machines, weights: Array) -> list[Loss]:
        (target,) = problem.signs
        spread = standard_deviation(target, weights)
        if self.loss == "squared":
            ridge = 1.0 / (1.0 if isinstance(self.C, str) else float(self.C))
            return [SquaredError(target, ridge / weights, True)]
        prices = price_samples(spread if isinstance(self.C, str) else float(self.C), weights)
        epsilon = _FREE_SHARE * spread if isinstance(self.epsilon, str) else float(self.epsilon)
        return [EpsilonInsensitive(target, prices, epsilon)]

    def predict(self, X: Any) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._own_scores(X)[:, 0]
