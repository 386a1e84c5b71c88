"""What the classifiers by nearest neighbours share: the labels, and the vote."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..solvers.neighbours import check_n_neighbors, neighbour_votes
from ._one_kernel import OneKernel, fixed_seed
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]


class NeighbourVote(ClassifierMixin, OneKernel):
    """A classifier that asks the nearest training points; a subclass says what near is."""

    n_neighbors: int
    random_state: Any
    classes_: Array
    _codes: Array
    _seed: int

    def _fit_labelled(self, X: Any, y: Any) -> Array:
        """Check all that is given, keep the labels, and return the training matrix (n, n)."""
        X = self._validate_table(X, reset=True)
        self.classes_, self._codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, self._codes)
        check_n_neighbors(self.n_neighbors, self._codes.size)
        self._seed = fixed_seed(self.random_state)
        return self._fit_gram(X)

    @abstractmethod
    def _distances(self, K: Array) -> Array:
        """What orders the training points, (n_rows, n_train), of similarities K (n_rows, n_train) to them."""

    def predict(self, X: Any) -> Array:
        """The class that most of the nearest training points have; of several, that of the nearest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n_samples, d); or (n_samples, n_train) when precomputed

        Returns
        -------
        array (n_samples,)
        """
        winners = [
            neighbour_votes(self._distances(K), self._codes, self.n_neighbors, seed=self._seed).winners
            for K in self._test_blocks(X)
        ]
        return self.classes_[np.concatenate(winners)]
