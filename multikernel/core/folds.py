"""Folds of the samples for cross-validation, and the scores on them.

One rule for all that is cross-validated here. A number of folds means stratified folds for classes and plain
folds for values. There are never more of them than the smallest class has samples, nor more than half as many
as there are values, so that R² is defined on every fold; a class with a single sample is an error. Folds of
censored times are stratified on the event, and never more than there are events: `EventKFold` splits so.
"""

import inspect
from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_flag, check_positive_integer
from .survival_targets import SurvivalTarget, as_survival

Split = tuple[Array, Array]
_BY_CLASS = (StratifiedKFold, RepeatedStratifiedKFold, StratifiedShuffleSplit, StratifiedGroupKFold)


def random_source(random_state: Any) -> np.random.RandomState:
    """The source of random numbers that a seed, or a RandomState, stands for."""
    is_seed = isinstance(random_state, int | np.integer)
    if is_seed and not 0 <= random_state < 2**32:
        raise ValueError(f"random_state must be an integer from 0 to 2**32 - 1; got {random_state!r}.")
    return check_random_state(random_state)


def make_folds(
    y: Any,
    n_splits: Any,
    *,
    classifier: bool,
    shuffle: bool = True,
    random_state: Any = None,
    n_repeats: int = 1,
    needs: str = "cross-validation needs",
    remedy: str = "Add samples, or leave that class out.",
) -> list[Split]:
    """Make the folds that a number (at least 2) stands for: row numbers (train, test).

    Fewer are made where a class, or all of the data, is too small; stratified ones for a ``classifier``,
    and by the events for a `y` that is a SurvivalTarget. The samples are split anew ``n_repeats`` times.
    Without a seed of the shuffle it is 0, so that the same data have the same folds. ``needs`` and
    ``remedy`` are beginning and end of the message on a class of one sample, which is a ValueError.

    Examples
    --------
    >>> [test.tolist() for _, test in make_folds(list("aabbb"), 5, classifier=True, shuffle=False)]
    [[0, 2, 3], [1, 4]]
    """
    if check_positive_integer("cv", n_splits) < 2:
        raise ValueError(f"cv must be at least 2 folds; got {n_splits}.")
    if isinstance(y, SurvivalTarget):
        return _event_folds(y, n_splits, shuffle, random_state, n_repeats, needs)
    targets = np.asarray(y)
    n, kind = len(targets), StratifiedKFold if classifier else KFold
    if classifier:
        targets = targets.ravel()
        classes, counts = np.unique(targets, return_counts=True)
        smallest = int(counts.min())
        if smallest < 2:
            rare = classes.tolist()[counts.argmin()]
            raise ValueError(
                f"{needs} at least 2 samples of each class; class {rare!r} has {smallest}. {remedy}"
            )
        most = smallest
    else:
        if n < 2:
            raise ValueError(f"{needs} at least 2 samples; got {n} sample(s).")
        most = max(n // 2, 2)
    rng = random_source(0 if random_state is None else random_state) if shuffle else None
    folds = kind(min(int(n_splits), most), shuffle=shuffle, random_state=rng)
    return [split for _ in range(n_repeats) for split in folds.split(np.empty((n, 0)), targets)]


def _event_folds(
    target: SurvivalTarget, n_splits: int, shuffle: bool, random_state: Any, n_repeats: int, needs: str
) -> list[Split]:
    """Folds with events in every part, and with the same share of them where enough samples are censored."""
    n, n_events = len(target), target.n_events
    if n_events < 2:
        raise ValueError(
            f"{needs} at least 2 samples with an event; got {n_events} among {n} samples. Add samples."
        )
    n_folds = min(int(n_splits), n_events)
    kind = StratifiedKFold if n - n_events >= n_folds else KFold
    rng = random_source(0 if random_state is None else random_state) if shuffle else None
    folds = kind(n_folds, shuffle=shuffle, random_state=rng)
    return [split for _ in range(n_repeats) for split in folds.split(np.empty((n, 0)), target.event)]


class EventKFold:
    """Folds of censored times that have the same share of events each, for scikit-learn's `cv`.

    Scikit-learn's own folds ignore events: with few of them, some parts have none, and no score.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2. With fewer events there are fewer folds, one for each event.
    n_repeats : int, default=1
        How often the samples are split anew; needs ``shuffle``.
    shuffle : bool, default=True
    random_state : int, RandomState or None, default=None
        None is 0: the same data have the same folds.

    Examples
    --------
    >>> y = np.array([(True, 3.0), (False, 4.0), (True, 5.0), (False, 6.0)], dtype="?, f8")
    >>> [int(y[test]["f0"].sum()) for _, test in EventKFold(2).split(y, y)]
    [1, 1]
    """

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 1, shuffle: bool = True, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Split]:
        """Rows of the training and of the validation part of each fold.

        Parameters
        ----------
        X : object
            Not read.
        y : target of a survival model
        groups : object, default=None
            Not read.

        Yields
        ------
        train, test : ndarray of int
        """
        repeats = check_positive_integer("n_repeats", self.n_repeats)
        shuffle = check_flag("shuffle", self.shuffle)
        if repeats > 1 and not shuffle:
            raise ValueError("n_repeats must be 1 where shuffle=False: the folds are the same each time.")
        options: dict[str, Any] = {"shuffle": shuffle, "random_state": self.random_state}
        yield from make_folds(as_survival(y), self.n_splits, classifier=False, n_repeats=repeats, **options)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds: that of the events, where `y` is given and has fewer.

        Parameters
        ----------
        X, groups : object, default=None
            Not read.
        y : target of a survival model, default=None

        Returns
        -------
        int
        """
        n_splits = self.n_splits if y is None else min(self.n_splits, as_survival(y).n_events)
        return n_splits * self.n_repeats

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def list_splits(
    cv: Any, X: Any, y: Any, *, classifier: bool = True, random_state: Any = None, groups: Any = None
) -> list[Split]:
    """List the training and validation rows of each fold.

    ``cv`` is as scikit-learn understands it, but for a number (None is 5), which means `make_folds`:
    stratified for a ``classifier`` where `y` holds classes, and shuffled by ``random_state`` if there is one.
    ``groups`` of the samples are for splitters that read them.
    """
    rows = np.arange(_num_samples(X))
    if cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool)):
        return make_folds(
            rows if y is None else y,
            5 if cv is None else cv,
            classifier=classifier and _holds_classes(y),
            shuffle=random_state is not None,
            random_state=random_state,
        )
    if isinstance(y, SurvivalTarget):  # splitters take rows of it, or count them
        y = y.event if isinstance(cv, _BY_CLASS) else y.to_structured()
    try:
        folds = check_cv(cv, y, classifier=classifier)
    except (TypeError, ValueError, NotImplementedError) as error:  # the last of a memoryview
        raise ValueError(_needed(cv)) from error
    if isinstance(folds, GroupsConsumerMixin) and groups is None:
        raise ValueError(
            f"cv={cv!r} needs the groups of the samples. Pass them to fit, where it takes groups, or pass "
            "the splits: cv=list(cv.split(X, y, groups))."
        )
    try:
        splits = [(rows[train], rows[test]) for train, test in folds.split(X, y, groups)]  # masks too
    except (TypeError, IndexError, ValueError) as error:
        if isinstance(error, ValueError) and hasattr(cv, "split"):  # a splitter says itself what it lacks
            raise
        raise ValueError(f"{_needed(cv)} ({error})") from error
    if not splits:
        raise ValueError(
            f"cv must hold at least one split of the samples; got {cv!r}. A generator is empty after its "
            "first use: make it a list."
        )
    for number, (train, test) in enumerate(splits):
        if not (train.size and test.size):
            what = "training" if train.size == 0 else "validation"
            raise ValueError(
                f"each fold of cv must have samples in both parts; the {what} part of fold {number} has none."
            )
    return splits


def _holds_classes(y: Any) -> bool:
    if y is None or isinstance(y, SurvivalTarget):
        return False
    return type_of_target(y) in ("binary", "multiclass")


def make_group_folds(
    y: Any,
    groups: Any,
    n_splits: int,
    *,
    classifier: bool,
    random_state: int = 0,
    n_repeats: int = 1,
    needs: str = "cross-validation needs",
) -> list[Split]:
    """Make folds that leave the samples of each group together, stratified ones for a ``classifier``.

    Fewer are made where there are fewer groups, or a class is in fewer of them.

    Examples
    --------
    >>> patients = ["a", "a", "b", "b", "c", "d"]
    >>> [test.tolist() for _, test in make_group_folds([0, 1, 1, 0, 0, 1], patients, 2, classifier=False)]
    [[4, 5], [0, 1, 2, 3]]
    """
    if check_positive_integer("cv", n_splits) < 2:
        raise ValueError(f"cv must be at least 2 folds; got {n_splits}.")
    names, numbers = np.unique(np.asarray(groups), return_inverse=True)
    most, numbers = names.size, numbers.ravel()
    if classifier:
        classes, codes = np.unique(np.asarray(y).ravel(), return_inverse=True)
        in_groups = [np.unique(numbers[codes == code]).size for code in range(classes.size)]
        rarest = int(np.argmin(in_groups))
        most = min(most, in_groups[rarest])
        if most < 2:
            raise ValueError(
                f"{needs} each class in at least 2 groups; class {classes.tolist()[rarest]!r} is in "
                f"{most}. Leave that class out, or use finer groups."
            )
    elif most < 2:
        raise ValueError(f"{needs} at least 2 groups; got {most}. Leave groups out, or add samples.")
    n_folds, empty = min(int(n_splits), most), np.empty((numbers.size, 0))
    rng, found = random_source(random_state), []
    for _ in range(n_repeats):
        if classifier:
            folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
            found += list(folds.split(empty, codes, numbers))
            continue
        parts = KFold(n_folds, shuffle=True, random_state=rng).split(names)
        tests = [np.isin(numbers, part) for _, part in parts]
        found += [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]
    return found


def reads_groups(cv: Any) -> bool:
    """Whether a splitter reads the groups of the samples."""
    return isinstance(cv, GroupsConsumerMixin)


def _needed(cv: Any) -> str:
    return (
        "cv must be a number of folds, a splitter such as KFold(5), or a list of pairs of training and "
        f"validation rows; got {short_repr(cv)}."
    )


def check_one_score(scoring: Any, *, has_targets: bool = True) -> None:
    """Refuse several scores where one model is chosen, or one curve drawn."""
    if isinstance(scoring, list | tuple | set | dict):
        raise TypeError(f"scoring must be one score, a name or a function; got {scoring!r}.")
    if has_targets:  # else it takes an estimator and X, as many arguments as a metric
        check_signature(scoring)


def check_signature(scoring: Any) -> None:
    """Refuse a function that cannot be called with an estimator, X and y; one without a signature may be."""
    if not callable(scoring):
        return
    try:
        signature = inspect.signature(scoring)
    except ValueError:
        return
    try:
        signature.bind(None, None, None)
    except TypeError as error:
        name = getattr(scoring, "__name__", type(scoring).__name__)
        raise TypeError(
            f"a function in scoring must take (estimator, X, y); got {name}{signature}. Of a metric of "
            "(y_true, y_pred) sklearn.metrics.make_scorer makes one."
        ) from error


_OF_TWO_CLASSES = ("f1", "precision", "recall", "jaccard")  # which count the label 1 by default
_OF_PROBABILITIES_OF_TWO = ("roc_auc", "average_precision", "neg_brier_score")
_OF_VALUES = (
    *("r2", "max_error", "explained_variance", "neg_mean_squared_error", "neg_mean_absolute_error"),
    *("neg_root_mean_squared_error", "neg_median_absolute_error", "neg_mean_squared_log_error"),
    *("neg_root_mean_squared_log_error", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance"),
    *("neg_mean_absolute_percentage_error", "d2_absolute_error_score"),
)
_OF_CLASSES = (
    *("accuracy", "balanced_accuracy", "top_k_accuracy", "neg_log_loss", "matthews_corrcoef"),
    *("roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"),
    *(f"{name}_{mean}" for name in _OF_TWO_CLASSES for mean in ("macro", "micro", "weighted", "samples")),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio", "d2_log_loss_score"),
    *_OF_TWO_CLASSES,
    *_OF_PROBABILITIES_OF_TWO,
)


def check_score_suits(scoring: Any, y: Any, *, classifier: bool) -> None:
    """Refuse the name of a score that cannot be computed for these targets, and say which can."""
    if not isinstance(scoring, str):
        return
    if scoring in (_OF_VALUES if classifier else _OF_CLASSES):
        found, other = ("values", "labels") if classifier else ("labels", "values")
        known = "accuracy, balanced_accuracy or f1_macro" if classifier else "r2 or neg_mean_squared_error"
        raise ValueError(f"scoring={scoring!r} is a score of {found}, and y holds {other}. Use {known}.")
    if not classifier or scoring not in (*_OF_TWO_CLASSES, *_OF_PROBABILITIES_OF_TWO):
        return
    labels = np.unique(np.asarray(y)).tolist()
    if len(labels) > 2:
        near = {"roc_auc": "roc_auc_ovr", "average_precision": "f1_macro", "neg_brier_score": "neg_log_loss"}
        instead = near.get(scoring, f"{scoring}_macro")
        raise ValueError(
            f"scoring={scoring!r} is a score of two classes, and y has {len(labels)}. Use {instead!r}."
        )
    if scoring in _OF_TWO_CLASSES and 1 not in labels:
        function = f"{scoring}_score"
        raise ValueError(
            f"scoring={scoring!r} takes the label 1 for the positive class, and y holds "
            f"{', '.join(map(repr, labels))}. Use make_scorer({function}, pos_label={labels[-1]!r}), or "
            f"'{scoring}_macro'."
        )


def check_takes_weights(scoring: Any) -> None:
    """Refuse a function as `scoring` that cannot be given the weights of the samples."""
    if not callable(scoring) or hasattr(scoring, "_score_func"):  # scorers of scikit-learn take them
        return
    known = inspect.signature(scoring).parameters
    if "sample_weight" not in known and all(p.kind is not p.VAR_KEYWORD for p in known.values()):
        raise TypeError(
            f"scoring must take sample_weight where fit is given weights; got {scoring!r}. Add the argument, "
            "scoring(estimator, X, y, sample_weight=None), or use make_scorer of a metric that has it."
        )


def check_score(score: Any) -> float:
    """Return the score of a fold, one finite number."""
    try:
        value = float(score)
    except (TypeError, ValueError) as error:
        raise TypeError(f"scoring must give one number; got {score!r}.") from error
    if not np.isfinite(value):
        raise ValueError(
            f"scoring must give a finite score for every fold; got {value}. Use folds whose validation parts "
            "hold two samples or more, and all classes, or a score that is defined without."
        )
    return value
