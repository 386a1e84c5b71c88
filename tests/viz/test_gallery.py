"""Every picture is in an example, takes Axes and returns them, and labels both axes."""

import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from multikernel import viz
from multikernel.mkl.regularized.response_surface import ResponseSurface
from tests.report.evaluations import on_demand
from tests.viz import test_survival as of_times
from tests.viz.data import VIEWS, make_evaluation

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = [name for name in viz.__all__ if name != "describe_data"]  # that one says what another draws
EVALUATION, VALUES, ASKED = make_evaluation(), make_evaluation("regression"), on_demand(VIEWS)
EVALUATION |= {
    "learning_curve": {"metric": "accuracy", "rows": [{"n_train": 9, "train": 1.0, "score": 0.8}]}
    | {"protocol": "", "answer": ""}
}
for row in EVALUATION["learning_curve"]["rows"]:
    row |= {"train_sd": 0.0, "sd": 0.1}
MODEL = SimpleNamespace(
    view_names_=["a", "b"],
    kernel_weights_=[0.5, 0.5],
    machine_names_=["x", "y"],
    machine_weights_=[[0.9, 0.1], [0.1, 0.9]],
    intercept_=np.array([0.1]),
    contributions=lambda X: np.ones((len(X), 2)),
    classes_=np.array(["x", "y"]),
    history_=[{"iteration": k, "gap": 0.1**k} for k in (1, 2)],
    tol=1e-3,
)
TABLE = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], index=["p", "q"], columns=["a", "b"])
COSTS = pd.DataFrame(
    {"cost": [2.0], "cost_share": [0.2], "score": [0.9], "score_sd": [0.1], "efficient": [True]}, index=[0.0]
)
RULES = {
    "folds": {"sum": np.full(10, 0.5)},
    "weights": None,
    "baselines": [],
    "scoring": "accuracy",
    "title": "t",
}
PCA = SimpleNamespace(
    embedding_=np.random.default_rng(0).normal(size=(9, 2)), explained_variance_ratio_=[0.5, 0.2]
)
STEPS = EVALUATION["why"]["rows"][0]["steps"]


def searched():
    surface = ResponseSurface({"C": (0.1, 10.0)})
    surface.minimize(lambda point: np.log10(point["C"]) ** 2)
    return surface


def plane():
    from sklearn.neighbors import KNeighborsClassifier

    X = np.random.default_rng(0).normal(size=(20, 2))
    return KNeighborsClassifier(3).fit(X, X[:, 0] > 0), X


GIVEN = {
    **dict.fromkeys(PICTURES, (EVALUATION,)),
    "auc_curve": (of_times.EVALUATION,),
    "brier_curve": (of_times.EVALUATION,),
    "kaplan_meier": (of_times.EVALUATION,),
    "survival_calibration": (of_times.EVALUATION,),
    "residuals": (VALUES,),
    "class_weights": (MODEL,),
    "weights": (MODEL,),
    "convergence": (MODEL,),
    "contributions": (MODEL, np.zeros((3, 1))),
    "contribution_map": (EVALUATION["why"]["contributions"],),
    "cluster_stability": ({"rows": [{"n_clusters": 2, "stability": 0.9, "std": 0.1, "ambiguous": 0.2}]},),
    "components": (PCA,),
    "cost": (COSTS,),
    "cross_view": (ASKED["cross_view"],),
    "data_overview": ({"a": np.zeros((5, 2)), "b": np.zeros((5, 1))},),
    "dominant_views": (TABLE,),
    "target_views": (TABLE,),
    "local_importance": (TABLE,),
    "enrichment": (ASKED["enrichment"],),
    "selection": (ASKED["selection"],),
    "importance": ({"rows": [{"view": "a", "feature": "f", "importance": 0.5}]},),
    "loadings": ({"rows": [{"view": "a", "feature": "f", "importance": 0.5, "slope": -1.0}]},),
    "kernel_matrix": (np.eye(4),),
    "rules": (RULES,),
    "shapley": (EVALUATION["why"]["shapley"],),
    "waterfall": (STEPS,),
    "weight_path": (TABLE.set_axis(pd.Index([0.1, 1.0], name="C"), axis=1),),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_takes_axes_returns_them_and_labels_both(ax, name):
    draw = getattr(viz, name)
    assert inspect.signature(draw).parameters["ax"].kind is inspect.Parameter.KEYWORD_ONLY
    given = {"surface": lambda: (searched(),), "decision_regions": plane}.get(name, lambda: GIVEN[name])()
    assert draw(*given, ax=ax) is ax
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()
    assert not ax.spines["top"].get_visible() and not ax.spines["right"].get_visible()


def test_every_picture_is_in_an_example():
    sources = " ".join(file.read_text(encoding="utf-8") for file in EXAMPLES.glob("*.py"))
    drawn = set(re.findall(r"\bviz\.(\w+)", sources))
    assert set(viz.__all__) - drawn == set()
