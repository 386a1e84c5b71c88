"""The digits as views: the right rows, the right columns, and errors that help."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from multikernel.datasets import load_digits_views


@pytest.fixture(scope="module")
def digits():
    return load_digits_views()


def test_labels_and_pixels_are_those_of_scikit_learn(digits):
    original = load_digits()
    assert_array_equal(digits.y, original.target)
    assert_allclose(digits.X[digits.views["pixels"]], original.data / 16)


def test_the_views_share_out_all_columns(digits):
    columns = [column for view in digits.views.values() for column in view]
    assert columns == digits.X.columns.tolist()
    assert len(set(columns)) == len(columns)
    assert digits.X.index.tolist() == list(range(1797))


def test_column_names_say_which_number_they_hold(digits):
    image = load_digits().images[100] / 16
    row = digits.X.loc[100]
    assert row["pixels_r3_c5"] == image[3, 5]
    assert row["row_profile_r3"] == pytest.approx(image[3].sum())
    assert row["column_profile_c5"] == pytest.approx(image[:, 5].sum())
    assert row["fourier_u0_v0"] == pytest.approx(image.sum())
    assert row["fourier_u0_v4"] == pytest.approx(abs(image[:, ::2].sum() - image[:, 1::2].sum()))
    lower_left = [f"orientations_cell2_bin{b}" for b in range(8)]
    down, right = np.gradient(image)
    assert row[lower_left].sum() == pytest.approx(np.hypot(down, right)[4:, :4].sum())


def test_a_subset_of_views_comes_in_the_order_asked_for(digits):
    some = load_digits_views(["orientations", "pixels"])
    assert list(some.views) == ["orientations", "pixels"]
    assert_array_equal(some.X, digits.X[digits.views["orientations"] + digits.views["pixels"]])


@pytest.mark.parametrize("views", [[], ["pixels", "pixels"], ["pixels", "colour"]])
def test_views_that_make_no_sense_are_refused(views):
    with pytest.raises(ValueError, match=r"each once; got .*Choose from pixels, row_profile"):
        load_digits_views(views)


def test_one_name_outside_a_list_is_refused():
    with pytest.raises(TypeError, match=r"Give \['pixels'\]"):
        load_digits_views("pixels")
