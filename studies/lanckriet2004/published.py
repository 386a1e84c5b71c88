"""The figures of Lanckriet et al. (2004), tables 1 to 4: means over 30 random splits.

For HM the value is the margin, for the other criteria omega / 2 (which is what the publication prints). None
stands for a dash (no separating machine) and for a figure that is not given.
"""

from __future__ import annotations

from typing import Any

SPLITS = 30

Pair = tuple[float, float] | None

_COLUMNS = ("K1", "K2", "K3", "free", "nonnegative")

# (data set, criterion) to (value, test set accuracy in percent) for each column.
_CELLS: dict[tuple[str, str], tuple[Pair, ...]] = {
    ("heart_statlog", "HM"): ((0.0369, 72.9), (0.1221, 59.5), None, (0.1531, 84.8), (0.1528, 84.6)),
    ("heart_statlog", "SM1"): (
        (58.169, 79.3), (33.536, 59.5), (74.302, 84.3), (21.361, 84.8), (21.446, 84.6),
    ),
    ("heart_statlog", "SM2"): (
        (32.726, 78.1), (25.386, 59.0), (45.891, 84.3), (15.988, 84.8), (16.034, 84.6),
    ),
    ("heart_statlog", "SM2,C"): (
        (19.643, 81.3), (25.153, 59.6), (16.004, 84.7), (15.985, 84.6), (15.985, 84.6),
    ),
    ("sonar", "HM"): ((0.0246, 80.9), (0.1460, 85.8), (0.0021, 74.2), (0.1517, 84.6), (0.1459, 85.8)),
    ("sonar", "SM1"): ((87.657, 78.1), (23.288, 85.6), (102.68, 73.3), (21.637, 84.6), (23.289, 85.6)),
    ("sonar", "SM2"): ((45.048, 79.1), (15.893, 85.2), (53.292, 76.7), (15.219, 84.5), (15.893, 85.2)),
    ("sonar", "SM2,C"): ((20.520, 60.9), (15.640, 84.6), (20.620, 51.0), (15.640, 84.6), (15.640, 84.6)),
    ("breast_cancer_wisconsin", "HM"): ((0.0036, 92.9), (0.1055, 89.0), None, (0.1369, 95.5), (0.1219, 94.4)),
    ("breast_cancer_wisconsin", "SM1"): (
        (77.012, 96.4), (44.913, 89.0), (170.26, 87.7), (26.694, 95.5), (33.689, 94.4),
    ),
    ("breast_cancer_wisconsin", "SM2"): (
        (43.138, 96.4), (35.245, 88.5), (102.51, 87.4), (20.696, 95.4), (21.811, 94.3),
    ),
    ("breast_cancer_wisconsin", "SM2,C"): (
        (27.682, 94.5), (33.685, 89.0), (41.023, 87.3), None, (25.267, 94.4),
    ),
    ("ionosphere", "HM"): ((0.0613, 91.2), (0.1452, 92.0), None, (0.1623, 94.4), (0.1616, 94.4)),
    ("ionosphere", "SM1"): ((30.786, 94.5), (23.233, 92.1), (52.312, 83.1), (18.117, 94.8), (18.303, 94.5)),
    ("ionosphere", "SM2"): ((18.533, 94.7), (17.907, 92.0), (31.662, 91.6), (13.382, 94.5), (13.542, 94.4)),
    ("ionosphere", "SM2,C"): ((14.558, 93.5), (17.623, 92.1), (18.975, 90.0), None, (13.5015, 94.6)),
    ("twonorm", "HM"): ((0.1436, 94.6), (0.1072, 55.4), (0.0509, 94.3), (0.2170, 96.6), (0.2169, 96.6)),
    ("twonorm", "SM1"): ((23.835, 95.0), (43.509, 55.4), (22.262, 95.7), (10.636, 96.6), (10.641, 96.6)),
    ("twonorm", "SM2"): ((16.134, 95.9), (32.631, 55.4), (11.991, 95.6), (7.9780, 96.6), (7.9808, 96.6)),
    ("twonorm", "SM2,C"): ((16.057, 96.2), (32.633, 55.4), (7.9880, 96.6), None, (7.9808, 96.6)),
}  # fmt: skip

# (data set, criterion, column) to the weights of K1, K2, K3.
_WEIGHTS: dict[tuple[str, str, str], tuple[float, float, float]] = {
    ("heart_statlog", "HM", "free"): (-0.09, 2.68, 0.41),
    ("heart_statlog", "HM", "nonnegative"): (0.01, 2.60, 0.39),
    ("heart_statlog", "SM1", "free"): (-0.09, 2.68, 0.41),
    ("heart_statlog", "SM1", "nonnegative"): (0.01, 2.60, 0.39),
    ("heart_statlog", "SM2", "free"): (-0.08, 2.54, 0.54),
    ("heart_statlog", "SM2", "nonnegative"): (0.01, 2.47, 0.53),
    ("sonar", "HM", "free"): (-2.23, 3.52, 1.71),
    ("sonar", "HM", "nonnegative"): (0.0, 3.0, 0.0),
    ("sonar", "SM1", "free"): (-2.20, 3.52, 1.69),
    ("sonar", "SM1", "nonnegative"): (0.0, 3.0, 0.0),
    ("sonar", "SM2", "free"): (-1.78, 3.46, 1.32),
    ("sonar", "SM2", "nonnegative"): (0.0, 3.0, 0.0),
    ("sonar", "SM2,C", "nonnegative"): (0.0, 2.34, 0.0),
    ("breast_cancer_wisconsin", "HM", "free"): (1.90, 2.35, -1.25),
    ("breast_cancer_wisconsin", "HM", "nonnegative"): (0.65, 2.35, 0.0),
    ("breast_cancer_wisconsin", "SM1", "free"): (1.90, 2.35, -1.25),
    ("breast_cancer_wisconsin", "SM1", "nonnegative"): (0.65, 2.35, 0.0),
    ("breast_cancer_wisconsin", "SM2", "free"): (2.32, 2.13, -1.46),
    ("breast_cancer_wisconsin", "SM2", "nonnegative"): (0.89, 2.11, 0.0),
    ("ionosphere", "HM", "free"): (1.08, 2.18, -0.26),
    ("ionosphere", "HM", "nonnegative"): (0.79, 2.21, 0.0),
    ("ionosphere", "SM1", "free"): (1.23, 2.07, -0.30),
    ("ionosphere", "SM1", "nonnegative"): (0.90, 2.10, 0.0),
    ("ionosphere", "SM2", "free"): (1.68, 1.73, -0.41),
    ("ionosphere", "SM2", "nonnegative"): (1.23, 1.78, 0.0),
    ("ionosphere", "SM2,C", "nonnegative"): (1.24, 1.61, 0.0),
    ("twonorm", "HM", "free"): (0.03, 1.91, 1.06),
    ("twonorm", "HM", "nonnegative"): (0.06, 1.88, 1.06),
    ("twonorm", "SM1", "free"): (0.03, 1.91, 1.06),
    ("twonorm", "SM1", "nonnegative"): (0.06, 1.88, 1.06),
    ("twonorm", "SM2", "free"): (0.05, 1.54, 1.41),
    ("twonorm", "SM2", "nonnegative"): (0.08, 1.51, 1.41),
    ("twonorm", "SM2,C", "nonnegative"): (0.08, 1.25, 1.41),
}

# (data set, column) to the learned C.
_C: dict[tuple[str, str], float] = {
    ("heart_statlog", "free"): 0.4365,
    ("heart_statlog", "nonnegative"): 0.4365,
    ("sonar", "free"): 0.6087,
    ("sonar", "nonnegative"): 0.6087,
    ("breast_cancer_wisconsin", "nonnegative"): 7e7,
    ("ionosphere", "nonnegative"): 0.8839,
    ("twonorm", "nonnegative"): 0.8015,
}

# Table 4: test set accuracy in percent of the learned combination of five Gaussians.
FIVE_GAUSSIANS_ACCURACY: dict[str, float] = {
    "breast_cancer_wisconsin": 97.1,
    "ionosphere": 94.5,
    "heart_statlog": 84.1,
    "sonar": 84.8,
    "twonorm": 96.5,
}


def published_cell(dataset: str, criterion: str, column: str) -> dict[str, Any]:
    """Return what the publication says of one cell of tables 1 to 3.

    Parameters
    ----------
    dataset : str
    criterion : str
    column : {"K1", "K2", "K3", "free", "nonnegative"}

    Returns
    -------
    dict
        With those of ``value``, ``accuracy``, ``weights`` and ``C`` that are given.

    Examples
    --------
    >>> published_cell("sonar", "SM2,C", "nonnegative")
    {'value': 15.64, 'accuracy': 84.6, 'weights': [0.0, 2.34, 0.0], 'C': 0.6087}
    >>> published_cell("heart_statlog", "HM", "K3")
    {}
    """
    cell: dict[str, Any] = {}
    pair = _CELLS[dataset, criterion][_COLUMNS.index(column)]
    if pair is not None:
        cell["value"], cell["accuracy"] = pair
    if (dataset, criterion, column) in _WEIGHTS:
        cell["weights"] = list(_WEIGHTS[dataset, criterion, column])
    if criterion == "SM2,C" and (dataset, column) in _C:
        cell["C"] = _C[dataset, column]
    return cell
