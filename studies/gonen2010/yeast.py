"""The kernels of yeast proteins of sections 5.2.2 and 5.2.3, where the user has them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from studies.data import has_data, load_data, require_arrays
from studies.gonen2010.setting import Points
from studies.study import DataFile

REAL = "yeast_deng2003"
_FIRST = ("pfam", "complex", "interaction", "genetic", "expression")
_SECOND = ("pfam_evalue", "complex", "interaction", "genetic", "expression_gaussian", "sw")
# Table to the names of its kernels, in its order: complexes are TAP, interactions Phys, genetic ones Gen.
SUBSETS = {"5.8": _FIRST, "5.9": _SECOND, "5.14": _FIRST, "5.15": _SECOND}

DATA = DataFile(
    REAL,
    "The kernels of table 5.7 (Lanckriet, Deng, Cristianini, Jordan and Noble, 2004) over the 3588 proteins "
    "of CYGD; tables 5.8 and 5.14 read the first five, tables 5.9 and 5.15 the others",
    {
        "K_pfam": "(n, n), Pfam domains",
        "K_complex": "(n, n), diffusion kernel of protein complexes (TAP)",
        "K_interaction": "(n, n), diffusion kernel of physical interactions (Phys)",
        "K_genetic": "(n, n), diffusion kernel of genetic interactions (Gen)",
        "K_expression": "(n, n), correlated expression (Exp)",
        "K_pfam_evalue": "(n, n), enriched Pfam kernel (PfamE)",
        "K_expression_gaussian": "(n, n), Gaussian kernel of expression (ExpG)",
        "K_sw": "(n, n), Smith–Waterman (SW)",
        "Y": "(n, 13), 1 where a protein has a function",
        "class_names": "(13,), the names of the functions",
    },
)


def real_classes() -> list[str]:
    """Return the names of the functions in the user's file; none without such a file."""
    return load_data(REAL).arrays["class_names"].tolist() if has_data(REAL) else []


@lru_cache(maxsize=4)
def load_class(kernels: tuple[str, ...], number: int, split: int = 0) -> Points:
    """Return the proteins by some of the user's kernels, one function, counted from 1, against the rest."""
    data = load_data(REAL)
    names = [f"K_{name}" for name in kernels]
    require_arrays(data, (*names, "Y", "class_names"))
    y = np.where(data.arrays["Y"][:, number - 1] > 0, 1, -1)
    matrices = {name: np.asarray(data.arrays[f"K_{name}"]) for name in kernels}
    return Points(np.arange(len(y), dtype=np.float64)[:, None], y, matrices=matrices)
