"""D.-Y. Yeung, H. Chang, G. Dai (2006)."""

from studies.study import Study
from studies.yeung2006.accuracies import TABLES
from studies.yeung2006.fresh import FRESH

STUDY = Study(
    name="yeung2006",
    citation=(
        "D.-Y. Yeung, H. Chang and G. Dai (2006). Learning the kernel matrix by maximizing a KFD-based class "
        "separability criterion. Pattern Recognition."
    ),
    tables={table.name: table for table in (*TABLES, FRESH)},
)

__all__ = ["STUDY"]
