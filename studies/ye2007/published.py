"""The figures of Ye et al. (2007) that are at hand: mean accuracies in percent, tables 1 and 2.

None stands for a figure that is not given.
"""

from __future__ import annotations

SPLITS = 30

# Data set to method to accuracy.
BINARY_ACCURACY: dict[str, dict[str, float | None]] = {
    "sonar": {"theta": 85.60, "theta_lambda": 90.16, "kim": 88.46, "rkda_cv": 88.86, "svm_cv": 89.27},
    "heart_statlog": {"theta": 76.85, "theta_lambda": 81.54, "kim": 81.98, "rkda_cv": 76.54, "svm_cv": 82.22},
    "breast_cancer_wisconsin": {
        "theta": 96.05,
        "theta_lambda": 96.00,
        "kim": None,
        "rkda_cv": 95.30,
        "svm_cv": 96.62,
    },
    "ionosphere": {"theta": 89.90, "theta_lambda": 95.10, "kim": 89.14, "rkda_cv": 93.62, "svm_cv": 93.52},
}

# Set of several classes to the accuracy with a learned lambda; for which of both forms is not known.
MULTICLASS_ACCURACY: dict[str, float] = {
    "wine": 98.66,
    "waveform": 83.08,
    "USPS3": 99.41,
    "USPS6": 97.93,
    "USPS8": 96.93,
}
