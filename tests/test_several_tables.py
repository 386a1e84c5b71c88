"""Every estimator that weighs kernels takes several tables, any frames, and columns in any order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import ClassifierMixin, RegressorMixin

from multikernel.core.estimator import KernelEstimator
from multikernel.kernels import Gaussian, Linear
from multikernel.registry import get_method, list_methods
from multikernel.views import MultiTable, View
from multikernel.views.view import as_views, place_views

N = 40
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
ONE = pd.DataFrame(RNG.normal(size=(N, 3)) + Y[:, None], columns=list("abc"))
TWO = pd.DataFrame(RNG.normal(size=(N, 2)), columns=list("de"))
WIDE = pd.concat([ONE, TWO], axis=1)
TIMES = pd.DataFrame({"event": Y[0] == Y, "time": np.exp(ONE["a"].to_numpy())})
TARGETS = {
    "classification": Y,
    "regression": ONE["a"].to_numpy() + 0.1 * Y,
    "unsupervised": None,
    "survival": TIMES,
}
# those that learn with one kernel, pairs, or columns of their own
OTHERS = {"pairs", "projection", "kdda", "knn", "spectral", "conformal", "lfda"}
CASES = [
    pytest.param(method, task, id=f"{method.name}-{task}")
    for method in map(get_method, (m if isinstance(m, str) else m.name for m in list_methods()))
    if method.learner is None and method.name not in OTHERS
    for task in method.tasks
]
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:the gate is open for view"),
]


def fitted(method, task, kernels, X):
    model = method.make(task, kernels=kernels)
    return model.fit(X) if TARGETS[task] is None else model.fit(X, TARGETS[task])


def kernels_of(method):
    """Two kernels that the method takes: one without a width to learn, and for hyperkernels none below 0."""
    first = Gaussian(gamma=0.3) if method.name == "infinite_mkl" else Gaussian()
    return first, Gaussian(gamma=0.3) if method.name == "hyperkernels" else Linear()


def indexed(y):
    """The target with the ids of the samples."""
    return y.set_index(pd.Index(IDS)) if isinstance(y, pd.DataFrame) else pd.Series(y, index=IDS)


def answers(model, X):
    return np.asarray((model.predict if hasattr(model, "predict") else model.transform)(X), float)


@pytest.mark.parametrize(("method", "task"), CASES)
def test_a_dict_of_tables(method, task):
    first, second = kernels_of(method)
    model = fitted(method, task, {"one": first, "two": second}, {"one": ONE, "two": TWO})
    assert model.view_names_ == ["one", "two"]
    expected = answers(model, {"one": ONE, "two": TWO})
    shuffled = {"two": pl.from_pandas(TWO[["e", "d"]]), "extra": TWO, "one": ONE.assign(more=0.0)}
    np.testing.assert_allclose(answers(model, MultiTable(shuffled)), expected, atol=1e-12)
    with pytest.raises(ValueError, match="fitted with the table 'two', which is not there at prediction"):
        answers(model, {"one": ONE})


@pytest.mark.parametrize(("method", "task"), CASES)
def test_columns_by_name_in_any_frame_and_order(method, task):
    first, second = kernels_of(method)
    views = [("u", first, ["a", "b"]), ("v", second, ["d"])]
    model = fitted(method, task, views, pl.from_pandas(WIDE))
    other = WIDE[["d", "b", "a"]].assign(q=1.0)
    np.testing.assert_allclose(answers(model, other), answers(model, WIDE), atol=1e-12)
    with pytest.raises(ValueError, match=r"X lacks 1 columns .* such as \['a'\]"):
        answers(model, WIDE.drop(columns="a"))


@pytest.mark.parametrize("name", ["kdda", "knn", "spectral", "conformal", "lfda"])
def test_one_kernel_is_on_one_table(name):
    tables = {"one": ONE, "two": TWO}
    with pytest.raises(ValueError, match="learns with one kernel; one of each table is 2: one, two"):
        get_method(name).make("classification", kernels=Gaussian()).fit(tables, Y)
    model = get_method(name).make("classification", kernels=View("v", Gaussian(), table="two")).fit(tables, Y)
    alone = get_method(name).make("classification", kernels=Gaussian()).fit(TWO, Y)
    np.testing.assert_array_equal(answers(model, tables), answers(alone, TWO))


IDS = [f"s{k:02}" for k in range(N)]
LEARNED = [case for case in CASES if case.values[0].name != "pca" and case.values[1] != "unsupervised"]
JOINED = MultiTable({"one": ONE.set_axis(IDS), "two": TWO.set_axis(IDS)})


@pytest.mark.parametrize(("method", "task"), LEARNED)
def test_targets_of_other_samples_are_refused(method, task):
    y = indexed(TARGETS[task])
    for wrong in (y.iloc[::-1], y.set_axis([label.upper() for label in IDS])):
        with pytest.raises(ValueError, match=r"row 0 is 's00' in X and .*join_views.*y\.to_numpy"):
            method.make(task, kernels={"one": Gaussian(), "two": Linear()}).fit(JOINED, wrong)


def test_targets_without_ids_are_taken_by_row():
    model = get_method("mkl").make("classification", kernels={"one": Gaussian(), "two": Linear()})
    rows = np.arange(N)[::-1]
    positions = pd.Series(Y).iloc[rows]  # as a split leaves them: numbers, not ids
    for X, y in ((JOINED, Y), (JOINED, pd.Series(Y)), (JOINED[rows], positions)):
        assert model.fit(X, y).score(X, np.asarray(y)) > 0.5


def test_columns_of_one_name_are_refused():
    twice = WIDE.rename(columns={"b": "a"})
    with pytest.raises(ValueError, match="several columns of one name, such as 'a'; make the names distinct"):
        get_method("mkl").make("classification", kernels=[Gaussian()]).fit(twice, Y)
    with pytest.raises(ValueError, match="table 'one' has several columns of one name, such as 'a'; make"):
        get_method("mkl").make("classification", kernels="auto").fit({"one": twice, "two": TWO}, Y)


@pytest.mark.parametrize(("method", "task"), CASES)
def test_a_list_in_the_place_of_a_dict(method, task):
    first, second = kernels_of(method)
    model = fitted(method, task, {"one": first, "two": second}, {"one": ONE, "two": TWO})
    with pytest.raises(ValueError, match=r"on a dict of the tables \['one', 'two'\]; got a list of 2 tables"):
        answers(model, [ONE, TWO])


@pytest.mark.parametrize(("method", "task"), CASES)
def test_none_is_no_table(method, task):
    with pytest.raises(TypeError, match=r"table 'table-1' is None. Leave it out"):
        fitted(method, task, "auto", [ONE, None])


def test_dates_are_no_numbers():
    dated = ONE.assign(seen=pd.to_datetime(np.arange(N), unit="D"))
    with pytest.raises(ValueError, match=r"column 3 \('seen'\) is not \(it holds dates or durations\)"):
        get_method("mkl").make("classification", kernels=Gaussian()).fit({"one": dated, "two": TWO}, Y)
    model = get_method("mkl").make("classification", kernels="auto").fit({"one": dated, "two": TWO}, Y)
    days = ONE.assign(seen=np.arange(N, dtype=float))
    other = get_method("mkl").make("classification", kernels="auto").fit({"one": days, "two": TWO}, Y)
    np.testing.assert_allclose(model.kernel_weights_, other.kernel_weights_, atol=1e-3)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("form", [lambda X: X, lambda X: dict(X.tables)], ids=["joined", "dict"])
def test_a_score_of_other_samples_is_refused(task, form):
    method = get_method("mkl") if task == "classification" else get_method("ridge")
    y, X = indexed(TARGETS[task]), form(JOINED)
    model = method.make(task, kernels=Gaussian()).fit(X, y)
    assert model.score(X, y) == model.score(X, y.to_numpy())
    with pytest.raises(ValueError, match=r"row 0 is 's00' in X and 's39' in y\. Align .*y\.loc\[X\.ids\]"):
        model.score(X, y.iloc[::-1])


@pytest.mark.parametrize("kind", [ClassifierMixin, RegressorMixin])
def test_every_score_checks_ids(kind):
    every = {cls for method in list_methods() for cls in method.estimators.values()}
    found = [cls for cls in every if issubclass(cls, kind) and issubclass(cls, KernelEstimator)]
    assert found and all(hasattr(cls.score, "_checks_ids") for cls in found)


def names_and_tables(kernels, tables):
    return [(view.name, view.table) for view in place_views(as_views(kernels), MultiTable(tables))]


def test_a_view_of_the_name_of_a_table_is_on_it():
    tables = {"one": ONE, "two": TWO}
    for kernels in ([View("one", Gaussian())], [("one", Gaussian())], View("one", Gaussian())):
        assert names_and_tables(kernels, tables) == [("one", "one")]
    mixed = [("one", Gaussian()), Linear()]
    assert names_and_tables(mixed, tables) == [("one", "one"), ("one-linear", "one"), ("two-linear", "two")]
    assert names_and_tables([("one", Gaussian(), ["d"])], tables) == [("one", "two")]
    assert names_and_tables([View("one", Gaussian(), table="two")], tables) == [("one", "two")]
    assert names_and_tables([("v", Gaussian())], tables) == [("one", "one"), ("two", "two")]
    model = (
        get_method("mkl")
        .make("classification", kernels=[("one", Gaussian()), ("two", Linear())])
        .fit(tables, Y)
    )
    alike = (
        get_method("mkl").make("classification", kernels={"one": Gaussian(), "two": Linear()}).fit(tables, Y)
    )
    assert model.view_names_ == ["one", "two"]
    np.testing.assert_array_equal(answers(model, tables), answers(alike, tables))


def test_names_that_kernels_get_say_nothing_of_tables():
    tables = {"linear": ONE, "quadratic": TWO}
    assert names_and_tables(Linear(), tables) == [("linear", "linear"), ("quadratic", "quadratic")]
    assert len(names_and_tables([Linear(), Linear()], {"linear": ONE, "linear-2": TWO})) == 4
    assert len(names_and_tables("auto", tables)) == 2 * len(as_views("auto"))
