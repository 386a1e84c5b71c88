"""Published tables, computed again: protocol in, our numbers beside theirs out.

One module for each published source; `study` says what a study is, `engine` runs it.
"""

from multikernel.reproduce.engine import run_table
from multikernel.reproduce.registry import get_study, list_studies
from multikernel.reproduce.study import Quantity, Study, Table, Unit

__all__ = ["Quantity", "Study", "Table", "Unit", "get_study", "list_studies", "run_table"]
