"""Views of images against plain computations and the symmetries they must have; the digits and the faces."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from multikernel.datasets import load_dataset, load_digits_views
from multikernel.datasets.faces import WOMEN, load_faces
from multikernel.datasets.image_views import (
    column_profile,
    fourier_frequencies,
    fourier_magnitudes,
    gradient_orientations,
    pixels,
    row_profile,
)
from tests.shared_data import needs_shared_data, shared_data_folder

grey = st.floats(0, 1, allow_subnormal=False)
stacks = arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5)), elements=grey)
even_stacks = arrays(
    np.float64, st.tuples(st.integers(1, 3), st.sampled_from([2, 4, 8]), st.just(4)), elements=grey
)
square_stacks = arrays(np.float64, st.tuples(st.integers(1, 2), st.just(8), st.just(8)), elements=grey)


def orientations_by_loops(image, n_cells, n_bins):
    """The definition, pixel by pixel, with the two nearest directions found by hand."""
    height, width = image.shape
    histogram = np.zeros((n_cells, n_cells, n_bins))
    for r in range(height):
        for c in range(width):
            up, down = max(r - 1, 0), min(r + 1, height - 1)
            left, right = max(c - 1, 0), min(c + 1, width - 1)
            g_y = (image[down, c] - image[up, c]) / (down - up)
            g_x = (image[r, right] - image[r, left]) / (right - left)
            angle = np.degrees(np.arctan2(g_y, g_x)) % 360
            lower = int(angle // (360 / n_bins))
            beyond = angle / (360 / n_bins) - lower
            cell = histogram[r * n_cells // height, c * n_cells // width]
            cell[lower % n_bins] += np.hypot(g_x, g_y) * (1 - beyond)
            cell[(lower + 1) % n_bins] += np.hypot(g_x, g_y) * beyond
    return histogram.ravel()


@given(stacks)
def test_pixels_are_the_image_row_by_row(images):
    n, height, width = images.shape
    table = pixels(images)
    assert table.shape == (n, height * width)
    for r in range(height):
        for c in range(width):
            assert_array_equal(table[:, r * width + c], images[:, r, c])


def test_pixels_do_not_share_memory_with_the_images():
    images = np.zeros((1, 2, 2))
    pixels(images)[:] = 1
    assert_array_equal(images, 0)


@given(stacks)
def test_profiles_are_the_ink_of_each_row_and_of_each_column(images):
    rows = [[math.fsum(row) for row in image] for image in images]
    columns = [[math.fsum(column) for column in image.T] for image in images]
    assert_allclose(row_profile(images), rows, atol=1e-12)
    assert_allclose(column_profile(images), columns, atol=1e-12)


@given(stacks)
def test_fourier_magnitudes_follow_the_definition(images):
    _, height, width = images.shape
    r, c = np.mgrid[:height, :width]
    for column, (u, v) in enumerate(fourier_frequencies(height, width)):
        wave = np.exp(-2j * np.pi * (u * r / height + v * c / width))
        expected = np.abs((images * wave).sum(axis=(1, 2)))
        assert_allclose(fourier_magnitudes(images)[:, column], expected, atol=1e-10)


@given(stacks, st.integers(0, 5), st.integers(0, 5))
def test_fourier_magnitudes_do_not_see_a_shift(images, down, right):
    shifted = np.roll(images, (down, right), axis=(1, 2))
    assert_allclose(fourier_magnitudes(shifted), fourier_magnitudes(images), atol=1e-10)


@given(st.integers(1, 9), st.integers(1, 9))
def test_every_frequency_is_kept_once_up_to_sign(height, width):
    kept = [tuple(pair) for pair in fourier_frequencies(height, width).tolist()]
    mirrored = [(-u % height, -v % width) for u, v in kept]
    assert len(set(kept)) == len(kept)
    assert set(kept) | set(mirrored) == {(u, v) for u in range(height) for v in range(width)}
    assert all(m == k or m not in kept for k, m in zip(kept, mirrored, strict=True))


@given(even_stacks, st.sampled_from([1, 2]), st.sampled_from([2, 3, 8]))
def test_orientations_follow_the_definition(images, n_cells, n_bins):
    histograms = gradient_orientations(images, n_cells=n_cells, n_bins=n_bins)
    assert histograms.shape == (len(images), n_cells**2 * n_bins)
    for image, histogram in zip(images, histograms, strict=True):
        assert_allclose(histogram, orientations_by_loops(image, n_cells, n_bins), atol=1e-9)


@given(square_stacks)
def test_a_quarter_turn_moves_the_cells_and_turns_the_directions(images):
    n_bins = 8
    before = gradient_orientations(images).reshape(-1, 2, 2, n_bins)
    after = gradient_orientations(np.rot90(images, axes=(1, 2))).reshape(-1, 2, 2, n_bins)
    # Anticlockwise on the page, where rows run down: angles lose a quarter of the circle.
    expected = np.roll(np.rot90(before, axes=(1, 2)), -n_bins // 4, axis=3)
    assert_allclose(after, expected, atol=1e-9)


@given(even_stacks, st.floats(0, 5))
def test_orientations_forget_brightness_and_scale_with_contrast(images, brightness):
    histograms = gradient_orientations(images)
    assert_allclose(gradient_orientations(3 * images), 3 * histograms, atol=1e-9)
    ink = gradient_orientations(images + brightness).reshape(len(images), 4, 8).sum(axis=2)
    assert_allclose(ink, histograms.reshape(len(images), 4, 8).sum(axis=2), atol=1e-9)


@pytest.mark.parametrize("function", [pixels, row_profile, column_profile, fourier_magnitudes])
@pytest.mark.parametrize("shape", [(8, 8), (0, 8, 8), (2, 0, 8)])
def test_what_is_not_a_stack_of_images_is_refused(function, shape):
    with pytest.raises(ValueError, match=r"shape \(n_images, height, width\).*images\[np.newaxis\]"):
        function(np.zeros(shape))


def test_cells_that_do_not_fit_and_a_single_direction_are_refused():
    for height, n_cells in ((8, 3), (8, 0), (1, 1)):
        with pytest.raises(ValueError, match=f"n_cells={n_cells} for images of {height} by 8 pixels"):
            gradient_orientations(np.zeros((1, height, 8)), n_cells=n_cells)
    with pytest.raises(ValueError, match="n_bins must be at least 2"):
        gradient_orientations(np.zeros((1, 8, 8)), n_bins=1)


# --- digits and faces ---------------------------------------------------------------------------------------


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
