"""D. P. Lewis, T. Jebara, W. S. Noble (2006)."""

from studies.lewis2006 import accuracies, clusters, piecewise, proteins, speed
from studies.study import Study

STUDY = Study(
    name="lewis2006",
    citation=(
        "D. P. Lewis, T. Jebara and W. S. Noble (2006). Nonstationary kernel combination. Proceedings of the "
        "23rd International Conference on Machine Learning."
    ),
    tables={table.name: table for table in (accuracies.TABLE, proteins.TABLE)},
    figures={figure.name: figure for figure in (clusters.FIGURE, speed.FIGURE, piecewise.FIGURE)},
)

__all__ = ["STUDY"]
