"""What machines are told of how sure an answer is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skelgen.trust import Doubt, verdict_of


def trust_facts(doubts: Sequence[Doubt]) -> dict[str, Any]:
    """Return verdict and doubts of an answer."""
    return {
        "verdict": verdict_of(doubts),
        "doubts": [
            {"code": one.code, "text": one.text, "remedy": one.remedy} for one in doubts
        ],
    }
