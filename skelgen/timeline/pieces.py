"""Cut the time of a rank into pieces, and join them level by level.

A level has a width of a power of two nanoseconds. What takes that long and longer is a
piece of its own. Shorter neighbours that begin in the same cell of the width are one
piece. So a piece of a level consists of whole pieces of the levels below it, and what
is long keeps its exact place at every level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.timeline.types import THING_BITS, Pieces, RankWork

_Integers = NDArray[np.int64]

#: Longest call that `Pieces.longest` can hold [ns]: 26 days.
_LONGEST_NS = (1 << 63 - THING_BITS) - 1


def pieces_of(
    origin_ns: int,
    length_ns: _Integers,
    thing: _Integers,
    work: _Integers,
    level: int,
) -> Pieces:
    """Return the pieces of times that follow each other.

    Parameters
    ----------
    origin_ns : int
        Begin of the first [ns].
    length_ns : (n,) int64 array
        Times above 0 [ns].
    thing : (n,) int64 array
        What they are spent on; below 2 it is no call.
    work : (things,) int64 array
        Kind of work of each thing.
    level : int
        The width is ``2**level`` [ns].
    """
    ends = np.cumsum(length_ns)
    begin_ns = ends - length_ns + origin_ns
    first = _firsts(begin_ns, length_ns >= 1 << level, level)
    call_ns = np.where(thing > 1, np.minimum(length_ns, _LONGEST_NS), 0)
    longest = call_ns << THING_BITS
    longest |= np.where(thing > 1, thing, 0)
    alone = np.diff(first, append=len(thing)) == 1
    count, works = len(first), len(RankWork)
    piece = np.repeat(np.arange(count), np.diff(first, append=len(thing)))
    times = np.bincount(
        piece * works + work[thing], weights=length_ns, minlength=count * works
    )
    return Pieces(
        begin_ns[first],
        np.diff(ends[np.append(first, len(ends))[1:] - 1], prepend=0),
        times.astype(np.int64).reshape(count, works),
        np.maximum.reduceat(longest, first),
        alone,
    )


def merged(pieces: Pieces, level: int) -> Pieces:
    """Join what is one piece at a level.

    Parameters
    ----------
    pieces : Pieces
        Of a level that is not above this one.
    level : int
        The width is ``2**level`` [ns].
    """
    if not len(pieces):
        return pieces
    long = pieces.whole & (pieces.length_ns >= 1 << level)
    first = _firsts(pieces.begin_ns, long, level)
    if len(first) == len(pieces):
        return pieces
    alone = np.diff(first, append=len(pieces)) == 1
    return Pieces(
        pieces.begin_ns[first],
        np.add.reduceat(pieces.length_ns, first),
        np.add.reduceat(pieces.times_ns, first, axis=0),
        np.maximum.reduceat(pieces.longest, first),
        pieces.whole[first] & alone,
    )


def _firsts(begin_ns: _Integers, long: NDArray[np.bool_], level: int) -> _Integers:
    """Return where pieces begin: at long times, behind them, and in each new cell."""
    cell = begin_ns >> level
    begins = np.ones(len(cell), bool)
    begins[1:] = long[1:] | long[:-1] | (cell[1:] != cell[:-1])
    return np.flatnonzero(begins)


def spread(pieces: Pieces, edges_ns: _Integers) -> Pieces:
    """Divide the time into cells between edges, whatever pieces lie there.

    Parameters
    ----------
    pieces : Pieces
        From the first edge to the last.
    edges_ns : (cells + 1,) int64 array
        Ascending [ns].

    Returns
    -------
    Pieces
        The sum of each kind of work is that of `pieces`.
    """
    at = np.searchsorted(pieces.begin_ns, edges_ns, side="right") - 1
    at = np.clip(at, 0, len(pieces) - 1)
    inside = edges_ns - pieces.begin_ns[at]
    part = np.clip(inside / np.maximum(pieces.length_ns[at], 1), 0, 1)
    before = np.zeros((len(pieces) + 1, len(RankWork)), np.int64)
    np.cumsum(pieces.times_ns, axis=0, out=before[1:])
    share = np.rint(pieces.times_ns[at] * part[:, None]).astype(np.int64)
    times = np.diff(before[at] + share, axis=0)
    # The longest of those that begin in a cell, and of the one that reaches into it.
    longest = pieces.longest[at[:-1]]
    first = np.searchsorted(pieces.begin_ns, edges_ns)
    some = np.flatnonzero(first[1:] > first[:-1])
    if len(some):
        end = int(first[some[-1] + 1])
        found = np.maximum.reduceat(pieces.longest[:end], first[some])
        longest[some] = np.maximum(longest[some], found)
    count = len(edges_ns) - 1
    return Pieces(
        edges_ns[:-1], np.diff(edges_ns), times, longest, np.zeros(count, bool)
    )
