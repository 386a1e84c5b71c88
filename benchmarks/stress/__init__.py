"""Random convex fits on what users bring first, raw tables among them, each within a limit and each judged.

``problems``  the categories, and the problem of a number
``fitting``   one fit and its verdict, and the process that fits within the limit of CPU time
``page``      the tables of a run
``families``  all other methods on the same problems, and a page of what came of them
"""
