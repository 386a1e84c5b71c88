"""What once came up as an exception of another library, or as a silent NaN: it is refused in plain words."""

from dataclasses import fields
from decimal import Decimal
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import is_regressor

from multikernel import (
    KernelBank,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLRegressor,
    MKLRidge,
    combine_kernels,
    compare,
    evaluate,
    join_views,
    stack_kernels,
)
from multikernel.bayesian import BayesianMKLClassifier
from multikernel.boosting import ColumnBoostingRegressor
from multikernel.datasets import load_digits_views, make_gauss, piecewise_curve
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.doctor import Diagnosis
from multikernel.inspection import Comparison, learned_kernel
from multikernel.io.models.coding import trusted_names
from multikernel.io.tables import fit_plan, plan_fit, predict_table, read_table, read_views
from multikernel.io.tables.views_file import ViewList
from multikernel.kernels import (
    Chain,
    Chi2,
    Gaussian,
    Linear,
    Mixed,
    Power,
    Product,
    Scaled,
    Sum,
    as_transforms,
    unit_diagonal,
)
from multikernel.kernels.networks import Network
from multikernel.localized import ProjectionKernelRegressor
from multikernel.mkl import CostPath, RegularizedMKLClassifier, WeightPath, cost_path, weight_path
from multikernel.registry import list_methods
from multikernel.report import find_renderer, headline, render_html, render_markdown, save_report, summarize
from multikernel.rules import (
    AccuracyRule,
    AlignmentQP,
    AlignmentRule,
    ElasticNetMKL,
    FunctionalForm,
    WeightLearner,
)
from multikernel.soft_labels import PosteriorSVC
from multikernel.survival import MKLSurvival, MKLSurvivalCV
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.views import (
    MultiTable,
    NamedStack,
    View,
    distinct_views,
    per_feature,
    read_gmt,
    views_from_gene_sets,
)
from multikernel.viz import convergence, cost, decision_regions, describe_data, kernel_matrix, rules
from tests.public import public_estimators
from tests.refusals import refused

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(16, 3)), np.arange(16) % 2
HUGE = 10**400
LARGE = np.full((16, 3), HUGE, dtype=object)
BANK = KernelBank({"one": Linear(), "two": Linear()}).fit({"one": X, "two": X})

FITTED, FRAME = MKLClassifier([Linear()]).fit(X, Y), pd.DataFrame(X)
PLANAR = MKLClassifier([Linear()]).fit(X[:, :2], Y)

test_refusals = refused(
    (lambda: Chi2(gamma=-HUGE), "gamma must hold numbers that a float can hold"),
    (lambda: MKLRegressor(epsilon=-HUGE).fit(X, X[:, 0]), "epsilon must hold numbers that a float can hold"),
    (lambda: MKLClassifier().fit(LARGE, Y), "X must hold numbers that a float can hold"),
    (lambda: MKLRegressor().fit(X, LARGE[:, 0]), "y must hold numbers that a float can hold"),
    (lambda: BayesianMKLClassifier(spread=1e-320).fit(X, Y), "spread must be at least 1e-100"),
    (lambda: Comparison([]), TypeError, "scores must be a DataFrame"),
    (lambda: Sum("auto", Gaussian()), TypeError, "Sum is made of kernels, .* got str"),
    (lambda: Product(Gaussian(), None), TypeError, "Product is made of kernels"),
    (lambda: Power(3, 2), TypeError, "Power is made of kernels"),
    (lambda: Scaled(pd.DataFrame(), 2.0), TypeError, "Scaled is made of kernels"),
    (lambda: as_transforms(scipy.sparse.csr_matrix(np.eye(3))), TypeError, "transforms must be transforms"),
    (lambda: per_feature(2**64 - 1), "features must be at most"),
    (lambda: learned_kernel(Gaussian(), X), TypeError, "model must be a fitted estimator"),
    (lambda: cost(pd.DataFrame({"a": [1.0]})), TypeError, "this picture is of multikernel.mkl.cost_path"),
    (lambda: ElasticNetMKL().fit(STACK, HUGE), "y must hold numbers"),
    (lambda: convergence({}), "must have the history"),
    (lambda: kernel_matrix(-HUGE), "K must be"),
    (
        lambda: cost_path(MKLClassifier(), X, Y, exponents=HUGE),
        TypeError,
        "exponents must be a list of numbers",
    ),
    (lambda: Network(memoryview(np.eye(4)), ["a"]), "got shape"),
    (lambda: MKLRegressor(costs=HUGE).fit(X, X[:, 0]), TypeError, "costs must hold one number"),
    (lambda: piecewise_curve(np.array([1e308])), "between -1e150 and 1e150"),
    (lambda: Diagnosis(memoryview(np.eye(3)), 1, 1, 1, "unsupervised"), TypeError, "findings must be a list"),
    (lambda: AccuracyRule(cv=memoryview(np.eye(3))).fit(STACK, Y), "cv"),
    (
        lambda: TransductiveMKLClassifier().fit(X, Y, sample_weight=np.full(16, 5e-321)),
        "sample_weight must be at least 1e-300",
    ),
    (lambda: Chain(["a", 1]), "transforms must be one of"),
    (lambda: piecewise_curve(Decimal("NaN")), "x holds NaN"),
    (lambda: distinct_views(["a", 1]), TypeError, "views must be a list of View"),
    (lambda: MKLClassifier().fit(X, Y, sample_weight=LARGE[:, 0]), "sample_weight must hold numbers"),
    (lambda: compare({"a": Gaussian(), "b": MKLClassifier()}, X, Y), TypeError, "must be an object with fit"),
    (lambda: View("line", Linear(), transforms=np.eye(2)), TypeError, "transforms must be transforms"),
    (lambda: Linear()(7), TypeError, "X must be a table or a list of rows; got int"),
    (lambda: MultiTable(memoryview(np.eye(3))), TypeError, "tables must be a dict or a list of tables"),
    (lambda: ColumnBoostingRegressor().fit(X, X[:, 0] * 1e160), "y must lie between -1e\\+150 and"),
    (lambda: CostPath(1, 2, 3, 4), TypeError, "table must be a DataFrame"),
    (lambda: WeightPath("C", 1, 2), TypeError, "weights must be a DataFrame"),
    (lambda: Diagnosis(["x"], 1, 1, 1, "unsupervised"), TypeError, "findings must be a list of Finding"),
    (lambda: rules({}), "must hold folds and weights"),
    (lambda: headline({"a": 1}), "as summarize"),
    (lambda: render_html({}), "as summarize"),
    (lambda: render_markdown(3), TypeError, "summary must be a dict"),
    (lambda: save_report([], "x.json"), TypeError, "summary must be a dict"),
    (lambda: fit_plan(3), TypeError, "plan must be what plan_fit returns"),
    (lambda: plan_fit([]), TypeError, "data must be what read_table returns"),
    (lambda: predict_table(None, 3, None), TypeError, "record must be a dict"),
    (lambda: FunctionalForm(tau=1e308).fit(STACK[:, :, :2], Y), "tau must be less than 1e\\+100"),
    (lambda: BANK.transform([X, X]), "reads the table 'one'; got the tables \\['table-0', 'table-1'\\]"),
    (lambda: BANK.transform(np.hstack([X, X])), "reads the table 'one'; got ndarray"),
    (lambda: read_table("table.csv", {}), TypeError, "target must be named by strings"),
    (lambda: read_table("table.csv", ignore=[1]), TypeError, "ignore must be named by strings"),
    (lambda: read_table("table.csv", names="c0"), TypeError, "names must be named by strings"),
    (lambda: read_table(3), TypeError, "path must be the path of a file, as text or a Path; got int"),
    (lambda: read_gmt(None), TypeError, "path must be the path of a file"),
    (lambda: read_views(3.0), TypeError, "path must be the path of a file"),
    (lambda: find_renderer([]), TypeError, "path must be the path of a file"),
    (lambda: trusted_names(memoryview(np.eye(3))), TypeError, "trusted must be a list of classes"),
    (lambda: weight_path(MKLClassifier([Linear()]), X[:, :0], Y), "0 feature"),
    (lambda: views_from_gene_sets(1e30, {"s": ["a"]}), TypeError, "columns must be a list of names"),
    (lambda: load_digits_views(0.0), TypeError, "views must be a list of names; got float"),
    (lambda: ViewList(len), TypeError, "views must be a list of View; got builtin"),
    (lambda: ViewList(costs=[1.0]), TypeError, "costs must be a dict of numbers by view; got list"),
    (lambda: compare(MKLClassifier(), X, Y, baselines=3), TypeError, "baselines must be a list of names"),
    (lambda: compare(MKLClassifier(), X, Y, store=3), TypeError, "store must be the path of a file"),
    (lambda: NamedStack(STACK, memoryview(np.eye(3))), TypeError, "names must be a list of texts"),
    (lambda: CostPath(FRAME, FRAME, FRAME, 1), TypeError, "costs must be a Series, as cost_path makes it"),
    (lambda: evaluate(MKLClassifier(), X, Y, parts=3), TypeError, "parts must be a list of names; got int"),
    (lambda: evaluate(MKLClassifier(), X, Y, parts=[np.eye(2)]), "parts must be one of"),
    (lambda: evaluate(MKLClassifier(), X, Y, progress=3), TypeError, "progress must be a function of two"),
    (lambda: make_gauss(random_state={}), "random_state must be a nonnegative integer"),
    (lambda: MKLClassifier(random_state=2**40).fit(X, Y), "random_state must be an integer from 0 to 2"),
    (lambda: MKLClassifier(n_jobs=np.eye(2)).fit(X, Y), "n_jobs must be None, a positive number"),
    (lambda: MKLClassifier(verbose=np.empty(0)).fit(X, Y), TypeError, "verbose must be a whole number"),
    (lambda: AccuracyRule(cv=np.eye(3)).fit(STACK, Y), "cv must be a number of folds, a splitter"),
    (lambda: AccuracyRule(cv=np.array(3.0)).fit(STACK, Y), "cv must be a number of folds, a splitter"),
    (lambda: MKLClassifier(callback=lambda: None).fit(X, Y), TypeError, r"of one dict, .*; got one of \(\)"),
    (lambda: decision_regions(FITTED, {"a": 1}), TypeError, "X must be numeric"),
    (
        lambda: decision_regions(PLANAR, X[:, :2], n_steps=1.5),
        TypeError,
        "n_steps must be a positive integer",
    ),
    (lambda: Network([[0, 1]], nodes=3.0), TypeError, "nodes must be a list of names; got float"),
    (lambda: Mixed(categorical=0.5), TypeError, "Mixed categorical must be a list of names or positions"),
    (lambda: describe_data(7), TypeError, "X must be a list of rows, or a table; got int"),
    (lambda: summarize(FITTED, [3]), TypeError, "comparison must be a list of dicts"),
    (lambda: FITTED.score(X, np.array([0, pd.NA] * 8)), "missing labels; entry 1 is <NA>"),
    (lambda: FITTED.score(X, np.array([0, "a"] * 8, dtype=object)), "y must hold labels of one kind"),
    (
        lambda: KernelDiscriminantClassifier("precomputed").fit(STACK * 1e-319, Y),
        "have values of very different scale",
    ),
    (
        lambda: ColumnBoostingRegressor().fit(X, X[:, 0] * 1e-320),
        "differ from its median by 1e-150 somewhere",
    ),
)


def target_of(model):
    """What a model learns from: labels, values, or censored times."""
    if isinstance(model, MKLSurvival | MKLSurvivalCV):
        return {"event": Y[0] == Y, "time": np.exp(X[:, 0])}
    return X[:, 0] if is_regressor(model) else Y


TEXTS = np.where(np.arange(48).reshape(16, 3) == 4, "a", X.astype(object))


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_texts_among_numbers_name_the_column(kind):
    y = target_of(kind())
    with pytest.raises(ValueError, match=r"X.* must be numeric, but .*column 1 is not \(could not convert"):
        kind().fit(TEXTS, y)
    if "sample_weight" in signature(kind.fit).parameters:
        with pytest.raises(ValueError, match="sample_weight must be numeric; got dtype <U1"):
            kind().fit(X, y, sample_weight=["a", "b"] * 8)


@pytest.mark.parametrize("kind", [MKLRegressor, MKLRidge, ProjectionKernelRegressor])
def test_targets_that_are_no_numbers(kind):
    with pytest.raises(ValueError, match=r"y must be numeric, but its content is not .* use a classifier"):
        kind().fit(X, TEXTS[:, 1])


@pytest.mark.parametrize("answer", [np.ones(3), pd.NA])
@pytest.mark.parametrize("kind", [MKLClassifier, RegularizedMKLClassifier, BayesianMKLClassifier])
@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_what_a_callback_returns_says_whether_to_stop(kind, answer):
    with pytest.raises(TypeError, match="callback must return True to stop the fit, or False or None"):
        kind(callback=lambda entry: answer).fit(X, Y)


FLAGS = [
    (kind, field.name)
    for kind in (*public_estimators(), AlignmentRule, AlignmentQP)
    for field in fields(kind)
    if field.type in (bool, "bool")
]


@pytest.mark.parametrize(("kind", "name"), FLAGS, ids=lambda given: getattr(given, "__name__", given))
@pytest.mark.parametrize("value", ["no", pd.NA, np.eye(2)], ids=["text", "NA", "array"])
def test_flags_are_true_or_false(kind, name, value):
    data = (STACK, Y) if issubclass(kind, WeightLearner) else (X, target_of(kind()))
    with pytest.raises(TypeError, match=f"{name} must be True or False; got"):
        kind(**{name: value}).fit(*data)


def test_projections_read_one_table_of_any_library():
    model = ProjectionKernelRegressor(max_iter=2, tol=1.0).fit(X, X[:, 0])
    expected = model.predict(X)
    frame = pd.DataFrame(X, columns=list("abc"))
    assert np.array_equal(model.predict(memoryview(X)), expected)
    with pytest.warns(UserWarning, match="feature names"):
        assert np.array_equal(model.predict(frame.astype(pd.SparseDtype(float))), expected)
    with pytest.raises(ValueError, match="several columns of one name"):
        model.predict(frame.set_axis(list("aab"), axis=1))
    with pytest.raises(TypeError, match=r"projects the columns of one table; got several: \['one', 'two'\]"):
        model.predict({"one": X, "two": X})


def test_a_memoryview_of_two_dimensions_is_a_table():
    K = X @ X.T + np.eye(16)
    assert np.array_equal(stack_kernels([memoryview(K)]), K[:, :, None])
    bank = KernelBank([Linear()]).fit(X)
    assert np.array_equal(bank.transform(memoryview(X)), bank.transform(X))


def test_a_memoryview_is_described_as_a_table():
    assert describe_data(memoryview(X)) == describe_data(X)


def test_sparse_matrices_of_any_kind_are_described():
    assert describe_data(scipy.sparse.dok_matrix(X)) == describe_data(scipy.sparse.csr_matrix(X))


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_a_comparison_is_a_table_of_a_report():
    found = compare({"one": MKLClassifier([Linear()]), "two": MKLClassifier()}, X, Y, baselines=False)
    shown = summarize(FITTED, found)["comparison"]
    assert [shown["columns"], *shown["rows"]] == found.table()


def test_memoryviews_given_for_lists_of_kernels():
    K = X @ X.T + np.eye(16)
    with pytest.raises(ValueError, match="every kernel must be a matrix"):
        stack_kernels(memoryview(K))


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_a_memoryview_of_a_stack_is_split_into_folds():
    stack = STACK.copy()
    settings = {"kernels": "precomputed", "cv": 2}
    model = RegularizedMKLClassifier(**settings).fit(memoryview(stack), Y)
    np.testing.assert_array_equal(
        model.kernel_weights_, RegularizedMKLClassifier(**settings).fit(stack, Y).kernel_weights_
    )


@pytest.mark.filterwarnings("ignore::multikernel.views.MissingViewsWarning")
def test_samples_that_lack_a_table():
    tables = {"a": pd.DataFrame(X[:, :2]).add_prefix("c"), "b": pd.DataFrame(X[:12, 2:]).add_prefix("d")}
    for table in tables.values():
        table.index = [f"s{i}" for i in range(len(table))]
    joined = join_views(tables, how="outer")
    assert set(PosteriorSVC().fit(joined, Y).predict(joined)) <= set(Y)
    with pytest.raises(ValueError, match=r"view 'b-linear' holds NaN at row 12.* missing='complete'"):
        LocalizedMKLClassifier().fit(joined, Y)


def test_views_of_a_plan_may_be_a_list(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(X).add_prefix("c").assign(y=Y).to_csv(path, index=False)
    plan = plan_fit(read_table(path, target="y"), views=[View("line", Linear())])
    assert [view.name for view in plan.kernels] == ["line"] and plan.model.fit(plan.X, plan.y)


# --- NaN in Gram matrices, at every entry point that takes them ---------------------------------------------

LEARNERS = sorted({m.learner for m in list_methods() if m.learner}, key=lambda kind: kind.__name__)
STACK = stack_kernels(
    [unit_diagonal(X @ X.T + np.eye(16)), np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))]
)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", LEARNERS, ids=lambda k: k.__name__)
def test_combine_refuses_what_is_not_finite(kind, bad):
    learner = kind()
    y = X[:, 0] if "classification" not in learner.learns_from and "regression" in learner.learns_from else Y
    learner.fit(STACK, y)
    spoiled = STACK[:4].copy()
    spoiled[2, 3, 1] = bad
    with pytest.raises(ValueError, match=r"kernels must be finite; kernel '?kernel-1'? holds .* at \(2, 3\)"):
        learner.combine(spoiled)


def test_combine_kernels_refuses_what_is_not_finite():
    spoiled = STACK.copy()
    spoiled[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"kernel 0 holds NaN at \(1, 2\)"):
        combine_kernels(spoiled, [1.0, 1.0])


PRECOMPUTED = [
    kind
    for kind in public_estimators()
    if "kernels" in kind().get_params() and not kind.__name__.startswith("Proj")
]
ONE_KERNEL = (
    "ConformalKernel", "KDDAClassifier", "KernelKNNClassifier", "LFDA", "SpectralKernelClassifier",
)  # fmt: skip
OUTPUTS = ("predict", "decision_function", "predict_proba", "transform", "contributions", "score_samples")


@pytest.mark.parametrize("kind", PRECOMPUTED, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_predictions_from_gram_matrices_with_nan_are_refused(kind):
    """Every entry point that takes new Gram matrices; those without weight need not be looked at."""
    model = kind("precomputed")
    model.set_params(**{name: value for name, value in {"max_iter": 3}.items() if name in model.get_params()})
    y = target_of(model)
    one = kind.__name__ in ONE_KERNEL
    stack = STACK[:, :, :1] if one else STACK
    if kind.__name__.startswith("Hyperkernel"):
        stack = stack**2  # nowhere negative
    model.fit(stack[:, :, 0] if one else stack, y)
    spoiled = stack[:4].copy()
    spoiled[...] = np.nan
    asked = [name for name in OUTPUTS if hasattr(model, name)]
    assert asked
    for name in asked:
        with pytest.raises(ValueError, match=r"finite|NaN"):
            getattr(model, name)(spoiled[:, :, 0] if one else spoiled)
