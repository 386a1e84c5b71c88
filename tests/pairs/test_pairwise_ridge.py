"""Ridge on pairs: KernelRidge on the explicit Gram matrix, tables, alphas, learned weights, bad input."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score

from multikernel import KernelBank, MKLRidge
from multikernel.kernels import Gaussian, Kronecker, Linear, Pairwise, Polynomial, Precomputed, Spectrum
from multikernel.pairs import PairSplit, PairwiseRidge
from tests.raw import raw

EXACT = {"weights": "uniform", "tol": 1e-22}


def gram(n, seed, d=3):
    Z = np.random.default_rng(seed).normal(size=(n, d))
    return Z @ Z.T + 0.2 * np.eye(n)


K_LEFT, K_RIGHT = gram(9, 1), gram(7, 2)
ORDERED = (Precomputed(K_LEFT), Precomputed(K_RIGHT))
SIDES = {"ordered": ORDERED, "symmetric": ORDERED[:1]}


def grid(n_left=9, n_right=7):
    return np.array(list(itertools.product(range(n_left), range(n_right))))


def sample(form, share=1.1, seed=0):
    """Pairs, values and weights; all, or some of them."""
    rng = np.random.default_rng(seed)
    pairs = grid() if form == "ordered" else np.argwhere(np.triu(np.ones((9, 9))))
    pairs = pairs[rng.random(len(pairs)) < share]
    swapped = rng.random(len(pairs)) < 0.5
    if form == "symmetric":
        pairs[swapped] = pairs[swapped, ::-1]
    rng.shuffle(pairs)
    return pairs, rng.normal(size=len(pairs)), rng.uniform(0.2, 2.0, len(pairs))


def check_against_kernel_ridge(form, pairs, y, weights):
    """Predictions and the objective are those on the explicit Gram matrix of the pairs."""
    kernel = Kronecker(*ORDERED) if form == "ordered" else Pairwise(ORDERED[0])
    judge = KernelRidge(kernel="precomputed", alpha=0.4).fit(kernel(pairs), y, weights)
    model = PairwiseRidge(*SIDES[form], method=form, alpha=0.4, **EXACT).fit(pairs, y, weights)
    every = grid() if form == "ordered" else grid(9, 9)
    expected = judge.predict(kernel(every, pairs))
    np.testing.assert_allclose(model.predict(every), expected, atol=1e-8 * min(1.0, np.abs(expected).max()))
    norm = judge.dual_coef_ @ kernel(pairs) @ judge.dual_coef_
    loss = weights @ (y - judge.predict(kernel(pairs))) ** 2
    assert model.objective_ == pytest.approx(loss + 0.4 * norm, rel=1e-9)
    assert model.status_ == "optimal" and model.alpha_ == 0.4 and model.validation_errors_ is None


@pytest.mark.parametrize("form", SIDES)
@pytest.mark.parametrize("share", [1.1, 0.7, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_kernel_ridge_on_the_explicit_gram_matrix(form, share, weighted):
    pairs, y, weights = sample(form, share)
    check_against_kernel_ridge(form, pairs, y, weights if weighted else np.ones(y.size))


@pytest.mark.parametrize("form", ["ordered", "symmetric"])
def test_repeated_pairs_are_weights(form):
    pairs, y, _ = sample(form, 0.6)
    other = y + np.random.default_rng(1).normal(size=y.size)  # the same pairs measured again
    again = pairs[:, ::-1] if form == "symmetric" else pairs
    values = np.concatenate([y, other])
    check_against_kernel_ridge(form, np.vstack([pairs, again]), values, np.ones(values.size))


def test_symmetric_pairs_do_not_know_an_order():
    pairs, y, _ = sample("symmetric", 0.6)
    model = PairwiseRidge(ORDERED[0], method="symmetric").fit(pairs, y)
    every = grid(9, 9)
    np.testing.assert_allclose(model.predict(every), model.predict(every[:, ::-1]), atol=1e-12)
    np.testing.assert_allclose(model.dual_coef_, model.dual_coef_.T, atol=1e-9)
    assert model.view_names_ == ["precomputed"] and model.weights_frame()["side"].tolist() == ["both"]


# --- tables ------------------------------------------------------------------------------------------------


def features(seed=0):
    rng = np.random.default_rng(seed)
    drugs, targets = rng.normal(size=(9, 2)), rng.normal(size=(7, 3))
    pairs = grid()
    X = np.hstack([drugs[pairs[:, 0]], targets[pairs[:, 1]]])
    return X, drugs[pairs[:, 0], 0] * targets[pairs[:, 1], 1]


def test_features_side_by_side_and_new_objects():
    X, y = features()
    kernel = Kronecker(Gaussian(gamma=0.5), Linear() + Polynomial(2), split=2)
    model = PairwiseRidge(
        raw(Gaussian(gamma=0.5)), raw([Linear(), Polynomial(2)]), split=2, alpha=0.1, **EXACT
    ).fit(X, y)
    judge = KernelRidge(kernel="precomputed", alpha=0.2).fit(kernel(X), y)  # the right side is a mean of two
    fresh = features(5)[0]
    np.testing.assert_allclose(model.predict(fresh), judge.predict(kernel(fresh, X)), atol=1e-7)
    assert model.view_names_ == ["left: gaussian", "right: linear", "right: polynomial"]
    assert model.weights_frame()["weight"].tolist() == [1.0, 0.5, 0.5]
    assert model.dual_coef_.shape == (9, 7) and model.n_features_in_ == 5
    sparse = PairwiseRidge(**model.get_params(deep=False)).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.predict(scipy.sparse.csr_matrix(fresh)), model.predict(fresh), atol=1e-8
    )


@pytest.mark.parametrize("split", [None, (["a1", "a2"], ["b1", "b2"])])
def test_symmetric_pairs_in_frames_are_those_of_arrays(split):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 4)), rng.normal(size=12)
    frame = pd.DataFrame(X, columns=["a1", "a2", "b1", "b2"])
    expected = PairwiseRidge(Gaussian(1.0), method="symmetric").fit(X, y).predict(X)
    model = PairwiseRidge(Gaussian(1.0), method="symmetric", split=split).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-10)
    turned = frame[["b1", "b2", "a1", "a2"]].set_axis(frame.columns, axis=1)
    np.testing.assert_allclose(model.predict(turned), expected, rtol=1e-9)


def test_frames_by_name_with_texts():
    X, y = features()
    frame = pd.DataFrame(X, columns=["mass", "rings", "length", "charge", "depth"])
    plain = PairwiseRidge(Linear(), split=2, alpha=0.1).fit(X, y)
    named = PairwiseRidge(Linear(), split=(["mass", "rings"], ["length", "charge", "depth"]), alpha=0.1)
    mixed = frame[["length", "mass", "charge", "rings", "depth"]]
    np.testing.assert_allclose(named.fit(mixed, y).predict(mixed), plain.predict(X), atol=1e-8)

    def same(A, B):
        return 1.0 * (np.asarray(A) == np.asarray(B).T)

    words = pd.DataFrame({"drug": [f"d{a}" for a, _ in grid()], "target": [f"t{b}" for _, b in grid()]})
    model = PairwiseRidge(raw(same), alpha=0.5).fit(words, y)
    np.testing.assert_allclose(model.predict(words), y / 1.5)  # each pair is like itself only


def test_sequences_beside_positions():
    rng = np.random.default_rng(0)
    sequences = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(8)]
    K = Spectrum(2).fit(sequences)(sequences)
    pairs, y, _ = sample("ordered", 0.7)
    pairs = pairs[pairs[:, 0] < 8]
    y = y[: len(pairs)]
    expected = PairwiseRidge(Precomputed(K), ORDERED[1]).fit(pairs, y).predict(pairs)
    rows = [[sequences[a], int(b)] for a, b in pairs]
    for table in (pd.DataFrame(rows), np.array(rows, dtype=object), rows):
        model = PairwiseRidge(raw(Spectrum(2)), ORDERED[1]).fit(table, y)
        np.testing.assert_allclose(model.predict(table), expected, atol=1e-6)


def test_nothing_larger_than_the_objects_kernels_is_made():
    n_left, n_right = 250, 150
    pairs = grid(n_left, n_right)
    y = np.random.default_rng(0).normal(size=len(pairs))
    kernels = [Precomputed(gram(n, n) / 3.0) for n in (n_left, n_right)]
    some = np.random.default_rng(1).random(len(pairs)) < 0.8
    for rows in (slice(None), some):
        model = PairwiseRidge(*kernels, alpha=5.0)
        tracemalloc.start()
        model.fit(pairs[rows], y[rows]).predict(pairs)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100 * pairs.nbytes < 8 * len(pairs) ** 2 / 100  # a hundredth of the matrix


# --- scikit-learn ------------------------------------------------------------------------------------------


def test_scikit_learn_splits_pairs_and_searches_alpha():
    X, y = features()
    model = PairwiseRidge(Linear(), split=2, weights="uniform")
    search = GridSearchCV(model, {"alpha": [1e-3, 1e3]}, cv=PairSplit(3, "both", columns=2)).fit(X, y)
    assert search.best_params_ == {"alpha": 1e-3} and search.n_splits_ == 9
    assert cross_val_score(model, X, y, cv=PairSplit(3, "left", columns=2)).shape == (3,)


@pytest.mark.parametrize("hold_out", ["pairs", "left", "right"])
def test_alphas_are_chosen_by_what_is_left_out(hold_out):
    pairs, y, _ = sample("ordered")
    alphas = [0.01, 0.3, 10.0]
    model = PairwiseRidge(*ORDERED, alphas=alphas, hold_out=hold_out, **EXACT).fit(pairs, y)
    groups = {"pairs": np.arange(y.size), "left": pairs[:, 0], "right": pairs[:, 1]}[hold_out]
    for alpha, error in zip(alphas, model.validation_errors_, strict=True):
        missed = []
        for group in np.unique(groups):
            out = groups == group
            part = PairwiseRidge(*ORDERED, alpha=alpha, **EXACT).fit(pairs[~out], y[~out])
            missed += list((y[out] - part.predict(pairs[out])) ** 2)
        assert error == pytest.approx(np.mean(missed), rel=1e-6)
    assert model.alpha_ == alphas[int(np.argmin(model.validation_errors_))]
    plain = PairwiseRidge(*ORDERED, alpha=model.alpha_, **EXACT).fit(pairs, y)
    np.testing.assert_array_equal(model.predict(pairs), plain.predict(pairs))


@pytest.mark.parametrize(
    ("form", "hold_out", "share"),
    [
        ("ordered", "both", 1.1),
        ("ordered", "left", 0.8),
        ("symmetric", "one", 1.1),
        ("symmetric", "pairs", 0.8),
    ],
)
def test_alphas_are_chosen_on_folds_where_there_is_no_closed_form(form, hold_out, share):
    pairs, y, weights = sample(form, share)
    sides = SIDES[form]
    model = PairwiseRidge(*sides, method=form, alphas=[0.5, 5.0], hold_out=hold_out, **EXACT)
    model.fit(pairs, y, weights)
    banks = model._left_bank, model._left_bank if form == "symmetric" else model._right_bank
    numbers = [np.asarray(bank.views_[0].rows.raw).ravel().tolist() for bank in banks]
    cells = np.array([[numbers[0].index(a), numbers[1].index(b)] for a, b in pairs])  # as the model counts
    errors = weight = 0.0
    for train, test in PairSplit(5, hold_out, symmetric=form == "symmetric").split(cells):
        part = PairwiseRidge(*sides, method=form, alpha=5.0, **EXACT)
        part.fit(pairs[train], y[train], weights[train])
        errors += weights[test] @ (y[test] - part.predict(pairs[test])) ** 2
        weight += weights[test].sum()
    assert model.validation_errors_.shape == (2,)
    assert model.validation_errors_[1] == pytest.approx(errors / weight, rel=1e-6)


# --- learned weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["ordered", "symmetric"])
def test_the_kernel_that_made_the_values_gets_the_weight(form):
    rng = np.random.default_rng(0)
    n_right = 12 if form == "ordered" else 15
    pairs = grid(15, n_right)
    stacks = []
    for n in (15, n_right):
        made = [gram(n, 3, 2), gram(n, 4, 2), gram(n, 5, 2)]
        stacks.append([K / K.diagonal().mean() for K in made])
    stacks[1] = stacks[0] if form == "symmetric" else stacks[1]
    F = stacks[0][1] @ rng.normal(size=(15, n_right)) @ stacks[1][1]
    F = F + F.T if form == "symmetric" else F
    y = F[pairs[:, 0], pairs[:, 1]] + 0.01 * rng.normal(size=len(pairs))
    sides = [[(f"k{m}", Precomputed(K)) for m, K in enumerate(stack)] for stack in stacks]
    some = rng.random(len(pairs)) < 0.7
    sides = sides if form == "ordered" else sides[:1]
    model = PairwiseRidge(*sides, method=form, alpha=0.1).fit(pairs[some], y[some])
    assert model.left_weights_.argmax() == 1 and model.left_weights_[1] > 0.8
    assert model.right_weights_[1] > 0.8 and model.dual_gap_ <= 1e-6
    assert model.score(pairs[~some], y[~some]) > 0.9
    uniform = PairwiseRidge(*sides, method=form, alpha=0.1, weights="uniform").fit(pairs[some], y[some])
    assert model.objective_ < uniform.objective_
    assert (model.certificate, uniform.certificate) == ("stationarity", "optimality")
    values = [entry["objective"] for entry in model.history_]
    assert values[-1] <= values[0] and model.n_iter_ == len(values) - 1


@pytest.mark.parametrize("n_right", [1, 2])
def test_right_objects_that_have_nothing_in_common_leave_multiple_kernel_ridge(n_right):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] + 0.2 * np.random.default_rng(1).normal(size=30)
    kernels = raw([("first", Linear(), [0]), ("second", Gaussian(1.0), [1])])
    pairs = np.vstack([np.column_stack([X, np.full(30, right)]) for right in range(n_right)])
    model = PairwiseRidge(kernels, Precomputed(np.eye(n_right)), split=2, alpha=0.7, tol=1e-9)
    model.fit(pairs, np.tile(y, n_right))
    judge = MKLRidge(kernels, alpha=0.7, fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.left_weights_, judge.kernel_weights_, atol=1e-3)
    assert model.objective_ == pytest.approx(2 * n_right * judge.objective_, rel=1e-7)
    np.testing.assert_allclose(model.predict(pairs[:30]), judge.predict(X), atol=1e-3)


# --- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"alphas": []}, ValueError, "alphas must hold at least one number"),
        ({"alphas": [1.0, -1.0]}, ValueError, "alphas, each of them, must be greater than 0"),
        ({"left": "precomputed"}, ValueError, r'left="precomputed" is not known here.*left=Precomputed\(K\)'),
        ({"right": "precomputed"}, ValueError, r'right="precomputed" is not known'),
        ({"method": "symmetric"}, ValueError, "takes its kernels from left; right must be None"),
        ({"split": 2}, ValueError, "split=2 leaves no column"),
        ({"left": Precomputed(K_LEFT[:5, :5])}, ValueError, r"left objects: .*Positions run from 0 to 4"),
    ],
)
def test_bad_parameters(given, error, message):
    pairs, y, _ = sample("ordered")
    model = PairwiseRidge(**{"left": ORDERED[0], "right": ORDERED[1]} | given)
    with pytest.raises(error, match=message):
        model.fit(pairs, y)


def test_bad_tables():
    X, y = features()
    model = PairwiseRidge(Linear(), split=2)
    with pytest.raises(ValueError, match="must hold two objects side by side, an even number"):
        PairwiseRidge(Linear()).fit(X, y)
    broken = X.copy()
    broken[11, 1] = np.nan
    with pytest.raises(ValueError, match="left objects: view 'linear' holds NaN at row 11, column 1"):
        model.fit(broken, y)
    weights = np.ones(y.size)
    weights[:3] = 0.0  # rows are counted as the caller counts them
    with pytest.raises(ValueError, match="left objects: view 'linear' holds NaN at row 11"):
        model.fit(broken, y, weights)
    model.fit(X, y)
    broken[11, 1], broken[20, 4] = 0.0, np.inf
    with pytest.raises(
        ValueError, match=r"right objects: view 'linear' .*holds infinity at row 20, column 2"
    ):
        model.predict(broken)
    with pytest.raises(ValueError, match="as many columns for the one object as for the other; got 2 and 3"):
        PairwiseRidge(Linear(), method="symmetric", split=2).fit(X, y)


def test_indefinite_kernels_are_refused_or_repaired():
    pairs, y, _ = sample("ordered")
    bad = K_LEFT - 2.0 * np.eye(9)
    with pytest.raises(ValueError, match="positive semidefinite; kernel 'precomputed' has smallest"):
        PairwiseRidge(Precomputed(bad), ORDERED[1]).fit(pairs, y)
    repaired = PairwiseRidge(KernelBank(Precomputed(bad), psd="clip"), ORDERED[1])
    assert repaired.fit(pairs, y).status_ == "optimal"
    with pytest.raises(ValueError, match="PairwiseRidge does not support gram='memmap' of its KernelBank"):
        PairwiseRidge(ORDERED[0], KernelBank(ORDERED[1], gram="memmap")).fit(pairs, y)


def test_values_that_overflow_are_refused():
    pairs, y, _ = sample("ordered", 0.8)
    with pytest.raises(ValueError, match=r"squared errors are too large for floating point\. Rescale y"):
        PairwiseRidge(*ORDERED).fit(pairs, 1e200 * y)
    model = PairwiseRidge(*ORDERED).fit(pairs, 1e100 * y)
    plain = PairwiseRidge(*ORDERED).fit(pairs, y)
    np.testing.assert_allclose(model.predict(pairs), 1e100 * plain.predict(pairs), rtol=1e-2)


def test_an_early_end_warns():
    pairs, y, _ = sample("ordered", 0.6)
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-12: .*Raise max_iter"):
        model = PairwiseRidge(*ORDERED, alpha=1e-4, tol=1e-12, max_iter=2).fit(pairs, y)
    assert model.status_ == "max_iter" and model.dual_gap_ > 1e-12
