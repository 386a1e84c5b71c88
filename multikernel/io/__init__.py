"""Files in and out: saved models (``models``), tables and views (``tables``)."""

from .models import ModelFileError, ModelFolder, ModelVersionWarning, describe_model, load_model, save_model
from .tables import TableData, ViewList, fit_plan, plan_fit, predict_table, read_table, read_views

__all__ = [
    "ModelFileError",
    "ModelFolder",
    "ModelVersionWarning",
    "TableData",
    "ViewList",
    "describe_model",
    "fit_plan",
    "load_model",
    "plan_fit",
    "predict_table",
    "read_table",
    "read_views",
    "save_model",
]
