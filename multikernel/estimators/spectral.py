"""Classification by a kernel whose spectrum is learned from the labels."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..kernels import Gaussian
from ..solvers.leave_one_out import Candidate, Grid, choose_first_best, learn_candidates
from ..solvers.neighbours import check_n_neighbors
from ..solvers.spectral_kernel import SpectralModel
from ..views import KernelBank, PrecomputedBank, View, as_views
from ._one_kernel import OneKernel, fixed_seed
from ._spectral_parameters import (
    as_eig_tols,
    as_method,
    as_tradeoffs,
    check_flag,
    gaussian_widths,
    make_classifier,
)
from ._targets import encode_labels, require_two_classes
from ._unlabelled import join_rows, rows_explained, validate_unlabelled
from ._warn import warn_caller
from .conformal import choose_cores

Array = np.ndarray[Any, np.dtype[Any]]

_CORES = 1 / 3
_TABLE = ("width", "eig_tol", "n_components", "kappa", "alpha", "score")


def _has_coordinates(estimator: "SpectralKernelClassifier") -> bool:
    return estimator.criterion != "conformal"


def _machine_has(method: str) -> Callable[["SpectralKernelClassifier"], bool]:
    """Whether the classifier on the learned kernel has the method."""

    def check(estimator: "SpectralKernelClassifier") -> bool:
        try:
            return hasattr(estimator._make_classifier(0), method)
        except (TypeError, ValueError):  # a wrong parameter, which fit will explain
            return False

    return check


class SpectralKernelClassifier(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, OneKernel):
    r"""Classifier on a kernel that keeps its eigenvectors and learns its eigenvalues from the labels."""

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        alpha: Any = 1e4,
        criterion: str = "separability",
        classifier: Any = "knn",
        n_neighbors: int = 1,
        C: float = 100.0,
        center: bool = False,
        eig_tol: Any = None,
        method: str | None = None,
        standardize: Any = "auto",
        psd: str = "error",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.criterion = criterion
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.C = C
        self.center = center
        self.eig_tol = eig_tol
        self.method = method
        self.standardize = standardize
        self.psd = psd
        self.random_state = random_state

    # ------------------------------------------------------------------ fit
    def fit(self, X: Any, y: Any, X_unlabeled: Any = None) -> "SpectralKernelClassifier":
        """Learn the kernel, the classifier on it, and the classes of the unlabelled points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n_labelled, d); or (n_labelled, n) when precomputed
        y : array (n_labelled,) of labels, of at least two classes; a class may have one point
        X_unlabeled : like X, (n_unlabelled, d) or (n_unlabelled, n), optional
            Points without labels, which take part in the spectrum and are classified.
        """
        X = self._validate_table(X, reset=True)
        X_unlabeled = validate_unlabelled(self, X, y, X_unlabeled)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        grid = self._grid(codes.size)
        machine = self._make_classifier(grid.seed)
        with rows_explained(codes.size, X_unlabeled):
            points = join_rows(X, X_unlabeled, self._precomputed)
            best, table = choose_first_best(self._candidates(points, codes, grid))
        self._store(best, table)
        self.classifier_ = machine.fit(self._model.labelled(), self.classes_[codes])
        unlabelled = self._model.unlabelled()
        self.transduction_ = self.classifier_.predict(unlabelled) if len(unlabelled) else self.classes_[:0]
        return self

    def _grid(self, n_labelled: int) -> Grid:
        """All parameters, checked."""
        seed = fixed_seed(self.random_state)
        center = check_flag("center", self.center)
        self._standardized()
        return Grid(
            criterion=self.criterion,
            method=as_method(self.method, self.criterion),
            eig_tols=as_eig_tols(self.eig_tol, center),
            tradeoffs=as_tradeoffs(self.alpha)[: None if self.criterion == "separability" else 1],
            center=center,
            cores=choose_cores(_CORES, n_labelled, seed),
            n_neighbors=check_n_neighbors(self.n_neighbors, n_labelled),
            seed=seed,
        )

    def _make_classifier(self, seed: int) -> Any:
        return make_classifier(self.classifier, n_neighbors=self.n_neighbors, C=self.C, seed=seed)

    def _standardized(self) -> bool:
        """Whether the columns of X are to be standardised."""
        if isinstance(self.standardize, str) and self.standardize == "auto":
            return self._chooses_width
        standardize = check_flag('standardize, where it is not "auto",', self.standardize)
        if standardize and self._precomputed:
            raise ValueError(
                'standardize=True needs the columns of a table, but kernel="precomputed" has similarities. '
                'Leave standardize="auto", or standardise before the kernel is computed.'
            )
        return standardize

    @property
    def _chooses_width(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "gaussian"

    def _make_bank(self) -> KernelBank | PrecomputedBank:
        standardize = self._standardized()
        if self._chooses_width:
            view = View("gaussian", Gaussian(gamma=1.0 / self._width), standardize=standardize)
            return KernelBank(view, psd=self.psd)
        bank = super()._make_bank()
        if standardize and isinstance(bank, KernelBank):
            bank = KernelBank(replace(as_views(bank.kernels)[0], standardize=True), psd=self.psd)
        return bank

    def _candidates(self, points: Any, codes: Array, grid: Grid) -> Iterator[Candidate]:
        """The kernels of all widths; each carries what predictions need of its bank."""
        widths = gaussian_widths(points, self._standardized()) if self._chooses_width else (np.nan,)
        judged = len(widths) * grid.size > 1
        for place, self._width in enumerate(widths):
            try:
                K = self._fit_gram(points)
            except ValueError as error:
                if place == 0:
                    raise
                yield Candidate({"width": self._width}, np.nan, error=error)  # constant: too wide
                continue
            fitted = (self._bank, self.base_kernel_)
            for found in learn_candidates(K, codes, grid, judged=judged):
                settings = {"width": widths[place], **found.settings}
                yield replace(found, settings=settings, model=(found.model, *fitted))

    # ------------------------------------------------------------------ store
    def _store(self, best: Candidate, table: list[dict[str, float]]) -> None:
        self._model, self._bank, self.base_kernel_ = best.model
        self._width = best.settings["width"]
        self.width_ = float(self._width)
        self.loo_scores_ = pd.DataFrame(table if len(table) > 1 else [], columns=list(_TABLE))
        if isinstance(self._model, SpectralModel):
            self._store_spectrum(self._model, best.settings["eig_tol"])
        else:
            self.objective_ = self._model.objective
            self.factors_ = self._model.factors
            self.coefficients_ = self._model.coefficients
            self.cores_ = self._model.cores

    def _store_spectrum(self, model: SpectralModel, eig_tol: float) -> None:
        learned = model.learned
        self.eig_tol_ = eig_tol
        self.eigenvalues_ = model.spectrum.values
        self.eigenvectors_ = model.spectrum.vectors
        self.spectral_weights_ = learned.weights
        self.objective_ = learned.objective
        self.separability_ = learned.separability
        if self.criterion == "separability":
            self.alpha_, self.alpha_star_ = learned.alpha, learned.alpha_star
            self._warn_of_held(learned.held.size, learned.weights.size)

    def _warn_of_held(self, n_held: int, n_kept: int) -> None:
        if n_held == 0:
            return
        held = "and all have equal weights" if n_held == n_kept else "and are held at 1000 times the others"
        warn_caller(
            f"{n_held} of {n_kept} eigenvectors hardly vary within the classes of the labelled points: their "
            f"weights have no maximiser at alpha={self.alpha_:g} (alpha* = {self.alpha_star_:.3g}), {held}. "
            "Label more points of each class, or raise eig_tol to keep fewer eigenvectors."
        )

    @property
    def kernel_(self) -> Array:
        """The learned kernel between all fitted points (n, n), labelled first; computed when it is read."""
        check_is_fitted(self)
        return self._model.kernel()

    # ------------------------------------------------------------------ predict
    def _learned_rows(self, X: Any) -> Array:
        """The learned kernel between the rows of X and the labelled points, (n_samples, n_labelled)."""
        return np.concatenate([self._model.rows(K) for K in self._test_blocks(X)])

    def predict(self, X: Any) -> Array:
        """The class of each sample.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n_samples, d); or (n_samples, n) when precomputed
        """
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict(self._learned_rows(X)))

    @available_if(_machine_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """What the classifier on the learned kernel gives, where it has scores."""
        check_is_fitted(self)
        return np.asarray(self.classifier_.decision_function(self._learned_rows(X)))

    @available_if(_machine_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """What the classifier on the learned kernel gives, where it has probabilities."""
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict_proba(self._learned_rows(X)))

    @available_if(_has_coordinates)
    def transform(self, X: Any) -> Array:
        """Coordinates in which the learned kernel is the dot product (not for ``criterion="conformal"``).

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        array (n_samples, n_components), :math:`z(x)`
        """
        check_is_fitted(self)
        return np.concatenate([self._model.extend(K) for K in self._test_blocks(X)])

    @property
    def _n_features_out(self) -> int:
        return int(self.spectral_weights_.size)
