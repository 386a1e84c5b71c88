"""Ours for gates: the estimator, from points to the fitted model, and the solver behind it on ready kernels.

Both solve their machines to a relative duality gap of 1e-4.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.localized import LocalizedTask, start_numbers
from judges.programs.answers import LocalizedAnswer
from multikernel import LocalizedMKLClassifier
from multikernel.localized.solver.learn import learn_gates


def fit_estimator(task: LocalizedTask, seed: int) -> LocalizedAnswer:
    """Kernels, gate and machine, with all checks of the input."""
    model = LocalizedMKLClassifier(
        task.views, C=task.C, gating=task.gating, gating_reg=0.0, random_state=seed
    )
    model.fit(task.points, task.y)
    coefficients = np.zeros(task.y.size)
    coefficients[model.support_] = model.dual_coef_[0]
    return LocalizedAnswer(
        model.gating_[0],
        coefficients,
        float(model.intercept_[0]),
        model.n_solves_,
        model.n_iter_,
        float(model.history_[0]["objective"]),
        model.status_,
    )


def learn_gate(task: LocalizedTask, seed: int) -> LocalizedAnswer:
    """The descent alone."""
    found = learn_gates(task.objective(), 1, start_numbers(seed))
    return LocalizedAnswer(
        found.point.V,
        found.point.coefficients[:, 0],
        float(found.point.intercepts[0]),
        found.n_solves,
        found.n_iter,
        float(found.history[0]["objective"]),
        str(found.status.value),
    )
