"""Rows of a timeline while it is made: a rank each, or a group of ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.timeline.pieces import merged
from skelgen.timeline.types import Pieces, Thing

#: Rows of a timeline: ranks are grouped when there are more.
MOST_LANES = 64


@dataclass(frozen=True, slots=True)
class Lanes:
    """Rows of a timeline, or those of some of the ranks.

    Attributes
    ----------
    span_ns : int
        Time of the run [ns].
    ranks : int
        Of the run.
    level : int
        Of the pieces.
    knows_waiting : bool
    things : tuple of Thing
    pieces : dict of int to Pieces
        For each row.
    """

    span_ns: int
    ranks: int
    level: int
    knows_waiting: bool
    things: tuple[Thing, ...]
    pieces: dict[int, Pieces]

    def at(self, level: int) -> Lanes:
        """Return the rows at a higher level."""
        pieces = {lane: merged(one, level) for lane, one in self.pieces.items()}
        return replace(self, level=level, pieces=pieces)

    def count(self) -> int:
        """Return the number of pieces."""
        return sum(len(one) for one in self.pieces.values())


def group_size(ranks: int) -> int:
    """Return the number of ranks of a row."""
    return -(-ranks // MOST_LANES)


def added(one: Pieces, two: Pieces) -> Pieces:
    """Add the same cells of two groups of ranks."""
    return replace(
        one,
        times_ns=one.times_ns + two.times_ns,
        longest=np.maximum(one.longest, two.longest),
    )
