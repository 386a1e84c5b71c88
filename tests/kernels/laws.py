"""What every kernel obeys, whatever its rows are."""

from __future__ import annotations

import builtins
import copy
import pickle

import numpy as np
import pytest

from multikernel.kernels import smallest_eigenvalue
from multikernel.kernels._rows import Pair, Rows


def check_laws(kernel, rows, expected=None, **close):
    """Symmetric bit by bit, k(x, x) on the diagonal, positive semidefinite if it says so, right in float32.

    Returns the Gram matrix, which is `expected` up to `close` (by default to the last bit).
    """
    K = kernel(rows)
    if expected is not None:
        np.testing.assert_allclose(K, expected, **({"rtol": 0.0} | close))
    assert K.dtype == np.float64 and np.array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(rows), K.diagonal(), rtol=1e-15, atol=0.0)
    if kernel.is_psd:
        assert smallest_eigenvalue(K) >= -1e-12 * max(1.0, np.trace(K))
    single, both = np.empty(K.shape, dtype=np.float32), Rows(rows)
    kernel.evaluate(Pair(both, both), single)
    np.testing.assert_allclose(single, K, rtol=1e-6, atol=1e-7 * np.abs(K).max())
    assert np.array_equal(single, single.T)
    return K


def check_value(kernel):
    """A kernel is an immutable value: its copies are equal, and nothing of it can be set."""
    for twin in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert twin == kernel and hash(twin) == hash(kernel) and repr(twin) == repr(kernel)
    with pytest.raises(AttributeError):
        kernel.gamma = 2.0


def check_missing_library(monkeypatch, library, extra, *uses):
    """Where a library is not installed, each use names the extra that brings it."""
    original = builtins.__import__

    def missing(name, *arguments, **named):
        if name == library:
            raise ImportError(name)
        return original(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    for use in uses:
        with pytest.raises(ImportError, match=rf"pip install 'multikernel\[{extra}\]'"):
            use()
