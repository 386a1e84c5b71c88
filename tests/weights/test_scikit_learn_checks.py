"""Every weight learner under a machine keeps the conventions that scikit-learn itself checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from multikernel import CombinedKernelClassifier, CombinedKernelOneClass, CombinedKernelRegressor
from multikernel.kernels import Gaussian
from tests.methods_page import learners

KERNELS = [Gaussian(), Gaussian(0.1)]  # with entries above zero, which powers of kernels need
KINDS = {
    "classes": CombinedKernelClassifier,
    "values": CombinedKernelRegressor,
    "nothing": CombinedKernelOneClass,
}
# the checks ask for conventions, not for optima: what a learner has of these is set so
QUICK = {"tol": 1e-2, "cv": 2, "n_draws": 8}
# every learner with the first task that it knows, and these, one of each way to treat targets, with all tasks
SEVERAL_TASKS = ("AlignmentQP", "ClusterWeights", "MarginMKL", "MeanRule", "RidgeBall")


def quick(cls):
    learner = cls(max_iter=3) if cls.__name__ == "InstanceWeights" else cls()
    return learner.set_params(**{name: QUICK[name] for name in QUICK.keys() & learner.get_params().keys()})


ESTIMATORS = [
    KINDS[task](quick(cls), kernels=KERNELS)
    for cls in learners()
    for task in cls.learns_from[: None if cls.__name__ in SEVERAL_TASKS else 1]
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
