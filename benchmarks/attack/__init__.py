"""Random hostile calls of the public API: what is refused in plain words, and what is not.

``python -m benchmarks.attack --calls 40000 --seed 0`` makes the calls in processes of their own, each under a
limit of time, and prints a table of what came of them. ``values`` has what is given, ``targets`` what is
called, ``calls`` how, ``judging`` the verdicts, ``__main__`` the processes and the table.
"""
