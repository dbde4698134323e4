"""What machines are told of how sure an answer is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skelgen.trust import Doubt, verdict_of


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDoubt:
    """Why an answer should not be trusted.

    Attributes
    ----------
    code : str
        Its name, the same in all answers.
    text : str
        What was found.
    remedy : str
        What to do.
    """

    code: str
    text: str
    remedy: str


def named(doubts: Iterable[Doubt]) -> tuple[NamedDoubt, ...]:
    """Return doubts as answers say them."""
    return tuple(
        NamedDoubt(code=one.code, text=one.text, remedy=one.remedy) for one in doubts
    )


def trust_facts(doubts: Sequence[Doubt]) -> dict[str, Any]:
    """Return verdict and doubts of an answer."""
    return {
        "verdict": verdict_of(doubts),
        "doubts": [asdict(one) for one in named(doubts)],
    }
