"""What is a model worth, and why? Evaluation of one fitted model, comparison of several, paired tests.

- `evaluate`: stability of the weights, what each view adds, simpler rivals, held-out predictions, pictures.
- `compare`: estimators or weight learners on the same folds, against baselines, a reference or each other.
- `learned_kernel`: the kernel that a model has learned, as a matrix.
- `f_test_5x2cv`, `paired_f_tests`, `wilcoxon_signed_rank`, `holm`, `win_tie_loss`: the tests by themselves.

Files: ``evaluation`` has `evaluate`, with ``held_out`` predictions and what is ``learned``; ``comparing`` has
`compare`, and ``comparison`` what it returns. ``subject`` and ``baselines`` say what is fitted, among the
rivals late ``fusion`` of views and models of ``columns``; ``runs`` does the fits (resumable, ``fingerprint``
recognises what is stored), ``paired_tests`` and ``answers`` say what was shown.
"""

from .comparing import compare
from .comparison import Comparison
from .evaluation import ALL_PARTS, evaluate
from .learned import NoLearnedKernel, learned_kernel
from .paired_tests import (
    PairedTest,
    SignedRankTest,
    f_test_5x2cv,
    holm,
    paired_f_tests,
    wilcoxon_signed_rank,
    win_tie_loss,
)

__all__ = [
    "ALL_PARTS",
    "Comparison",
    "NoLearnedKernel",
    "PairedTest",
    "SignedRankTest",
    "compare",
    "evaluate",
    "f_test_5x2cv",
    "holm",
    "learned_kernel",
    "paired_f_tests",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
