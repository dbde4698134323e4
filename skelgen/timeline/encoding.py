"""The pieces of a timeline as few bytes, and back.

The bytes are compressed (zlib). They hold, for the pieces of all rows:

1. a byte each: the thing that fills the piece, or 255 where there are several;
2. of the latter: the thing of the longest call (255: none), a byte each, and behind
   these the shares of each kind of work but computation, 255 for the whole, a kind
   behind the other;
3. their lengths in units, seven bits a byte, the lowest first, the highest bit set
   where a further byte follows.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.timeline.lanes import Lanes, group_size
from skelgen.timeline.types import (
    ABSENT,
    COMPUTATION,
    THING_BITS,
    LaneTotal,
    Pieces,
    RankWork,
    RunTimeline,
    Thing,
)
from skelgen.units import seconds

#: The most that pieces may take, before they become text that is longer by a third.
MOST_PIECES_BYTES = 720_000
#: Several things, or none; things that have a number of their own.
_MIXED, _MOST_THINGS = 255, 240
#: Units are finer than the width by these bits.
_UNIT_BITS = 4
#: No coded timeline has more pieces.
MOST_CODED = 1 << 20

_Integers = NDArray[np.int64]
_Bytes = NDArray[np.uint8]


def coded(lanes: Lanes, most_bytes: int) -> RunTimeline | None:
    """Code rows of pieces; None where that takes too many bytes.

    Parameters
    ----------
    lanes : Lanes
    most_bytes : int
    """
    rows = lanes.pieces
    count, each = lanes.count(), group_size(lanes.ranks)
    if count > MOST_CODED:
        return None
    pieces = Pieces.joined(list(rows.values()))
    unit_ns = 1 << max(lanes.level - _UNIT_BITS, 0)
    things, what, mixed = _contents(pieces, lanes.things)
    ends = [_rounded(one.begin_ns + one.length_ns, unit_ns) for one in rows.values()]
    lengths = np.concatenate([np.diff(one, prepend=0) for one in ends])
    data = zlib.compress(
        what.tobytes() + mixed.tobytes() + _varints(lengths).tobytes(), 6
    )
    if len(data) > most_bytes and count > len(rows):
        return None
    return RunTimeline(
        span_ns=lanes.span_ns,
        unit_ns=unit_ns,
        width_ns=1 << lanes.level,
        is_complete=bool(pieces.whole.all()),
        knows_waiting=lanes.knows_waiting,
        things=things,
        lanes=tuple(_total(*row, each, lanes.ranks) for row in rows.items()),
        data=data,
    )


def _total(lane: int, pieces: Pieces, each: int, ranks: int) -> LaneTotal:
    times_s = tuple(seconds(one) for one in pieces.times_ns.sum(axis=0).tolist())
    last = min((lane + 1) * each, ranks) - 1
    return LaneTotal(lane * each, last, len(pieces), times_s)


def _rounded(time_ns: _Integers, unit_ns: int) -> _Integers:
    return (time_ns + unit_ns // 2) // unit_ns


def _contents(
    pieces: Pieces, things: Sequence[Thing]
) -> tuple[tuple[Thing, ...], _Bytes, _Bytes]:
    """Return things, computation and absence first; those of pieces; the mixtures."""
    times = pieces.times_ns
    total = times.sum(axis=1)
    longest = pieces.longest & ((1 << THING_BITS) - 1)
    numbers = np.where(longest > 0, longest, _MIXED)
    idle = pieces.longest == 0
    absent, computing = (
        times[:, w] == total for w in (RankWork.ABSENT, RankWork.COMPUTATION)
    )
    numbers[idle & absent], numbers[idle & computing] = ABSENT, COMPUTATION
    pure = (pieces.whole & ~idle) | (idle & (absent | computing))
    used = np.unique(numbers[(longest > 0) | pure]).tolist()
    kept, table = _numbered(used, things)
    what = np.where(pure, table[numbers], _MIXED).astype(np.uint8)
    some = ~pure
    share = times[some, 1:] / np.maximum(total[some], 1)[:, None]
    named = np.where(idle[some], _MIXED, table[numbers[some]])
    mixed = np.column_stack([named, np.rint(255 * share)]).astype(np.uint8)
    return kept, what, mixed.T


def _numbered(
    used: Sequence[int], things: Sequence[Thing]
) -> tuple[tuple[Thing, ...], _Integers]:
    """Give things that occur small numbers; what goes beyond them loses its name."""
    table = np.full(1 << THING_BITS, _MIXED, np.int64)
    kept = {things[COMPUTATION]: COMPUTATION, things[ABSENT]: ABSENT}
    for number in used:
        thing = things[number]
        if thing not in kept and len(kept) >= _MOST_THINGS:
            thing = Thing(thing.work, "another function")
        table[number] = kept.setdefault(thing, len(kept))
    return tuple(kept), table


def _varints(values: _Integers) -> _Bytes:
    """Write numbers of at most 63 bits, seven bits a byte."""
    size = np.ones(len(values), np.int64)
    for bits in range(7, 63, 7):
        size += values >> bits > 0
    ends = np.cumsum(size)
    found = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for place in range(int(size.max(initial=0))):
        rows = np.flatnonzero(size > place)
        more = np.where(size[rows] > place + 1, 0x80, 0)
        low = values[rows] >> 7 * place & 0x7F
        found[ends[rows] - size[rows] + place] = low | more
    return found


def _numbers(coded_values: _Bytes, count: int) -> _Integers:
    """Undo `_varints`."""
    last = np.flatnonzero(coded_values < 0x80)
    if len(last) != count or (count and last[-1] + 1 != len(coded_values)):
        raise ValueError(f"read {len(last)} lengths of pieces, expected {count}")
    first = np.append(0, last[:-1] + 1)[:count]
    size = last - first + 1
    if size.max(initial=1) > 9:
        raise ValueError("read a length of more than 63 bits")
    if not count:
        return np.zeros(0, np.int64)
    place = np.arange(len(coded_values)) - np.repeat(first, size)
    bits = (coded_values.astype(np.int64) & 0x7F) << 7 * place
    found: _Integers = np.add.reduceat(bits, first)
    return found


def decoded(timeline: RunTimeline) -> list[Pieces]:
    """Return the pieces of each row, as exact as they were coded.

    `whole` and `longest` hold what is known of it: a longest call of a mixture has
    the time 0.

    Raises
    ------
    ValueError
        When the bytes are not those of such pieces.
    """
    count = sum(lane.pieces for lane in timeline.lanes)
    most = count * (1 + 7 + 9)
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(timeline.data, most + 1)
    except zlib.error as error:
        raise ValueError(f"cannot be expanded: {error}") from None
    data = np.frombuffer(raw, np.uint8)
    what = data[:count]
    mixtures = int((what == _MIXED).sum())
    works = len(RankWork)
    start = count + works * mixtures
    if len(what) < count or len(data) < start or len(data) > most:
        raise ValueError(f"read {len(data)} bytes of {count} pieces")
    mixed = data[count:start].reshape(works, mixtures).T
    lengths = _numbers(data[start:], count) * timeline.unit_ns
    if lengths.max(initial=0) > 1 << 62:
        raise ValueError("read a piece that is longer than any run")
    named = np.concatenate([what[what != _MIXED], mixed[:, 0]])
    if (named[named != _MIXED] >= len(timeline.things)).any():
        raise ValueError(f"read a thing beyond the {len(timeline.things)} known ones")
    edges = np.cumsum([0, *(lane.pieces for lane in timeline.lanes)]).tolist()
    whole = _pieces(timeline, what, mixed, lengths)
    return [_row(whole, *edge) for edge in pairwise(edges)]


def _row(pieces: Pieces, first: int, last: int) -> Pieces:
    length_ns = pieces.length_ns[first:last]
    return Pieces(
        np.cumsum(length_ns) - length_ns,
        length_ns,
        pieces.times_ns[first:last],
        pieces.longest[first:last],
        pieces.whole[first:last],
    )


def _pieces(
    timeline: RunTimeline, what: _Bytes, mixed: _Bytes, lengths: _Integers
) -> Pieces:
    """Return all pieces; their begins are not filled in."""
    work = np.zeros(256, np.int64)
    is_call = np.zeros(256, bool)
    for number, thing in enumerate(timeline.things):
        work[number], is_call[number] = thing.work, bool(thing.name)
    times = np.zeros((len(what), len(RankWork)), np.int64)
    pure = what != _MIXED
    times[np.flatnonzero(pure), work[what[pure]]] = lengths[pure]
    shares = mixed[:, 1:] / np.maximum(mixed[:, 1:].sum(axis=1), 255)[:, None]
    parts = np.rint(shares * lengths[~pure][:, None]).astype(np.int64)
    times[~pure, 1:] = parts
    times[~pure, 0] = np.maximum(lengths[~pure] - parts.sum(axis=1), 0)
    filling = what.astype(np.int64)
    filling[~pure] = mixed[:, 0]
    is_named = is_call[filling]
    longest = np.where(is_named & pure, lengths, 0) << THING_BITS
    longest |= np.where(is_named, filling, 0)
    return Pieces(np.zeros_like(lengths), lengths, times, longest, pure)
