"""From the scores of machines to decisions: what classifiers and novelty detectors on machines share."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..rows import is_dask
from ._calibration import calibrated, wants_probabilities
from ._lazy import by_chunks, score_by_chunks
from ._multiclass import decide, votes

Array = np.ndarray[Any, np.dtype[Any]]


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
