"""Names of precomputed kernels: what keeps them, what drops them, and how they are found again."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.utils import _safe_indexing

from multikernel import MKLClassifier, MKLRidge
from multikernel.spectral import KernelKNNClassifier
from multikernel.views import MultiTable, NamedStack, PrecomputedBank, combine_kernels, stack_kernels
from multikernel.views.stacks import as_stack, match_stack, names_of
from tests.refusals import refused

RNG = np.random.default_rng(4)
ROWS, NEW = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3))
KERNELS = {
    "expr": lambda A, B: A @ B.T,
    "ppi": lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.1),
    "seq": pairwise.rbf_kernel,
}
GRAMS = {name: kernel(ROWS, ROWS) for name, kernel in KERNELS.items()}
TESTS = {name: kernel(NEW, ROWS) for name, kernel in KERNELS.items()}
NAMES = tuple(GRAMS)
STACK = stack_kernels(GRAMS)
SOME = np.array([3, 0, 7])
MASK = np.arange(12) % 2 == 0
IDS = [f"s{i}" for i in range(12)]


# --- what keeps the names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("take", "names"),
    [
        (lambda S: S[SOME], NAMES),
        (lambda S: S[SOME.tolist()], NAMES),
        (lambda S: S[MASK], NAMES),
        (lambda S: S[2:9], NAMES),
        (lambda S: S[:, SOME], NAMES),
        (lambda S: S[SOME, ...], NAMES),
        (lambda S: S[...], NAMES),
        (lambda S: S[np.ix_(SOME, SOME)], NAMES),
        (lambda S: S[np.ix_(MASK, SOME)], NAMES),
        (lambda S: S[np.ix_(SOME, [1, 2], [2, 0])], ("seq", "expr")),
        (lambda S: S[:, :, 1:], ("ppi", "seq")),
        (lambda S: S[..., [2, 0]], ("seq", "expr")),
        (lambda S: S[:, :, np.array([True, False, True])], ("expr", "seq")),
        (lambda S: S[2:4, :, ::-1], ("seq", "ppi", "expr")),
        (lambda S: _safe_indexing(S, SOME), NAMES),
        (lambda S: train_test_split(S, random_state=0)[0], NAMES),
        (lambda S: S.copy(), NAMES),
        (lambda S: S.astype(np.float32), NAMES),
        (lambda S: copy.copy(S), NAMES),
        (lambda S: copy.deepcopy(S), NAMES),
        (lambda S: S / 2.0, NAMES),
        (lambda S: np.exp(-S), NAMES),
        (lambda S: (S + S.transpose(1, 0, 2)) / 2, NAMES),
        (lambda S: stack_kernels(S, dtype="float32"), NAMES),
    ],
)
def test_names_stay_with_their_kernels(take, names):
    taken, plain = take(STACK), take(np.asarray(STACK)) if take(STACK).dtype != np.float32 else None
    assert isinstance(taken, NamedStack) and taken.names == names
    if plain is not None:
        np.testing.assert_array_equal(np.asarray(taken), plain)


@pytest.mark.parametrize(
    "take",
    [
        lambda S: S[:, :, 1],
        lambda S: S[0],
        lambda S: S[:, :, [0, 0]],
        lambda S: S[None, 0],
        lambda S: S[:, None, :, 0],
        lambda S: S[[[0, 1]], :, [[0, 1]]],
        lambda S: S.sum(axis=2),
        lambda S: S.mean(axis=0),
        lambda S: np.moveaxis(S, 2, 0),
        lambda S: S.transpose(),
        lambda S: S + NamedStack(S, ["a", "b", "c"]),
        lambda S: S[:, :, :1] == S,
    ],
)
def test_where_kernels_are_not_sure_there_are_no_names(take):
    plain = take(np.asarray(STACK).copy())
    found = take(STACK)
    assert names_of(found) is None or found.dtype == bool
    np.testing.assert_array_equal(np.asarray(found), plain)


def test_numbers_are_numbers():
    assert type(STACK[0, 1, 2]) is np.float64 and STACK.sum() == np.asarray(STACK).sum()


def test_a_stack_of_many_kernels_of_as_many_samples_is_not_renamed():
    square = NamedStack(np.arange(27.0).reshape(3, 3, 3), ["a", "b", "c"])
    assert names_of(square.transpose(2, 1, 0)) is None and names_of(np.swapaxes(square, 0, 2)) is None


def test_writing_into_a_stack_keeps_it():
    stack = STACK.copy("K")
    stack[:2] *= 2.0
    stack += 1.0
    assert stack.names == NAMES and stack[0, 0, 0] == 2.0 * STACK[0, 0, 0] + 1.0
    np.add(stack, 1.0, out=stack)
    assert stack.names == NAMES


def test_pickles_keep_names_and_layout():
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(STACK, protocol))
        assert back.names == NAMES and np.moveaxis(np.asarray(back), 2, 0).flags.c_contiguous
        np.testing.assert_array_equal(back, STACK)
    assert pickle.loads(pickle.dumps(STACK[::2, ::3])).names == NAMES
    assert names_of(pickle.loads(pickle.dumps(STACK.T))) is None


def _told(stack):
    return names_of(stack), isinstance(stack.base, np.memmap) or isinstance(stack.base.base, np.memmap)


def test_processes_map_it_into_memory():
    [(names, mapped)] = joblib.Parallel(n_jobs=2, max_nbytes=100)([joblib.delayed(_told)(STACK)])
    assert names == list(NAMES) and mapped


def test_files(tmp_path):
    joblib.dump(STACK, tmp_path / "stack")
    assert joblib.load(tmp_path / "stack").names == NAMES
    np.savez(tmp_path / "grams.npz", **GRAMS)
    with np.load(tmp_path / "grams.npz") as file:
        assert stack_kernels(file).names == NAMES
    mapped = np.memmap(tmp_path / "mapped", dtype=np.float32, mode="w+", shape=(3, 12, 12))
    mapped[...] = np.moveaxis(STACK, 2, 0)
    bank = PrecomputedBank()
    Ks = bank.fit_stack(NamedStack(np.moveaxis(mapped, 0, 2), NAMES))
    assert np.shares_memory(Ks, mapped) and bank.view_names_ == list(NAMES)


# --- banks see plain arrays, in the order of fit -----------------------------------------------------------


@pytest.mark.parametrize("form", [GRAMS, STACK, list(GRAMS.values()), np.asarray(STACK)])
def test_kernels_in_any_form(form):
    bank = PrecomputedBank()
    Ks = bank.fit_stack(form)
    assert type(Ks) is np.ndarray and Ks.flags.c_contiguous
    np.testing.assert_array_equal(Ks, list(GRAMS.values()))
    assert isinstance(form, list) or np.shares_memory(Ks, STACK) or form is GRAMS
    has_names = form is GRAMS or form is STACK
    assert bank.view_names_ == (list(GRAMS) if has_names else ["kernel-0", "kernel-1", "kernel-2"])
    by_name = [TESTS] if has_names else []
    for new in (*by_name, stack_kernels(TESTS), list(TESTS.values()), np.stack([*TESTS.values()], axis=2)):
        for index, K in bank.iter_kernels(new):
            assert type(K) is np.ndarray
            np.testing.assert_array_equal(K, TESTS[NAMES[index]])


def test_new_kernels_are_found_by_name():
    bank = PrecomputedBank().fit(GRAMS)
    turned = {"other": np.ones((2, 2)), **dict(reversed(TESTS.items()))}
    stacked = stack_kernels(dict(reversed(TESTS.items())))
    for new in (turned, stacked, stacked[:, :, [1, 0, 2]]):
        np.testing.assert_array_equal(bank.transform(new), stack_kernels(TESTS))
    turned_back = match_stack(stacked, NAMES)
    assert turned_back.names == NAMES and np.moveaxis(turned_back, 2, 0).flags.c_contiguous
    assert np.shares_memory(match_stack(STACK, NAMES), STACK)


def test_names_of_a_bank_choose_among_those_of_the_kernels():
    bank = PrecomputedBank(["seq", "expr"])
    np.testing.assert_array_equal(bank.fit_stack(GRAMS), [GRAMS["seq"], GRAMS["expr"]])
    np.testing.assert_array_equal(bank.transform(TESTS), stack_kernels([TESTS["seq"], TESTS["expr"]]))
    assert PrecomputedBank(["a", "b", "c"]).fit(list(GRAMS.values())).view_names_ == ["a", "b", "c"]


def test_kernels_without_names_at_fit_are_taken_by_position():
    bank = PrecomputedBank().fit(list(GRAMS.values()))
    np.testing.assert_array_equal(bank.transform(list(TESTS.values())), stack_kernels(TESTS))
    with pytest.raises(ValueError, match="had no names in fit"):
        bank.transform(TESTS)


def test_nothing_given_is_changed():
    given = {name: K.copy() for name, K in GRAMS.items()}
    PrecomputedBank(psd="clip").fit_stack({**given, "odd": np.tanh(given["expr"] - 1.0)})
    assert list(given) == list(GRAMS) and all((given[name] == GRAMS[name]).all() for name in GRAMS)


def test_sparse_matrices_and_sums():
    sparse = {name: scipy.sparse.csr_array(K) for name, K in GRAMS.items()}
    np.testing.assert_array_equal(stack_kernels(sparse), STACK)
    for form in (sparse, STACK, list(GRAMS.values())):
        total = combine_kernels(form, [1.0, 0.0, 2.0])
        assert type(total) is np.ndarray
        np.testing.assert_allclose(total, GRAMS["expr"] + 2.0 * GRAMS["seq"], rtol=1e-14)


# --- frames ------------------------------------------------------------------------------------------------


def frame(K, rows=None, columns=None):
    return pd.DataFrame(K, index=rows, columns=columns)


def test_frames_with_the_same_labels():
    own = {name: frame(K, IDS, IDS) for name, K in GRAMS.items()}
    mixed = {"expr": own["expr"], "ppi": GRAMS["ppi"], "seq": frame(GRAMS["seq"])}
    read = {
        name: frame(K, np.arange(100, 112), [str(i) for i in range(100, 112)]) for name, K in GRAMS.items()
    }
    frames = {name: pl.DataFrame(K, schema=IDS) for name, K in GRAMS.items()}
    for form in (own, mixed, read, frames):
        stack = as_stack(form, at_fit=True)
        assert stack.names == NAMES
        np.testing.assert_array_equal(stack, STACK)
    new = {name: frame(K, ["n0", "n1", "n2", "n3", "n4"], IDS) for name, K in TESTS.items()}
    np.testing.assert_array_equal(PrecomputedBank().fit(own).transform(new), stack_kernels(TESTS))
    as_many = frame(GRAMS["expr"], [f"n{i}" for i in range(12)], IDS)  # new samples, as many as there were
    assert stack_kernels({"expr": as_many}).shape == (12, 12, 1)


ORDERED = frame(GRAMS["expr"], IDS, IDS)
TURNED = frame(GRAMS["expr"], IDS[::-1], IDS)
OTHERS = frame(GRAMS["expr"], [f"n{i}" for i in range(12)], IDS)
POLARS, NEW_PPI = pl.DataFrame(GRAMS["ppi"], schema=IDS), TESTS["ppi"]
AGREE = "rows and the columns of a square Gram matrix must be the same samples"

test_labels_that_differ_are_named = refused(
    (lambda: stack_kernels({"expr": TURNED}), AGREE + ".*'expr' has 's11' in row 0 and 's0' in column 0"),
    (lambda: as_stack({"expr": OTHERS}, at_fit=True), "kernel 'expr' has 'n0' in row 0.*K.loc"),
    (lambda: as_stack(OTHERS, at_fit=True), "the precomputed kernel has 'n0' in row 0"),
    (lambda: PrecomputedBank().fit(TURNED), AGREE),
    (lambda: PrecomputedBank().fit([OTHERS, OTHERS]), AGREE),
    (
        lambda: stack_kernels({"a": frame(NEW_PPI, None, IDS), "b": frame(NEW_PPI, None, IDS[::-1])}),
        r"same order; column 0 is 's0' in kernel 'a' and 's11' in kernel 'b'. Reorder .*K.loc\[:, ids\]",
    ),
    (
        lambda: stack_kernels({"a": ORDERED, "b": ORDERED.iloc[::-1, ::-1]}),
        r"row 0 is 's0' in kernel 'a' and 's11' in kernel 'b'. Reorder .*K.loc\[ids, ids\]",
    ),
    (
        lambda: stack_kernels([frame(GRAMS["ppi"], IDS, IDS), frame(GRAMS["seq"], IDS[:2] + IDS[:1:-1])]),
        r"row 2 is 's2' in kernel 0 and 's11' in kernel 1",
    ),
    (
        lambda: stack_kernels({"a": GRAMS["ppi"], "b": POLARS, "c": TURNED.T}),
        r"column 0 is 's0' in kernel 'b' and 's11' in kernel 'c'",
    ),
)  # fmt: skip


@pytest.mark.parametrize("model", [MKLClassifier("precomputed"), KernelKNNClassifier("precomputed")])
@pytest.mark.parametrize("form", [lambda K: K, lambda K: [K], lambda K: {"expr": K}])
def test_columns_at_prediction_are_the_training_samples_in_their_order(model, form):
    model = clone(model).fit(form(ORDERED), np.arange(12) % 2)
    new = frame(TESTS["expr"], None, IDS)
    assert len(model.predict(form(new))) == 5
    with pytest.raises(ValueError, match=r"of fit; column 0 of .* is 's11', in fit .* 's0'.*K\.loc\[:, K_"):
        model.predict(form(new.iloc[:, ::-1]))


# --- mistakes ----------------------------------------------------------------------------------------------

SPOILED = {**GRAMS, "ppi": GRAMS["ppi"].copy()}
SPOILED["ppi"][4, 7] = np.nan
FITTED = PrecomputedBank().fit(GRAMS)

test_mistakes_are_named = refused(
    (lambda: stack_kernels({}), "at least one matrix; got none"),
    (lambda: stack_kernels({"a": np.eye(3), 7: np.eye(3)}), TypeError, "must be a non-empty string; got 7"),
    (lambda: stack_kernels({"": np.eye(3)}), TypeError, "must be a non-empty string; got ''"),
    (lambda: stack_kernels([np.ones(3)] * 2), r"must be a matrix .*; kernel 0 has shape \(3,\)\."),
    (
        lambda: stack_kernels({"a": np.eye(2), "b": np.eye(3)}),
        r"same shape; kernel 'b' has shape \(3, 3\), kernel 'a' has shape \(2, 2\)",
    ),
    (lambda: stack_kernels({"a": np.ones(4)}), r"kernel 'a' has shape \(4,\)"),
    (lambda: NamedStack(np.ones((2, 2, 2)), ["a", "a"]), "distinct; 'a' occurs 2 times. Give each .*'a-2'"),
    (lambda: NamedStack(np.ones((2, 2, 2)), ["a"]), "each of the 2 kernels; got 1"),
    (lambda: NamedStack(np.ones((2, 2)), ["a"]), r"must have shape \(n, k, n_kernels\); got shape \(2, 2\)"),
    (lambda: PrecomputedBank(["a", "a"]).fit([np.eye(2)] * 2), "'a' occurs 2 times"),
    (lambda: PrecomputedBank().fit(TESTS), r"must be square at fit.* got shape \(5, 12, 3\)"),
    (lambda: PrecomputedBank().fit(SPOILED), r"kernel 'ppi' holds NaN at \(4, 7\)"),
    (lambda: PrecomputedBank().fit({}), "at least one matrix; got none"),
    (lambda: FITTED.transform({}), r"names of fit, \['expr', 'ppi', 'seq'\]; got \[\], without"),
    (lambda: FITTED.transform({"ppi": TESTS["ppi"]}), r"got \['ppi'\], without \['expr', 'seq'\]"),
    (lambda: FITTED.transform(stack_kernels(TESTS)[:, :, :2]), r"without \['seq'\].*had in fit"),
    (lambda: FITTED.transform({name: K[:, :9] for name, K in TESTS.items()}), "n_train=12"),
    (lambda: FITTED.transform({**TESTS, "ppi": TESTS["ppi"][:2]}), r"kernel 'ppi' has shape \(2, 12\)"),
    (lambda: FITTED.transform({**TESTS, "seq": np.full((5, 12), np.nan)}), "kernel 'seq' holds NaN"),
    (lambda: FITTED.transform(list(TESTS.values())[:2]), r"n_kernels=3\); got shape \(5, 12, 2\)"),
    (lambda: as_stack({**GRAMS, "ppi": None}), TypeError, "kernel 'ppi' is None.*missing=\"renormalize\""),
    (lambda: as_stack([GRAMS["ppi"], None]), TypeError, "kernel 1 is None. Leave it out in fit"),
    (lambda: as_stack(MultiTable(GRAMS)), TypeError, "Use stack_kernels on a dict"),
)  # fmt: skip


# --- the samples of y --------------------------------------------------------------------------------------

LABELLED = {name: frame(K, IDS, IDS) for name, K in GRAMS.items()}
Y = pd.Series(np.arange(12) % 2, index=IDS)
OTHER_IDS = Y.set_axis([f"n{i}" for i in range(12)])
OTHER_ROWS = r"other samples in the same rows: row 0 is 's0' in X and {!r} in y\. Align them by y\.loc\[ids\]"
FORMS = {
    "dict": lambda grams: grams,
    "list": lambda grams: list(grams.values()),
    "frame": lambda grams: grams["seq"],
}


@pytest.mark.parametrize("model", [MKLClassifier("precomputed"), MKLRidge("precomputed")])
@pytest.mark.parametrize("form", FORMS)
def test_y_of_other_samples_than_the_grams_is_refused(model, form):
    X, model = FORMS[form](LABELLED), clone(model)
    for y, first in ((Y.iloc[::-1], "s11"), (OTHER_IDS, "n0")):
        with pytest.raises(ValueError, match=OTHER_ROWS.format(first)):
            model.fit(X, y)
    for y in (Y, Y.iloc[::-1].loc[IDS], Y.to_numpy(), Y.reset_index(drop=True), Y.set_axis(range(50, 62))):
        model.fit(X, y)


def test_ids_that_are_numbers_are_compared_as_files_have_them():
    numbers = list(range(100, 112))
    X = {"seq": frame(GRAMS["seq"], numbers, [str(i) for i in numbers])}
    MKLClassifier("precomputed").fit(X, Y.set_axis(pd.Index(numbers)))
    MKLClassifier("precomputed").fit(X, Y.set_axis(pd.Index(range(12)).append(pd.Index([]))))
    with pytest.raises(ValueError, match="row 0 is '100' in X and '111' in y"):
        MKLClassifier("precomputed").fit(X, Y.set_axis(pd.Index(list(reversed(numbers)))))


# --- the samples of a stack --------------------------------------------------------------------------------

WITH_IDS = stack_kernels(LABELLED)
ALL = tuple(IDS)
CHOSEN, EVEN = ("s3", "s0", "s7"), tuple(IDS[::2])


@pytest.mark.parametrize(
    ("take", "rows", "columns"),
    [
        (lambda S: S, ALL, ALL),
        (lambda S: S[SOME], CHOSEN, ALL),
        (lambda S: S[SOME.tolist()], CHOSEN, ALL),
        (lambda S: S[MASK], EVEN, ALL),
        (lambda S: S[2:4], ("s2", "s3"), ALL),
        (lambda S: S[:, SOME], ALL, CHOSEN),
        (lambda S: S[SOME][:, MASK], CHOSEN, EVEN),
        (lambda S: S[np.ix_(SOME, SOME)], CHOSEN, CHOSEN),
        (lambda S: S[np.ix_(MASK, SOME)], EVEN, CHOSEN),
        (lambda S: S[np.ix_(SOME, [1], [2, 0])], CHOSEN, ("s1",)),
        (lambda S: S[SOME, ..., ::-1], CHOSEN, ALL),
        (lambda S: S[..., [2, 0]], ALL, ALL),
        (lambda S: S[[[0, 1], [2, 3]], 0], None, None),
        (lambda S: S[[[0, 1], [2, 3]], [[0], [1]]], None, None),
        (lambda S: _safe_indexing(S, SOME), CHOSEN, ALL),
        (lambda S: S[SOME].transpose(1, 0, 2), ALL, CHOSEN),
        (lambda S: (S[SOME].copy() / 2.0).astype(np.float32), CHOSEN, ALL),
        (lambda S: S + S[::-1], None, None),
        (lambda S: match_stack(S[SOME], NAMES[::-1]), CHOSEN, ALL),
        (lambda S: pickle.loads(pickle.dumps(S[SOME])), CHOSEN, ALL),
        (lambda S: NamedStack(S, ["a", "b", "c"]), ALL, ALL),
    ],
)
def test_samples_stay_with_their_rows_and_columns(take, rows, columns):
    taken = take(WITH_IDS)
    assert taken.names is not None and (taken.row_ids, taken.column_ids) == (rows, columns)


def test_a_stack_without_labels_has_no_ids():
    assert STACK.row_ids is None and STACK.column_ids is None


def test_a_stack_of_labelled_frames_is_checked_as_they_are():
    model = MKLClassifier("precomputed").fit(WITH_IDS, Y)
    new = stack_kernels({name: frame(K, None, IDS) for name, K in TESTS.items()})
    assert len(model.predict(new)) == 5
    for turned in (new[:, ::-1], {name: frame(K, None, IDS[::-1]) for name, K in TESTS.items()}):
        with pytest.raises(ValueError, match=r"of fit; column 0 of .* is 's11', in fit it was 's0'"):
            model.predict(turned)
    with pytest.raises(ValueError, match=OTHER_ROWS.format("s11")):
        model.fit(WITH_IDS, Y.iloc[::-1])
    with pytest.raises(ValueError, match=AGREE + ".*the stack of kernels has 's11' in row 0"):
        model.fit(WITH_IDS[::-1], Y)
    assert len(cross_val_score(MKLClassifier("precomputed"), WITH_IDS, Y, cv=2)) == 2


def test_a_dict_after_a_fit_without_names_is_refused():
    model = MKLClassifier("precomputed").fit(list(GRAMS.values()), Y)
    with pytest.raises(ValueError, match=r"had no names in fit.* got a dict .*'expr'.*list .* in the order"):
        model.predict(TESTS)
    assert len(model.predict(list(TESTS.values()))) == 5
    single = MKLClassifier("precomputed").fit(GRAMS["expr"], Y)
    assert len(single.predict({"expr": TESTS["expr"]})) == 5  # there is no other
