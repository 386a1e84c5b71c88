"""The figures of Yeung et al. (2006) that are at hand: mean accuracies in percent.

They are those of the plain Gaussian kernel and of the kernel learned by separability, with 20% and with 40%
of the points labelled. Figures of its other methods, and any for the Boston houses, are not at hand, nor is
the number of random splits behind the means.
"""

from __future__ import annotations

COLUMNS = ("nn1", "nn3", "svm100", "svm1000")

# (data set, percent labelled) to kernel to the accuracies of `COLUMNS`.
_ACCURACY: dict[tuple[str, int], dict[str, tuple[float, ...]]] = {
    ("monks3", 20): {"gaussian": (76.3, 78.1, 92.6, 93.0), "separability": (88.4, 89.5, 93.0, 93.3)},
    ("monks3", 40): {"gaussian": (78.3, 82.2, 91.8, 92.3), "separability": (90.7, 91.0, 93.8, 94.4)},
    ("ionosphere", 20): {"gaussian": (78.8, 79.0, 83.1, 82.8), "separability": (85.4, 84.7, 85.1, 85.2)},
    ("ionosphere", 40): {"gaussian": (82.3, 81.6, 89.2, 87.6), "separability": (89.6, 88.8, 91.0, 89.1)},
    ("wdbc", 20): {"gaussian": (92.4, 93.0, 92.2, 94.1), "separability": (94.2, 94.5, 96.1, 96.8)},
    ("wdbc", 40): {"gaussian": (93.6, 94.2, 95.1, 95.3), "separability": (94.2, 94.9, 97.1, 97.6)},
    ("wine", 20): {"gaussian": (91.6, 94.1, 95.1, 95.0), "separability": (95.7, 95.6, 96.1, 95.3)},
    ("wine", 40): {"gaussian": (94.2, 94.8, 95.8, 96.0), "separability": (95.4, 95.5, 97.4, 98.6)},
}


def published_accuracy(dataset: str, percent: int, kernel: str, column: str) -> float | None:
    """Return the published mean accuracy in percent, or None where it is not at hand.

    Parameters
    ----------
    dataset : str
    percent : {20, 40}
        How many of the points are labelled.
    kernel : str
    column : {"nn1", "nn3", "svm100", "svm1000"}

    Returns
    -------
    float or None

    Examples
    --------
    >>> published_accuracy("wine", 40, "separability", "svm1000")
    98.6
    >>> published_accuracy("boston", 20, "gaussian", "nn1") is None
    True
    """
    given = _ACCURACY.get((dataset, percent), {}).get(kernel)
    return None if given is None else given[COLUMNS.index(column)]
