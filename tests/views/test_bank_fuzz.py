"""Whatever comes in: a finite stack or one of our errors, never anything else, and never a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from multikernel.kernels import Chi2, Cosine, Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from multikernel.views import KernelBank, PrecomputedBank, View

DTYPES = [np.float64, np.float32, np.int64, np.int8, np.uint8, np.bool_]
BANKS = [
    "auto",
    [Linear(), Gaussian("nearest"), Polynomial(3)],
    [("a", Cosine(), [0]), ("b", Laplacian(), slice(0, 2)), ("c", Gaussian(gamma=2.0), lambda X: [-1])],
    [
        ("t", Sigmoid()),
        ("h", Chi2()),
        ("p", Gaussian() * Linear() + Gaussian(s=1.0), None, ("center", "unit_trace")),
    ],
    [("n", Linear(), None, ("center", "unit_diagonal")), ("m", Polynomial(2, "scale"), None, "unit_trace")],
    [View("s", Laplacian(), [0], standardize=True), View("r", Linear() + Linear() ** 2, standardize=True)],
]

special = st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, -np.inf])


@st.composite
def tables(draw):
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(
        st.one_of(st.tuples(st.integers(0, 7), st.integers(0, 4)), array_shapes(max_dims=3, max_side=3))
    )
    values = draw(arrays(dtype, shape))
    if np.dtype(dtype).kind == "f" and draw(st.booleans()):
        values = draw(arrays(np.float64, shape, elements=st.floats(-4, 4).map(lambda x: round(x, 3))))
        values = values * 10.0 ** draw(st.integers(-150, 150))
        if values.size and draw(st.integers(0, 3)) == 0:
            values.flat[draw(st.integers(0, values.size - 1))] = draw(special)
    forms = ["array", "list", "object"] + (["sparse", "frame"] if values.ndim == 2 else [])
    form = draw(st.sampled_from(forms))
    if form == "sparse" and values.dtype != np.bool_:
        return scipy.sparse.csr_matrix(values)
    if form == "frame":
        return pd.DataFrame(values)
    return {"list": values.tolist(), "object": values.astype(object)}.get(form, values)


def _finite_or_refused(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = call()
        except (ValueError, TypeError) as error:
            assert len(str(error)) > 20
            # ours, not NumPy's: those speak of arrays, operands and broadcasting
            assert not any(word in str(error) for word in ("broadcast", "operands", "ufunc", "zero-size"))
            return None
    assert np.isfinite(result).all()
    return result


@given(
    tables(),
    st.sampled_from(BANKS),
    st.sampled_from(["float64", "float32"]),
    st.sampled_from(["error", "clip"]),
)
def test_banks_give_finite_stacks_or_refuse(table, kernels, dtype, psd):
    bank = KernelBank(kernels, dtype=dtype, psd=psd)
    Ks = _finite_or_refused(lambda: bank.fit_stack(table))
    if Ks is not None:
        assert Ks.flags.c_contiguous and Ks.dtype == dtype and len(Ks) == len(bank.view_names_)
        assert all(np.array_equal(K, K.T) for K in Ks)
        again = _finite_or_refused(lambda: bank.transform(table))
        if again is not None:
            assert again.shape == (*Ks.shape[1:], len(Ks))


@given(tables(), st.sampled_from(["error", "clip", "shift"]), st.booleans())
def test_precomputed_banks_give_finite_stacks_or_refuse(table, psd, symmetric):
    stack = table
    if symmetric and isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.kind == "f":
        with np.errstate(all="ignore"):
            stack = table @ table.T
    bank = PrecomputedBank(psd=psd)
    Ks = _finite_or_refused(lambda: bank.fit_stack(stack))
    if Ks is not None:
        assert Ks.flags.c_contiguous
        _finite_or_refused(lambda: bank.transform(stack))
