"""Several classes: which samples and signs binary machines have, how they vote, or all in one machine."""

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..rows import is_dask
from .calibration import calibrated, wants_probabilities
from .lazy import by_chunks, score_by_chunks

STRATEGIES = ("ovr", "ovo", "shared", "joint")


class Machines(NamedTuple):
    """Problems that share their kernel weights: samples, a name and ±1 targets for each binary machine.

    A joint machine has ``codes``, the classes of the samples, in the place of signs.
    """

    rows: Array
    names: list[str]
    signs: list[Array]
    codes: Array | None = None


def binary_problems(codes: Array, classes: Array, strategy: str) -> list[Machines]:
    """The groups of machines for class codes 0, 1, …; each group has one vector of kernel weights.

    ``ovr``: one group for each class; ``ovo``: one for each pair, on the samples of both; ``shared``: one
    group that holds the machines of all the classes; ``joint``: one machine for all the classes. Two classes
    are one binary machine in any case.
    """
    everything = np.arange(codes.size)
    if classes.size == 2:
        return [Machines(everything, [str(classes[1])], [_signs(codes, 1)])]
    if strategy == "ovo":
        return [_pair(codes, classes, a, b) for a, b in combinations(range(classes.size), 2)]
    names = [str(c) for c in classes]
    if strategy == "joint":
        return [Machines(everything, names, [], codes)]
    signs = [_signs(codes, k) for k in range(classes.size)]
    if strategy == "shared":
        return [Machines(everything, names, signs)]
    return [Machines(everything, [name], [sign]) for name, sign in zip(names, signs, strict=True)]


def _signs(codes: Array, positive: int) -> Array:
    return np.where(codes == positive, 1.0, -1.0)


def _pair(codes: Array, classes: Array, a: int, b: int) -> Machines:
    rows = np.flatnonzero((codes == a) | (codes == b))
    return Machines(rows, [f"{classes[a]} vs {classes[b]}"], [_signs(codes[rows], a)])


def decide(scores: Array, classes: Array) -> Array:
    """The class of each sample: by the sign of one score, or by the largest of several."""
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[codes])


def votes(scores: Array, n_classes: int) -> Array:
    """Scores of one-versus-one machines as one score for each class.

    The number of pairs won, plus the sum of the pair scores squeezed into (−1/3, 1/3), which breaks ties and
    never outweighs a vote.
    """
    won = np.zeros((scores.shape[0], n_classes))
    confidence = np.zeros_like(won)
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        first = scores[:, column] >= 0
        won[:, a] += first
        won[:, b] += ~first
        confidence[:, a] += scores[:, column]
        confidence[:, b] -= scores[:, column]
    return won + confidence / (3.0 * (np.abs(confidence) + 1.0))


# -----------------------------------------------------------------------------
# From the scores of machines to decisions: what classifiers and novelty detectors on machines share.


class MachineClassifier(ClassifierMixin):
    """A classifier with `_scores`, `intercept_` and `classes_`; `_votes`: whether its machines vote."""

    classes_: Array
    intercept_: Array
    _votes: bool
    _answers_chunks: bool

    if TYPE_CHECKING:  # the other base has it, and stands behind this one

        def _scores(self, X: Any) -> Array:
            raise NotImplementedError

    @by_chunks
    def decision_function(self, X: Any) -> Array:
        """Scores: (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)."""
        scores = self._scores(X) + self.intercept_
        if self.classes_.size == 2:
            return np.asarray(scores[:, 0])
        return votes(scores, self.classes_.size) if self._votes else scores

    @by_chunks
    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        check_is_fitted(self)
        return decide(self.decision_function(X), self.classes_)

    @available_if(wants_probabilities)
    @by_chunks
    def predict_proba(self, X: Any) -> Array:
        """Calibrated probabilities (n_samples, n_classes), when asked for with ``probability=True``."""
        check_is_fitted(self)
        return calibrated(self, self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the predictions.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array (n,), optional

        Returns
        -------
        float
        """
        if is_dask(X) and self._answers_chunks:
            return score_by_chunks(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))


class MachineNovelty(OutlierMixin):
    """A novelty detector with `_scores` and `offset_`."""

    offset_: float

    if TYPE_CHECKING:  # the other base has it, and stands behind this one

        def _scores(self, X: Any) -> Array:
            raise NotImplementedError

    def score_samples(self, X: Any) -> Array:
        """Scores before the threshold is subtracted (n_samples,)."""
        return np.asarray(self._scores(X)[:, 0])

    def decision_function(self, X: Any) -> Array:
        """Scores (n_samples,), negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for inliers, −1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
