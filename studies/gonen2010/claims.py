"""What the thesis claims: chapters 1 and 2 and section 5.2, then chapters 3 and 4 and the rest of 5."""

from __future__ import annotations

from collections.abc import Mapping

from studies.gonen2010 import claims_combining, claims_localized
from studies.study import Claim, Summary


def judge(summaries: Mapping[str, Summary]) -> list[Claim]:
    """Return the claims whose tables and figures are there, with what our results say of them."""
    return claims_combining.judge(summaries) + claims_localized.judge(summaries)
