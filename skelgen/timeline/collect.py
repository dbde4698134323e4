"""Make the timeline of a run in one pass over its calls.

Calls are taken rank by rank and in blocks. When there are too many pieces, the level
goes up by one and all pieces are joined, so the memory does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events
from skelgen.timeline.encoding import MOST_PIECES_BYTES, coded
from skelgen.timeline.lanes import MOST_LANES, Lanes, added, group_size
from skelgen.timeline.pieces import merged, pieces_of, spread
from skelgen.timeline.types import (
    ABSENT,
    COMPUTATION,
    Pieces,
    RunTimeline,
    Thing,
    call_things,
    things_of,
)

#: Pieces of all rows that are held, of which about a third fits into a page, and calls
#: of a block: memory is 90 bytes for each piece and 200 for each call of a block.
_MOST_PIECES, _BLOCK = 1 << 19, 1 << 17
#: The finest level tells times apart that are a part of the run of this size.
_FINEST_BITS = 26
#: Levels by which the pieces of one rank are finer than the cells of its row.
_FINER = 3

_Integers = NDArray[np.int64]


def timeline_of(
    events: Events,
    waits_ns: _Integers | None = None,
    *,
    most_bytes: int = MOST_PIECES_BYTES,
) -> RunTimeline | None:
    """Make the timeline of a run.

    Parameters
    ----------
    events : Events
        Of all ranks.
    waits_ns : (n,) int64 array, optional
        For how long each call waits at its begin, where that is known [ns].
    most_bytes : int
        Of the coded pieces [bytes].

    Returns
    -------
    RunTimeline or None
        None of a run that takes no time.
    """
    whole = lanes_of(events, range(events.calls.ranks), waits_ns)
    return joined([whole], most_bytes=most_bytes)


def joined(
    parts: Sequence[Lanes], *, most_bytes: int = MOST_PIECES_BYTES
) -> RunTimeline | None:
    """Join the rows of all ranks, at the first level that fits.

    Parameters
    ----------
    parts : sequence of Lanes
        Of different ranks, with the same tables.
    most_bytes : int
        Of the coded pieces [bytes].
    """
    level = max(part.level for part in parts)
    rows: dict[int, Pieces] = {}
    for part in parts:
        for lane, pieces in part.at(level).pieces.items():
            rows[lane] = added(rows[lane], pieces) if lane in rows else pieces
    found = replace(parts[0], level=level, pieces=dict(sorted(rows.items())))
    if found.span_ns <= 0:
        return None
    while (timeline := coded(found, most_bytes)) is None:
        found = found.at(found.level + 1)
    return timeline


def lanes_of(events: Events, ranks: range, waits_ns: _Integers | None = None) -> Lanes:
    """Return the rows of some of the ranks of a run.

    Parameters
    ----------
    events : Events
        With the begin and the end of all ranks.
    ranks : range
    waits_ns : (n,) int64 array, optional
        See `timeline_of`.
    """
    of_run, span_ns = events.calls.ranks, max(events.application_ns, 0)
    each = group_size(of_run)
    finest = max(span_ns.bit_length() - _FINEST_BITS, 0)
    edges_ns, level = np.zeros(0, np.int64), finest
    if each > 1:
        cell = _cell_level(span_ns, _MOST_PIECES // MOST_LANES)
        level, finest = cell, max(cell - _FINER, 0)
        edges_ns = np.arange(0, span_ns, 1 << cell)
        edges_ns = np.append(edges_ns, span_ns)
    things = things_of(events.calls.functions)
    found = Lanes(span_ns, of_run, level, waits_ns is not None, things, {})
    if not span_ns:
        return found
    for rank in ranks:
        lane, level = rank // each, finest if each > 1 else found.level
        room = _MOST_PIECES if each > 1 else _MOST_PIECES - found.count()
        level, pieces = _rank(events, rank, waits_ns, things, level, room)
        if each > 1:
            pieces = spread(pieces, edges_ns)
            known = found.pieces.get(lane)
            found.pieces[lane] = pieces if known is None else added(known, pieces)
            continue
        if level > found.level:
            found = found.at(level)
        found.pieces[lane] = pieces
        while found.count() > _MOST_PIECES * 3 // 4:
            found = found.at(found.level + 1)
    return found


def _cell_level(span_ns: int, cells: int) -> int:
    """Return the lowest level of which so many cells hold the run."""
    return max((-(-span_ns // cells) - 1).bit_length(), 0)


def _rank(
    events: Events,
    rank: int,
    waits_ns: _Integers | None,
    things: tuple[Thing, ...],
    level: int,
    room: int,
) -> tuple[int, Pieces]:
    """Return the pieces of a rank, and the level at which there is room for them."""
    work = np.array([one.work for one in things], np.int64)
    parts: list[Pieces] = []
    held, origin_ns = 0, 0
    for times_ns, spent_on in _blocks(events, rank, waits_ns):
        some = np.flatnonzero(times_ns)
        if not len(some):
            continue
        length_ns, thing = times_ns[some], spent_on[some]
        parts.append(pieces_of(origin_ns, length_ns, thing, work, level))
        origin_ns += int(length_ns.sum())
        held += len(parts[-1])
        while held > room:
            level += 1
            parts = [merged(Pieces.joined(parts), level)]
            held = len(parts[0])
    return level, merged(Pieces.joined(parts), level)


def _blocks(
    events: Events, rank: int, waits_ns: _Integers | None
) -> Iterator[tuple[_Integers, _Integers]]:
    """Give the times of a rank that follow each other, and what they are spent on.

    Calls of threads that overlap count once: the second begins where the first ends.
    """
    calls = events.calls
    first, last = calls.first[rank : rank + 2].tolist()
    origin_ns, end_ns = int(events.begin_ns.min()), int(events.end_ns.max())
    begins_ns, ends_ns = int(events.begin_ns[rank]), int(events.end_ns[rank])
    thing_of = call_things(len(calls.functions))[calls.shapes["function"]]
    order = None
    if events.threads is not None:
        order = first + np.argsort(events.enter_ns[first:last], kind="stable")
    done_ns = begins_ns
    yield _one(begins_ns - origin_ns, ABSENT)
    for begin in range(first, last, _BLOCK):
        rows: slice | _Integers = slice(begin, min(begin + _BLOCK, last))
        if order is not None:
            rows = order[begin - first : begin - first + _BLOCK]
        enter_ns = events.enter_ns[rows]
        leave_ns = np.clip(events.leave_ns[rows], done_ns, ends_ns)
        until_ns = np.maximum.accumulate(leave_ns)
        before_ns = np.append(done_ns, until_ns[:-1])
        start_ns = np.clip(enter_ns, before_ns, until_ns)
        edges, thing = [before_ns, start_ns], thing_of[calls.shape[rows]]
        spent = [np.zeros_like(thing), thing]
        if waits_ns is not None:
            met_ns = np.clip(enter_ns + waits_ns[rows], start_ns, until_ns)
            edges.append(met_ns)
            spent.insert(1, thing + 1)
        edges.append(until_ns)
        lengths = np.diff(np.stack(edges, axis=1), axis=1)
        yield lengths.reshape(-1), np.stack(spent, axis=1).reshape(-1)
        done_ns = int(until_ns[-1])
    yield _one(ends_ns - done_ns, COMPUTATION)
    yield _one(end_ns - ends_ns, ABSENT)


def _one(length_ns: int, thing: int) -> tuple[_Integers, _Integers]:
    return np.array([length_ns], np.int64), np.array([thing], np.int64)
