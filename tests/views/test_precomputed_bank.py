"""Precomputed stacks: what is copied, what is checked, what is restricted; and which bank is made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import pairwise

from multikernel.kernels import Linear, smallest_eigenvalue
from multikernel.views import KernelBank, PrecomputedBank, combine_kernels, make_bank, stack_kernels
from tests.refusals import refused

RNG = np.random.default_rng(9)
ROWS, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(6, 3))
GRAMS = {
    "linear": ROWS @ ROWS.T,
    "wide": pairwise.rbf_kernel(ROWS, gamma=0.1),
    "slim": pairwise.rbf_kernel(ROWS),
}
TESTS = [NEW @ ROWS.T, pairwise.rbf_kernel(NEW, ROWS, gamma=0.1), pairwise.rbf_kernel(NEW, ROWS)]
INDEFINITE = np.tanh(ROWS @ ROWS.T - 1.0)
SUPPORT = np.array([30, 2])


def test_a_stack_in_the_right_order_is_used_as_it_is(tmp_path):
    for dtype in (np.float64, np.float32):
        stack = stack_kernels(GRAMS, dtype=dtype)
        Ks = PrecomputedBank().fit_stack(stack)
        assert Ks.flags.c_contiguous and np.shares_memory(Ks, stack) and Ks.dtype == dtype
    mapped = np.memmap(tmp_path / "stack", dtype=np.float32, mode="w+", shape=(3, 40, 40))
    mapped[...] = np.moveaxis(stack_kernels(GRAMS), 2, 0)
    assert np.shares_memory(PrecomputedBank().fit_stack(np.moveaxis(mapped, 0, 2)), mapped)
    read_only = stack_kernels(GRAMS)
    read_only.flags.writeable = False
    assert PrecomputedBank().fit_stack(read_only).shape == (3, 40, 40)


@pytest.mark.parametrize(
    "convert",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda S: S.astype(">f8"),
        lambda S: S[::1].astype(object),
        np.ndarray.tolist,
    ],
)
@pytest.mark.parametrize("gram", ["dense", "memmap"])
def test_any_other_stack_is_converted_once(convert, gram):
    stack = convert(stack_kernels(GRAMS))
    bank = PrecomputedBank(gram=gram)
    Ks = bank.fit_stack(stack)
    assert Ks.flags.c_contiguous and Ks.dtype == np.float64
    np.testing.assert_array_equal(Ks, list(GRAMS.values()))
    assert bank.memory_.stack == 3 * 40 * 40 * 8


def test_integers_become_the_chosen_type():
    bank = PrecomputedBank(dtype="float32")
    assert (
        bank.fit_stack(np.stack([np.eye(3, dtype=int), 2 * np.eye(3, dtype=int)], axis=2)).dtype == np.float32
    )


def test_prediction_takes_test_rows_kernel_by_kernel():
    bank = PrecomputedBank(names=list(GRAMS)).fit(stack_kernels(GRAMS))
    stack = stack_kernels(TESTS)
    for index, K in bank.iter_kernels(stack):
        np.testing.assert_array_equal(K, TESTS[index])
        assert np.shares_memory(K, stack)
    np.testing.assert_array_equal(bank.transform(np.ascontiguousarray(stack)), stack)
    small = bank.restrict(SUPPORT, [2, 0])
    seen = dict(small.iter_kernels(stack))
    assert list(seen) == [0, 2]
    for index, K in seen.items():
        np.testing.assert_array_equal(K, TESTS[index][:, SUPPORT])
    assert small.view_names_ == ["linear", "wide", "slim"]
    assert bank.get_feature_names_out().tolist() == ["linear", "wide", "slim"]


def test_one_matrix_is_one_kernel():
    bank = PrecomputedBank()
    Ks = bank.fit_stack(GRAMS["wide"])
    assert Ks.shape == (1, 40, 40) and np.shares_memory(Ks, GRAMS["wide"])
    assert bank.view_names_ == ["kernel-0"] and bank.n_kernels_ == 1 and bank.n_train_ == 40
    np.testing.assert_array_equal(next(bank.iter_kernels(TESTS[1]))[1], TESTS[1])


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_a_repair_works_on_a_copy(psd):
    stack = stack_kernels([GRAMS["wide"], INDEFINITE, GRAMS["slim"]])
    before = stack.copy()
    lowest = np.linalg.eigvalsh(INDEFINITE)[0]
    with pytest.raises(ValueError, match=f"kernel 'kernel-1' has smallest eigenvalue {lowest:.3g}"):
        PrecomputedBank().fit_stack(stack)
    bank = PrecomputedBank(psd=psd)
    Ks = bank.fit_stack(stack)
    np.testing.assert_array_equal(stack, before)
    assert smallest_eigenvalue(Ks[1]) > -1e-10 and Ks.flags.c_contiguous
    np.testing.assert_array_equal(Ks[0], GRAMS["wide"])
    new = np.tanh(NEW @ ROWS.T - 1.0)
    tests = stack_kernels([TESTS[1], new, TESTS[2]])
    if psd == "clip":
        values, vectors = np.linalg.eigh(INDEFINITE)
        kept = vectors[:, values > 1e-10]
        new = new @ kept @ kept.T
    np.testing.assert_allclose(bank.transform(tests)[:, :, 1], new, atol=1e-9)
    np.testing.assert_allclose(
        bank.restrict(SUPPORT, [1]).transform(tests)[:, :, 0], new[:, SUPPORT], atol=1e-9
    )
    np.testing.assert_array_equal(bank.fit_transform(stack), np.moveaxis(Ks, 0, 2))


def _spoiled(index, place, value):
    stack = stack_kernels(GRAMS)
    stack[(*place, index)] = value
    return stack


test_bad_stacks_are_named = refused(
    (np.ones((3, 4, 2)), r"must be square at fit, X of shape \(n, n, n_kernels\).* got shape \(3, 4, 2\)"),
    (np.ones(4), r"must have shape \(n, n_train, n_kernels\).*got shape \(4,\)"),
    (np.ones((2, 2, 2, 2)), r"got shape \(2, 2, 2, 2\)"),
    (np.ones((2, 2, 0)), "must hold at least one kernel"),
    (np.ones((0, 0, 2)), "n >= 1"),
    (_spoiled(1, (3, 4), np.nan), r"kernel 'wide' holds NaN at \(3, 4\)"),
    (_spoiled(2, (3, 4), 0.99), r"kernel 'slim' differs from its transpose by .* at \(3, 4\)"),
    (stack_kernels([np.eye(3), np.zeros((3, 3))]), "kernel 'kernel-1' is all zero on the training rows"),
    (stack_kernels([np.ones((3, 3)), np.eye(3)]), "kernel 'kernel-0' is constant on the training rows"),
    ([["a"]], "must be a numeric array"),
    (np.ones((2, 2, 2)) * 1j, "must be a numeric array"),
    by=lambda stack: PrecomputedBank().fit_stack(stack),
)


def test_the_bank_follows_the_kernels():
    settings = {"dtype": "float32", "gram": "memmap", "psd": "shift"}
    for kernels, kind in (("precomputed", PrecomputedBank), ([Linear()], KernelBank)):
        bank = make_bank(KernelBank(kernels, **settings))
        assert isinstance(bank, kind) and {name: getattr(bank, name) for name in settings} == settings


def test_stacks_are_views_on_kernels_first_memory():
    stack = stack_kernels(GRAMS)
    assert stack.shape == (40, 40, 3) and np.moveaxis(stack, 2, 0).flags.c_contiguous
    np.testing.assert_array_equal(stack[:, :, 1], GRAMS["wide"])
    assert stack_kernels([np.eye(2, dtype=np.float32)] * 2).dtype == np.float32
    assert stack_kernels([np.eye(2, dtype=np.float32), np.eye(2)]).dtype == np.float64
    assert stack_kernels([np.eye(2)], dtype="float32").dtype == np.float32
    assert stack_kernels(TESTS).shape == (6, 40, 3)


@pytest.mark.parametrize("form", [lambda: GRAMS, lambda: list(GRAMS.values()), lambda: stack_kernels(GRAMS)])
def test_combination_is_the_weighted_sum(form):
    weights = [0.5, 0.0, 2.0]
    expected = 0.5 * GRAMS["linear"] + 2.0 * GRAMS["slim"]
    np.testing.assert_allclose(combine_kernels(form(), weights), expected, rtol=1e-14)


FITTED = PrecomputedBank().fit(GRAMS)
BROKEN = stack_kernels(TESTS)
BROKEN[2, 5, 1] = np.nan
SHAPE = r"must have shape \(n_test, n_train=40, n_kernels=3\); got shape"


test_mistakes_are_named = refused(
    (lambda: FITTED.iter_kernels(stack_kernels(TESTS[:2])), SHAPE),
    (lambda: FITTED.iter_kernels(stack_kernels(TESTS)[:, :39]), SHAPE),
    (lambda: FITTED.iter_kernels(TESTS[0]), SHAPE),
    (lambda: FITTED.iter_kernels(stack_kernels(TESTS)[:0]), "at least one sample"),
    (lambda: FITTED.transform(BROKEN), r"kernel 'wide' holds NaN at \(2, 5\)"),
    (lambda: PrecomputedBank().transform(BROKEN), "this PrecomputedBank is not fitted yet"),
    (lambda: PrecomputedBank(["a", "b"]).fit(np.asarray(stack_kernels(GRAMS))), "the 3 kernels; got 2"),
    (lambda: PrecomputedBank(list("aba")).fit(stack_kernels(GRAMS)), "'a' occurs 2 times"),
    (lambda: PrecomputedBank(["wide", 2]).fit(GRAMS), TypeError, "must be a non-empty string; got 2"),
    (lambda: PrecomputedBank(["wide", "flat"]).fit(GRAMS), r"'slim'\], without \['flat'\]"),
    (lambda: make_bank("auto", gram="disk"), "gram must be one of 'dense', .*; got 'disk'"),
    (lambda: make_bank(KernelBank("precomputed", psd=None)), "psd must be one of"),
    (lambda: make_bank("rfb"), "kernels must be one of 'auto', 'rich', 'precomputed'.* got 'rfb'"),
    (lambda: stack_kernels([]), "at least one matrix; got none"),
    (lambda: stack_kernels(3), TypeError, "must be a list or a dict of matrices; got int"),
    (lambda: stack_kernels("ab"), TypeError, "got str"),
    (lambda: stack_kernels({"a": np.eye(2), "b": np.eye(3)}), r"'b' has shape \(3, 3\), "),
    (lambda: stack_kernels([np.ones(3)]), r"kernel 0 has shape \(3,\)"),
    (lambda: stack_kernels([[["a"]]]), "kernel 0 must be a numeric array"),
    (lambda: combine_kernels([np.eye(2)], [1.0, 2.0]), r"of the 1 kernels; got shape \(2,\)"),
    (lambda: combine_kernels([np.eye(2)], [np.nan]), "weights must be finite"),
)  # fmt: skip
