"""Choosing the ridge on the gate by folds of one Gram stack.

Candidates are C times ``RIDGES``, from a gate that does not depend on the sample (which is multiple kernel
learning) to a gate without a ridge. Each is learned on the training parts of five folds, and judged at the
samples that it did not see: by the error of a classifier, by the squared error of a regressor, and by what
the gate costs there. The largest ridge is taken whose mean loss is above the least by no more than one
standard error of the difference: location has to earn its place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from .._typing import Array
from ..core.estimator import on_rows
from ..core.folds import Split, make_folds
from ..core.optim.loop import carried, is_over
from .solver.gates import ALL_GATES
from .solver.learn import Gated

AUTO = "auto"
RIDGES = (np.inf, 10.0, 1.0, 0.1, 0.0)  # in units of C, and of the size of the targets
_FOLDS = 5


@dataclass(frozen=True)
class Search:
    """What a choice of the ridge needs to know.

    Attributes
    ----------
    candidates : list of float, from the largest ridge down
    learn : function of a stack, the samples that it holds, and a ridge
        Returns the gates that were learned.
    loss : function of scores (n, n_machines), the samples, and the mean gate there (n, n_kernels)
        Returns the loss of each sample.
    """

    candidates: Sequence[float]
    learn: Callable[[Array, Array, float], list[Gated]]
    loss: Callable[[Array, Array, Array], Array]


def gating_folds(targets: Array, *, classifier: bool, seed: Any) -> list[Split]:
    """The folds of the distinct samples; none where they are too few for two folds."""
    smallest = int(np.unique(targets, return_counts=True)[1].min()) if classifier else targets.size
    if smallest < 2:
        return []
    return make_folds(targets, _FOLDS, classifier=classifier, random_state=seed)


def choose_ridge(
    search: Search,
    Ks: Array,
    sources: Array,
    features: Array,
    folds: Sequence[Split],
    weights: Array,
    n_jobs: int | None = None,
) -> tuple[float, pd.DataFrame]:
    """The ridge, and the table of the candidates: ``loss``, and ``se`` of its difference from the least.

    Folds that are not finished when the fit is over do not count; without any the largest ridge is taken.
    """

    def measure(train: Array, test: Array) -> Array | None:
        part, losses = on_rows(Ks, train), []
        for ridge in search.candidates:
            if is_over():
                return None
            learned = search.learn(part, train, ridge)
            scores, eta = scores_at(learned, Ks, sources, features, train, test)
            losses.append(search.loss(scores, test, eta))
        return np.array(losses)

    jobs = (delayed(carried(measure))(*fold) for fold in folds)
    measured = Parallel(n_jobs=n_jobs, require="sharedmem")(jobs)
    done = [(test, losses) for (_, test), losses in zip(folds, measured, strict=True) if losses is not None]
    if not done:
        nothing = np.full(len(search.candidates), np.nan)
        return search.candidates[0], _table(search.candidates, nothing, nothing)
    rows = np.concatenate([test for test, _ in done])
    means, errors = compare_losses(np.concatenate([losses for _, losses in done], axis=1), weights[rows])
    chosen = int(np.flatnonzero(means - means.min() <= errors)[0])
    return search.candidates[chosen], _table(search.candidates, means, errors)


def _table(candidates: Sequence[float], means: Array, errors: Array) -> pd.DataFrame:
    return pd.DataFrame({"loss": means, "se": errors}, index=pd.Index(list(candidates), name="gating_reg"))


def compare_losses(losses: Array, weights: Array) -> tuple[Array, Array]:
    """Weighted means (n_candidates,), and the standard error of each difference from the least mean.

    Examples
    --------
    >>> means, errors = compare_losses(np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), np.ones(4))
    >>> means.tolist(), errors.round(3).tolist()
    ([0.5, 0.25], [0.217, 0.0])
    """
    shares = weights / weights.sum()
    means = losses @ shares
    differences = losses - losses[int(np.argmin(means))]
    spread = differences - (differences @ shares)[:, None]
    return means, np.sqrt((spread**2) @ shares**2)


def scores_at(
    learned: Sequence[Gated], Ks: Array, sources: Array, features: Array, train: Array, test: Array
) -> tuple[Array, Array]:
    """Scores (n_test, n_machines) of gates learned on ``train``, and the mean gate there (n_test, P)."""
    scores, gates = [], []
    blocks = {int(k): np.asarray(Ks[k][np.ix_(test, train)]) for k in np.unique(sources)}
    for gated in learned:
        point = gated.result.point
        eta = ALL_GATES[gated.kind].values(point.V, features[test])
        total = np.tile(np.asarray(point.intercepts, float), (test.size, 1))
        for m, source in enumerate(sources):
            weighed = np.zeros((train.size, total.shape[1]))
            weighed[gated.rows] = point.eta[:, [m]] * point.coefficients
            total += eta[:, [m]] * (blocks[int(source)] @ weighed)
        scores.append(total)
        gates.append(eta)
    return np.concatenate(scores, axis=1), np.mean(gates, axis=0)
