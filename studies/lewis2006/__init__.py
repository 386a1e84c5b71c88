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
    reasons={
        r"table 1, Breast, (RBF|SDP|NSKC)": (
            "Probably made with the other breast cancer data of Wisconsin (WDBC), with which these agree "
            "([table 1](table1.md))."
        ),
        r"table 1, Sonar, (RBF|SDP)": (
            "Printed with sigma = 0.1; with 0.5 these agree ([table 1](table1.md))."
        ),
        r"table 1, (Breast|Heart), (quadratic|linear)": (
            "Unexplained; printed near or below the share of the larger class, with large ±. A solver that "
            "did not converge at c = 10,000 would give that, which is a guess."
        ),
    },
)

__all__ = ["STUDY"]
