"""Whether two revisions compute the same numbers, bit for bit, and in the same time."""
