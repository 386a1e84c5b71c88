"""A fitted model as a report sees it: attributes and parameters, with figures that are easy to check."""

import numpy as np
import pytest


class ToyClassifier:
    """Everything that a fitted classifier shows to a report, and nothing else."""

    def __init__(self, view_names, kernel_weights, **attributes):
        self.view_names_ = view_names
        self.kernel_weights_ = np.asarray(kernel_weights)
        self.tol = 1e-3
        vars(self).update(attributes)

    def get_params(self, deep=True):
        return {"C": np.float64(10), "norm": np.inf, "kernels": [object()], "tol": self.tol, "loss": "hinge"}


def history(gaps):
    return [
        {"iteration": i, "objective": np.float64(10 + gap), "lower_bound": 10.0, "gap": np.float32(gap)}
        for i, gap in enumerate(gaps, start=1)
    ]


@pytest.fixture
def model():
    return ToyClassifier(
        ["sound", "image", "text"],
        [0.6, 0.0, 0.2],
        dual_gap_=np.float64(5e-4),
        objective_=np.float64(10.005),
        n_iter_=np.int64(3),
        status_="converged",
        classes_=np.array([3, 7]),
        history_=history([0.5, 0.0625, 0.00048828125]),
    )
