"""Compare `skelgen.events.collect` with the independent reader of the shim's tests.

`agree` reads one folder with both and asserts that they tell the same story: functions,
times, partners, sizes, and which call created each request that a call completes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skelgen.events import Events, collect, function_info
from skelgen.events.functions import CallKind
from skelgen.trace import open_trace
from tests.shim import reader

_SENDS = {CallKind.SEND, CallKind.ISEND, CallKind.SEND_INIT, CallKind.SENDRECV}
_RECEIVES = {CallKind.RECEIVE, CallKind.IRECEIVE, CallKind.RECEIVE_INIT}
_BOUNDS = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")


def agree(folder: Path) -> int:
    """Compare all ranks of a run with one thread each; return the number of calls."""
    events = collect(open_trace(folder))
    total = 0
    for trace in reader.read_run(folder):
        total += _rank(events, trace, trace.header["world_rank"])
    assert total == len(events.calls)
    return total


def _rank(events: Events, trace: reader.Trace, rank: int) -> int:
    calls = events.calls
    begin, end = calls.first[rank : rank + 2].tolist()
    expected = [e for e in trace.events if e.function not in _BOUNDS]
    assert end - begin == len(expected)
    rows = calls.shapes[calls.shape[begin:end]]
    names = [_name(event) for event in expected]
    assert [calls.functions[row["function"]] for row in rows] == names
    _times(events, trace, expected, begin, end)
    creators, partners = _requests(trace, expected)
    created: dict[bool, list[int]] = {False: [], True: []}  # persistent, calls so far
    for i, (event, row) in enumerate(zip(expected, rows, strict=True)):
        ages = calls.ages[begin + i]
        ages = calls.age_values[calls.age_first[ages] : calls.age_first[ages + 1]]
        found = [created[age < 0][-abs(age)] for age in ages.tolist()]
        assert found == creators[i]
        info = function_info(names[i])
        if info.creates:
            created[info.persistent].append(i)
        _arguments(event, row, partners.get(i), names[i])
        size = _size(trace, event, names[i])
        if size is not None:
            assert calls.size_bytes[begin + i] == size
    return len(expected)


def _name(event: reader.Event) -> str:
    failed = event.has(reader.FAILED) and not event.has(reader.COMPLETES)
    return event.function + (" (failed)" if failed else "")


def _times(
    events: Events,
    trace: reader.Trace,
    expected: list[reader.Event],
    begin: int,
    end: int,
) -> None:
    """Times agree but for the choice of two clock readings of the host."""
    if len(expected) < 2:
        return
    scale = 2 ** trace.header["unit_shift"] * 1e9 / trace.header["ticks_per_s"]
    enter = np.array([e.begin for e in expected], float) * scale
    leave = np.array([e.end for e in expected], float) * scale
    offset = events.enter_ns[begin] - enter[0]
    slack = 10 + 0.01 * (leave[-1] - enter[0])
    assert np.abs(events.enter_ns[begin:end] - enter - offset).max() < slack
    assert np.abs(events.leave_ns[begin:end] - leave - offset).max() < slack


def _requests(
    trace: reader.Trace, expected: list[reader.Event]
) -> tuple[list[list[int]], dict[int, tuple[int, int]]]:
    """Return creators of each event's requests, and what wildcard receives got."""
    maker: dict[int, int] = {}
    creators: list[list[int]] = []
    got: dict[int, set[tuple[int, int]]] = {}
    position = {id(event): i for i, event in enumerate(expected)}
    for event in trace.events:
        i = position.get(id(event))
        mine = [maker.get(number) for number in event.requests]
        if i is not None:
            known = [m for m in mine if m is not None]
            creators.append(
                [m for m in known if function_info(_name(expected[m])).creates]
            )
        for place, source, tag in event.statuses:
            if mine[place] is not None:
                got.setdefault(mine[place], set()).add((source, tag))
        if event.has(reader.STARTS):
            for number, made in zip(mine, event.made, strict=True):
                if number is not None:
                    maker[made] = number
        else:
            for made in event.made:
                assert i is not None
                maker[made] = i
    return creators, {i: next(iter(one)) for i, one in got.items() if len(one) == 1}


def _arguments(
    event: reader.Event, row: np.void, got: tuple[int, int] | None, name: str
) -> None:
    kind = function_info(name).kind
    if kind not in _SENDS | _RECEIVES:
        return
    peer, tag = event.peer, event.tag
    if got is not None and got[0] == -5:
        peer = -2 if kind is not CallKind.RECEIVE_INIT else peer
    elif got is not None:
        peer = got[0] if event.has(reader.WILD_SOURCE) else peer
        tag = got[1] if event.has(reader.WILD_TAG) else tag
    assert row["peer"] == (-1 if peer == -3 else peer)
    assert row["tag"] == max(tag, -1)
    assert (row["peer2"], row["tag2"]) == (event.peer2, event.tag2)
    assert bool(row["flags"] & 1) == event.has(reader.WILD_SOURCE)


def _size(trace: reader.Trace, event: reader.Event, name: str) -> int | None:
    kind = function_info(name).kind
    types = trace.tables.get("types", {})
    if event.has(reader.NOT_READY):
        return event.polls
    if kind in _SENDS:
        return event.counts[0] * types[event.type_a]["size"] if event.type_a else 0
    if kind in _RECEIVES:
        return event.counts[1] * types[event.type_b]["size"] if event.type_b else 0
    return None
