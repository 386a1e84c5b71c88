"""Print the lowest versions that pyproject.toml allows, as a constraints file for pip.

    python -m release.oldest > constraints-oldest.txt

Each requirement of the package and of its extras is pinned to the lower bound of its range. What they
need in turn is left to pip.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
OPTIONAL = ("parquet", "distributed", "graphs", "omics", "sequences")  # extras that the package imports
_BOUND = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*(?P<version>[0-9][0-9.]*)")


def lower_bounds(requirements: Iterable[str]) -> list[str]:
    """Return the pins "name==version" of the lower bounds.

    Parameters
    ----------
    requirements : iterable of str
        As in pyproject.toml, each with a lower bound.

    Returns
    -------
    list of str

    Examples
    --------
    >>> lower_bounds(["numpy>=2.0,<3", "dask[array,distributed]>=2025.5"])
    ['numpy==2.0', 'dask==2025.5']
    """
    pins = []
    for requirement in requirements:
        found = _BOUND.match(requirement)
        if found is None:
            raise ValueError(f"requirement {requirement!r} must state a lower bound as name>=version")
        pins.append(f"{found['name']}=={found['version']}")
    return pins


def main() -> int:
    """Print the pins."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in OPTIONAL:
        requirements += project["optional-dependencies"][extra]
    sys.stdout.write("\n".join(lower_bounds(requirements)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
