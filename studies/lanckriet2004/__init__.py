"""G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui, M. I. Jordan (2004)."""

from studies.lanckriet2004 import gaussians, margins, protein, reuters
from studies.lanckriet2004.claims import judge
from studies.study import Study

STUDY = Study(
    name="lanckriet2004",
    title="Lanckriet et al. (2004)",
    citation=(
        "G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan (2004). Learning "
        "the kernel matrix with semidefinite programming. Journal of Machine Learning Research 5, 27–72."
    ),
    tables={table.name: table for table in (*margins.TABLES, gaussians.TABLE)},
    figures={figure.name: figure for figure in (reuters.FIGURE, protein.FIGURE)},
    own={margins.OWN.name: margins.OWN},
    notes=(
        "In the text of tables 1 to 3 that we have, the name of a criterion stands one row too high, beside "
        "the weights of the criterion before it. The rows are read as γ or ω, TSA, C, weights, which the "
        "last row of a data set confirms: its weights and 1/C add up to 4. Weights of SM2,C are missing for "
        "heart and breast cancer.",
        "Not compared (absent) are numbers that are set and not found, the weights 3/0/0 of single kernels "
        "and C = 1; accuracies of the best c/v RBF that are printed a second time; and a C that has no mean, "
        "since 1/C is zero.",
        "The paper leaves open how columns are scaled (but for heart), the grids and parts of the "
        "cross-validation, the size of the 2-norm sample, and how often EM is iterated. Each page says what "
        "is used.",
    ),
    claims=judge,
    data=(reuters.DATA, protein.DATA),
    reasons={
        r"table 1, sonar, .*, (K2|free|nonnegative), ": (
            "Printed with sigma = 0.1; with 0.5 these numbers agree, but for one weight that is 0.013 away "
            "([our page](own-sonar-width.md)). The printed sigma is probably wrong."
        ),
        r"table 2, ionosphere, SM1, K3, TSA": (
            "Probably a misprint: SM2, nearly the same machine, is printed with 91.6 beside it."
        ),
        r"table 1, heart_statlog, .*, nonnegative, mu1": (
            "Unexplained, and less than 0.01 in size: 0.01 is printed, ours is 0.00."
        ),
    },
)

__all__ = ["STUDY"]
