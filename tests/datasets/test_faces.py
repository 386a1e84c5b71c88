"""The faces as a question of two classes: upright pictures, ten of each person, four women."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multikernel.datasets import load_dataset
from multikernel.datasets.faces import WOMEN, load_faces
from tests.shared_data import needs_shared_data, shared_data_folder


@needs_shared_data
def test_the_faces_are_those_of_the_data_set(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    faces, raw = load_faces(), load_dataset("olivetti")
    assert faces.images.shape == (400, 64, 64)
    assert faces.images.max() <= 1.0
    assert_array_equal(np.rint(255 * faces.images).reshape(400, -1), raw.X)
    assert_array_equal(faces.subject, raw.y)
    assert (faces.y == 1).sum() == 10 * len(WOMEN)
    assert set(faces.subject[faces.y == 1]) == set(WOMEN)


def test_without_the_data_the_message_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match=r"olivetti.* is in none of the folders"):
        load_faces()
