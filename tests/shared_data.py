"""Where the tests find the data sets that the project does not ship, and what to do without them."""

import os
from pathlib import Path

import pytest

_BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"


def shared_data_folder():
    """The folder of $MULTIKERNEL_DATA, else ../shared/data beside the project's root; None if absent."""
    named = os.environ.get("MULTIKERNEL_DATA")
    folder = Path(named) if named else _BESIDE_THE_PROJECT
    return folder if (folder / "manifest.json").is_file() else None


needs_shared_data = pytest.mark.skipif(
    shared_data_folder() is None,
    reason="the data sets are not here: set MULTIKERNEL_DATA to the folder with their manifest.json",
)
