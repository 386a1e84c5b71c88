"""Equal fits give equal files."""

import pytest

from multikernel import MKLClassifier, MKLRegressor, MKLRidge
from multikernel.io.models.files import checked_bytes
from multikernel.kernels import Gaussian, Linear
from multikernel.rows import memory
from multikernel.soft_labels import PosteriorSVC
from tests.io.models.models import LABELS, X


@pytest.mark.parametrize("kind", [MKLClassifier, MKLRegressor, MKLRidge, PosteriorSVC])
def test_two_fits_beside_different_memory(kind, monkeypatch):
    y = X[:, 0] if kind in (MKLRegressor, MKLRidge) else LABELS
    files = []
    for free in (2**40, 2**41):
        monkeypatch.setattr(memory, "_system_available", lambda free=free: free)
        monkeypatch.setattr(memory, "_cgroup_available", list)
        files.append(checked_bytes(kind([Linear(), Gaussian()]).fit(X, y)))
    assert files[0] == files[1]
