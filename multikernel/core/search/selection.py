"""What searches on folds share: the folds, models as scorers see them, the record.

`mkl.regularized` searches the costs of kernels, :mod:`.tuned` the penalty and the norm.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from ..._typing import Array
from ..decisions import MachineClassifier, decide
from ..folds import Split, list_splits, make_folds, random_source
from ..inputs import Samples

# What a search shows of the model that it fits last; those with an underscore before are what predictions
# read.
_OF_MODEL = (
    "kernel_weights_", "machine_weights_", "machine_names_", "view_names_", "kept_views_", "dual_coef_",
    "support_", "C_", "kernel_factors_", "objective_", "dual_gap_", "n_iter_", "status_", "history_", "gram_",
    "memory_", "n_features_in_", "feature_names_in_", "classes_", "intercept_", "missing_", "total_cost_",
    "_layout", "_fitted", "_votes", "_calibration", "_gram_names", "_gram_ids", "_one_output",
    "_support_rows", "target_names_",
)  # fmt: skip


def seed_of(estimator: Any) -> Any:
    """The seed of all the models of a search: drawn once, so that threads cannot draw in another order."""
    state = estimator.random_state
    if state is None or isinstance(state, int | np.integer):
        return state
    return int(random_source(state).randint(2**31 - 1))


def split_samples(
    cv: Any, X: Any, y: Any, samples: Samples, seed: Any, *, classifier: bool = True, groups: Any = None
) -> list[Split]:
    """The training and validation rows of each fold.

    A number of folds is shuffled, and stratified for a ``classifier``, as GridSearchCV has them: equal rows
    may be in training and validation part, as they may among new samples. Rows without weight are in no fold.
    """
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        return list_splits(cv, X, y, classifier=classifier, groups=groups)
    if groups is not None:
        raise ValueError(
            f"groups need a cv that reads them, such as GroupKFold({cv}); got cv={cv!r}, which does not."
        )
    used = np.flatnonzero(samples.group >= 0)
    folds = make_folds(y[used], cv, classifier=classifier, random_state=seed)
    return [(used[train], used[test]) for train, test in folds]


class SearchedClassifier(MachineClassifier, BaseEstimator):
    """The classifier of a fold as scorers see it: without probabilities."""

    _answers_chunks = False

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        return decide(self.decision_function(X), self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Refuse: a calibration of every point would take five more fits of every fold."""
        raise ValueError(
            "scoring needs probabilities, which are not calibrated on the folds of the search. Use a score "
            'of decision_function or predict, such as "roc_auc" (two classes) or "balanced_accuracy"; or '
            "compare candidates by GridSearchCV on MKLClassifier(probability=True)."
        )


def scores_record(params: Sequence[dict[str, Any]], scores: Array) -> dict[str, Any]:
    """``cv_results_`` as GridSearchCV has them, from scores (n_candidates, n_folds).

    Folds that were not measured are NaN: means are over the others, and such candidates rank behind those
    that have all folds, the more folds the better.
    """
    counts = np.isfinite(scores).sum(axis=1)
    means, spreads = np.full(len(scores), np.nan), np.full(len(scores), np.nan)
    for k, row in enumerate(scores):
        if counts[k]:
            known = row[np.isfinite(row)]
            means[k], spreads[k] = np.average(known), np.std(known)
    ranks = np.empty(len(scores), np.int32)
    ahead = 0
    for count in np.unique(counts)[::-1]:
        those = np.flatnonzero(counts == count)
        ranks[those] = ahead + (rankdata(-means[those], method="min") if count else 1)
        ahead += those.size
    return {
        "params": list(params),
        **{f"split{k}_test_score": column for k, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": spreads,
        "rank_test_score": ranks,
    }


def forget(search: Any) -> None:
    """Take away the model of a fit before, and what is shown of it."""
    for name in ("estimator_", *_OF_MODEL):
        search.__dict__.pop(name, None)


def adopt(search: Any, model: Any) -> None:
    """Keep the fitted model as ``estimator_``, and show what it has learned."""
    search.estimator_ = model
    search.__dict__.pop("feature_names_in_", None)  # of a fit before, where this one has no names
    for name in _OF_MODEL:
        if hasattr(model, name):
            setattr(search, name, getattr(model, name))
