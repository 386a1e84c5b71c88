"""Numbers as JSON takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Python's own numbers, lists and dictionaries, and None for what is not finite.

    Examples
    --------
    >>> plain({"a": (np.float64(1.5), np.int64(2), float("nan"))})
    {'a': [1.5, 2, None]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
