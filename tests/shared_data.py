"""Where the tests find the data sets that the project does not ship, and what to do without them."""

import os
from pathlib import Path

import pytest

_BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"


def _find():
    named = os.environ.get("MULTIKERNEL_DATA")
    folder = Path(named) if named else _BESIDE_THE_PROJECT
    return folder.absolute() if (folder / "manifest.json").is_file() else None


_FOLDER = _find()  # looked for once: a test may have taken the variable out of its environment


def shared_data_folder():
    """The folder of $MULTIKERNEL_DATA, else ../shared/data beside the project's root; None if absent."""
    return _FOLDER


needs_shared_data = pytest.mark.skipif(
    _FOLDER is None,
    reason="the data sets are not here: set MULTIKERNEL_DATA to the folder with their manifest.json",
)
