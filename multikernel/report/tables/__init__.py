"""The tables of a report, as text in rows: the page, Markdown and the search field show the same."""

from collections.abc import Callable
from typing import Any

from multikernel.report.tables.base import Table, sentence
from multikernel.report.tables.held_out import HELD_OUT, has_rows, held_out_figures
from multikernel.report.tables.judged import (
    approximation_table,
    baselines_table,
    by_score,
    cohort_table,
    learning_curve_table,
    overfitting_table,
    stability_table,
    without_view_table,
)
from multikernel.report.tables.reasons import cross_view_table, enrichment_table, selection_table, why_tables
from multikernel.report.tables.samples import (
    data_table,
    embedding_table,
    gate_means_table,
    gate_table,
    heat_maps_table,
)

# The table of each part of an evaluation but for held-out predictions and reasons, which have several.
OF_PARTS: dict[str, Callable[[Any], Table]] = {
    "data": data_table,
    "stability": stability_table,
    "without_view": without_view_table,
    "selection": selection_table,
    "baselines": baselines_table,
    "cohort": cohort_table,
    "overfitting": overfitting_table,
    "learning_curve": learning_curve_table,
    "enrichment": enrichment_table,
    "cross_view": cross_view_table,
    "heat_maps": heat_maps_table,
    "embedding": embedding_table,
    "gate": gate_means_table,
}

__all__ = [
    "HELD_OUT",
    "OF_PARTS",
    "Table",
    "approximation_table",
    "by_score",
    "gate_table",
    "has_rows",
    "held_out_figures",
    "sentence",
    "why_tables",
]
