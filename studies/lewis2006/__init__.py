"""D. P. Lewis, T. Jebara, W. S. Noble (2006)."""

from studies.lewis2006 import (
    accuracies,
    clusters,
    interleaving,
    piecewise,
    proteins,
    separability,
    speed,
    variants,
)
from studies.lewis2006.claims import make_claims
from studies.study import Study

_OWN = (variants.EXPERIMENT, separability.EXPERIMENT, interleaving.EXPERIMENT)
STUDY = Study(
    name="lewis2006",
    title="Lewis, Jebara & Noble (2006): nonstationary kernel combination",
    citation=(
        "D. P. Lewis, T. Jebara and W. S. Noble (2006). Nonstationary kernel combination. Proceedings of the "
        "23rd International Conference on Machine Learning."
    ),
    tables={table.name: table for table in (accuracies.TABLE, proteins.TABLE)},
    figures={figure.name: figure for figure in (clusters.FIGURE, speed.FIGURE, piecewise.FIGURE)},
    own={entry.name: entry for entry in _OWN},
    notes=(
        "The publication gives neither the margin γ nor the start of the posteriors; ours are named on every "
        "page. Its errors are on the page of errata.",
    ),
    claims=make_claims,
    data=(proteins.FILE,),
)

__all__ = ["STUDY"]
