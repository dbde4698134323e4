"""Pieces of C that know which helpers, tables and variables they use.

What a program has to define is the union of what its pieces use: nobody has to look
for it in the finished text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class UseKind(Enum):
    """What sort of thing a piece of C uses."""

    #: A helper of ``templates/skeleton/helpers``.
    HELPER = "helper"
    #: A table of the program.
    TABLE = "table"
    #: A counter of a step with several requests.
    TURN = "turn"
    #: A type of blocks of so many bytes with holes between them.
    HOLES = "holes"
    #: An array of one type, an entry for each rank or neighbour.
    EACH = "each"
    #: The parameter of a function that stands at several places.
    PLACE = "place"


class Use(NamedTuple):
    """One thing that a piece of C uses.

    Attributes
    ----------
    kind : UseKind
    name : str
        In C; of `UseKind.HOLES` the bytes of a block, of `UseKind.EACH` the type.
    """

    kind: UseKind
    name: str


Uses = frozenset[Use]
NO_USES: Uses = frozenset()


@dataclass(frozen=True, slots=True)
class Fragment:
    """A C expression, or a part of one.

    Attributes
    ----------
    text : str
    uses : frozenset of Use
    """

    text: str
    uses: Uses = NO_USES


#: A word of C: what uses nothing may be plain text.
Word = str | Fragment


def helper(name: str) -> Fragment:
    """Return the name of a helper, which the program then has to define."""
    return Fragment(name, helpers(name))


def helpers(*names: str) -> Uses:
    """Return the use of some helpers."""
    return frozenset(Use(UseKind.HELPER, name) for name in names)


def union(several: Iterable[Uses]) -> Uses:
    """Return all that several pieces use."""
    return NO_USES.union(*several)


def parts(words: Iterable[Word]) -> tuple[list[str], Uses]:
    """Return the texts of some words, and what they use together."""
    known = [word if isinstance(word, Fragment) else Fragment(word) for word in words]
    return [one.text for one in known], union(one.uses for one in known)
