"""Pictures of the methods, each drawn from a fit at the time of the build: no number in them is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from drawing import COLOURS, Gallery, bare, grid_of, points, regions, shares_table, weights
from learner_pictures import LEARNERS
from matplotlib import rc_context
from matplotlib.figure import Figure
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

import multikernel as mk
from multikernel import View
from multikernel.bayesian import BayesianMKLRegressor, ProbitMKLClassifier
from multikernel.boosting import ColumnBoostingClassifier
from multikernel.clustering import MaxMarginClustering, MultipleKernelKMeans, RegularizedMKKM, SimpleMKKM
from multikernel.cooperative import CooperativeRidge
from multikernel.datasets import load_digits_views, make_gauss, make_piecewise, piecewise_curve
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.gaussian_process import AdditiveGPRegressor
from multikernel.hyperkernels import HyperkernelRegressor
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.localized import LocalizedRidge, ProjectionKernelClassifier
from multikernel.mkl import MKLRidgeClassifierCV, RegularizedMKLClassifier
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.pairs import PairwiseRidge
from multikernel.parametric import HierarchicalMKLRegressor, InfiniteMKLRegressor
from multikernel.reduction import LFDA, MKLDR
from multikernel.rules import CenteredAlignment, CompositionalKernelClassifier, EasyMKL, MeanRule, SumRule
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import (
    ConformalKernel,
    KDDAClassifier,
    KernelKNNClassifier,
    SpectralKernelClassifier,
)
from multikernel.survival import MKLSurvival, MKLSurvivalCV
from multikernel.tasks import MultiTaskMKLClassifier
from multikernel.transductive import TransductiveMKLClassifier

ESTIMATORS = Gallery()
FOLDER = "auto_methods"
_DPI = 120


def draw_all(docs: Path) -> None:
    """Draw every picture into docs/auto_methods; one that is newer than all code stays as it is."""
    folder = docs / FOLDER
    folder.mkdir(exist_ok=True)
    code = [*Path(mk.__file__).parent.rglob("*.py"), *Path(__file__).parent.glob("*.py")]
    newest = max(path.stat().st_mtime for path in code)
    for name in ESTIMATORS | LEARNERS:
        path = folder / f"{name}.png"
        if not path.exists() or path.stat().st_mtime < newest:
            save(name, path)


def save(name: str, path: Path) -> None:
    """Draw one picture."""
    picture = (ESTIMATORS | LEARNERS)[name]
    with rc_context({"font.size": 8, "axes.titlesize": 9}):
        fig = Figure(figsize=(picture.width, picture.height), layout="constrained")
        picture.draw(fig)
        fig.savefig(path, dpi=_DPI, metadata={"Software": None})


def caption_of(name: str) -> str:
    return (ESTIMATORS | LEARNERS)[name].caption


# --- made-up data ------------------------------------------------------------------------------------------


def shapes() -> list[View]:
    """A line, a quadratic and two Gaussians of the same two columns."""
    kernels: dict[str, Any] = {"line": Linear(), "quadratic": Polynomial(2, gamma="scale")}
    kernels |= {"wide": Gaussian(scale=1.0), "narrow": Gaussian(scale=0.4)}
    return [View(name, k, None, ("unit_diagonal",), standardize=True) for name, k in kernels.items()]


def three_groups(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    centres = np.array([[-1.6, 0.0], [1.6, 0.0], [0.0, 2.2]])
    return centres[y] + 0.85 * rng.normal(size=(n, 2)), y


def wine_views() -> tuple[np.ndarray, np.ndarray, list[View]]:
    X, y = load_wine(return_X_y=True)
    parts = {"colour": [9, 10, 11], "titration": [0, 1, 2, 3, 4], "laboratory": [5, 6, 7, 8, 12]}
    return X, y, [View(name, Gaussian(), columns, standardize=True) for name, columns in parts.items()]


def two_panels(fig: Figure, ratios: tuple[float, float] = (3, 2)) -> Any:
    return fig.subplots(1, 2, width_ratios=ratios)


# --- margins -----------------------------------------------------------------------------------------------


@ESTIMATORS.shows("mkl", "The border that is learned from four kernels of the plane, and their weights.")
def mkl(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=200, random_state=0)
    model = mk.MKLClassifier(shapes(), C=1).fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, f"{model.support_.size} support samples of {len(y)}")
    weights(right, model, f"weights, gap {model.dual_gap_:.0e}")


@ESTIMATORS.shows("tuned", "The border that is learned, and the mean score of each penalty and norm.")
def tuned(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=200, random_state=0)
    model = mk.MKLClassifierCV(shapes(), halving=False, random_state=0).fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, f"C = {model.C_:g}, norm = {model.norm_:g}")
    scores = model.cv_results_["mean_test_score"].reshape(len(model.Cs), len(model.norms))
    for norm, line in zip(model.norms, scores.T, strict=True):
        right.semilogx(model.Cs, line, label=f"norm {norm:g}")
    right.legend(fontsize=7)
    right.set_title("mean score on folds", fontsize=9)


@ESTIMATORS.shows("tuned_ridge", "Values, predictions, and the intervals that hold nine of ten new values.")
def tuned_ridge(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-4, 4, 70))
    y = 0.7 * x + np.sin(3 * x) + 0.25 * rng.normal(size=x.size)
    model = mk.MKLRidgeCV([("line", Linear()), ("wide", Gaussian(0.05)), ("narrow", Gaussian(2.0))])
    model.fit(x[:, None], y)
    left, right = two_panels(fig)
    fine = np.linspace(-4.2, 4.2, 300)
    low, high = model.predict_interval(fine[:, None]).T
    left.plot(x, y, "o", ms=3, color=COLOURS[1])
    left.fill_between(fine, low, high, alpha=0.2, color=COLOURS[0])
    left.plot(fine, model.predict(fine[:, None]), color=COLOURS[0])
    bare(left, f"alpha = {model.alpha_:g}, norm = {model.norm_:g}")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "ridge", "A slope with a wave on it, fitted with a line and two Gaussians, and their weights."
)
def ridge(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-4, 4, 70))
    y = 0.7 * x + np.sin(3 * x) + 0.25 * rng.normal(size=x.size)
    kernels = [("line", Linear()), ("wide", Gaussian(0.05)), ("narrow", Gaussian(2.0))]
    model = mk.MKLRidge(kernels, alpha=0.1).fit(x[:, None], y)
    left, right = two_panels(fig)
    fine = np.linspace(-4.2, 4.2, 300)
    left.plot(x, y, "o", ms=3, color=COLOURS[1])
    left.plot(fine, model.predict(fine[:, None]), color=COLOURS[0])
    bare(left, f"R² of the samples {model.score(x[:, None], y):.2f}")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "pairs",
    "Left objects by right ones: the pairs that were measured, and all of them as they were predicted.",
)
def pairs(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    left, right = np.sort(rng.uniform(-3, 3, 40)), np.sort(rng.uniform(-3, 3, 60))
    truth = np.sin(2 * left)[:, None] * np.cos(right)
    measured = rng.random(truth.shape) < 0.15
    values = np.where(measured, truth + 0.1 * rng.normal(size=truth.shape), np.nan)
    every = np.array([[a, b] for a in left for b in right])
    model = PairwiseRidge([Gaussian(), Linear()], alpha=0.1)
    model.fit(every[measured.ravel()], values[measured])
    predicted = model.predict(every).reshape(truth.shape)
    first, second = fig.subplots(1, 2)
    for ax, shown in ((first, values), (second, predicted)):
        ax.imshow(shown, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    bare(first, f"{measured.mean():.0%} of the pairs measured")
    error = np.sqrt(np.mean((predicted - truth)[~measured] ** 2))
    bare(second, f"root mean squared error of the others {error:.2f}")


@ESTIMATORS.shows(
    "ridge_labels", "Weights of the views for each label, and how many labels each view decides."
)
def ridge_labels(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    X, n_labels = rng.normal(size=(200, 6)), 12
    views = [(name, Linear(), [2 * m, 2 * m + 1]) for m, name in enumerate(("one", "two", "three"))]
    own = rng.choice(3, size=n_labels, p=[0.5, 0.3, 0.2])
    scores = np.column_stack([X[:, [2 * m, 2 * m + 1]] @ rng.normal(size=2) for m in own])
    model = MKLRidgeClassifierCV(views).fit(X, (scores + 0.5 * rng.normal(size=scores.shape) > 0).astype(int))
    left, right = two_panels(fig)
    left.imshow(model.machine_weights_[np.argsort(own)], cmap="Greens", vmin=0, vmax=1, aspect="auto")
    left.set_xticks(range(3), model.view_names_, fontsize=8)
    left.set_ylabel("labels")
    left.set_title("weights", fontsize=9)
    decided = np.bincount(model.machine_weights_.argmax(axis=1), minlength=3)
    right.barh(range(3), decided, color=COLOURS[0])
    right.set_yticks(range(3), model.view_names_, fontsize=8)
    right.invert_yaxis()
    right.set_title("labels that it decides", fontsize=9)


def censored_times() -> tuple[Any, dict[str, Any], list[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    death, end = rng.exponential(np.exp(-X[:, 0] - 0.7 * X[:, 2])), rng.exponential(2.0, size=300)
    views = [("clinic", Linear(), [0, 1]), ("genes", Linear(), [2, 3]), ("noise", Linear(), [4, 5])]
    return X, {"event": death <= end, "time": np.minimum(death, end)}, views


@ESTIMATORS.shows("survival", "Probabilities to live longer, for three risks, and the weights of the views.")
def survival(fig: Figure) -> None:
    X, y, views = censored_times()
    model = MKLSurvival(views).fit(X, y)
    left, right = two_panels(fig)
    places = np.argsort(model.predict(X))[[30, 150, 270]]
    at = np.linspace(0.0, 2.0, 400)
    for curve, colour in zip(model.predict_survival_function(X[places], at), COLOURS, strict=False):
        left.step(at, curve, where="post", color=colour)
    left.set_xlabel("time")
    bare(left, f"Harrell's C of the samples {model.score(X, y):.2f}")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "tuned_survival", "Harrell's C of each candidate on the folds, and the weights at the best."
)
def tuned_survival(fig: Figure) -> None:
    X, y, views = censored_times()
    model = MKLSurvivalCV(views, halving=False).fit(X[:150], {name: v[:150] for name, v in y.items()})
    left, right = two_panels(fig)
    found = model.cv_results_
    for norm, colour in zip((1.0, np.inf), COLOURS, strict=False):
        own = np.flatnonzero(found["param_norm"] == norm)
        left.semilogx(found["param_C"][own], found["mean_test_score"][own], "o-", color=colour)
    left.set_xlabel("C")
    bare(left, "mean C-index on folds, norms 1 and infinity")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "tasks", "Weights of three tasks of 20 to 80 samples: each alone, and drawn to common ones."
)
def tasks(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(140, 12)), np.repeat([0, 1, 2], [20, 40, 80])])
    y = X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=140) > 0
    views = [(f"view {m + 1}", Gaussian(), [2 * m, 2 * m + 1]) for m in range(6)]
    for ax, sharing in zip(two_panels(fig), ("own", 2.0), strict=True):
        model = MultiTaskMKLClassifier(views, task_column=12, sharing=sharing).fit(X, y)
        frame = model.weights_frame()
        for place, task in enumerate(frame.columns):
            ax.bar(np.arange(6) + 0.27 * (place - 1), frame[task], 0.25, color=COLOURS[place])
        ax.set(xticks=range(6), title=f"sharing={sharing!r}", xlabel="view")


@ESTIMATORS.shows(
    "cooperative", "What two views predict for each sample: the additive model, and views drawn to agree."
)
def cooperative(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=80)
    X = factor[:, None] + 2.0 * rng.normal(size=(80, 12))
    views = [("first view", Linear(), range(6)), ("second view", Linear(), range(6, 12))]
    for ax, rho in zip(fig.subplots(1, 2, sharex=True, sharey=True), (0.0, 10.0), strict=True):
        model = CooperativeRidge(views, alpha=0.1, rho=rho).fit(X, factor)
        parts = model.contributions(X)
        ax.scatter(parts[:, 0], parts[:, 1], s=10, c=factor, cmap="viridis")
        ax.set(title=f"rho={rho:g}", xlabel=views[0][0], ylabel=views[1][0])


@ESTIMATORS.shows("infinite_mkl", "A wave with two frequencies, and the widths that were found for it.")
def infinite_mkl(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 150))
    y = np.sin(3 * x) + 0.4 * np.sin(25 * x) + 0.1 * rng.normal(size=150)
    model = InfiniteMKLRegressor([("x", Gaussian(), [0])], C=10.0, box=(0.1, 1000.0)).fit(x[:, None], y)
    left, right = two_panels(fig)
    fine = np.linspace(-1, 1, 400)
    left.plot(x, y, "o", ms=3, color=COLOURS[1])
    left.plot(fine, model.predict(fine[:, None]), color=COLOURS[0])
    bare(left, f"gap over all widths {model.dual_gap_:.0e}")
    found = model.weights_frame()
    right.stem(found["gamma"], found["weight"])
    right.set(xscale="log", xlabel="gamma", title="weights", ylim=(0, None))


@ESTIMATORS.shows(
    "hierarchical_mkl", "Two effects of one column each and an interaction, and what was selected."
)
def hierarchical_mkl(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=200)
    model = HierarchicalMKLRegressor(degree=2, C=1.0).fit(X, y)
    left, right = two_panels(fig)
    left.scatter(X[:, 1], X[:, 2], s=12, c=model.predict(X), cmap="viridis")
    left.set(xlabel="x1", ylabel="x2", title="predictions")
    found = model.weights_frame()["weight"].nlargest(8)[::-1]
    right.barh(found.index, found, color=COLOURS[0])
    right.set(title="weights of products")


@ESTIMATORS.shows("multiclass", "Three classes in one machine, and the weights that they share.")
def multiclass(fig: Figure) -> None:
    X, y = three_groups()
    model = mk.MKLClassifier(shapes(), C=1, multiclass="joint").fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, f"{model.support_.size} support samples of {len(y)}")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "regularized",
    "A very narrow kernel fits the training samples best (left); costs that cross-validation chose hold it "
    "back (right).",
)
def regularized(fig: Figure) -> None:
    X, y = make_gauss("GAUSS2", n_samples=150, random_state=0)
    kernels = {"line": Linear(), "wide": Gaussian(scale=2.0), "very narrow": Gaussian(scale=0.15)}
    views = [View(name, k, None, ("unit_diagonal",), standardize=True) for name, k in kernels.items()]
    models = {
        "no costs": mk.MKLClassifier(views, C=10),
        "costs": RegularizedMKLClassifier(views, C=10),
    }
    for ax, (name, model) in zip(fig.subplots(1, 2), models.items(), strict=True):
        model.fit(X, y)
        if name == "costs":
            name += " " + ", ".join(f"{cost:.1f}" for cost in model.costs_)
        regions(ax, model, X, y, f"{name}: {model.support_.size} support samples")


@ESTIMATORS.shows(
    "posterior",
    "One label in ten is wrong. Support samples, ringed, of the plain machine and of soft labels.",
)
def posterior(fig: Figure) -> None:
    X, y = make_gauss("GAUSS2", n_samples=160, random_state=0)
    y[np.random.default_rng(0).permutation(160)[:16]] *= -1
    models = (mk.MKLClassifier(Polynomial(2), C=10), PosteriorSVC(Polynomial(2), C=10))
    for ax, model in zip(fig.subplots(1, 2), models, strict=True):
        model.fit(X, y)
        regions(ax, model, X, y, f"{type(model).__name__}: {model.support_.size} support samples")
        ax.scatter(*X[model.support_].T, s=45, facecolors="none", edgecolors="#222222", linewidths=0.6)


@ESTIMATORS.shows(
    "transductive",
    "Labelled points, and unlabelled ones (hollow) in the colour of the class they were given; the "
    "matrix that was learned, its points ordered by class.",
)
def transductive(fig: Figure) -> None:
    X, y = make_gauss("GAUSS2", n_samples=120, random_state=1)
    views = [view for view in shapes() if view.name != "wide"]
    model = TransductiveMKLClassifier(views, method="soft2", weight_set="free")
    model.fit(X[:40], y[:40], X_unlabeled=X[40:])
    given = np.concatenate([y[:40], model.transduction_])
    left, right = two_panels(fig)
    points(left, X, given, faded=np.arange(120) >= 40)
    bare(left, f"{np.mean(model.transduction_ == y[40:]):.0%} of 80 unlabelled points right")
    order = np.argsort(given, kind="stable")
    right.imshow(model.kernel_[np.ix_(order, order)], cmap="viridis")
    bare(right, "learned kernel matrix")


# --- weights that depend on the place ----------------------------------------------------------------------


@ESTIMATORS.shows(
    "localized",
    "Three lines with a gate: the border of pieces, and how far the gate opens for each line from left "
    "to right.",
)
def localized(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=300, random_state=0)
    lines = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in (1, 2, 3)]
    model = mk.LocalizedMKLClassifier(lines, C=10, gating_reg=0.0).fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, f"{model.support_.size} support samples of {len(y)}")
    across = np.linspace(X[:, 0].min(), X[:, 0].max(), 100)
    gate = model.sample_kernel_weights(np.column_stack([across, np.full(100, X[:, 1].mean())]))
    curves(right, across, gate, model.view_names_, "gate")


@ESTIMATORS.shows(
    "localized_ridge",
    "Two lines, found by two copies of a kernel of degree one: the fit, predictions of samples that are "
    "left out, and the gate.",
)
def localized_ridge(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, 80))[:, None]
    y = np.abs(x[:, 0]) + 0.2 * rng.normal(size=80)
    model = LocalizedRidge([Polynomial(1), Polynomial(1)], alpha=0.1).fit(x, y)
    left, right = two_panels(fig)
    left.plot(x, y, ".", color="0.6", label="samples")
    left.plot(x, model.predict(x), color=COLOURS[0], label="fit")
    left.plot(x, model.loo_values_, ls=":", color=COLOURS[1], label="left out")
    left.legend(frameon=False)
    left.set_title(f"R² {model.score(x, y):.2f}, of samples left out {model.loo_score_:.2f}")
    curves(right, x[:, 0], model.sample_kernel_weights(x), model.view_names_, "gate")


def curves(ax: Any, across: np.ndarray, values: np.ndarray, names: Any, title: str) -> None:
    for k, name in enumerate(names):
        ax.plot(across, values[:, k], color=COLOURS[k], ls=("-", "--", "-.", ":")[k % 4], label=name)
    ax.legend(frameon=False)
    ax.set_title(title)


@ESTIMATORS.shows(
    "projection",
    "Wines of three growers in the plane that was learned from 13 columns; hollow: not seen in the fit.",
)
def projection(fig: Figure) -> None:
    X, y = load_wine(return_X_y=True)
    new = np.arange(len(y)) % 2 == 1
    model = ProjectionKernelClassifier(n_components=2, C=1, random_state=0).fit(X[~new], y[~new])
    ax = fig.subplots()
    points(ax, model.transform(X), y, faded=new)
    bare(ax, f"accuracy on the wines not seen {model.score(X[new], y[new]):.2f}")


@ESTIMATORS.shows(
    "nonstationary",
    "Classes that meet in a line on the left and in a parabola on the right, and the weight of the two "
    "kernels along the border.",
)
def nonstationary(fig: Figure) -> None:
    X, y = make_piecewise(150, random_state=0)
    model = NonstationaryClassifier([("line", Linear()), ("parabola", Polynomial(2))], C=1e4).fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, "one border, two mechanisms")
    across = np.linspace(-3, 3, 100)
    above, _ = model.mixture_weights(np.column_stack([across, piecewise_curve(across) + 0.2]))
    curves(right, across, above, model.view_names_, "weights just above the border")


@ESTIMATORS.shows(
    "compositional",
    "The border of a wide and a narrow Gaussian and of the kernels between them, beside that of their "
    "plain sum.",
)
def compositional(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=150, random_state=0)
    widths = [Gaussian(0.05), Gaussian(1.0)]
    plain = mk.CombinedKernelClassifier(widths, SumRule()).fit(X, y)
    model = CompositionalKernelClassifier(widths, cross="gaussian").fit(X, y)
    left, right = fig.subplots(1, 2)
    regions(left, model, X, y, "kernels and cross-kernels")
    regions(right, plain, X, y, "plain sum")


@ESTIMATORS.shows(
    "column_boosting",
    "The few columns in use: each sign is a sample at which a wide (triangle) or a narrow Gaussian "
    "(cross) stands.",
)
def column_boosting(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=200, random_state=0)
    model = ColumnBoostingClassifier([("wide", Gaussian(0.1)), ("narrow", Gaussian(1.0))], C=1).fit(X, y)
    left, right = two_panels(fig)
    regions(left, model, X, y, f"{len(model.columns_)} columns of {2 * len(y)}")
    for kernel, mark in enumerate("^X"):
        at = X[model.columns_[model.columns_[:, 0] == kernel, 1]]
        left.scatter(*at.T, marker=mark, s=70, c="#222222", edgecolors="white", zorder=3)
    weights(right, model, "share of the coefficients")


# --- posteriors, discriminants, one kernel -----------------------------------------------------------------


@ESTIMATORS.shows(
    "bayesian",
    "Predictions with a band of two deviations, and the weights with theirs.",
)
def bayesian(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-4, 4, 60))
    y = np.sin(2 * x) + 0.2 * rng.normal(size=x.size)
    model = BayesianMKLRegressor([("line", Linear()), ("wide", Gaussian(0.1)), ("narrow", Gaussian(2.0))])
    model.fit(x[:, None], y)
    fine = np.linspace(-4.5, 4.5, 300)
    mean, std = model.predict(fine[:, None], return_std=True)
    left, right = two_panels(fig)
    left.fill_between(fine, mean - 2 * std, mean + 2 * std, color=COLOURS[0], alpha=0.2)
    left.plot(fine, mean, color=COLOURS[0])
    left.plot(x, y, "o", ms=3, color=COLOURS[1])
    bare(left, f"noise {model.noise_:.2f} (in truth 0.20)")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "hyperkernels",
    "Regressions on a slow and on a fast function, and the kernels that were learned for them: their shapes "
    "differ little.",
)
def hyperkernels(fig: Figure) -> None:
    x = np.linspace(-3, 3, 80)
    left, right = two_panels(fig)
    for k, speed in enumerate((1.0, 4.0)):
        y = np.sin(speed * x) + 2.5 * k
        model = HyperkernelRegressor(Gaussian(5.0), C=10.0, reg=0.1, decay=0.9).fit(x[:, None], y)
        left.plot(x, y, "o", ms=2, color=COLOURS[k])
        left.plot(x, model.predict(x[:, None]), color=COLOURS[k])
        weights_of = model.power_weights_[0]
        far = sum(w * np.exp(-5.0 * r * (x / x.std()) ** 2) for r, w in enumerate(weights_of))
        right.plot(x, far / weights_of.sum(), color=COLOURS[k])
    bare(left, "two functions")
    bare(right, "k(0, x) / k(0, 0)")


@ESTIMATORS.shows(
    "probit",
    "The probability of the most probable of three classes over two columns, and the weights.",
)
def probit(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.digitize(X[:, 0] + 0.5 * np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=120), [-0.5, 0.5])
    model = ProbitMKLClassifier([("line", Linear()), ("wide", Gaussian(0.1)), ("narrow", Gaussian(2.0))])
    model.fit(X, y)
    grid = np.linspace(-3.2, 3.2, 60)
    points_of = np.stack(np.meshgrid(grid, grid), axis=2).reshape(-1, 2)
    sure = model.predict_proba(points_of).max(axis=1).reshape(60, 60)
    left, right = two_panels(fig)
    left.contourf(grid, grid, sure, levels=10, cmap="Greys", alpha=0.6)
    points(left, X, y)
    bare(left, "dark: sure")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "gaussian_process",
    "The functions of two views with bands of two deviations, and the shares of the prior variance.",
)
def gaussian_process(fig: Figure) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(80, 3))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=80)
    views = [(name, Gaussian(), [column]) for column, name in enumerate(("wave", "slope", "nothing"))]
    model = AdditiveGPRegressor(views).fit(X, y)
    fine = np.linspace(-3, 3, 200)
    mean, std = model.predict_components(np.repeat(fine[:, None], 3, axis=1))
    left, right = two_panels(fig)
    for k in range(2):
        left.fill_between(
            fine, mean[:, k] - 2 * std[:, k], mean[:, k] + 2 * std[:, k], color=COLOURS[k], alpha=0.2
        )
        left.plot(fine, mean[:, k], color=COLOURS[k])
    bare(left, f"what two views add; noise {model.noise_:.2f} (in truth 0.30)")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "discriminant",
    "Wines of three growers on the two directions of the learned kernel (hollow: not seen), and the "
    "shares of the views.",
)
def discriminant(fig: Figure) -> None:
    X, y, views = wine_views()
    new = np.arange(len(y)) % 2 == 1
    model = KernelDiscriminantClassifier(views, reg="learn").fit(X[~new], y[~new])
    left, right = two_panels(fig)
    points(left, model.transform(X), y, faded=new)
    bare(left, f"accuracy on the wines not seen {model.score(X[new], y[new]):.2f}")
    weights(right, model, "shares")


@ESTIMATORS.shows(
    "kdda",
    "Wines of three growers on the two directions between the means of the classes; hollow: not seen "
    "in the fit.",
)
def kdda(fig: Figure) -> None:
    X, y = load_wine(return_X_y=True)
    X, new = scale(X), np.arange(len(y)) % 2 == 1
    model = KDDAClassifier().fit(X[~new], y[~new])
    ax = fig.subplots()
    points(ax, model.transform(X), y, faded=new)
    bare(ax, f"accuracy on the wines not seen {model.score(X[new], y[new]):.2f}")


@ESTIMATORS.shows("knn", "One neighbour, and nine of them, by a Gaussian kernel.")
def knn(fig: Figure) -> None:
    X, y = make_gauss("GAUSS4", n_samples=150, random_state=0)
    for ax, n_neighbors in zip(fig.subplots(1, 2), (1, 9), strict=True):
        model = KernelKNNClassifier(n_neighbors=n_neighbors).fit(X, y)
        regions(ax, model, X, y, "one neighbour" if n_neighbors == 1 else f"{n_neighbors} neighbours")


@ESTIMATORS.shows(
    "spectral",
    "The eigenvalues of the kernel of the wines, and those that were learned from every fifth label.",
)
def spectral(fig: Figure) -> None:
    X, y = load_wine(return_X_y=True)
    known = np.arange(len(y)) % 5 == 0
    model = SpectralKernelClassifier(classifier="svm", center=True).fit(
        X[known], y[known], X_unlabeled=X[~known]
    )
    ax = fig.subplots()
    places = np.arange(model.eigenvalues_.size)
    learned = model.spectral_weights_**2
    ax.bar(places - 0.2, model.eigenvalues_ / model.eigenvalues_.sum(), 0.4, color=COLOURS[0], label="given")
    ax.bar(places + 0.2, learned / learned.sum(), 0.4, color=COLOURS[1], hatch="//", label="learned")
    ax.set(xticks=places, xticklabels=places + 1, xlabel="eigenvector", ylabel="share of the trace")
    ax.legend(frameon=False)
    ax.set_title(f"{np.mean(model.transduction_ == y[~known]):.0%} of the unlabelled right")


@ESTIMATORS.shows(
    "conformal",
    "The factor q(x) by which the kernel is multiplied, learned from the classes of these samples.",
)
def conformal(fig: Figure) -> None:
    X, y = make_gauss("GAUSS2", n_samples=150, random_state=0)
    model = ConformalKernel(random_state=0).fit(X, y)
    ax = fig.subplots()
    across, up, places = grid_of(ax, X)
    K = model.base_kernel_(places, X[model.cores_])
    factor = (model.coefficients_[0] + K @ model.coefficients_[1:]).reshape(up.size, across.size)
    fig.colorbar(ax.pcolormesh(across, up, factor, cmap="Greys", rasterized=True), ax=ax, label="q(x)")
    points(ax, X, y)
    bare(ax, f"separability {model.history_[0]['objective']:.2f} to {model.objective_:.2f}")


@ESTIMATORS.shows(
    "lfda",
    "Iris with setosa and virginica as one class. Fisher's analysis has one direction for two classes "
    "(across; the other is arbitrary); the local one need not bring the two together.",
)
def lfda(fig: Figure) -> None:
    iris = load_iris()
    X, merged = scale(iris.data), np.where(iris.target == 1, "versicolor", "the others")
    for ax, k in zip(fig.subplots(1, 2), (None, 7), strict=True):
        model = LFDA(n_components=2, n_neighbors=k, metric="plain").fit(X, merged)
        points(ax, model.transform(X), merged)
        bare(ax, "Fisher" if k is None else f"local, {k} neighbors")


@ESTIMATORS.shows(
    "mkldr",
    "Digits 0 to 5 that were not seen in training, on two directions learned from five views, and the shares "
    "of the views.",
)
def mkldr(fig: Figure) -> None:
    digits = load_digits_views()
    some = np.flatnonzero(digits.y[:700] < 6)
    views = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    X, y = digits.X.iloc[some], digits.y[some]
    model = MKLDR(views, n_components=2, reg=0.1).fit(X.iloc[::2], y[::2])
    left, right = fig.subplots(1, 2)
    points(left, model.transform(X.iloc[1::2]), y[1::2])
    bare(left, "two directions")
    weights(right, model, "weights")


# --- no targets, and any rule ------------------------------------------------------------------------------


@ESTIMATORS.shows(
    "kmeans",
    "The same clusters in two views, one with three groups and one that is noise, and the weights that "
    "were learned.",
)
def kmeans(fig: Figure) -> None:
    groups, _ = three_groups()
    noise = np.random.default_rng(1).normal(size=groups.shape)
    views = [("groups", Gaussian(), [0, 1]), ("noise", Gaussian(), [2, 3])]
    model = MultipleKernelKMeans(views, n_clusters=3, random_state=0).fit(np.hstack([groups, noise]))
    one, two, three = fig.subplots(1, 3)
    for ax, places, name in ((one, groups, "view of groups"), (two, noise, "view of noise")):
        points(ax, places, model.labels_)
        bare(ax, name)
    weights(three, model, "weights")


def _three_views() -> tuple[np.ndarray, list[tuple[str, Gaussian, list[int]]]]:
    """Groups seen twice, with noise of their own, and a view of noise."""
    groups, _ = three_groups()
    random = np.random.default_rng(1)
    again = groups + 0.3 * random.normal(size=groups.shape)
    names = ("groups", "again", "noise")
    views = [(name, Gaussian(), [2 * m, 2 * m + 1]) for m, name in enumerate(names)]
    return np.hstack([groups, again, random.normal(size=groups.shape)]), views


def _clusters_and_weights(fig: Figure, model: Any, X: np.ndarray) -> None:
    model.fit(X)
    left, right = fig.subplots(1, 2)
    points(left, X[:, :2], model.labels_)
    bare(left, "view of groups")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "simple_mkkm",
    "Clusters of a view with three groups, the same view with noise added, and a view of noise alone, and "
    "the weights: SimpleMKKM spreads them.",
)
def simple_mkkm(fig: Figure) -> None:
    X, views = _three_views()
    _clusters_and_weights(fig, SimpleMKKM(views, n_clusters=3), X)


@ESTIMATORS.shows(
    "regularized_mkkm",
    "Clusters of a view with three groups, the same view with noise added, and a view of noise alone, and "
    "the weights. A third of the samples lack one of the views.",
)
def regularized_mkkm(fig: Figure) -> None:
    X, views = _three_views()
    lost = X.copy()
    for m in range(3):
        lost[m::9, 2 * m : 2 * m + 2] = np.nan
    model = RegularizedMKKM(mk.KernelBank(views, missing="absent"), n_clusters=3, reg=1.0).fit(lost)
    left, right = fig.subplots(1, 2)
    points(left, X[:, :2], model.labels_)
    bare(left, "view of groups")
    weights(right, model, "weights")


@ESTIMATORS.shows(
    "max_margin_clustering",
    "Clusters of a view with three groups, the same view with noise added, and a view of noise alone, and "
    "the weights: those of machines with large margins.",
)
def max_margin_clustering(fig: Figure) -> None:
    X, views = _three_views()
    _clusters_and_weights(fig, MaxMarginClustering(views, n_clusters=3), X)


@ESTIMATORS.shows("pca", "Digits 0 to 4 on the first two components of the mean of five kernels.", height=3.6)
def pca(fig: Figure) -> None:
    digits = load_digits_views()
    some = np.flatnonzero(digits.y[:600] < 5)
    views = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    model = mk.CombinedKernelPCA(kernels=views).fit(digits.X.iloc[some])
    ax = fig.subplots()
    points(ax, model.embedding_, digits.y[some])
    bare(ax, f"{model.explained_variance_ratio_.sum():.0%} of the spread")


@ESTIMATORS.shows(
    "combined",
    "What three rules make of five views of the digits: shares in the learned kernel, and the accuracy "
    "of a support vector machine on new digits.",
    height=1.8,
)
def combined(fig: Figure) -> None:
    digits = load_digits_views()
    views = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    learners = (MeanRule(), CenteredAlignment(), EasyMKL())
    models = [mk.CombinedKernelClassifier(views, learner) for learner in learners]
    for model in models:
        model.fit(digits.X[:200], digits.y[:200])
    notes = [f"accuracy {model.score(digits.X[200:600], digits.y[200:600]):.2f}" for model in models]
    names = [type(learner).__name__ for learner in learners]
    shares_table(fig.subplots(), names, list(digits.views), [model.kernel_shares_ for model in models], notes)
