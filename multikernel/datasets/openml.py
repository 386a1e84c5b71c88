"""The data sets that OpenML has too, with the classes in the coding of the manifest.

They are asked for only when no folder has them, and arrive as the same arrays: ``X`` (n, d) and ``y`` with
the classes 0, 1, ...; rows with a missing value are left out.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel.datasets.catalogue import cache_folder


@dataclass(frozen=True)
class OpenMLSource:
    """A data set of OpenML: its name there, its version, and its class labels in the order 0, 1, ..."""

    name: str
    version: int
    classes: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """What identifies the content there."""
        return f"openml:{self.name}:{self.version}"


OPENML: dict[str, OpenMLSource] = {
    "breast_cancer_wisconsin": OpenMLSource("breast-w", 1, ("benign", "malignant")),
    "heart_statlog": OpenMLSource("heart-statlog", 1, ("absent", "present")),
    "ionosphere": OpenMLSource("ionosphere", 1, ("b", "g")),
    "iris": OpenMLSource("iris", 1, ("Iris-setosa", "Iris-versicolor", "Iris-virginica")),
    "sonar": OpenMLSource("sonar", 1, ("Rock", "Mine")),
    "twonorm": OpenMLSource("twonorm", 1, ("1", "2")),
}


def fetch(name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Fetch one of `OPENML` over the network, or from scikit-learn's cache of an earlier fetch.

    Parameters
    ----------
    name : str
        A key of `OPENML`.

    Returns
    -------
    arrays : dict of str to ndarray
        ``X``, ``y``, ``class_names`` and ``feature_names``.
    fields : dict
        What a manifest would say: ``n``, ``d``, ``target``, ``source``.
    """
    import sklearn.datasets  # when it is needed: a list of data sets does without

    source = OPENML[name]
    with warnings.catch_warnings():
        # A failure that lasts is an error of its own; that it was tried again need not be said.
        warnings.filterwarnings("ignore", message="A network error occurred")
        bunch = sklearn.datasets.fetch_openml(
            source.name, version=source.version, as_frame=True, data_home=str(cache_folder() / "openml")
        )
    labels = [str(label) for label in bunch.target]
    if not set(labels) <= set(source.classes):
        raise ValueError(
            f"data set {name!r}: OpenML's {source.name!r} must have the classes {', '.join(source.classes)}; "
            f"got {', '.join(sorted(set(labels)))}. Use a folder with the data set instead."
        )
    codes = np.array([source.classes.index(label) for label in labels], dtype=np.int64)
    X = bunch.data.to_numpy(dtype=np.float64)
    complete = np.isfinite(X).all(axis=1)
    arrays = {
        "X": X[complete],
        "y": codes[complete],
        "class_names": np.array(source.classes),
        "feature_names": np.array(list(map(str, bunch.data.columns))),
    }
    coding = ", ".join(f"{code}={label}" for code, label in enumerate(source.classes))
    fields = {
        "n": int(complete.sum()),
        "d": X.shape[1],
        "classes": len(source.classes),
        "target": f"y: {coding}",
        "source": [f"openml:{source.name} version {source.version}"],
    }
    return arrays, fields
