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


def reaches_learner(estimator, check):
    """Whether a check can tell a learner from the others.

    A learner sees the stack of kernels, in double precision whatever the table was: sparse arrays beside
    sparse matrices, and single precision beside double, are for the machines to read. One learner of each
    kind has these checks, and so have all machines in tests/test_common.py.
    """
    of_the_table = check.func.__name__ == "check_estimator_sparse_array" or "X_dtype" in check.keywords
    return not of_the_table or type(estimator.learner).__name__ in SEVERAL_TASKS


mark = parametrize_with_checks(ESTIMATORS)
CHECKS = [case for case in mark.args[1] if reaches_learner(*getattr(case, "values", case))]


@pytest.mark.thorough
@pytest.mark.parametrize(mark.args[0], CHECKS, ids=mark.kwargs["ids"])
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
