"""Views, and how a list of kernels becomes views."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from multikernel.kernels import Center, FunctionKernel, Gaussian, Laplacian, Linear, Polynomial, UnitDiagonal
from multikernel.views import KernelBank, View, as_views, distinct_views, per_feature
from tests.refusals import refused


def my_similarity(A, B):
    return A @ B.T


def test_tuples_kernels_and_functions_become_views():
    views = as_views(
        [
            Linear(),
            ("shape", Gaussian(), ["a"]),
            my_similarity,
            Gaussian(),
            lambda A, B: A @ B.T,
            View("x", Linear()),
        ]
    )
    assert [view.name for view in views] == ["linear", "shape", "my_similarity", "gaussian", "function", "x"]
    assert views[1] == View("shape", Gaussian(), ["a"])
    assert views[2].kernel == FunctionKernel(my_similarity)
    assert as_views(Linear()) == [View("linear", Linear())]
    assert as_views(("a", Linear())) == [View("a", Linear())]
    assert as_views(my_similarity)[0].name == "my_similarity"
    assert as_views([("a", Linear(), None, "center")])[0].transforms[0].__class__ is Center
    assert as_views([Gaussian() + Linear()])[0].name == "sum"


def test_automatic_names_avoid_given_ones():
    views = as_views([Gaussian(), Gaussian(), ("gaussian", Linear()), Gaussian()])
    assert [view.name for view in views] == ["gaussian-2", "gaussian-3", "gaussian", "gaussian-4"]


def test_the_automatic_choice():
    views = as_views("auto")
    assert [view.kernel for view in views] == [
        Linear(),
        Polynomial(2, gamma="scale"),
        *[Gaussian(scale=scale) for scale in (0.5, 1.0)],
        *[Laplacian(scale=scale) for scale in (0.5, 2.0)],
    ]
    assert all(view.normalization == "variance" and view.columns is None and view.encode for view in views)
    assert [view.standardize for view in views] == [True] * 4 + ["rank"] * 2
    assert len({view.name for view in views}) == 6
    assert len({view.name for view in as_views("rich")}) == 12


def test_views_are_values():
    view = View("a", Gaussian(s=2.0), np.array([0, 2]), ["center", UnitDiagonal()])
    assert view.columns == [0, 2]
    assert copy.deepcopy(view).kernel == view.kernel
    with pytest.raises(AttributeError):
        view.name = "b"


test_mistakes_are_named = refused(
    ("rfb", "kernels must be one of 'auto', 'rich', 'precomputed', a kernel, or a list.*; got 'rfb'"),
    ({}, "the kernel of at least one table; got an empty dict"),
    ({1: "rbf"}, TypeError, "the names of tables as its keys; got 1"),
    ([], "at least one kernel; got an empty list"),
    (3, TypeError, "kernels must be 'auto', 'rich', 'precomputed', a kernel, .*; got int"),
    (None, TypeError, "got NoneType"),
    ([("a", Linear()), ("a", Gaussian())], "must be distinct; 'a' occurs 2 times. Give each .*'a' and 'a-2'"),
    (
        KernelBank(KernelBank(Linear())),
        TypeError,
        "kernels of a KernelBank must be .* Use one bank",
    ),
    (
        {"a": KernelBank(Linear())},
        TypeError,
        "kernels of table 'a' must be .*; got a KernelBank",
    ),
    ([(Linear(), [0])], TypeError, r"must be \(name, kernel, columns\); got"),
    ([("a", "rfb")], "view 'a': kernel 'rfb': unknown kernel 'rfb'"),
    ([("a", Gaussian)], TypeError, r"view 'a': a kernel must be an instance; got the class Gaussian"),
    ([("", Linear())], TypeError, "the name of a view must be a non-empty string; got ''"),
    ([("a", Linear(), None, "centre")], "view 'a': transforms must be one of"),
    (["gausian"], "unknown kernel 'gausian'. Did you mean 'gaussian'"),
    by=as_views,
)


# --- approximations ------------------------------------------------------------------------------


def test_approximation_and_rank_are_part_of_the_value():
    view = View("a", Gaussian(s=2.0), [0], "center", True, "cholesky", np.float64(0.05))
    assert repr(view).endswith("standardize=True, approximation='cholesky', rank=0.05)")
    assert type(view.rank) is float and type(View("a", Linear(), rank=np.int64(3)).rank) is int
    assert View("a", Linear()) == View("a", Linear(), approximation=None, rank=None)
    kinds = [{"rank": 10}, {"approximation": "nystroem"}, {}, {"rank": 10}, {"rank": 0.1}]
    given = [View(name, Linear(), **kind) for name, kind in zip("bcdef", kinds, strict=True)]
    views, sources = distinct_views(given)
    assert [view.name for view in views] == ["b", "c", "d", "f"] and sources == [0, 1, 2, 0, 3]
    assert pickle.loads(pickle.dumps(given[0])) == given[0]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"approximation": "nystrom"}, ValueError, "approximation.* must be one of 'nystroem', "),
        ({"approximation": 1}, ValueError, "approximation, where it is not None, must be one of"),
        ({"rank": 0}, ValueError, "rank must be a number of columns .*got 0"),
        ({"rank": -3}, ValueError, "rank must be a number of columns .*got -3"),
        ({"rank": 1.5}, ValueError, "rank must be a number of columns .*got 1.5"),
        ({"rank": 200.0}, ValueError, "got 200.0. Write 200 for that many columns"),
        ({"rank": np.nan}, ValueError, "got nan"),
        ({"rank": np.inf}, ValueError, "got inf"),
        ({"rank": True}, TypeError, "rank must be .*got True"),
        ({"rank": "all"}, TypeError, "rank must be .*got 'all'"),
        ({"approximation": "random_features", "rank": 0.1}, ValueError, "no trace error.*'cholesky'"),
    ],
)
def test_approximations_that_do_not_exist_are_refused(given, error, message):
    with pytest.raises(error, match=rf"^view 'v': .*{message}"):
        View("v", Linear(), **given)


# --- one view for each feature --------------------------------------------------------------------


def test_columns_by_number_position_or_name():
    frame = pd.DataFrame(np.eye(2), columns=["height", "width"])
    for features, names in [
        (2, ["feature-0", "feature-1"]),
        (np.int64(1), ["feature-0"]),
        (np.array([3, 1]), ["feature-3", "feature-1"]),
        (range(1, 3), ["feature-1", "feature-2"]),
        (frame.columns, ["height", "width"]),
    ]:
        assert [view.name for view in per_feature(features, Linear())] == names


test_what_names_no_columns_is_refused_with_a_remedy = refused(
    (np.eye(3), TypeError, r"got a table of shape \(3, 3\). Use per_feature\(X.shape\[1\]\)"),
    (pd.DataFrame(np.eye(2)), TypeError, r"a table of shape .* per_feature\(frame.columns\)"),
    ([[1.0, 2.0], [3.0, 4.0]], TypeError, "names or positions"),
    (np.array([0.3, 1.7]), TypeError, "names or positions"),
    ("height", TypeError, "a number or a list"),
    ([], r"one column at least; got none. Use per_feature\(X"),
    (0, "features"),
    ([0, 1, 0], "'feature-0' is there 2 times"),
    (["a", "a"], "'a' is there 2 times"),
    ([0, "feature-0"], "must differ"),
    by=per_feature,
)


def test_short_views_read_back_and_long_ones_are_abbreviated():
    short = View("shape", Gaussian(gamma=0.5), columns=["width", "height"])
    assert eval(repr(short)) == short
    genes = [f"gene{k}" for k in range(500)]
    long = View("mrna", Gaussian(), columns=genes)
    assert repr(long) == (
        "View(name='mrna', kernel=Gaussian(gamma='median'), "
        "columns=<500: 'gene0', 'gene1', 'gene2', ..., 'gene499'>)"
    )
    assert long.columns == genes
