"""J. Ye, J. Chen, S. Ji (2007)."""

from studies.study import Study
from studies.ye2007 import binary, multiclass, speed

STUDY = Study(
    name="ye2007",
    citation=(
        "J. Ye, J. Chen and S. Ji (2007). Discriminant kernel and regularization parameter learning via "
        "semidefinite programming. Proceedings of the 24th International Conference on Machine Learning."
    ),
    tables={table.name: table for table in (binary.TABLE, multiclass.TABLE)},
    figures={speed.FIGURE.name: speed.FIGURE},
)

__all__ = ["STUDY"]
