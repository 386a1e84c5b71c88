"""Which picture answers which question?
=====================================

The pictures of ``multikernel.viz`` on two small tables: measurements of wines, where chemistry and color tell
three cultivars apart, and made-up points in a plane. Each function takes what a model or a function of
``multikernel.inspection`` returns, draws on the Axes that it is given, and returns them. Four sheets:

- the data and the kernels: who has what, what a kernel sees, how the samples lie;
- a model: which views count, for which class, whether it is solved, where it says what;
- the reasons: which columns, which views, why this score;
- searches: the weights along a path, the price of a view, rules of weights, a response surface.

The pictures of predictions are in :doc:`is_the_model_as_good_as_it_looks`, those of censored times in
:doc:`are_the_predicted_risks_right`, and those of many targets in :doc:`which_view_speaks_for_which_target`.

Run it with ``python examples/which_picture_answers_which_question.py [--picture FILE]``; the sheets after the
first have the number of the sheet in their name.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from multikernel import (
    CombinedKernelPCA,
    Gaussian,
    Linear,
    MKLClassifier,
    MKLRegressor,
    View,
    compare,
    evaluate,
    join_views,
    viz,
)
from multikernel.clustering import MultipleKernelKMeans
from multikernel.inspection import (
    cluster_stability,
    cross_view_map,
    enriched_sets,
    explain,
    feature_importance,
    select_views,
    view_shapley,
)
from multikernel.localized import LocalizedMKLClassifier, ProjectionKernelClassifier
from multikernel.mkl import RegularizedMKLClassifier, cost_path, weight_path
from multikernel.rules import CenteredAlignment, SumRule

VIEWS = {"acids": [1, 2, 3, 4], "phenols": [5, 6, 7, 8, 11], "color": [9, 10], "rest": [0, 12]}
Draw = Callable[[Any], Any]


def make_wines() -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    """Four tables of the same wines, and their cultivars."""
    data = load_wine(as_frame=True)
    wines = data.data.set_axis([f"wine {k}" for k in data.data.index])
    labels = np.array([f"cultivar {k + 1}" for k in data.target])
    return {name: wines.iloc[::2, places] for name, places in VIEWS.items()}, labels[::2]


def make_plane(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Points in a plane, whose class is decided by a line on the left and by a circle on the right."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, size=(n, 2)), columns=["width", "height"])
    circle = (X["width"] - 1) ** 2 + X["height"] ** 2 < 0.6
    return X, np.where(np.where(X["width"] < 0, X["height"] > 0, circle), "in", "out")


def of_data(wines: dict[str, pd.DataFrame], y: np.ndarray, found: Any) -> list[Draw]:
    """Who has what, what do kernels see, how do the samples lie?"""
    some = {**wines, "color": wines["color"].iloc[:60]}  # some wines lack a table
    phenols = wines["phenols"].to_numpy()
    K = Gaussian(gamma="median").fit(phenols)(phenols)
    pca = CombinedKernelPCA([Gaussian()]).fit(pd.concat(wines.values(), axis=1).to_numpy())
    print(
        "Samples by tables that they have:",
        [p["samples"] for p in viz.describe_data(_joined(some))["patterns"]],
    )
    table = pd.concat(wines.values(), axis=1)
    views = [View(name, Gaussian(), list(part.columns)) for name, part in wines.items()]
    clusters = cluster_stability(MultipleKernelKMeans(views), table, n_clusters=range(2, 6), n_subsamples=6)
    return [
        lambda ax: viz.data_overview(_joined(some), ax=ax),
        lambda ax: viz.kernel_matrix(K, y, ax=ax),
        lambda ax: viz.heat_map(found, ax=ax),
        lambda ax: viz.embedding(found, ax=ax),
        lambda ax: viz.components(pca, y, ax=ax),
        lambda ax: viz.cluster_stability(clusters.to_dict(), ax=ax),
    ]


def _joined(tables: dict[str, pd.DataFrame]) -> Any:
    return join_views(tables, how="outer")


def of_models(wines: dict[str, pd.DataFrame], y: np.ndarray, model: Any) -> list[Draw]:
    """Which views count, is it solved, what does it say where?"""
    X, inside = make_plane()
    plane = LocalizedMKLClassifier([Linear(), Gaussian()], random_state=0).fit(X, inside)
    local = evaluate(plane, X, inside, parts=["gate", "embedding"])
    regions = ProjectionKernelClassifier("linear", n_regions=2, n_components=1, random_state=0).fit(X, inside)
    values = MKLRegressor([Gaussian()], C=10.0).fit(X, X["width"] * X["height"])
    fit = evaluate(values, X, X["width"] * X["height"], parts=["held_out"])
    one = {name: table.iloc[:1] for name, table in wines.items()}
    return [
        lambda ax: viz.weights(model, ax=ax),
        lambda ax: viz.class_weights(model, ax=ax),
        lambda ax: viz.convergence(model, ax=ax),
        lambda ax: viz.contributions(model, one, ax=ax),
        lambda ax: viz.decision_regions(plane, X, inside, ax=ax),
        lambda ax: viz.gate(local, ax=ax),
        lambda ax: viz.local_importance(regions, ax=ax),
        lambda ax: viz.residuals(fit, ax=ax),
    ]


def of_reasons(wines: dict[str, pd.DataFrame], y: np.ndarray, model: Any, found: Any) -> list[Draw]:
    """Which columns and views matter, and why this score?"""
    linear = MKLClassifier({name: Linear() for name in wines}, norm=2).fit(wines, y)
    columns = feature_importance(linear, wines)
    told = explain(model, wines, y)
    sets = enriched_sets(model, wines, y, n_permutations=30, random_state=0)
    chosen = select_views(model, wines, y, random_state=0)
    print(chosen.answer)
    print(sets.answer)
    print(columns.answer)
    print(found["why"]["worst"]["answer"])
    return [
        lambda ax: viz.importance(columns, most=4, ax=ax),
        lambda ax: viz.loadings(columns, most=4, ax=ax),
        lambda ax: viz.cross_view(cross_view_map(model, wines, n_top=4), ax=ax),
        lambda ax: viz.shapley(view_shapley(model, wines, y), ax=ax),
        lambda ax: viz.selection(chosen, ax=ax),
        lambda ax: viz.enrichment(sets, ax=ax),
        lambda ax: viz.waterfall(told.sample(0), ax=ax),
        lambda ax: viz.contribution_map(found["why"]["contributions"], ax=ax),
    ]


def of_searches(wines: dict[str, pd.DataFrame], y: np.ndarray) -> list[Draw]:
    """What becomes of the weights and of the score as a setting changes?"""
    rival = y == "cultivar 2"
    model = MKLClassifier({name: Gaussian() for name in wines})
    path = weight_path(model, wines, rival, parameter="C", values=[0.01, 0.1, 1.0, 10.0])
    table = pd.concat(wines.values(), axis=1)
    views = [(name, Gaussian(), list(part.columns)) for name, part in wines.items()]
    prices = {"acids": 1.0, "phenols": 4.0, "color": 1.0, "rest": 2.0}
    costs = cost_path(MKLClassifier(views, norm=1.5), table, rival, prices, cv=3)
    learners = {"alignment": CenteredAlignment(), "plain sum": SumRule()}
    rules = compare(learners, table, rival, kernels=views, progress=False)
    search = RegularizedMKLClassifier(views[:2], search_C=True, random_state=0).fit(table, rival)
    return [
        lambda ax: viz.weight_path(path, ax=ax),
        lambda ax: viz.cost(costs, ax=ax),
        lambda ax: viz.rules(rules, ax=ax),
        lambda ax: viz.surface(search, ax=ax),
    ]


def draw_sheet(pictures: Sequence[Draw], file: Path) -> None:
    """Two pictures a row."""
    rows = (len(pictures) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(14, 4.6 * rows), layout="constrained", squeeze=False)
    for draw, ax in zip(pictures, axes.flat, strict=False):
        draw(ax)
    for ax in axes.flat[len(pictures) :]:
        ax.set_axis_off()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, default=Path("run/pictures.png"))
    given = parser.parse_args(arguments)
    wines, y = make_wines()
    model = MKLClassifier({name: Gaussian() for name in wines}, multiclass="ovr", norm=1.5).fit(wines, y)
    found = evaluate(model, wines, y, parts=["heat_maps", "embedding", "why"])
    sheets = [
        of_data(wines, y, found),
        of_models(wines, y, model),
        of_reasons(wines, y, model, found),
        of_searches(wines, y),
    ]
    for number, pictures in enumerate(sheets):
        name = given.picture.stem + (f"_{number + 1}" if number else "")
        draw_sheet(pictures, given.picture.with_stem(name))
    print(f"{sum(map(len, sheets))} pictures are in {given.picture} and the sheets beside it.")


if __name__ == "__main__":
    main()
