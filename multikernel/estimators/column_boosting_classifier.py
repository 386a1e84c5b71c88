"""Classification by a few columns of many kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..criteria import Hinge
from ._calibration import calibrate
from ._columns import ColumnMachine
from ._decisions import MachineClassifier
from ._multiclass import binary_problems
from ._parameters import price_samples, weigh_samples
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]


class ColumnBoostingClassifier(MachineClassifier, ColumnMachine):
    r"""Classifier on single columns of kernels.

    .. math::

        f(x) = b + \sum_{m,j} \alpha_{mj} K_m(x, x_j), \qquad a_{mj} = s_{mj}\, \alpha_{mj}

    lp:   :math:`\min \sum |a_{mj}| + C \sum_i \max(1 - y_i f(x_i), 0)`;
    qp:   :math:`\min \tfrac12 \sum a_{mj}^2 + C \sum_i \max(1 - y_i f(x_i), 0)`;
    mark: :math:`\min \tfrac12 \sum a_{mj}^2 + \tfrac C2 \sum_i (y_i - f(x_i))^2` on the columns so far.

    with kernels :math:`K_m`, samples :math:`x_j`, labels :math:`y_i = \pm 1`, and :math:`s_{mj}` the root
    mean square of the column :math:`K_m(x_i, x_j), i = 1 \dots n` (or 1). Every sample may have columns of
    some kernels and not of others: the kernel differs from place to place. The method does not need positive
    semidefinite kernels (they are checked all the same, see ``psd``), and predictions ask only for the
    kernels and samples in use.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
        As for :class:`MKLClassifier`.
    method : {"lp", "qp", "mark"}
        "lp" uses few columns. "qp" spreads over all of them, unless ``max_columns`` limits it: the gap then
        says what is lost. "mark" is a greedy search: each round takes the column with the
        largest derivative of the loss and fits all coefficients again.
    C : float
        Price of errors.
    max_columns : int, optional
        At most so many columns in each machine. Default: no limit for "lp" and "qp", 100 for "mark", which
        it regularises.
    normalise : bool
        Whether the penalty is on columns of root mean square 1. Otherwise kernels of large entries are
        cheap.
    class_weight : dict or "balanced", optional
        Multiplies C class by class.
    probability : bool
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    tol : float
        The relative duality gap to reach; for "mark", the largest derivative that may be left, relative to
        that of the first round.
    max_iter : int
        At most so many steps of the solver ("lp", "qp"; with ``max_columns``, also rounds of new columns), or
        rounds ("mark").
    psd, dtype, callback, verbose
        As for :class:`MKLClassifier`.
    gram : {"dense", "memmap"}
        Where the Gram stack is kept during fit.
    random_state : int, RandomState or None
        Of the folds of the calibration.

    Attributes
    ----------
    columns_ : array (n_columns, 2), (kernel, sample) of each column in use
    coef_ : array (n_machines, n_columns), α
    kernel_weights_ : array (n_kernels,)
        The share of each kernel in Σ s_mj |α_mj|, their mean over the machines; zero without a column.
    machine_weights_ : array (n_machines, n_kernels)
    support_ : array (n_support,), the samples of the columns
    intercept_ : array (n_machines,)
    objective_ : float, the value reached, summed over the machines
    dual_gap_ : float
        The largest of the machines: no machine over all columns has a value below (1 − gap) times its
        value. For "mark" the relative derivative that is left.
    status_ : str
        "max_columns" where the limit ended it, which is no failure of "mark".
    n_iter_ : int
    history_ : list of dict
    view_names_ : list of str
    classes_ : array (n_classes,)

    Notes
    -----
    Several classes are one machine each, against the rest. Equal rows with equal labels are one sample with
    the sum of their weights, and have one column.

    References
    ----------
    Bennett, Momma & Embrechts, MARK: a boosting algorithm for heterogeneous kernel models, KDD 2002.
    Bi, Zhang & Bennett, Column-generation boosting methods for mixture of kernels, KDD 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import ColumnBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ColumnBoostingClassifier().fit(X[::2], y[::2])
    >>> len(model.columns_) < 50, bool(model.dual_gap_ < 1e-3)
    (True, True)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _votes = False

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        method: str = "lp",
        C: float = 1.0,
        max_columns: int | None = None,
        normalise: bool = True,
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernels, method=method, C=C, max_columns=max_columns, normalise=normalise, tol=tol,
            max_iter=max_iter, psd=psd, gram=gram, dtype=dtype, callback=callback, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ColumnBoostingClassifier":
        """Find the columns and their coefficients.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels
        sample_weight : array (n,), optional
            Multiplies C sample by sample.
        """
        C = self._check_parameters()
        table = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, table, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(table, codes, weights)
        columns = self._fit_columns(table, samples)
        prices = price_samples(C, samples.weights)
        problems = binary_problems(codes[samples.rows], self.classes_, "ovr")
        names = [problem.names[0] for problem in problems]
        labels = [""] if len(names) == 1 else [f"{name}: " for name in names]
        results = [
            self._solve(columns, Hinge(problem.signs[0], prices), prices, label)
            for problem, label in zip(problems, labels, strict=True)
        ]
        self._store(results, names, samples)
        self._calibration = calibrate(self, X, y, sample_weight)
        return self
