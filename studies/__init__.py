"""Published tables, computed again: protocol in, our numbers beside theirs out.

One package for each published source; `study` says what a study is and how to write one, `published` what a
printed number is, `compare` how ours stands beside it, `data` where the data come from, `engine` runs it all.
``python -m studies``, in the root of the repository, lists them: they import the library and are not
installed with it.
"""

from studies.engine import run_table
from studies.published import Published, count_and_sum
from studies.registry import get_study, list_studies
from studies.study import Claim, DataFile, Quantity, Study, Table, Unit

__all__ = [
    "Claim",
    "DataFile",
    "Published",
    "Quantity",
    "Study",
    "Table",
    "Unit",
    "count_and_sum",
    "get_study",
    "list_studies",
    "run_table",
]
