"""Are the predicted risks right?
==============================

A survival model may order the patients well and still be too sure. Four pictures of held-out patients:
survival of the groups of low and high risk with the log-rank test, predicted against observed survival at one
time, and the Brier score and the area under the ROC curve over time. The patients are made up with
proportional hazards, which the model assumes: it should be right here, up to chance.

Run it with ``python examples/are_the_predicted_risks_right.py [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from multikernel import View, viz
from multikernel.datasets import make_survival_views
from multikernel.inspection import (
    brier_curve,
    concordance_interval,
    cumulative_dynamic_auc,
    kaplan_meier,
    logrank_test,
    risk_groups,
    survival_calibration,
)
from multikernel.kernels import Linear
from multikernel.survival import MKLSurvival


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, default=Path("run/predicted_risks.png"))
    given = parser.parse_args(arguments)
    data = make_survival_views(500, n_views=4, n_informative=2, n_columns=10, censoring=0.4, random_state=0)
    views = [View(name, Linear(), columns) for name, columns in data.view_columns.items()]
    train, test = np.arange(500) < 300, np.arange(500) >= 300
    model = MKLSurvival(views, C=0.1).fit(data.X[train], data.y[train])
    known, found, risk = data.y[train], data.y[test], model.predict(data.X[test])
    order = concordance_interval(found, risk)
    print(f"Harrell's C of 200 held-out patients: {order.index:.2f} [{order.low:.2f}, {order.high:.2f}]")

    times = np.quantile(found["time"], np.linspace(0.1, 0.7, 25))
    survival = model.predict_survival_function(data.X[test], times)
    groups = risk_groups(risk, reference=model.predict(data.X[train]))
    parted = logrank_test(found, groups)
    curves = {name: kaplan_meier(found[groups == name]) for name in groups.categories}
    brier = brier_curve(known, found, survival, times)
    print(
        f"integrated Brier score {brier.integrated:.3f}, of Kaplan and Meier {brier.integrated_reference:.3f}"
    )

    figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    viz.kaplan_meier(curves, test=parted, ax=axes[0, 0])
    viz.survival_calibration(
        survival_calibration(found, survival[:, 12], times[12], n_groups=5), ax=axes[0, 1]
    )
    viz.brier_curve(brier, ax=axes[1, 0])
    viz.auc_curve(cumulative_dynamic_auc(known, found, risk, times), ax=axes[1, 1])
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture)
    print(f"pictures: {given.picture}")


if __name__ == "__main__":
    main()
