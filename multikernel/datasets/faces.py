"""The Olivetti faces as a question of two classes: which of the forty people look like women?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.image_views import FloatArray
from multikernel.datasets.loading import load_dataset

SIDE = 64
WOMEN = (7, 9, 31, 34)  # the set does not say; judged by eye from the pictures
_WHITE = 255.0


@dataclass(frozen=True)
class Faces:
    """Pictures of faces.

    Attributes
    ----------
    images : ndarray of shape (n_samples, 64, 64)
        Grey values in [0, 1].
    y : ndarray of shape (n_samples,)
        +1 for the pictures of women, −1 for those of men.
    subject : ndarray of shape (n_samples,)
        Who it is, from 0. The pictures of one person are much alike: where some of them train and others
        test, a machine may know the person instead of what it was asked.
    """

    images: FloatArray
    y: NDArray[np.int64]
    subject: NDArray[np.int64]


def load_faces() -> Faces:
    """Return the 400 Olivetti faces, ten of each of forty people, four of whom (`WOMEN`) are women.

    The set names the people by numbers only; who is a woman was judged by eye from the pictures.

    Returns
    -------
    Faces

    Raises
    ------
    ValueError
        If the data set ``"olivetti"`` is not at hand: see `load_dataset`.
    """
    data = load_dataset("olivetti")
    subject = np.asarray(data.y, dtype=np.int64)
    images = np.asarray(data.X, dtype=np.float64).reshape(-1, SIDE, SIDE) / _WHITE
    return Faces(images, np.where(np.isin(subject, WOMEN), 1, -1), subject)
