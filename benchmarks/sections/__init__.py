"""The sections of a run, in the order in which they are measured and reported."""
