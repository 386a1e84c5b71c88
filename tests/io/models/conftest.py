"""A fitted model and the bytes of its file, made once."""

import pytest

from multikernel import MKLClassifier
from multikernel.io.models.files import checked_bytes
from multikernel.kernels import Gaussian, Linear
from tests.io.models.models import LABELS, X


@pytest.fixture(scope="session")
def model():
    return MKLClassifier([Linear(), Gaussian()]).fit(X, LABELS)


@pytest.fixture(scope="session")
def data(model):
    return checked_bytes(model)


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        return path

    return write
