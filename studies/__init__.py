"""Published tables, computed again: protocol in, our numbers beside theirs out.

One package for each published source; `study` says what a study is, `engine` runs it. ``python -m studies``,
in the root of the repository, lists them: they import the library and are not installed with it.
"""

from studies.engine import run_table
from studies.registry import get_study, list_studies
from studies.study import Quantity, Study, Table, Unit

__all__ = ["Quantity", "Study", "Table", "Unit", "get_study", "list_studies", "run_table"]
