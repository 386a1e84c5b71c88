"""Views of grey-scale images: each function sees one kind of information and forgets the rest.

Every function takes a stack of images of shape (n_images, height, width) and returns one row per image,
so that a kernel on each view measures one notion of similarity.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def pixels(images: ArrayLike) -> FloatArray:
    """Return the grey values themselves, row by row: x[r * width + c] = image[r, c]."""
    stack = _as_image_stack(images)
    return stack.reshape(len(stack), -1).copy()


def row_profile(images: ArrayLike) -> FloatArray:
    """Return how much ink each row holds: p[r] = sum_c image[r, c]."""
    return _as_image_stack(images).sum(axis=2)


def column_profile(images: ArrayLike) -> FloatArray:
    """Return how much ink each column holds: p[c] = sum_r image[r, c]."""
    return _as_image_stack(images).sum(axis=1)


def fourier_magnitudes(images: ArrayLike) -> FloatArray:
    """Return |F[u, v]| with F[u, v] = sum_{r,c} image[r, c] exp(-2 pi i (u r / height + v c / width)).

    The magnitudes do not change when the image is shifted around its borders. An image is real, hence
    |F[u, v]| = |F[-u, -v]|: of each such pair only one is kept, in the order of `fourier_frequencies`.
    """
    stack = _as_image_stack(images)
    vertical, horizontal = fourier_frequencies(*stack.shape[1:]).T
    magnitudes: FloatArray = np.abs(np.fft.fft2(stack)[:, vertical, horizontal])
    return magnitudes


def fourier_frequencies(height: int, width: int) -> NDArray[np.intp]:
    """Return the frequencies (u, v) that `fourier_magnitudes` keeps: one of each pair (u, v), (-u, -v)."""
    kept = [
        (u, v)
        for u in range(height)
        for v in range(width)
        if (u, v) <= ((height - u) % height, (width - v) % width)
    ]
    return np.array(kept, dtype=np.intp)


def gradient_orientations(images: ArrayLike, *, n_cells: int = 2, n_bins: int = 8) -> FloatArray:
    """Return, for each cell of the image, how strongly it changes in each direction.

    The image is cut into n_cells by n_cells cells, which come in row order, the bins of a cell together. With
    the gradient g = (g_x, g_y) by central differences (one-sided at the border), its length ``|g|`` and its
    angle a in [0, 2 pi), the histogram of cell k is

        h[k, b] = sum over the pixels of cell k of |g| * max(0, 1 - distance(a * n_bins / (2 pi), b)),

    the distance being taken around the circle of `n_bins`: a pixel is shared between the two directions
    nearest to its own, so the bins of a cell add up to the lengths of its gradients.

    Examples
    --------
    >>> ramp = [[[0, 1, 2, 3]] * 4]
    >>> gradient_orientations(ramp, n_cells=1, n_bins=4)
    array([[16.,  0.,  0.,  0.]])
    """
    stack = _as_image_stack(images)
    n_images, height, width = stack.shape
    _check_cells(height, width, n_cells, n_bins)
    down, right = np.gradient(stack, axis=(1, 2))
    length = np.hypot(right, down)
    position = np.mod(np.arctan2(down, right) * n_bins / (2 * np.pi), n_bins)
    distance = np.abs(position[..., np.newaxis] - np.arange(n_bins))
    share = np.clip(1 - np.minimum(distance, n_bins - distance), 0, None)
    cells = (length[..., np.newaxis] * share).reshape(
        n_images, n_cells, height // n_cells, n_cells, width // n_cells, n_bins
    )
    return cells.sum(axis=(2, 4)).reshape(n_images, -1)


def _as_image_stack(images: ArrayLike) -> FloatArray:
    stack = np.asarray(images, dtype=np.float64)
    if stack.ndim != 3 or 0 in stack.shape:
        raise ValueError(
            f"images must be a stack of shape (n_images, height, width) with at least one pixel; "
            f"got shape {stack.shape}. Give a single image as images[np.newaxis]."
        )
    return stack


def _check_cells(height: int, width: int, n_cells: int, n_bins: int) -> None:
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, to distinguish directions; got {n_bins}.")
    if n_cells < 1 or height % n_cells or width % n_cells or min(height, width) < 2:
        raise ValueError(
            f"n_cells must divide height and width, and each must be at least 2; got n_cells={n_cells} for "
            f"images of {height} by {width} pixels. Choose another n_cells, or pad the images."
        )
