"""Make the timeline of a run in one pass over its calls.

Calls are taken rank by rank and in blocks. When there are too many pieces, the level
goes up by one and all pieces are joined, so the memory does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events
from skelgen.events.call_stream import CallBlock
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


@dataclass(frozen=True, slots=True, eq=False)
class _TimedCalls:
    """Some calls of a rank in order of time; for how long each waits, where known."""

    shape: NDArray[np.uint32]
    enter_ns: _Integers
    leave_ns: _Integers
    waits_ns: _Integers | None = None


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


def lanes_of(
    run: Events,
    ranks: range,
    waits_ns: _Integers | None = None,
    read: Callable[[int], Iterator[CallBlock]] | None = None,
) -> Lanes:
    """Return the rows of some of the ranks of a run.

    Parameters
    ----------
    run : Events
        With the begin and the end of all ranks.
    ranks : range
    waits_ns : (n,) int64 array, optional
        See `timeline_of`.
    read : callable, optional
        Gives the calls of a rank in blocks, where `run` has none.
    """
    of_run, span_ns = run.calls.ranks, max(run.application_ns, 0)
    each = group_size(of_run)
    finest = max(span_ns.bit_length() - _FINEST_BITS, 0)
    edges_ns, level = np.zeros(0, np.int64), finest
    if each > 1:
        cell = _cell_level(span_ns, _MOST_PIECES // MOST_LANES)
        level, finest = cell, max(cell - _FINER, 0)
        edges_ns = np.arange(0, span_ns, 1 << cell)
        edges_ns = np.append(edges_ns, span_ns)
    things = things_of(run.calls.functions)
    found = Lanes(span_ns, of_run, level, waits_ns is not None, things, {})
    if not span_ns:
        return found
    for rank in ranks:
        lane, level = rank // each, finest if each > 1 else found.level
        room = _MOST_PIECES if each > 1 else _MOST_PIECES - found.count()
        timed = _held(run, rank, waits_ns) if read is None else _even(read(rank))
        spent = _spent(run, rank, timed)
        level, pieces = _rank(spent, things, level, room)
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
    spent: Iterator[tuple[_Integers, _Integers]],
    things: tuple[Thing, ...],
    level: int,
    room: int,
) -> tuple[int, Pieces]:
    """Return the pieces of a rank, and the level at which there is room for them."""
    work = np.array([one.work for one in things], np.int64)
    parts: list[Pieces] = []
    held, origin_ns = 0, 0
    for times_ns, spent_on in spent:
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


def _held(
    events: Events, rank: int, waits_ns: _Integers | None
) -> Iterator[_TimedCalls]:
    """Give the calls of a rank of a run that was read as a whole, so many at a time."""
    calls = events.calls
    first, last = calls.first[rank : rank + 2].tolist()
    order = None
    if events.threads is not None:
        order = first + np.argsort(events.enter_ns[first:last], kind="stable")
    for begin in range(first, last, _BLOCK):
        rows: slice | _Integers = slice(begin, min(begin + _BLOCK, last))
        if order is not None:
            rows = order[begin - first : begin - first + _BLOCK]
        yield _TimedCalls(
            calls.shape[rows],
            events.enter_ns[rows],
            events.leave_ns[rows],
            None if waits_ns is None else waits_ns[rows],
        )


def _even(blocks: Iterator[CallBlock]) -> Iterator[_TimedCalls]:
    """Give the calls of blocks of any length, so many at a time."""
    names = ("shape", "enter_ns", "leave_ns")
    parts: list[list[NDArray[Any]]] = []
    held = 0
    for block in blocks:
        begin, count = 0, len(block.shape)
        while begin < count:
            end = min(begin + _BLOCK - held, count)
            # Copies: what the block has is overwritten by the next one.
            parts.append([getattr(block, name)[begin:end].copy() for name in names])
            held, begin = held + end - begin, end
            if held == _BLOCK:
                yield _TimedCalls(*map(np.concatenate, zip(*parts, strict=True)))
                parts, held = [], 0
    if held:
        yield _TimedCalls(*map(np.concatenate, zip(*parts, strict=True)))


def _spent(
    run: Events, rank: int, timed: Iterator[_TimedCalls]
) -> Iterator[tuple[_Integers, _Integers]]:
    """Give the times of a rank that follow each other, and what they are spent on.

    Calls of threads that overlap count once: the second begins where the first ends.
    """
    calls = run.calls
    origin_ns, end_ns = int(run.begin_ns.min()), int(run.end_ns.max())
    begins_ns, ends_ns = int(run.begin_ns[rank]), int(run.end_ns[rank])
    thing_of = call_things(len(calls.functions))[calls.shapes["function"]]
    done_ns = begins_ns
    yield _one(begins_ns - origin_ns, ABSENT)
    for some in timed:
        enter_ns = some.enter_ns
        leave_ns = np.clip(some.leave_ns, done_ns, ends_ns)
        until_ns = np.maximum.accumulate(leave_ns)
        before_ns = np.append(done_ns, until_ns[:-1])
        start_ns = np.clip(enter_ns, before_ns, until_ns)
        edges, thing = [before_ns, start_ns], thing_of[some.shape]
        spent = [np.zeros_like(thing), thing]
        if some.waits_ns is not None:
            met_ns = np.clip(enter_ns + some.waits_ns, start_ns, until_ns)
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
