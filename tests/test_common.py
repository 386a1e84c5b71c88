"""Every estimator keeps scikit-learn's conventions, as scikit-learn itself checks them."""

import pytest
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from multikernel import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelRegressor,
    ConformalKernel,
    KDDAClassifier,
    KernelDiscriminantClassifier,
    KernelKNNClassifier,
    LocalizedMKLClassifier,
    LocalizedMKLOneClass,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    MulticlassSVC,
    NonstationaryClassifier,
    PosteriorSVC,
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
    RegularizedMKLClassifier,
    SpectralKernelClassifier,
    TransductiveMKLClassifier,
)
from multikernel.kernels import Gaussian, Linear

ESTIMATORS = [
    MKLClassifier(),
    MKLClassifier(loss="squared_hinge", multiclass="shared", norm=2.0),
    MKLClassifier(multiclass="ovo", probability=True),
    MKLRegressor(),
    MKLOneClass(),
    MKLRidge(),
    MulticlassSVC(),
    PosteriorSVC(),
    PosteriorSVC([Linear(), Gaussian()], posterior="parzen", norm=2.0),
    RegularizedMKLClassifier([Linear(), Gaussian()], cv=2, max_steps=2),
    TransductiveMKLClassifier(),
    TransductiveMKLClassifier(criterion="soft2", C="learn", weights="spectral", n_components=10),
    TransductiveMKLClassifier(criterion="alignment"),
    KernelDiscriminantClassifier(),
    KernelDiscriminantClassifier(reg="learn", formulation="approximate", rule="knn"),
    SpectralKernelClassifier(),
    SpectralKernelClassifier(classifier="svm", width="mean", eig_tol="loo", alpha=("relative", 1.5)),
    SpectralKernelClassifier(classifier="kdda", width="mean", criterion="alignment"),
    SpectralKernelClassifier(width="mean", criterion="conformal"),
    KernelKNNClassifier(),
    KDDAClassifier(),
    ConformalKernel(),
    NonstationaryClassifier(solver="smo"),
    LocalizedMKLClassifier(),
    LocalizedMKLClassifier([Linear(), Gaussian()], multiclass="joint", gating="gaussian"),
    LocalizedMKLClassifier(gating="sigmoid", multiclass="ovo", shared_gate=True, gating_features="kernel"),
    LocalizedMKLRegressor(),
    LocalizedMKLOneClass(),
    ProjectionKernelClassifier(n_screen=3, max_iter=8),
    ProjectionKernelClassifier(
        2, 1, kernel="gaussian", multiclass="ovr", gating="sigmoid", norm="unit", optimizer="lbfgs"
    ),
    ProjectionKernelRegressor(2, 1, kernel="gaussian", n_screen=2, max_iter=4),
    ProjectionKernelOneClass(n_components=1, n_screen=2, max_iter=4),
    NonstationaryClassifier([Linear(), Gaussian()], mode="full"),
    CombinedKernelClassifier(),
    CombinedKernelClassifier(machine=KernelKNNClassifier("precomputed", n_neighbors=3)),
    CombinedKernelClassifier(machine=KernelDiscriminantClassifier("precomputed")),
    CombinedKernelRegressor(),
    CombinedKernelRegressor(machine=SVR(kernel="precomputed")),
    CombinedKernelOneClass(),
]


FOLDS = "calibration draws its folds by row: a repeated row may fall in two folds, a weighted one cannot"


def expected_failures(estimator):
    if getattr(estimator, "probability", False):
        return {
            "check_sample_weight_equivalence_on_dense_data": FOLDS,
            "check_sample_weight_equivalence_on_sparse_data": FOLDS,
        }
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
