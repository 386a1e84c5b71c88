"""G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui, M. I. Jordan (2004)."""

from studies.lanckriet2004 import gaussians, margins, protein, reuters
from studies.study import Study

STUDY = Study(
    name="lanckriet2004",
    citation=(
        "G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan (2004). Learning "
        "the kernel matrix with semidefinite programming. Journal of Machine Learning Research 5, 27–72."
    ),
    tables={table.name: table for table in (*margins.TABLES, gaussians.TABLE, reuters.TABLE, protein.TABLE)},
)

__all__ = ["STUDY"]
