"""Experiments of our own on structured data: sequences, networks, graphs, pairs, several views."""

from studies.structured import graphs, pairs, sequences, vectors, yeast
from studies.study import Study

STUDY = Study(
    name="structured",
    citation=(
        "Experiments of our own, in the spirit of the publications on multiple kernel learning: single "
        "kernels, their plain sum and learned weights, by one protocol."
    ),
    own={
        table.name: table
        for table in (yeast.TABLE, *sequences.TABLES, *vectors.TABLES, graphs.TABLE, pairs.TABLE)
    },
)

__all__ = ["STUDY"]
