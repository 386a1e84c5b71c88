"""Support vector classification with soft labels: the probabilities of the classes at the samples."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import compute_class_weight, get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import has_fit_parameter

from .._typing import Array
from .._validation import NotFiniteError, check_choice, check_number, check_positive_integer, warn_caller
from ..core.about import About
from ..core.decisions import MachineClassifier, calibrate
from ..core.estimator import BaseMKL, Solved
from ..core.folds import Split, list_splits, make_folds
from ..core.inputs import (
    Samples,
    check_sample_weights,
    encode_labels,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.svm.losses import JointHinge, Loss
from ..kernels._rows import Rows
from ..views.gating_features import columns_read
from ..views.missing import CompletedBank
from ..views.scaling import Scaling
from ..views.tables import as_table
from .solver import (
    Distances,
    KernelDistances,
    PosteriorHinge,
    TableDistances,
    mean_nearest_distance,
    neighbour_posteriors,
    parzen_posteriors,
)

RULES = ("knn", "parzen")
UNDECIDED = 1e-3  # a soft label this near to zero says nothing, and its price would be without bound
_SUM = 1e-3
_TIE = 1e-12
_FOLDS = 5
_ALL_WHOLE = 2.0**53  # from here on, floating point has whole numbers only
_REMEDY = (
    "Lower n_neighbors, raise gamma, give probabilities in the order of classes_, or do without soft labels: "
    "MKLClassifier."
)


@dataclass(eq=False, repr=False)
class PosteriorSVC(MachineClassifier, BaseMKL):
    r"""Support vector classifier that trusts a label as far as the samples around it do.

    Use it where labels are partly wrong, or are given as probabilities. With correct labels it is at best as
    good as :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        ``"auto"`` and ``"rich"``: six and twelve kernels of all columns. ``"precomputed"``: X holds Gram
        matrices of shape (n_samples, n_samples), by name in a dict, or in a list or an array of shape
        (n_samples, n_samples, m).
    C : float, default=1.0
        Penalty on margin violations.
    posterior : {"knn", "parzen"} or classifier with ``predict_proba``, default="knn"
        Where the probabilities come from that are not given to ``fit``. ``"knn"``: the share of each class
        among the nearest samples, the sample itself included. ``"parzen"``: its share in a density of
        Gaussian windows. A classifier: its probabilities by cross-validation, each from a copy that has not
        seen the sample. The first two look at the columns that the kernels read, standardised; where X holds
        kernels, or columns that are no numbers, at the distances in the feature space of the mean kernel,
        each divided by its mean diagonal.
    n_neighbors : int, default=9
        Of ``"knn"``, the sample itself included; no more than 2 m − 1, where m samples are of the smallest
        class, for it could not have a majority of more.
    gamma : float or "auto", default="auto"
        Of the windows :math:`\exp(-\gamma \|x - z\|^2)` of ``"parzen"``; ``"auto"`` is one over the square of
        the mean distance to the nearest other sample.
    relabel : bool, default=True
        Whether, of more than two classes, a sample is assigned to its likeliest one. False keeps the given
        labels, which is the problem as printed; see Notes. The problem of two classes has no labels but
        :math:`\hat y_i`, whose sign is the likelier class: it is the same with both.
    cv : int, splitter or None, default=None
        The folds of a classifier as ``posterior``, all classes in each training part; None means five,
        stratified, or as many as the smallest class has samples. Folds by groups: a list of them.
    norm : float >= 1, default=1.0
        p of the weight set: 1 gives sparse weights, infinity the plain sum.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        A kernel with a larger cost has to earn its weight.
    class_weight : dict or "balanced", default=None
        Multiplies C by the class that a sample is assigned to; "balanced" counts the labels given.
    probability : bool, default=False
        Whether ``predict_proba`` is wanted: calibrates on five folds, which takes five more fits.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=300
        Maximum number of weight updates.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called with a dict after each iteration; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.
    random_state : int, RandomState or None, default=None
        Of the rough start and of the folds; None always means the same.

    Attributes
    ----------
    posteriors_ : array of shape (n_samples, n_classes)
        The probabilities at the training samples, in the order of ``classes_``; NaN for those of weight zero,
        unless they were given.
    relabelled_ : array of int
        The samples assigned to another class than the given one; none of more than two classes with
        ``relabel=False``.
    undecided_ : array of int
        The samples left out, because two classes are as likely as one another to 1e-3 (two classes only).
    kernel_weights_ : array of shape (n_kernels,)
        Learned weights; ``sum(d**2 * mu) == 1`` at norm 1.
    machine_weights_ : array of shape (n_machines, n_kernels)
        The same for each classifier.
    view_names_ : list of str
    dual_coef_ : array of shape (n_machines, n_support)
        Side × dual; one row for two classes, else one for each class.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    intercept_ : array of shape (n_machines,)
    classes_ : array of shape (n_classes,)
    objective_ : float, the dual value at the learned kernel
    dual_gap_ : float, the relative duality gap reached
    total_cost_ : float, the cost of a prediction, as for :class:`MKLClassifier`
    n_iter_ : int
    status_ : str
    history_ : list of dict
    gram_ : {"dense", "memmap"}, where the training stack was kept
    memory_ : MemoryEstimate, of the training stack

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLClassifier
    >>> from multikernel.soft_labels import PosteriorSVC
    >>> from multikernel.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[-2.0, 0.0], [2.0, 0.0]], 30, axis=0)
    >>> y = np.repeat(["left", "right"], 30)
    >>> y[7] = "right"  # an outlier
    >>> model = PosteriorSVC([Polynomial(2)]).fit(X, y)
    >>> 7 in model.relabelled_, 7 in model.support_
    (True, False)
    >>> len(model.support_) < len(MKLClassifier([Polynomial(2)]).fit(X, y).support_)
    True

    Notes
    -----
    It solves, for two classes and the soft labels :math:`\hat y_i = P(+ \mid x_i) - P(- \mid x_i)`:

    .. math::

        \min_{w, b, \xi \ge 0}\ \tfrac12 \|w\|^2 + C \sum_i \xi_i \quad \text{subject to} \quad
        \hat y_i f(x_i) \ge \hat y_i^2 (1 - \xi_i), \qquad f(x) = w'\phi(x) + b

    More classes, in one problem, with :math:`y_i := \arg\max_l P(l \mid x_i)`, or the labels given with
    ``relabel=False``:

    .. math::

        \min_{w, b}\ \tfrac12 \sum_l \|w_l\|^2 + C \sum_i \sum_{l \ne y_i}
        \big[ 2 (P(y_i \mid x_i) - P(l \mid x_i)) - f^{y_i}(x_i) + f^l(x_i) \big]_+

    A sample in doubt has to reach a smaller margin, and one that lies among samples of another class is taken
    for one of them: outliers are not stored, and support vectors are fewer. Certain labels give the plain
    classifiers. The kernel is one, or a sum whose weights are learned as in :class:`MKLClassifier`.

    The fewer samples a class has, the easier neighbours outvote it everywhere: with more than two classes
    such a class is never predicted, which is warned of; with two classes it is an error.

    Gönen, Tanuğur & Alpaydın print the problem of more classes with the labels :math:`y_i` as they are given.
    An outlier among another class then has margins of negative size to reach, its own score being allowed to
    be lower than that of the other class by up to :math:`2 (P(l \mid x_i) - P(y_i \mid x_i))`: it asks for
    less than in the plain SVM, but pulls all the same once it lies deeper, and stays a support sample. In
    the problem of two classes, and in what the authors draw and say of outliers, it is on the side of its
    neighbours; with :math:`y_i := \arg\max_l P(l \mid x_i)` it is so for more classes, too. Where no
    given label contradicts the probabilities, the two are one problem.

    Equal rows with equal labels are one sample with the sum of their weights. Where all of ``sample_weight``
    are whole numbers, they are repetitions: a sample of weight 3 counts as three neighbours. Other weights
    are divided by the mean of those above zero first, so that ``n_neighbors`` means as many samples whatever
    their scale. Neighbours at equal distances share what is left of ``n_neighbors``.

    References
    ----------
    Gönen, Tanuğur & Alpaydın, Multiclass posterior probability support vector machines, IEEE Transactions
    on Neural Networks 19, 2008.
    Tao, Wu, Wang & Wang, Posterior probability support vector machines for unbalanced data, IEEE
    Transactions on Neural Networks 16, 2005.
    """

    about = About(
        family="margin",
        problem="min ½‖w‖² + C Σ ξ_i, ŷ_i f(x_i) ≥ ŷ_i² (1 − ξ_i), soft labels ŷ_i = P(+|x_i) − P(−|x_i)",
        solver=(
            "soft labels from neighbors, Parzen windows or an estimator; then as multiple kernel learning, "
            "duality gap"
        ),
        cost="neighbors, n²; then that of multiple kernel learning",
        use="Labels that are partly wrong, or given as probabilities.",
        reference="Tao et al. 2005; Gönen, Tanuğur & Alpaydın 2008",
    )
    _storage_options = ("psd", "gram", "dtype")
    _reads_columns = True
    _lean = False  # posteriors need distances of all rows
    _votes = False

    kernels: Any = "auto"
    _: KW_ONLY
    C: float = 1.0
    posterior: Any = "knn"
    n_neighbors: int = 9
    gamma: Any = "auto"
    relabel: bool = True
    cv: Any = None
    norm: float = 1.0
    costs: Any = None
    class_weight: Any = None
    probability: bool = False
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, probabilities: Any = None) -> "PosteriorSVC":
        """Find the soft labels, and learn the kernel weights and the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample, and says as how many neighbours or windows each counts (Notes).
        probabilities : array or DataFrame of shape (n_samples, n_classes), default=None
            P(l | x_i), in the order of the sorted labels, or in columns named by the labels; ``posterior`` is
            then not asked.
        """
        self._check_parameters(given=probabilities is not None)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = check_sample_weights(sample_weight, codes.size)
        with np.errstate(over="ignore", under="ignore"):
            by_class = weigh_samples(self.class_weight, self.classes_, codes, weights)
        require_two_classes(self.classes_, codes[by_class > 0])
        known = self._known_posteriors(X, codes, weights, probabilities)
        targets = codes if known is None else np.column_stack([codes, known])
        samples = self._distinct(X, targets, weights)
        Ks = self._fit_kernels(X, samples)
        own = codes[samples.rows]
        if known is None:
            P = self._nearby_posteriors(X, own, samples, Ks, neighbour_counts(samples.weights, weights))
        else:
            P = known[samples.rows]
        soft = SoftLabels(P, own, bool(self.relabel))
        self._store([self._solve(Ks, soft, samples.weights)], samples)
        self._warn_unless_converged()
        self._store_soft_labels(soft, samples, known)
        if probabilities is not None:
            self._warn_of_order(soft.contradicted[samples.group[samples.group >= 0]])
        self._calibration = calibrate(self, X, y, sample_weight, probabilities=probabilities)
        return self

    def _check_parameters(self, given: bool) -> None:
        if isinstance(self.C, float | np.floating) and np.isposinf(self.C):
            raise ValueError(
                "C must be finite; got inf. Use a large C, such as 1e3; for the hard margin of labels that "
                "are certain, MKLClassifier."
            )
        check_number("C", self.C, above=0.0)
        check_positive_integer("n_neighbors", self.n_neighbors)
        if not (isinstance(self.gamma, str) and self.gamma == "auto"):
            check_number('gamma, where it is not "auto",', self.gamma, above=0.0)
        if isinstance(self.posterior, str):
            check_choice("posterior, where it is no classifier,", self.posterior, RULES)
        elif not given:
            check_posterior_estimator(self.posterior, self._precomputed)

    # ------------------------------------------------------------------ posteriors
    def _known_posteriors(self, X: Any, codes: Array, weights: Array, probabilities: Any) -> Array | None:
        """Those that do not depend on the other samples' features, (n, n_classes)."""
        if probabilities is not None:
            return check_probabilities(probabilities, codes.size, self.classes_, "probabilities")
        if isinstance(self.posterior, str):
            return None
        found = out_of_fold(self.posterior, X, self.classes_[codes], weights, self.cv, self.random_state)
        rows = weights > 0
        name = f"the probabilities of {type(self.posterior).__name__}"
        found[rows] = check_probabilities(found[rows], int(rows.sum()), self.classes_, name)
        return found

    def _nearby_posteriors(self, X: Any, codes: Array, samples: Samples, Ks: Array, counts: Array) -> Array:
        """Those by neighbours or windows, of the distinct samples, each of which counts as so many."""
        if self._precomputed:
            distances: Distances = KernelDistances(Ks)
        else:
            distances = table_distances(samples.take(X), self._bank, Ks)
        n_classes = self.classes_.size
        if self.posterior == "parzen":
            width = mean_nearest_distance(distances) if self.gamma == "auto" else float(self.gamma) ** -0.5
            return parzen_posteriors(distances, codes, n_classes, width, counts)
        smallest = float(np.bincount(codes, counts).min())
        k = min(self.n_neighbors, max(2.0 * smallest - 1.0, 1.0))
        P = neighbour_posteriors(distances, codes, n_classes, k, counts)
        if counts.min() >= k > 1.0 and (P.max(axis=1) == 1.0).all():
            warn_caller(
                f"every sample counts as {counts.min():g} neighbours or more, so that its own label fills "
                f"n_neighbors={self.n_neighbors} and no label is in doubt. Divide sample_weight by its mean, "
                "drop repeated rows, or raise n_neighbors."
            )
        return P

    def _store_soft_labels(self, soft: "SoftLabels", samples: Samples, known: Array | None) -> None:
        """Of all the samples, from those of the distinct ones."""
        used = samples.group >= 0
        group = samples.group[used]
        self.posteriors_ = np.full((used.size, self.classes_.size), np.nan) if known is None else known
        self.posteriors_[used] = soft.posteriors[group]
        moved = soft.decided & (soft.sides != soft.codes)
        self.relabelled_ = np.flatnonzero(used)[moved[group]]
        self.undecided_ = np.flatnonzero(used)[~soft.decided[group]]

    def _warn_of_order(self, contradicted: Array) -> None:
        """Where given probabilities contradict most labels, their columns may be in another order."""
        if 2 * np.count_nonzero(contradicted) > contradicted.size:
            warn_caller(
                f"the probabilities take {np.count_nonzero(contradicted)} of {contradicted.size} samples for "
                "another class than their label. Their columns are likely in another order than that of "
                f"classes_, {self.classes_.tolist()}: reorder them, or pass a DataFrame whose columns are "
                "the classes."
            )

    # ------------------------------------------------------------------ the machine
    def _solve(self, Ks: Array, soft: "SoftLabels", weights: Array) -> Solved:
        """One machine of two classes, or all classes in one, on the samples that say something."""
        prices = self._prices(soft, weights)
        rows = np.flatnonzero(soft.decided & (prices > 0.0))
        prices, sides = prices[rows], soft.sides[rows]
        if not soft.tells_apart[rows].any():
            raise ValueError(
                f"every sample is undecided: the classes are as likely as one another everywhere. {_REMEDY}"
            )
        self._require_sides(sides)
        if self.classes_.size == 2:
            names = [str(self.classes_[1])]
            loss: Loss | JointHinge = PosteriorHinge(soft.differences[rows], prices)
        else:
            names = [str(label) for label in self.classes_]
            loss = JointHinge(sides, self.classes_.size, prices, soft.rewards[rows])
        return self._solve_machines(Ks, rows, names, [loss])

    def _prices(self, soft: "SoftLabels", weights: Array) -> Array:
        """C of each sample."""
        labels = self.classes_[soft.codes]
        by_class = compute_class_weight(
            self.class_weight, classes=self.classes_, y=labels, sample_weight=weights
        )
        with np.errstate(over="ignore", under="ignore"):
            weights = weights * by_class[soft.sides]
        return price_samples(self.C, weights)

    def _require_sides(self, sides: Array) -> None:
        """Samples that are taken for two classes at least; a warning where not for all."""
        lost = np.setdiff1d(np.arange(self.classes_.size), sides)
        if not lost.size:
            return
        label = self.classes_.tolist()[lost[0]]
        if self.classes_.size - lost.size < 2:
            only = self.classes_.tolist()[sides[0]]
            raise ValueError(
                f"no sample is assigned to class {label!r}: all with weight are assigned to {only!r}. "
                f"{_REMEDY}"
            )
        warn_caller(
            f"no sample is assigned to class {label!r}, which will never be predicted: others are likelier "
            f"at each of its samples. {_REMEDY}"
        )


# ------------------------------------------------------------------ soft labels
@dataclass(frozen=True)
class SoftLabels:
    """Posteriors (n, n_classes) of samples whose given labels are ``codes`` (n,)."""

    posteriors: Array
    codes: Array
    relabel: bool = True  # whether samples of more than two classes are taken for their likeliest one

    @property
    def sides(self) -> Array:
        """The class that each sample is assigned to, (n,)."""
        return self.likeliest if self.relabel or self.posteriors.shape[1] == 2 else self.codes

    @property
    def contradicted(self) -> Array:
        """The samples that count and whose likeliest class is not the given one, (n,) of bool."""
        return np.asarray(self.decided & (self.likeliest != self.codes))

    @cached_property
    def likeliest(self) -> Array:
        """The likeliest class of each sample, (n,); of several the given one."""
        top = self.posteriors.max(axis=1)
        own = self.posteriors[np.arange(self.codes.size), self.codes]
        return np.where(own >= top - _TIE, self.codes, self.posteriors.argmax(axis=1))

    @cached_property
    def decided(self) -> Array:
        """Which samples count, (n,) of bool: all but those at even odds of two classes."""
        return np.ones(self.codes.size, bool) if self.posteriors.shape[1] > 2 else self.tells_apart

    @property
    def tells_apart(self) -> Array:
        """Where some class is likelier than another, (n,) of bool."""
        return np.asarray(np.ptp(self.posteriors, axis=1) > UNDECIDED)

    @property
    def differences(self) -> Array:
        """P(second class) − P(first class), (n,): the soft labels of two classes."""
        return np.asarray(self.posteriors[:, 1] - self.posteriors[:, 0])

    @property
    def rewards(self) -> Array:
        """2 (P(own side) − P(l)), (n, n_classes): the margins that the joint machine asks for."""
        own = self.posteriors[np.arange(self.codes.size), self.sides]
        return np.asarray(2.0 * (own[:, None] - self.posteriors))


def check_probabilities(probabilities: Any, n_samples: int, classes: Array, name: str) -> Array:
    """Rows of probabilities in the order of the classes, divided by their sums, which have to be 1 nearly."""
    values = _as_numbers(probabilities, name)
    if values.shape != (n_samples, classes.size):
        raise ValueError(
            f"{name} must have a row for each of the {n_samples} samples and a column for each of the "
            f"{classes.size} classes in sorted order, {classes.tolist()}; got shape {values.shape}."
        )
    columns = getattr(probabilities, "columns", None)
    if columns is not None:
        values = values[:, _column_order(list(columns), classes, name)]
    sums = values.sum(axis=1)
    bad = np.flatnonzero(~((values >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= _SUM)))
    if bad.size:
        raise ValueError(
            f"{name} must be at least 0, with rows of sum 1; row {bad[0]} is {values[bad[0]].tolist()}. "
            "Divide each row by its sum, and impute or drop what is missing."
        )
    return np.asarray(values / sums[:, None])


def _as_numbers(table: Any, name: str) -> Array:
    """As floats; text that reads like numbers is none."""
    try:
        given = np.asarray(table)
        is_text = given.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in given.flat)
        if given.dtype.kind not in "fiubO" or is_text:
            raise TypeError(f"of type {given.dtype}")
        return np.asarray(given, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a table of numbers; got {type(table).__name__}.") from error


def _column_order(columns: list[Any], classes: Array, name: str) -> list[int]:
    """Where the column of each class is in a data frame; columns without names are in order."""
    labels = classes.tolist()
    if set(columns) == set(labels):
        return [columns.index(label) for label in labels]
    if columns == list(range(len(labels))):
        return columns
    raise ValueError(
        f"{name} must have the classes as its columns, {labels}; got {columns}. Rename them, or pass an "
        "array whose columns are in this order."
    )


def neighbour_counts(weights: Array, given: Array) -> Array:
    """As how many neighbours each distinct sample counts, from the sums of the weights given row by row.

    Whole numbers are repetitions. Others have a scale that means nothing: their mean is made 1.
    """
    used = given[given > 0]
    largest = used.max()
    if largest < _ALL_WHOLE and (used == np.floor(used)).all():
        return weights
    return np.asarray(weights / (largest * (used / largest).mean()))  # their sum may overflow


def check_posterior_estimator(estimator: Any, precomputed: bool) -> None:
    """A classifier with probabilities, of kernels where X holds kernels."""
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
        raise TypeError(
            'posterior must be "knn", "parzen" or a classifier with predict_proba; got '
            f"{estimator!r}. Some classifiers have it only if asked for, with probability=True."
        )
    if precomputed and not get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"posterior={type(estimator).__name__} reads features, but X holds precomputed kernels. Pass its "
            'probabilities to fit, probabilities=..., or use posterior="knn".'
        )


def out_of_fold(estimator: Any, X: Any, y: Array, weights: Array, cv: Any, seed: Any) -> Array:
    """Probabilities (n, n_classes) of each sample from a copy of the estimator that has not seen it.

    ``cv=None`` means five stratified folds, or as many as the smallest class has samples. Samples of weight
    zero are not learned from (nor predicted by the folds of None); other weights are handed on where the
    estimator takes them.
    """
    classes = np.unique(y)
    found = np.zeros((y.size, classes.size))
    times = np.zeros(y.size, int)
    for train, test in _default_splits(y, weights, seed) if cv is None else list_splits(cv, X, y):
        train = train[weights[train] > 0]
        missing = np.setdiff1d(classes, y[train])
        if missing.size:  # a classifier that has not seen a class gives it no chance, which says nothing
            raise ValueError(
                f"a training part of cv has no sample of class {missing.tolist()[0]!r}: its probability "
                "would be zero in that fold. Use stratified folds, StratifiedKFold or cv=None, or shuffle "
                "the samples."
            )
        weighted = np.ptp(weights[train]) > 0.0 and has_fit_parameter(estimator, "sample_weight")
        some_X, some_y = _safe_split(estimator, X, y, train)
        model = clone(estimator).fit(
            some_X, some_y, **({"sample_weight": weights[train]} if weighted else {})
        )
        part, _ = _safe_split(model, X, None, test, train)
        columns = np.searchsorted(classes, model.classes_)
        found[np.ix_(test, columns)] = model.predict_proba(part)
        times[test] += 1
    if (times[weights > 0] != 1).any():
        raise ValueError(
            "cv must put every sample in the test part of exactly one fold; sample "
            f"{np.flatnonzero((weights > 0) & (times != 1))[0]} is in {times[times != 1].min()}."
        )
    found[times == 0] = np.nan
    return found


def _default_splits(y: Array, weights: Array, seed: Any) -> list[Split]:
    rows = np.flatnonzero(weights > 0)
    folds = make_folds(
        y[rows],
        _FOLDS,
        classifier=True,
        random_state=seed,
        needs="the posteriors of a classifier need",
        remedy='Add samples, or use posterior="knn".',
    )
    return [(rows[train], rows[test]) for train, test in folds]


def table_distances(table: Any, bank: Any, Ks: Array) -> Distances:
    """Between samples: in the standardised columns that the kernels read, or in the kernels' feature space.

    The second where columns are no numbers, and where samples lack views.
    """
    if isinstance(bank, CompletedBank):
        return KernelDistances(Ks)
    table = as_table(table)
    selection = columns_read(bank, table)
    try:
        values = Rows(selection.take(table, "X"), "X", one_column=selection.scalar).values
    except NotFiniteError:
        raise
    except ValueError:
        return KernelDistances(Ks)
    return TableDistances(Scaling.fit(values).apply(values, "X"))
