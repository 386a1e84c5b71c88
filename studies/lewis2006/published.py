"""The figures of Lewis, Jebara and Noble (2006) that are at hand."""

from __future__ import annotations

REPEATS, FOLDS = 5, 3
SPLITS = REPEATS * FOLDS

# Table 1: accuracy in percent.
ACCURACY: dict[str, dict[str, float]] = {
    "wdbc": {"quadratic": 54.9, "rbf": 62.8, "linear": 54.3, "mkl": 81.6, "likelihood": 55.7, "qp": 83.1},
    "sonar": {"quadratic": 81.4, "rbf": 86.0, "linear": 73.0, "mkl": 86.0, "likelihood": 68.2, "qp": 86.3},
    "heart_statlog": {
        "quadratic": 61.4,
        "rbf": 55.6,
        "linear": 52.4,
        "mkl": 55.6,
        "likelihood": 53.6,
        "qp": 60.5,
    },
}

# Figure 2: a generic solver of quadratic programs takes so many times as long as SMO.
SPEED_SIZE, SPEED_RATIO = 500, 7.5
