"""Learned weights as a table, one row for each view."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


def weights_table(model: Any, columns: Mapping[str, Any]) -> pd.DataFrame:
    """The columns by view, and the weights of each machine (``weight[name]``) where these differ."""
    frame = pd.DataFrame(dict(columns), index=pd.Index(model.view_names_, name="view"))
    if not (model.machine_weights_ == model.machine_weights_[0]).all():
        for name, weights in zip(model.machine_names_, model.machine_weights_, strict=True):
            frame[f"weight[{name}]"] = weights
    return frame
