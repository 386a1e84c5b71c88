"""Parameters of kernels and views by name."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from multikernel import MKLClassifier
from multikernel.kernels import Gaussian, Laplacian, Linear, Polynomial
from multikernel.views import KernelBank, MultiTable, View, as_views
from multikernel.views.parameters import parameters, with_parameters
from tests.refusals import refused

VIEWS = [("size", Linear(), [0]), View("shape", Gaussian(gamma=0.5) + 2.0 * Linear(), [1, 2])]


def changed(kernels, **paths):
    return with_parameters(kernels, paths, "Model")


def test_every_parameter_has_a_path():
    found = parameters(VIEWS)
    assert found["size"] == View("size", Linear(), [0]) and found["size__columns"] == [0]
    assert found["shape__0__gamma"] == 0.5 and found["shape__1__factor"] == 2.0
    assert parameters("auto") == {} and parameters("precomputed") == {} and parameters(3) == {}
    assert parameters(Gaussian(gamma=2.0))["gamma"] == 2.0


@pytest.mark.parametrize(
    ("kernels", "path", "value", "expected"),
    [
        (VIEWS, "size__kernel", Gaussian(), [View("size", Gaussian(), [0]), VIEWS[1]]),
        (VIEWS, "size__kernel", "rbf", [View("size", Gaussian(), [0]), VIEWS[1]]),
        (VIEWS, "size", Laplacian(gamma=1.0), [View("size", Laplacian(gamma=1.0), [0]), VIEWS[1]]),
        (VIEWS, "shape__columns", [1], [VIEWS[0], View("shape", VIEWS[1].kernel, [1])]),
        (
            VIEWS,
            "shape__0__gamma",
            3.0,
            [VIEWS[0], View("shape", Gaussian(gamma=3.0) + 2.0 * Linear(), [1, 2])],
        ),
        ([Linear(), Gaussian()], "gaussian__gamma", 0.1, [Linear(), Gaussian(gamma=0.1)]),
        ([Gaussian(), Gaussian()], "gaussian-2__gamma", 0.1, [Gaussian(), Gaussian(gamma=0.1)]),
        (Gaussian(s=2.0), "gamma", 0.1, Gaussian(gamma=0.1)),
        (Gaussian(gamma=1.0), "gamma", "median", Gaussian()),
        (Gaussian(scale=2.0), "scale", 3.0, Gaussian(scale=3.0)),
        ("rbf", "gamma", 0.1, Gaussian(gamma=0.1)),
        (Gaussian() * Polynomial(), "1__degree", 3, Gaussian() * Polynomial(3)),
        ({"a": "rbf"}, "a__gamma", 0.2, {"a": View("a", Gaussian(gamma=0.2), table="a")}),
    ],
)
def test_a_parameter_is_set_in_a_copy(kernels, path, value, expected):
    before = repr(kernels)
    assert changed(kernels, **{path: value}) == expected
    assert repr(kernels) == before


def test_the_same_part_twice_is_two_parts():
    part = Gaussian(gamma=1.0)
    assert (part + part).set_params(**{"1__gamma": 2.0}) == Gaussian(gamma=1.0) + Gaussian(gamma=2.0)


def test_automatic_kernels_become_views_that_can_be_changed():
    views = changed("auto", **{"gaussian-1__gamma": 0.3})
    assert [view.name for view in views] == [view.name for view in as_views("auto")]
    assert views[3].kernel == Gaussian(gamma=0.3) and views[2] == as_views("auto")[2]
    with pytest.raises(ValueError, match="no view of that name"):
        changed("auto", gamma=0.3)


def test_a_bank_is_copied():
    bank = KernelBank(VIEWS, rank=20)
    again = changed(bank, shape__0__gamma=7.0, rank=30)
    assert (again.rank, again.get_params()["shape__0__gamma"]) == (30, 7.0)
    assert (bank.rank, bank.get_params()["shape__0__gamma"]) == (20, 0.5)
    assert bank.set_params(kernels__size__columns=[1], psd="clip").psd == "clip"
    assert bank.kernels[0].columns == [1]
    one = KernelBank(Gaussian(gamma=1.0), rank=20)  # whose parameters have no name before them
    assert changed(one, gamma=2.0).kernels == Gaussian(gamma=2.0) and one.kernels == Gaussian(gamma=1.0)


def test_values_are_checked_as_in_the_constructor():
    with pytest.raises(ValueError, match=r"view 'shape': Gaussian gamma must be greater than 0; got -1.0"):
        changed(VIEWS, shape__0__gamma=-1.0)
    with pytest.raises(ValueError, match="Gaussian takes one of gamma, s and sigma"):
        Gaussian().set_params(gamma=1.0, s=2.0)


TABLES = {"mrna": [Linear(), Gaussian()], "clinic": Linear()}


@pytest.mark.parametrize("kernels", ["auto", KernelBank("auto"), {"mrna": "auto", "clinic": Linear()}])
@pytest.mark.parametrize("path", ["kernels__mrna__gamma", "kernels__mrna"])
def test_automatic_kernels_are_not_called_by_their_table(kernels, path):
    X = MultiTable({"mrna": np.eye(6), "clinic": np.arange(6.0)[:, None]})
    message = r"parameter 'mrna'.*linear.*'auto' makes the kernels of each table at fit.*{'mrna': Gaussian"
    with pytest.raises(ValueError, match=message):
        MKLClassifier(kernels).set_params(**{path: 0.1})
    with pytest.raises(ValueError, match=message):
        GridSearchCV(MKLClassifier(kernels), {path: [0.1]}, cv=2).fit(X, [0, 1] * 3)


test_unknown_paths_are_named = refused(
    (lambda: changed(VIEWS, nope__gamma=1.0), r"no view of that name. The views are \['size', 'shape'\]"),
    (lambda: changed(VIEWS, shape__0__gama=1.0), "view 'shape': Invalid parameter '0__gama' .*0__gamma"),
    (lambda: changed(VIEWS, shape__7__gamma=1.0), "Invalid parameter '7__gamma'"),
    (lambda: changed(Linear(), gamma=1.0), "Invalid parameter 'gamma' for kernel Linear.* none"),
    (lambda: KernelBank(VIEWS).set_params(nope__gamma=1.0), r"kernels of KernelBank.*\['size', 'shape'\]"),
    (lambda: KernelBank(VIEWS).set_params(rnak=1.0), "Invalid parameter 'rnak'"),
    (
        lambda: KernelBank().set_params(rnak=1.0),
        "parameter 'rnak'.*'linear', .*other parameters.*'rank'",
    ),
    (
        lambda: changed(VIEWS, nope__gamma=1.0),
        r"tables, name its kernel: kernels={'nope': Gaussian\(\)",
    ),
    (
        lambda: changed(TABLES, mrna__gamma=1.0),
        r"of table 'mrna' are \['mrna-linear', 'mrna-gaussian'\]",
    ),
    (lambda: changed("precomputed", mrna__gamma=1.0), "has no parameters, because X holds the matrices"),
)


def test_kernels_and_views_are_immutable():
    kernel = Gaussian(gamma=1.0)
    assert kernel.set_params(gamma=2.0) is not kernel and kernel.gamma == 1.0
    view = View("a", kernel)
    assert view.set_params(gamma=2.0).kernel.gamma == 2.0 and view.kernel is kernel
    assert np.isclose(view.get_params()["gamma"], 1.0) and "gamma" not in view.get_params(deep=False)
