"""What a method is about: its row in the table of methods; siblings have one in common.

Symbols: P kernels K_m of n samples with d columns, their weights μ or η, the value J of an SVM on their
sum.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """The row of a method in the table of methods.

    Attributes
    ----------
    family : str, such as "similarity"
    problem : str, what is optimised, in symbols
    solver : str, how, and by what it is certified
    cost : str, operations and memory for n samples and P kernels
    use : str, when to use it
    reference : str
    """

    family: str
    problem: str
    solver: str
    cost: str
    use: str
    reference: str
