"""Data sets that need neither a folder nor a network: scikit-learn has them, or a definition."""

import hashlib
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from multikernel.datasets.digits import digits_arrays, digits_widths

Arrays = dict[str, np.ndarray]

_MONKS_VALUES = (3, 3, 2, 3, 4, 2)


def load_shipped(name: str) -> tuple[Arrays, dict[str, Any], str]:
    """Return the arrays of one of `SHIPPED`, what a manifest would say of it, and its checksum."""
    arrays = _LOADERS[name]()
    return arrays, describe_shipped(name), _digest(arrays)


def describe_shipped(name: str) -> dict[str, Any]:
    """Return what a manifest would say of one of `SHIPPED`."""
    return dict(_DESCRIBED[name])


def _from_sklearn(name: str, class_names: tuple[str, ...], flipped: bool = False) -> Arrays:
    import sklearn.datasets  # when it is needed: a list of data sets does without

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    y = np.asarray(bunch.target, dtype=np.int64)
    return {
        "X": np.asarray(bunch.data, dtype=np.float64),
        "y": 1 - y if flipped else y,
        "class_names": np.array(class_names),
        "feature_names": np.array(list(map(str, bunch.feature_names))),
    }


def _iris() -> Arrays:
    return _from_sklearn("iris", ("setosa", "versicolor", "virginica"))


def _wine() -> Arrays:
    return _from_sklearn("wine", ("cultivar_1", "cultivar_2", "cultivar_3"))


def _wdbc() -> Arrays:
    """Malignant is the positive class, unlike in scikit-learn."""
    return _from_sklearn("breast_cancer", ("B (benign)", "M (malignant)"), flipped=True)


def _monks3() -> Arrays:
    """All points of the third monk's problem: a5 = 3 and a4 = 1, or a5 ≠ 4 and a2 ≠ 3."""
    X = np.array(list(product(*(range(1, k + 1) for k in _MONKS_VALUES))), dtype=np.float64)
    y = ((X[:, 4] == 3) & (X[:, 3] == 1)) | ((X[:, 4] != 4) & (X[:, 1] != 3))
    flags = [X[:, [j]] == np.arange(1, k + 1) for j, k in enumerate(_MONKS_VALUES)]
    return {
        "X": X,
        "X_onehot": np.hstack(flags).astype(np.float64),
        "y": y.astype(np.int64),
        "feature_names": np.array([f"a{j}" for j in range(1, 7)]),
    }


_LOADERS: dict[str, Callable[[], Arrays]] = {
    "digits": digits_arrays,
    "iris": _iris,
    "monks3": _monks3,
    "wdbc": _wdbc,
    "wine": _wine,
}
SHIPPED = tuple(_LOADERS)
_DESCRIBED: dict[str, dict[str, Any]] = {
    "digits": {
        "n": 1797,
        "d": sum(digits_widths().values()),
        "views": digits_widths(),
        "classes": 10,
        "target": "digit 0..9",
        "source": ["scikit-learn: load_digits"],
        "notes": "five views of handwritten digits of 8 by 8 pixels; see load_digits_views",
    },
    "iris": {
        "n": 150,
        "d": 4,
        "classes": 3,
        "target": "y: 0 setosa, 1 versicolor, 2 virginica",
        "source": ["scikit-learn: load_iris"],
    },
    "monks3": {
        "n": 432,
        "d": 6,
        "classes": 2,
        "target": "y: 1 if (a5 = 3 and a4 = 1) or (a5 is not 4 and a2 is not 3), else 0",
        "source": ["the definition of the third monk's problem: all its points, without noise"],
    },
    "wdbc": {
        "n": 569,
        "d": 30,
        "classes": 2,
        "target": "y: 0=benign, 1=malignant (scikit-learn has them the other way round)",
        "source": ["scikit-learn: load_breast_cancer"],
    },
    "wine": {
        "n": 178,
        "d": 13,
        "classes": 3,
        "target": "y: cultivar 0, 1, 2",
        "source": ["scikit-learn: load_wine"],
    },
}


def _digest(arrays: Arrays) -> str:
    """The checksum of the numbers; names may change."""
    digest = hashlib.sha256()
    for key in sorted(key for key in arrays if "names" not in key):
        digest.update(key.encode() + np.ascontiguousarray(arrays[key]).tobytes())
    return digest.hexdigest()
