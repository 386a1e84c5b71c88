"""Table 1: single kernels, learned weights, likelihood and nonstationary combination on three data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.compare import compare, comparison_row, convergence_remark, group_results
from studies.lewis2006.methods import fit_method
from studies.lewis2006.published import ACCURACY, FOLDS, REPEATS, SPLITS
from studies.lewis2006.setting import KERNELS, Setting, draw_split
from studies.study import Quantity, Result, Table, Unit

METHODS = {
    **{key: f"SVM, {label} kernel" for key, label in KERNELS.items()},
    "mkl": "l1 MKL (the SDP)",
    "likelihood": "maximum likelihood mixture",
    "qp": "nonstationary, qp",
    "qp_small": "nonstationary, qp, γ = 1.5",
    "qp_large": "nonstationary, qp, γ = 4",
    "full": "nonstationary, full",
    "hard": "nonstationary, hard",
}
SCALED_METHODS = {
    "mkl": METHODS["mkl"],
    "mean": "SVM, mean of the kernels",
    "qp": METHODS["qp"],
    "full": METHODS["full"],
}
SETTINGS = (
    Setting("breast cancer (WDBC), sigma = 0.5", "wdbc"),
    Setting("sonar, sigma = 0.5", "sonar"),
    Setting("sonar, sigma = 0.1", "sonar", sigma=0.1),
    Setting("heart, sigma = 0.5", "heart_statlog"),
)
SCALED_SETTINGS = (
    Setting("breast cancer (WDBC), standardized columns", "wdbc", standardized=True),
    Setting("sonar, standardized columns", "sonar", standardized=True),
    Setting("heart, standardized columns", "heart_statlog", standardized=True),
)


def compute_cell(setting: dict[str, Any], split: int, method: str) -> dict[str, Any]:
    """Return how well a method classifies the test points of one split.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    method : str
        A key of `METHODS` or `SCALED_METHODS`.

    Returns
    -------
    dict
        See `fit_method`.
    """
    return fit_method(draw_split(Setting(**setting), split), method)


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{setting.dataset}/{'standardized' if setting.standardized else setting.sigma}/"
            f"split={split:02d}/{method}",
            compute_cell,
            {"setting": setting.arguments(), "split": split, "method": method},
            (setting.dataset,),
        )
        for settings, methods in ((SETTINGS, METHODS), (SCALED_SETTINGS, SCALED_METHODS))
        for setting in settings
        for split in range(splits)
        for method in methods
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (Setting(**given["setting"]), given["method"]))
    return [_row(setting, method, group) for (setting, method), group in groups.items()]


def _row(setting: Setting, method: str, group: Sequence[Result]) -> dict[str, Any]:
    published = None if setting.standardized else ACCURACY[setting.dataset].get(method)
    values = {"accuracy": _beside(compare([result["accuracy"] for result in group], published, SPLITS))}
    if "weights" in group[0]:
        values["weights"] = compare([result["weights"] for result in group])
    label = SCALED_METHODS[method] if setting.standardized else METHODS[method]
    return comparison_row(setting.label, {"method": label}, values, convergence_remark(group))


def _beside(accuracy: dict[str, Any]) -> dict[str, Any]:
    """What the rounding of the printed figure, to 0.1, explains is no difference."""
    difference = accuracy["difference"]
    is_rounding = difference is not None and abs(difference) <= 0.05
    return accuracy | {"difference": 0.0} if is_rounding else accuracy


PROTOCOL = (
    "WDBC (569 points, 30 columns), sonar (208, 60) and heart (Statlog: 270, 13), columns as they are. That "
    "the publication's breast cancer data are WDBC, and that columns were not scaled, is inferred from how "
    "the figures fit; the publication does not say.",
    "Kernels (1 + x·z)², exp(−‖x − z‖² / (2 sigma)) and x·z, scaled to a unit diagonal. The printed sigma of "
    "sonar is 0.1; its figures fit 0.5 better, and both are shown with the published figures beside.",
    f"{REPEATS} repetitions of stratified {FOLDS}-fold cross-validation; a split of the command is one fold "
    f"({FOLDS} make a repetition). C = 10,000 throughout, practically the hard margin.",
    "l1 MKL has the optimum of the semidefinite program with nonnegative weights. The likelihood mixtures "
    "have one Gaussian of unit covariance for each kernel and class, EM from 8 starts, and are compared "
    "with the classes' shares as priors.",
    "Nonstationary combination: one component for each kernel and class; mode qp is the published quadratic "
    "program with γ = 1 + ln 3, and beside it γ = 1.5 and 4; modes full and hard keep or drop both "
    "entropies. The publication does not give its γ. Posteriors start uniform.",
    "Weights: shares of the quadratic, RBF and linear kernel; of nonstationary combination the mean over the "
    "training points and both classes, of the likelihood the proportions.",
    "Last sections, not in the publication: columns scaled to mean 0 and variance 1 by the training points, "
    "sigma = 0.5, and the plain mean of the kernels as a rival.",
)
NOTES = (
    "The published columns quadratic and linear of breast cancer and heart are 20 to 40 points below what an "
    "exact support vector machine has on these data. They lie near or below the share of the larger class; "
    "solvers that did not converge are a likely reason, since C = 10,000 makes these two the hard ones, but "
    "that is a guess.",
    "With columns as they are the Gaussian kernel of WDBC and heart is nearly the identity: every point is "
    "similar to itself only. It has the largest margin and says nothing of new points, which is why l1 MKL, "
    "full and hard choose it on heart and predict the larger class; qp only dilutes it, because the dropped "
    "entropy rewards components that overlap. This, and not skill, orders the columns on heart and WDBC: a "
    "plain SVM with the linear kernel is ahead of all of them.",
    "The likelihood mixtures of all three sets predict the larger class, or nearly: on a unit diagonal the "
    "points are so near to one another that the priors decide. The published figures differ, by 15 points on "
    "sonar; its start and its treatment of priors are not known.",
    "With standardized columns nonstationary combination is on a par with l1 MKL and with the plain mean of "
    "the kernels: there is no advantage to report.",
    "The s.e. of a difference takes the published mean of 15 folds to vary as ours does; folds of one "
    "repetition share points, so that s.e. are somewhat small.",
)
TABLE = Table(
    name="1",
    title="Lewis et al. (2006), table 1: nonstationary kernel combination on three benchmarks",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("accuracy", "accuracy, %", 1),
        Quantity("weights", "weights: quadratic / RBF / linear", 2, difference=False),
    ),
    protocol=PROTOCOL,
    notes=NOTES,
)
