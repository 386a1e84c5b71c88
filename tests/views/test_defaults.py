"""One rule for what a view does not say: standardised columns, and kernels of unit variance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier, MKLRidge
from multikernel.io.tables import plan_fit, read_table, read_views
from multikernel.kernels import (
    Center,
    Chain,
    Chi2,
    Cosine,
    Diffusion,
    EmpiricalMap,
    Gaussian,
    Hamming,
    Jaccard,
    Kronecker,
    Laplacian,
    Linear,
    Mixed,
    Network,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
    Spectrum,
    Tanimoto,
    UnitDiagonal,
    unit_diagonal,
    unit_trace,
    unit_variance,
)
from multikernel.spectral import KernelKNNClassifier
from multikernel.views import KernelBank, LowRankBank, View, as_views
from tests.refusals import refused

RNG = np.random.default_rng(23)
X = RNG.normal(size=(60, 4)) * [1.0, 100.0, 0.01, 3.0] + [5.0, 0.0, 1.0, -20.0]
NEW = RNG.normal(size=(7, 4)) * [1.0, 100.0, 0.01, 3.0] + [5.0, 0.0, 1.0, -20.0]
Z = StandardScaler().fit_transform(X)
Y = np.where(Z[:, 0] * Z[:, 1] + 0.3 * Z[:, 2] > 0, "yes", "no")
GIVEN, RING = Precomputed(np.eye(3)), Network([("a", "b"), ("b", "c"), ("c", "a")])
LISTED = [Linear(), Gaussian(gamma=0.2), Polynomial(3, 0.1) + Laplacian(), 2.0 * Cosine()]


@pytest.mark.parametrize(
    ("standardized", "kernels"),
    [
        (True, [Linear(), Polynomial(2), Gaussian(), Laplacian(), Cosine(), Sigmoid()]),
        (True, [Linear() + Gaussian(), 2.0 * Linear() ** 2, EmpiricalMap(Gaussian())]),
        (False, [Chi2(), Tanimoto(), Jaccard(), Hamming(), Mixed(), Spectrum(2), Diffusion(RING)]),
        (False, [GIVEN, Pairwise(Gaussian()), Kronecker(Linear(), Linear()), lambda A, B: A @ B.T]),
        (False, [Linear() + Chi2(), Gaussian() * GIVEN, 0.5 * Tanimoto()]),
    ],
)
def test_columns_are_standardised_where_the_kernel_reads_numbers_of_any_sign(standardized, kernels):
    for kernel in kernels:
        view = View("a", kernel)
        assert (
            view.standardize == view.normalize == "auto"
            and repr(view) == f"View(name='a', kernel={view.kernel!r})"
        )
        assert view.standardized is standardized
        assert View("a", kernel, standardize=False).standardized is False


@pytest.mark.parametrize(
    ("view", "normalization"),
    [
        (View("a", Linear()), "variance"),
        (View("a", lambda A, B: A @ B.T), "variance"),
        (View("a", Spectrum(2), transforms="center"), "variance"),
        (View("a", Linear(), transforms=("unit_diagonal", "center")), None),
        (View("a", Linear(), transforms="unit_trace"), None),
        (View("a", Linear(), transforms=Chain((Center(), UnitDiagonal()))), None),
        (View("a", Linear(), transforms="unit_diagonal", normalize="variance"), "variance"),
        (View("a", GIVEN), None),
        (View("a", Pairwise(Linear()) + Pairwise(Gaussian())), None),
        (View("a", Kronecker(Linear(), Linear())), None),
        (View("a", GIVEN, normalize="trace"), "trace"),
        (View("a", Linear(), normalize=None), None),
    ],
)
def test_kernels_get_unit_variance_unless_a_transform_sets_their_scale(view, normalization):
    assert view.normalization == normalization
    assert len(view.steps) == len(view.transforms) + (normalization is not None)


def test_a_bank_of_bare_kernels_is_that_of_scaled_columns_and_unit_variance():
    bank = KernelBank(LISTED)
    stack = bank.fit_transform(X)
    for m, kernel in enumerate(LISTED):
        np.testing.assert_allclose(stack[:, :, m], unit_variance(kernel.fit(Z)(Z)), rtol=1e-7, atol=1e-9)
        assert stack[:, :, m].diagonal().mean() - stack[:, :, m].mean() == pytest.approx(1.0, rel=1e-10)
    np.testing.assert_allclose(bank.transform(X), stack, rtol=1e-9, atol=1e-11)
    support = bank.restrict([3, 9], [1]).transform(NEW)
    np.testing.assert_allclose(support[:, :, 0], bank.transform(NEW)[:, [3, 9], 1], rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "by_hand"), [("diagonal", unit_diagonal), ("trace", unit_trace), (None, np.array)]
)
def test_other_normalizations_by_name(name, by_hand):
    K = KernelBank([View("a", Polynomial(2), normalize=name)]).fit_stack(X)[0]
    np.testing.assert_allclose(K, by_hand(Polynomial(2)(Z)), rtol=1e-9)


def test_turned_off_on_the_bank_or_on_the_views_kernels_are_as_they_are():
    plain = KernelBank(LISTED, standardize=False, normalize=None)
    views = [View(f"v{m}", kernel, standardize=False, normalize=None) for m, kernel in enumerate(LISTED)]
    for bank in (plain, KernelBank(views), KernelBank(views, standardize=True, normalize="trace")):
        for kernel, K in zip(LISTED, bank.fit_stack(X), strict=True):
            np.testing.assert_allclose(K, kernel.fit(X)(X), rtol=1e-10)
    assert [view.standardize for view in as_views(plain)] == [False] * 4
    assert plain.set_params(standardize="auto", normalize="auto").get_params()["normalize"] == "auto"
    np.testing.assert_array_equal(plain.fit_stack(X), KernelBank(LISTED).fit_stack(X))


def test_what_a_view_says_goes_before_what_the_bank_says():
    views = [View("a", Linear(), standardize=True), View("b", Linear(), normalize="variance"), Linear()]
    Ks = KernelBank(views, standardize=False, normalize=None).fit_stack(X)
    np.testing.assert_allclose(Ks[0], Z @ Z.T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(Ks[1], unit_variance(X @ X.T), rtol=1e-10)
    np.testing.assert_allclose(Ks[2], X @ X.T, rtol=1e-12)


def test_precomputed_kernels_stay_as_they_are():
    assert [view.normalization for view in as_views("auto")] == ["variance"] * 6
    K = 7.0 * (X @ X.T) + 3.0
    positions = np.arange(60)[:, None]
    np.testing.assert_array_equal(KernelBank([Precomputed(K)]).fit_stack(positions)[0], K)
    found = MKLRidge("precomputed").fit(K[:, :, None], Z[:, 0]).predict(K[:5, :, None])
    np.testing.assert_allclose(
        found, MKLRidge([Precomputed(K)]).fit(positions, Z[:, 0]).predict(positions[:5])
    )


def test_units_of_columns_and_factors_of_kernels_do_not_change_a_model():
    plain = MKLClassifier(LISTED).fit(X, Y)
    other = MKLClassifier([1000.0 * kernel for kernel in LISTED]).fit(X * [2.0, 0.5, 64.0, 4.0], Y)
    np.testing.assert_allclose(plain.kernel_weights_, other.kernel_weights_, atol=1e-4)
    np.testing.assert_array_equal(plain.predict(NEW), other.predict(NEW * [2.0, 0.5, 64.0, 4.0]))


def test_factors_of_full_rank_are_those_of_the_gram_matrices():
    views = [
        View("g", Gaussian(0.2)),
        View("p", Polynomial(2), [0, 1], "center"),
        View("t", Linear(), normalize="trace"),
    ]
    dense, factors = KernelBank(views).fit(X), LowRankBank(views, rank=60).fit(X)
    Ks = KernelBank(views).fit_stack(X)
    for m, part in factors.iter_factors(X):
        np.testing.assert_allclose(part @ part.T, Ks[m], rtol=1e-6, atol=1e-8)
    for (_, K), (_, new), (_, old) in zip(
        dense.iter_kernels(NEW), factors.iter_factors(NEW), factors.iter_factors(X), strict=True
    ):
        np.testing.assert_allclose(new @ old.T, K, rtol=1e-5, atol=1e-6)
    raw = LowRankBank(views, rank=60, standardize=False, normalize=None).fit(X)
    np.testing.assert_allclose(raw.diagonals(X)[:, 0], 1.0)


def test_a_narrow_kernel_on_few_landmarks_keeps_the_scale_of_its_gram_matrix():
    """Not that of its factors, which leave most of it out."""
    views = [View("g", Gaussian(5.0))]
    diagonal = KernelBank(views).fit(X).self_similarities(X)
    np.testing.assert_allclose(LowRankBank(views, rank=5).fit(X).diagonals(X), diagonal, rtol=0.02)


def test_views_of_python_and_of_toml_are_the_same(tmp_path):
    path = tmp_path / "views.toml"
    path.write_text(
        """
        [[view]]
        name = "size"
        columns = ["a", "b"]
        kernel = "gaussian"

        [[view]]
        name = "plain"
        columns = ["c"]
        kernel = "linear"
        standardize = false
        normalize = "none"

        [[view]]
        name = "rest"
        columns = ["c", "d"]
        kernel = "polynomial(2)"
        transforms = "center"
        normalize = "trace"
        """,
        encoding="utf-8",
    )
    views = [
        View("size", Gaussian(), ["a", "b"]),
        View("plain", Linear(), ["c"], standardize=False, normalize=None),
        View("rest", Polynomial(2), ["c", "d"], "center", normalize="trace"),
    ]
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    data = read_table(tmp_path / "table.csv", target="y")
    read = read_views(path, data)
    assert list(read) == views
    ours, theirs = MKLClassifier(views).fit(frame, Y), plan_fit(data, views=read)
    theirs = theirs.model.fit(theirs.X, theirs.y)
    np.testing.assert_array_equal(ours.decision_function(frame), theirs.decision_function(frame))
    for text, kernels in [("linear, gaussian", [Linear(), Gaussian()]), ("chi2(0.5)", [Chi2(0.5)])]:
        assert plan_fit(data, kernels=text).kernels == as_views(kernels)


def test_estimators_with_one_kernel_leave_it_as_it_is_unless_asked():
    plain = KernelKNNClassifier(Linear()).fit(X, Y)
    np.testing.assert_array_equal(
        plain.predict(NEW), KernelKNNClassifier(lambda A, B: A @ B.T).fit(X, Y).predict(NEW)
    )
    assert not plain._bank.views_[0].transforms.transforms and plain._bank.views_[0].scaling is None
    for asked in (View("a", Linear(), standardize=True), KernelBank(Linear(), standardize=True)):
        fitted = KernelKNNClassifier(asked).fit(X, Y)._bank.views_[0]
        assert fitted.scaling is not None and not fitted.transforms.transforms
    asked = KernelBank(Linear(), normalize="variance")
    assert KernelKNNClassifier(asked).fit(X, Y)._bank.views_[0].transforms.transforms


test_what_is_no_choice_is_refused = refused(
    (lambda: View("v", Linear(), standardize="yes"), TypeError, "'v': standardize must be .*; got 'yes'"),
    (lambda: View("v", Linear(), normalize="unit"), "'v': normalize, .* one of 'auto', 'variance', .*'unit'"),
    (lambda: KernelBank([Linear()], standardize=2).fit(X), TypeError, "view 'linear': standardize must be"),
    (lambda: KernelBank([Linear()], normalize="std").fit(X), "view 'linear': normalize, .*; got 'std'"),
    (lambda: KernelBank([Spectrum(2)], standardize=True).fit(["ab"]), "'spectrum': standardize=True needs"),
)  # fmt: skip
