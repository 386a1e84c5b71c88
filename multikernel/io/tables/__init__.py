"""Files in: tables with a target column (CSV, Parquet, npz), and views written down in TOML.

From files to a fitted model and back: `read_table` (`read_source` also of several tables) and `read_views`,
then `plan_fit`, `tune` and `fit_plan`, `make_record` for what is kept beside the model, `read_new` and
`predict_table` for new rows.
"""

from multikernel.io.tables.censored import Censored
from multikernel.io.tables.data import TableData, encode_columns, find_categories
from multikernel.io.tables.fitting import (
    TUNING,
    Fitted,
    Tuning,
    doubts_of_scale,
    fit_plan,
    make_record,
    remove_stale,
    require_free,
    takes_callback,
    tune,
)
from multikernel.io.tables.planning import FitPlan, parse_parameters, plan_fit
from multikernel.io.tables.predicting import (
    Predictions,
    match_training,
    predict_table,
    read_new,
    reading_options,
    require_kind,
    write_csv,
)
from multikernel.io.tables.reading import read_table
from multikernel.io.tables.several import Source, file_sha256, parse_tables, read_source
from multikernel.io.tables.views_file import ViewList, read_views, views_of_kernels

__all__ = [
    "TUNING",
    "Censored",
    "FitPlan",
    "Fitted",
    "Predictions",
    "Source",
    "TableData",
    "Tuning",
    "ViewList",
    "doubts_of_scale",
    "encode_columns",
    "file_sha256",
    "find_categories",
    "fit_plan",
    "make_record",
    "match_training",
    "parse_parameters",
    "parse_tables",
    "plan_fit",
    "predict_table",
    "read_new",
    "read_source",
    "read_table",
    "read_views",
    "reading_options",
    "remove_stale",
    "require_free",
    "require_kind",
    "takes_callback",
    "tune",
    "views_of_kernels",
    "write_csv",
]
