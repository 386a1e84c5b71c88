"""Data sets that are fetched from OpenML when no folder has them.

A set is named by its number at OpenML. What arrives is checked: its name there, its classes and its size.
"""

import string
import warnings
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from multikernel.datasets.catalogue import cache_folder


@dataclass(frozen=True)
class OpenMLSource:
    """A data set of OpenML, and what it must be when it arrives."""

    data_id: int
    name: str  # its name there
    shape: tuple[int, int]  # rows without a missing value, columns
    classes: tuple[str, ...] = ()  # labels in the order 0, 1, ...; a number is predicted if there are none
    target: str = "default-target"  # the column of the targets

    @property
    def fingerprint(self) -> str:
        """What identifies the content there."""
        return f"openml:{self.data_id}"

    @property
    def fields(self) -> dict[str, Any]:
        """What a manifest would say."""
        coding = ", ".join(f"{code}={label}" for code, label in enumerate(self.classes))
        return {
            "n": self.shape[0],
            "d": self.shape[1],
            "classes": len(self.classes),
            "target": f"y: {coding}" if coding else "y: a number",
            "source": [f"OpenML: data set {self.data_id}, {self.name}"],
            "arrays": {"y": {"dtype": "int64" if self.classes else "float64"}},
        }


_DIGITS = tuple(string.digits)
_ONE_AND_TWO = ("1", "2")

OPENML: dict[str, OpenMLSource] = {
    "banana": OpenMLSource(1460, "banana", (5300, 2), _ONE_AND_TWO),
    "boston": OpenMLSource(531, "boston", (506, 13)),
    "breast_cancer_wisconsin": OpenMLSource(15, "breast-w", (683, 9), ("benign", "malignant")),
    "concrete": OpenMLSource(44959, "concrete_compressive_strength", (1030, 8)),
    "heart_statlog": OpenMLSource(53, "heart-statlog", (270, 13), ("absent", "present")),
    "image_segmentation": OpenMLSource(
        36, "segment", (2310, 19), ("brickface", "sky", "foliage", "cement", "window", "path", "grass")
    ),
    "ionosphere": OpenMLSource(59, "ionosphere", (351, 34), ("b", "g")),
    "letter": OpenMLSource(6, "letter", (20000, 16), tuple(string.ascii_uppercase)),
    "liver_disorders": OpenMLSource(8, "liver-disorders", (345, 6), _ONE_AND_TWO, "selector"),
    "new_thyroid": OpenMLSource(40682, "thyroid-new", (215, 5), ("1", "2", "3")),
    "optdigits": OpenMLSource(28, "optdigits", (5620, 64), _DIGITS),
    "pendigits": OpenMLSource(32, "pendigits", (10992, 16), _DIGITS),
    "pima": OpenMLSource(37, "diabetes", (768, 8), ("tested_negative", "tested_positive")),
    "sonar": OpenMLSource(40, "sonar", (208, 60), ("Rock", "Mine")),
    "spambase": OpenMLSource(44, "spambase", (4601, 57), ("0", "1")),
    "twonorm": OpenMLSource(1507, "twonorm", (7400, 20), _ONE_AND_TWO),
    # the labels there are the digits plus one
    "usps": OpenMLSource(41082, "USPS", (9298, 256), tuple(str(digit + 1) for digit in range(10))),
}


def fetch(name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and fields of one of `OPENML`, from the network or scikit-learn's cache, as a file has them.

    Classes are 0, 1, ... in the order of `OpenMLSource.classes`, and rows with a missing value are left out.
    An OSError says that OpenML does not answer or does not have the set.
    """
    import sklearn.datasets  # when it is needed: a list of data sets does without

    source = OPENML[name]
    with warnings.catch_warnings():
        # A failure that lasts is an error of its own; that it was tried again need not be said.
        warnings.filterwarnings("ignore", message="A network error occurred")
        # What the column of the targets is for, here, is said above.
        warnings.filterwarnings("ignore", message=".*has flag is_ignore")
        try:
            bunch = sklearn.datasets.fetch_openml(
                data_id=source.data_id,
                target_column=source.target,
                as_frame=True,
                parser="liac-arff",  # pandas 3 makes numbers of the labels 1 and 2, and scikit-learn stops
                data_home=str(cache_folder() / "openml"),
            )
        except ValueError as error:  # it has no such set, or the file is damaged
            raise ConnectionError(str(error).removesuffix(".")) from error
    if bunch.details["name"] != source.name:
        _refuse(name, source, f"the name {source.name!r}", f"{bunch.details['name']!r}")
    X = bunch.data.to_numpy(dtype=np.float64)
    y = _targets(name, source, bunch.target)
    complete = np.isfinite(X).all(axis=1)
    if (int(complete.sum()), X.shape[1]) != source.shape:
        _refuse(
            name,
            source,
            f"{source.shape[0]} rows without a missing value and {source.shape[1]} columns",
            f"{complete.sum()} and {X.shape[1]}",
        )
    arrays = {
        "X": X[complete],
        "y": y[complete],
        "feature_names": np.array(list(map(str, bunch.data.columns))),
    }
    if source.classes:
        arrays["class_names"] = np.array(source.classes)
    return arrays, source.fields


def _targets(name: str, source: OpenMLSource, target: Any) -> np.ndarray:
    if not source.classes:
        return np.asarray(target, dtype=np.float64)
    labels = [str(label) for label in target]
    if set(labels) != set(source.classes):
        _refuse(name, source, f"the classes {', '.join(source.classes)}", ", ".join(sorted(set(labels))))
    return np.array([source.classes.index(label) for label in labels], dtype=np.int64)


def _refuse(name: str, source: OpenMLSource, required: str, given: str) -> NoReturn:
    raise ValueError(
        f"data set {name!r}: OpenML's data set {source.data_id} must have {required}; got {given}. Use a "
        "folder with the data set instead."
    )
