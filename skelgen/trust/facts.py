"""What machines are told of how sure an answer is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skelgen.trust import Doubt


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
