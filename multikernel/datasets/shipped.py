"""The data set that needs neither a folder nor a network: scikit-learn's digits, as five views."""

import hashlib
from typing import Any

import numpy as np

from multikernel.datasets.digits import load_digits_views

SHIPPED = ("digits",)


def load_shipped(name: str) -> tuple[dict[str, np.ndarray], dict[str, Any], str]:
    """Return the arrays of one of `SHIPPED`, what a manifest would say of it, and its checksum."""
    digits = load_digits_views()
    arrays = {
        f"view_{view}": digits.X[columns].to_numpy(dtype=np.float64)
        for view, columns in digits.view_columns.items()
    }
    arrays["y"] = digits.y
    names = {
        f"names_{view}": np.array([column.removeprefix(f"{view}_") for column in columns])
        for view, columns in digits.view_columns.items()
    }
    return arrays | names, describe_shipped(name), _digest(arrays)


def describe_shipped(name: str) -> dict[str, Any]:
    """Return what a manifest would say of one of `SHIPPED`."""
    widths = {"pixels": 64, "row_profile": 8, "column_profile": 8, "fourier": 34, "orientations": 32}
    return {
        "n": 1797,
        "d": sum(widths.values()),
        "views": widths,
        "classes": 10,
        "target": "digit 0..9",
        "source": [f"scikit-learn: load_{name}"],
        "notes": "five views of handwritten digits of 8 by 8 pixels; see load_digits_views",
    }


def _digest(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for key in sorted(arrays):
        digest.update(key.encode() + np.ascontiguousarray(arrays[key]).tobytes())
    return digest.hexdigest()
