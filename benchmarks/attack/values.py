"""What calls are given: sensible data, and values of every kind that nobody should give."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import scipy.sparse

from multikernel import View
from multikernel.kernels import Gaussian, Linear
from multikernel.views import MultiTable

Rng = np.random.Generator
HUGE = 10**400  # no float holds it


class Refusing:
    """An object that NumPy cannot make an array of."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError("this is no array")

    def __len__(self) -> int:
        return 12


class Subclass(np.ndarray):
    """An array of a class of its own."""


def hostile_value(rng: Rng) -> Any:
    """Something that is rarely what a parameter wants."""
    values: list[Callable[[], Any]] = [
        *(lambda value=value: value for value in NUMBERS),
        *(lambda value=value: value for value in OTHERS),
        lambda: np.array([]),
        lambda: np.array(3.0),
        lambda: np.eye(3),
        lambda: memoryview(np.eye(3)),
        lambda: (number for number in range(3)),
        lambda: scipy.sparse.csr_matrix(np.eye(3)),
        lambda: pd.DataFrame({"a": [1.0, 2.0]}),
        lambda: Gaussian(),
        lambda: [Gaussian(), None],
        lambda: {"a": Gaussian()},
        lambda: View("line", Linear()),
        Refusing,
    ]
    return values[rng.integers(len(values))]()


NUMBERS = (
    0,
    -1,
    1,
    2,
    3,
    2**70,
    -(2**70),
    HUGE,
    -HUGE,
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    1e-320,
    1e-30,
    1e30,
    1e160,
    1e308,
    -1e308,
    np.nan,
    np.inf,
    -np.inf,
    1 + 2j,
    True,
    False,
    np.float32(np.nan),
    np.float16(1),
    np.longdouble(1),
    np.int8(-1),
    np.uint64(2**64 - 1),
    np.bool_(True),
    Decimal("NaN"),
    Decimal("0.5"),
    Fraction(1, 3),
)
OTHERS = (
    None,
    "",
    "auto",
    "precomputed",
    "x" * 1000,
    "\0",
    "ovr",
    b"bytes",
    [],
    (),
    {},
    [[]],
    [None],
    ["a", 1],
    ("a", "b"),
    [1, 2, 3],
    [np.nan],
    (0, 1),
    {"a": 1},
    {1: "a"},
    range(3),
    slice(None),
    ...,
    set(),
    frozenset({1}),
    object(),
    int,
    len,
    np.ma.masked,
    pd.NA,
    pd.NaT,
    np.datetime64("2020-01-01"),
    np.float64,
    Path("nowhere/at/all"),
    Gaussian,
)


# --- tables -------------------------------------------------------------------------------------------------


def table(rng: Rng, n: int = 16, d: int = 3) -> np.ndarray:
    """A sensible table."""
    return rng.normal(size=(n, d))


def hostile_table(rng: Rng, n: int = 16, d: int = 3) -> Any:
    """A table that may be no table: shapes, types, containers and entries of all kinds."""
    if rng.random() < 0.08:
        return hostile_value(rng)
    X = table(rng, n, d)
    return TABLES[rng.integers(len(TABLES))](X, rng)


def _with(value: Any, dtype: Any = np.float64) -> Callable[[np.ndarray, Rng], Any]:
    def spoil(X: np.ndarray, rng: Rng) -> Any:
        X = X.astype(dtype)
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = value
        return X

    return spoil


def _memmap(X: np.ndarray, dtype: Any, mode: str = "r") -> np.ndarray:
    with tempfile.NamedTemporaryFile() as file:
        X.astype(dtype).tofile(file)
        file.flush()
        return np.memmap(file.name, dtype=dtype, mode=mode, shape=X.shape)


def _masked(X: np.ndarray, rng: Rng) -> Any:
    return np.ma.masked_greater(X, 1.0)


def _frame(X: np.ndarray, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(**columns)


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _sparse_with_nan(X: np.ndarray, rng: Rng) -> Any:
    found = scipy.sparse.csr_matrix(np.where(X > 0, X, 0))
    found.data[:1] = np.nan
    return found


TABLES: list[Callable[[np.ndarray, Rng], Any]] = [
    _with(np.nan),
    _with(np.inf),
    _with(-np.inf),
    _with(1e308),
    _with(HUGE, object),
    _with("a", object),
    _with(None, object),
    _with(pd.NA, object),
    _with([1, 2], object),
    _with(1 + 2j, complex),
    _with(np.nan, np.float32),
    lambda X, rng: X[:0],
    lambda X, rng: X[:1],
    lambda X, rng: X[:2],
    lambda X, rng: X[:, :0],
    lambda X, rng: X[:, :1],
    lambda X, rng: X[:, 0],
    lambda X, rng: X[None],
    lambda X, rng: np.array(1.0),
    lambda X, rng: X.T,
    lambda X, rng: X.astype(object),
    lambda X, rng: X.astype(str),
    lambda X, rng: X.astype("S8"),
    lambda X, rng: X.astype(complex),
    lambda X, rng: X.astype(np.float32),
    lambda X, rng: X.astype(np.float16),
    lambda X, rng: X.astype(np.longdouble),
    lambda X, rng: X > 0,
    lambda X, rng: X.astype(np.int8),
    lambda X, rng: np.full(X.shape, 2**64 - 1, np.uint64),
    lambda X, rng: np.full(X.shape, 2**62),
    lambda X, rng: X.astype("datetime64[s]"),
    lambda X, rng: X.astype("timedelta64[s]"),
    lambda X, rng: np.zeros(len(X), [("a", float), ("b", int)]),
    lambda X, rng: X.astype(">f8"),
    lambda X, rng: memoryview(X),
    lambda X, rng: memoryview(X.ravel()),
    lambda X, rng: _memmap(X, np.float64),
    lambda X, rng: _memmap(X, np.float32),
    lambda X, rng: _memmap(X, np.float64, "c"),
    _masked,
    lambda X, rng: X.view(Subclass),
    lambda X, rng: np.asmatrix(X),
    lambda X, rng: np.asfortranarray(X),
    lambda X, rng: X[::-1, ::-1],
    lambda X, rng: _read_only(X),
    lambda X, rng: np.broadcast_to(X[:1], X.shape),
    lambda X, rng: X * 1e-320,
    lambda X, rng: X * 1e300,
    lambda X, rng: X * 0.0,
    lambda X, rng: np.ones_like(X),
    lambda X, rng: np.repeat(X[:2], len(X) // 2, axis=0),
    lambda X, rng: np.abs(X),
    lambda X, rng: X @ X.T,
    lambda X, rng: scipy.sparse.csr_matrix(X),
    lambda X, rng: scipy.sparse.csc_array(X),
    lambda X, rng: scipy.sparse.coo_matrix(X),
    lambda X, rng: scipy.sparse.dok_matrix(X),
    lambda X, rng: scipy.sparse.lil_array(X),
    lambda X, rng: scipy.sparse.csr_matrix(X.shape),
    _sparse_with_nan,
    lambda X, rng: scipy.sparse.csr_matrix(X > 0),
    lambda X, rng: scipy.sparse.csr_matrix(X, dtype=complex),
    lambda X, rng: X.tolist(),
    lambda X, rng: [list(map(str, row)) for row in X],
    lambda X, rng: [[1.0], [1.0, 2.0]],
    lambda X, rng: tuple(map(tuple, X)),
    lambda X, rng: list(X),
    lambda X, rng: [X, X[:, :1]],
    lambda X, rng: {"a": X, "b": X[:, :1]},
    lambda X, rng: {"a": X, "b": X[:3]},
    lambda X, rng: {0: X},
    lambda X, rng: ["ACGT" * (1 + k % 3) for k in range(len(X))],
    lambda X, rng: [set(), {1}] * 8,
    lambda X, rng: set(),
    lambda X, rng: (row for row in X),
    lambda X, rng: "ACGT",
    lambda X, rng: None,
    lambda X, rng: 7,
    lambda X, rng: Refusing(),
    lambda X, rng: _frame(X),
    lambda X, rng: _frame(X, text="a"),
    lambda X, rng: _frame(X, c0=None),
    lambda X, rng: _frame(X).astype("category"),
    lambda X, rng: _frame(X).astype("Float64"),
    lambda X, rng: _frame(X, day=pd.Timestamp("2020-01-01")),
    lambda X, rng: _frame(X).set_axis(["a"] * X.shape[1], axis=1),
    lambda X, rng: _frame(X).set_axis(pd.MultiIndex.from_product([["a"], range(X.shape[1])]), axis=1),
    lambda X, rng: _frame(X).astype(pd.SparseDtype(float)),
    lambda X, rng: _frame(X)["c0"],
    lambda X, rng: _frame(X)[:0],
    lambda X, rng: _frame(X).rename(columns={"c0": 0}),
    lambda X, rng: polars.DataFrame(X),
    lambda X, rng: polars.DataFrame({"a": ["x"] * len(X)}),
    lambda X, rng: pyarrow.table({"a": X[:, 0]}),
]


# --- targets ------------------------------------------------------------------------------------------------


def labels(rng: Rng, n: int = 16) -> np.ndarray:
    """Sensible labels."""
    return np.arange(n) % int(rng.integers(2, 4))


def values(rng: Rng, n: int = 16) -> np.ndarray:
    """Sensible values."""
    return rng.normal(size=n)


def hostile_target(rng: Rng, y: np.ndarray) -> Any:
    """Targets, or weights of samples, that may be none."""
    if rng.random() < 0.1 or not len(y):
        return hostile_value(rng)
    return TARGETS[rng.integers(len(TARGETS))](y)


def _put(value: Any, dtype: Any = float) -> Callable[[np.ndarray], Any]:
    def spoil(y: np.ndarray) -> Any:
        y = y.astype(dtype)
        y[len(y) // 2] = value
        return y

    return spoil


TARGETS: list[Callable[[np.ndarray], Any]] = [
    _put(np.nan),
    _put(np.inf),
    _put(1e160),
    _put(-1e308),
    _put(None, object),
    _put("a", object),
    _put(pd.NA, object),
    _put(HUGE, object),
    _put([1], object),
    _put(-1.0),
    _put(0.5),
    lambda y: y * 1e160,
    lambda y: y * 1e-320,
    lambda y: y[:-1],
    lambda y: y[:0],
    lambda y: y[:1],
    lambda y: np.r_[y, y],
    lambda y: y[:, None],
    lambda y: y[None],
    lambda y: np.c_[y, y],
    lambda y: np.array(1.0),
    lambda y: np.zeros_like(y),
    lambda y: y.astype(str),
    lambda y: y.astype("S3"),
    lambda y: y.astype(object),
    lambda y: y.astype(complex),
    lambda y: y.astype(np.float32),
    lambda y: y.astype(bool),
    lambda y: y.astype("datetime64[s]"),
    lambda y: y.astype(np.uint64) + 2**63,
    lambda y: np.arange(len(y)),
    lambda y: np.arange(len(y)) % 2,
    lambda y: -np.ones(len(y)),
    lambda y: y.tolist(),
    lambda y: tuple(y),
    lambda y: (v for v in y),
    lambda y: np.ma.masked_equal(y, y[0]),
    lambda y: y.view(Subclass),
    lambda y: memoryview(y),
    lambda y: memoryview(np.c_[y, y]),
    lambda y: _memmap(y, np.float32),
    lambda y: None,
    lambda y: pd.Series(y),
    lambda y: pd.Series(y).astype("category"),
    lambda y: pd.Series([pd.NA] * len(y)),
    lambda y: pd.DataFrame({"y": y}),
    lambda y: polars.Series(y),
    lambda y: scipy.sparse.csr_matrix(y),
    lambda y: {"y": y},
    lambda y: ["a", "b"] * (len(y) // 2),
    lambda y: [["a"], ["b"]] * (len(y) // 2),
]


# --- stacks of Gram matrices --------------------------------------------------------------------------------


def stack(rng: Rng, n: int = 12, m: int = 2) -> np.ndarray:
    """Sensible Gram matrices, kernels last."""
    A = rng.normal(size=(m, n, n + 1))
    return np.moveaxis(A @ A.transpose(0, 2, 1), 0, 2).copy()


def hostile_stack(rng: Rng, Ks: np.ndarray) -> Any:
    """Gram matrices with a defect."""
    kind = rng.integers(24)
    spoiled = Ks.copy()
    place = tuple(rng.integers(size) for size in Ks.shape)
    if kind < 6:
        spoiled[place] = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5.0)[kind]
        return spoiled
    first, single = Ks[:, :, 0], Ks.astype(np.float32)
    return [
        lambda: Ks * 1e300,
        lambda: Ks * 1e-320,
        lambda: -Ks,
        lambda: np.zeros_like(Ks),
        lambda: np.moveaxis(Ks, 2, 0),
        lambda: first,
        lambda: Ks[:-1],
        lambda: Ks[:0],
        lambda: Ks[:, :, :0],
        lambda: single,
        lambda: _memmap(Ks, np.float32),
        lambda: [first, first * np.nan],
        lambda: {"a": first, "b": first},
        lambda: memoryview(Ks),
        lambda: memoryview(first),
        lambda: Ks.astype(object),
        lambda: np.ma.masked_greater(Ks, 1.0),
        lambda: hostile_table(rng),
    ][kind - 6]()


# --- several tables of the same samples ---------------------------------------------------------------------


def tables(rng: Rng, n: int = 16) -> dict[str, pd.DataFrame]:
    """Two tables with the same samples, by name."""
    ids = [f"s{k}" for k in range(n)]
    return {
        "one": pd.DataFrame(table(rng, n), index=ids, columns=["a", "b", "c"]),
        "two": pd.DataFrame(table(rng, n, 2), index=ids, columns=["d", "e"]),
    }


def annotated(rng: Rng, n: int = 16, **more: Any) -> Any:
    """An AnnData with labels, a layer and an embedding."""
    import anndata

    X, ids = table(rng, n), [f"s{k}" for k in range(n)]
    obs = pd.DataFrame({"kind": pd.Categorical(["T", "B"] * (n // 2))}, index=ids)
    parts = {"layers": {"double": 2 * X}, "obsm": {"X_pca": X[:, :2]}} | more
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=["a", "b", "c"]), **parts)


def modalities(rng: Rng, n: int = 16) -> Any:
    """A MuData of two modalities, of which the second lacks some samples."""
    import mudata

    with mudata.set_options(pull_on_update=False):
        return mudata.MuData({"one": annotated(rng, n), "two": annotated(rng, n)[: n - 4].copy()})


def hostile_tables(rng: Rng, n: int = 16) -> Any:
    """Several tables, or what stands for them, often with a defect."""
    kind = rng.integers(len(SEVERAL) + 2)
    if kind >= len(SEVERAL):
        return hostile_table(rng, n)
    found = tables(rng, n)
    return SEVERAL[kind](found["one"], found["two"], rng)


def _lacking(frame: pd.DataFrame, rows: slice) -> pd.DataFrame:
    found = frame.copy()
    found.iloc[rows] = np.nan
    return found


def _spoiled(rng: Rng, n: int) -> Any:
    found = annotated(rng, n)
    found.X[0, 0] = np.nan
    found.obsm["X_pca"] = found.obsm["X_pca"] * np.inf
    return found


def _joined(one: pd.DataFrame, two: pd.DataFrame, how: str) -> Any:
    from multikernel import join_views

    return join_views({"one": one, "two": two}, how=how)


SEVERAL: list[Callable[[pd.DataFrame, pd.DataFrame, Rng], Any]] = [
    lambda one, two, rng: {"one": one, "two": two},
    lambda one, two, rng: {"one": one, "two": two.to_numpy()},
    lambda one, two, rng: {"one": one.to_numpy(np.float32), "two": _memmap(two.to_numpy(), np.float32)},
    lambda one, two, rng: {"one": polars.from_pandas(one), "two": two.reset_index(drop=True)},
    lambda one, two, rng: {"one": scipy.sparse.csr_matrix(one), "two": two},
    lambda one, two, rng: {"one": one, "two": two[::-1]},
    lambda one, two, rng: {"one": one, "two": two[:-3]},
    lambda one, two, rng: {"one": one, "two": two[:0]},
    lambda one, two, rng: {"one": one, "two": two.rename({"s1": "s0"})},
    lambda one, two, rng: {"one": one, "two": two.set_axis(range(len(two)))},
    lambda one, two, rng: {"one": one, "two": _lacking(two, slice(3))},
    lambda one, two, rng: {"one": _lacking(one, slice(1)), "two": _lacking(two, slice(1))},
    lambda one, two, rng: {"one": one, "two": two.assign(d=np.inf)},
    lambda one, two, rng: {"one": one, "two": two.assign(d="text")},
    lambda one, two, rng: {"one": one, "two": None},
    lambda one, two, rng: {"one": one, "three": two},
    lambda one, two, rng: {"one": one},
    lambda one, two, rng: {"": one, 0: two},
    lambda one, two, rng: {},
    lambda one, two, rng: [one, two],
    lambda one, two, rng: [one, None],
    lambda one, two, rng: MultiTable({"one": one, "two": two}),
    lambda one, two, rng: MultiTable({"one": one.to_numpy(), "two": two.to_numpy()}, ids=list(one.index)),
    lambda one, two, rng: MultiTable({"one": one, "two": _lacking(two, slice(2))}),
    lambda one, two, rng: MultiTable({"one": one, "two": two})[:0],
    lambda one, two, rng: MultiTable({"one": one, "two": two})[[3, 3, 1]],
    lambda one, two, rng: _joined(one, two[4:], "outer"),
    lambda one, two, rng: _joined(one, two[::2], "inner"),
    lambda one, two, rng: _joined(one, two[:1], "inner"),
    lambda one, two, rng: annotated(rng, len(one)),
    lambda one, two, rng: annotated(rng, len(one), obsm={"X_pca": scipy.sparse.csr_matrix(one)}),
    lambda one, two, rng: annotated(rng, len(one))[:0],
    lambda one, two, rng: _spoiled(rng, len(one)),
    lambda one, two, rng: modalities(rng, len(one)),
]


# --- what a callback may do ---------------------------------------------------------------------------------


class CallbackError(Exception):
    """Raised by a callback of the attack: it belongs to the caller, and is to come out as it is."""


def _raise(entry: Any) -> None:
    raise CallbackError


CALLBACKS: tuple[Any, ...] = (
    lambda entry: None,
    lambda entry: True,
    lambda entry: False,
    lambda entry: np.nan,
    lambda entry: np.ones(3),
    lambda entry: "yes",
    lambda entry: pd.NA,
    lambda entry: entry.clear(),
    lambda entry: entry.update(objective=np.nan, gap=-1.0, iteration=10**9),
    lambda: None,
    _raise,
)


# --- damaged files ------------------------------------------------------------------------------------------


def damage(content: bytes, rng: Rng) -> bytes:
    """The content with a defect: bytes changed, cut off, doubled, or put in."""
    kind, place = rng.integers(8), int(rng.integers(len(content) + 1))
    if kind < 3:
        changed = bytearray(content)
        for each in rng.integers(max(len(content), 1), size=rng.integers(1, 4)):
            changed[each : each + 1] = bytes([rng.integers(256)])
        return bytes(changed)
    return (
        content[:place],
        b"",
        content + content,
        content[:place] + bytes(rng.integers(256, size=20, dtype=np.uint8)) + content[place:],
        content.replace(b"0", b"\xff\xfe"),
    )[kind - 3]
