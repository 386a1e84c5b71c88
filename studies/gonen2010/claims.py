"""What the thesis claims: chapters 1 and 2 and section 5.2, then chapters 3 and 4 and the rest of 5."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from studies.study import Claim, Summary

_PARTS = ("claims_combining", "claims_localized")


def judge(summaries: Mapping[str, Summary]) -> list[Claim]:
    """Return the claims whose tables and figures are there, with what our results say of them."""
    names = [f"{__package__}.{part}" for part in _PARTS]
    parts = [import_module(name) for name in names if find_spec(name) is not None]
    return [claim for part in parts for claim in part.judge(summaries)]
