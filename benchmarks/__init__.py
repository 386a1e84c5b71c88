"""Speed of multikernel against what else solves the problem, measured by a judge of its own.

Nothing of this is part of the installed package; ``make bench`` runs it (see ``README.md``).
"""
