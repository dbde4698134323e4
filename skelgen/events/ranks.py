"""Decode one rank: all its threads, merged by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import no_time_away, take_out, without
from skelgen.events.requests import RankRequests, dtype
from skelgen.events.rows import RowTable
from skelgen.events.shapes import FileShapes, variant_rows
from skelgen.trace import EventColumns, RankFile, TimeScale, decode
from skelgen.trace.stream import Decoded

_PIECE = 1 << 16
#: Ends that say when the program ended although it did not call MPI_Finalize.
_ENDED = ("exit", "abort")
#: Calls with vectors: event, index of the file, its shape, its two vectors.
VECTOR_DTYPE = np.dtype(
    [
        ("event", np.int64),
        ("file", np.int64),
        ("shape", np.int64),
        ("vector_a", np.int64),
        ("vector_b", np.int64),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class RankEvents:
    """The events of one rank before they join those of the others.

    Attributes
    ----------
    columns : EventColumns
    numbers : (variants,) uint32 array
        Rows in the table of shapes.
    action : (variants,) uint8 array
    begins, ends, pauses : (variants,) bool arrays
        MPI_Init, MPI_Finalize and MPI_Pcontrol(0).
    stream : (n,) uint16 array or None
        Thread of each event, as an index of the rank's files; None when there is one.
    statuses : structured array
        As decoded, by event.
    foreign : structured array
        As decoded, by event; threads are indices or -1.
    vectors : VECTOR_DTYPE array
        By event.
    away : AWAY_DTYPE array
        By event; none of a rank with several threads, where one may compute while
        another sleeps.
    wrong_peers, implausible : int
        Events that name a rank outside their communicator; sizes that were cut.
    """

    columns: EventColumns
    numbers: NDArray[np.uint32]
    action: NDArray[np.uint8]
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    pauses: NDArray[np.bool_]
    stream: NDArray[np.uint16] | None
    statuses: NDArray[np.void]
    foreign: NDArray[np.void]
    vectors: NDArray[np.void]
    away: NDArray[np.void]
    wrong_peers: int
    implausible: int


def decode_rank(
    files: Sequence[RankFile],
    shapes: Sequence[FileShapes],
    scales: Sequence[TimeScale],
    columns: EventColumns,
    table: RowTable,
) -> RankEvents:
    """Decode the files of one rank into columns, in order of time.

    Parameters
    ----------
    files, shapes, scales
        One for each thread.
    columns : EventColumns
        Room for the events of all of them; filled here.
    table : RowTable
        Of shapes; extended here.
    """
    if len(files) == 1:
        parts = [columns]
        order = None
    else:
        parts = [EventColumns.of(file.facts.events) for file in files]
    decoded = [
        decode(file, shape.raw, part, scale)
        for file, shape, part, scale in zip(files, shapes, parts, scales, strict=True)
    ]
    first_variant = np.cumsum([0, *(len(one.variants) for one in decoded)])
    if len(files) > 1:
        for part, first in zip(parts, first_variant[:-1], strict=True):
            np.add(part.variant, np.uint32(first), out=part.variant)
        order = _merge(parts, scales, columns)
    described = [
        _numbered(shape, one.variants, table)
        for shape, one in zip(shapes, decoded, strict=True)
    ]
    wrong = np.concatenate([outside for _, outside in described])
    levels = np.concatenate([one.variants["peer"] for one in decoded])
    return RankEvents(
        columns=columns,
        numbers=np.concatenate([numbers for numbers, _ in described]),
        action=_of_variants("action", shapes, decoded),
        begins=_of_variants("begins", shapes, decoded),
        ends=_of_variants("ends", shapes, decoded),
        pauses=_of_variants("controls", shapes, decoded) & (levels == 0),
        stream=_streams(parts, order),
        statuses=_in_order([one.statuses for one in decoded], parts, order),
        foreign=_foreign(files, decoded, parts, order),
        vectors=_vectors(decoded, parts, order),
        away=(
            no_time_away()
            if len(files) > 1
            else take_out(columns.compute_ns, decoded[0].away)
        ),
        wrong_peers=int(wrong[columns.variant].sum()) if wrong.any() else 0,
        implausible=sum(one.implausible for one in decoded),
    )


def _numbered(
    shapes: FileShapes, variants: NDArray[np.void], table: RowTable
) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the variants' rows in the table, and which of them name a wrong rank.

    In pieces: there may be as many variants as events.
    """
    numbers = np.empty(len(variants), np.uint32)
    wrong = np.zeros(len(variants), bool)
    for begin in range(0, len(variants), _PIECE):
        part = slice(begin, begin + _PIECE)
        rows, wrong[part] = variant_rows(shapes, variants[part])
        numbers[part] = table.number(rows)
    return numbers, wrong


def _of_variants(
    name: str, shapes: Sequence[FileShapes], decoded: Sequence[Decoded]
) -> NDArray[Any]:
    return np.concatenate(
        [
            getattr(one, name)[found.variants["shape"]]
            for one, found in zip(shapes, decoded, strict=True)
        ]
    )


def _merge(
    parts: Sequence[EventColumns], scales: Sequence[TimeScale], columns: EventColumns
) -> NDArray[np.int64]:
    """Fill the columns with those of all threads; return where each event came from."""
    enter = np.concatenate([part.enter_ns for part in parts])
    order = np.argsort(enter, kind="stable")
    for name in EventColumns.__slots__:
        joined = np.concatenate([getattr(part, name) for part in parts])
        getattr(columns, name)[:] = joined[order]
    if len(order):
        busy = np.maximum.accumulate(columns.leave_ns)
        gap = columns.enter_ns[1:] - busy[:-1] - scales[0].cost_ns
        columns.compute_ns[1:] = np.maximum(gap, 0)
    return order


def _streams(
    parts: Sequence[EventColumns], order: NDArray[np.int64] | None
) -> NDArray[np.uint16] | None:
    if order is None:
        return None
    lengths = [len(part.variant) for part in parts]
    streams = np.repeat(np.arange(len(parts), dtype=np.uint16), lengths)
    return streams[order]


def _in_order(
    tables: Sequence[NDArray[np.void]],
    parts: Sequence[EventColumns],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    """Join tables that name events, now by their place among those of all threads."""
    if order is None:
        return tables[0]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    begin = 0
    for table, part in zip(tables, parts, strict=True):
        table["event"] = place[table["event"] + begin]
        begin += len(part.variant)
    joined = np.concatenate(tables)
    return joined[np.argsort(joined["event"], kind="stable")]


def _foreign(
    files: Sequence[RankFile],
    decoded: Sequence[Decoded],
    parts: Sequence[EventColumns],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    index = {file.header.thread: i for i, file in enumerate(files)}
    joined = _in_order([one.foreign for one in decoded], parts, order)
    return foreign_of(joined, index)


def _vectors(
    decoded: Sequence[Decoded],
    parts: Sequence[EventColumns],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    tables = []
    for i, (one, part) in enumerate(zip(decoded, parts, strict=True)):
        table = np.zeros(len(one.vectors), VECTOR_DTYPE)
        for name in ("event", "vector_a", "vector_b"):
            table[name] = one.vectors[name]
        variant = part.variant[table["event"]].astype(np.int64)
        variant -= sum(len(earlier.variants) for earlier in decoded[:i])
        table["file"], table["shape"] = i, one.variants["shape"][variant]
        tables.append(table)
    return _in_order(tables, parts, order)


def remove(events: RankEvents, rows: NDArray[np.int64]) -> tuple[RankEvents, int]:
    """Take events out; those behind them move forward.

    Parameters
    ----------
    events : RankEvents
        Its columns change.
    rows : int64 array
        Ascending.

    Returns
    -------
    events : RankEvents
        With tables that name the events by their new places.
    count : int
        How many remain.
    """
    columns = events.columns
    total = len(columns.variant)
    arrays = [getattr(columns, name) for name in EventColumns.__slots__]
    if events.stream is not None:
        arrays.append(events.stream)
    edges = [*rows.tolist(), total]
    for i, row in enumerate(rows.tolist()):
        begin, end = row + 1, edges[i + 1]
        for array in arrays:
            array[begin - i - 1 : end - i - 1] = array[begin:end]
    tables = {}
    for name in ("statuses", "foreign", "vectors"):
        table = getattr(events, name)
        if len(table):
            table = table[~np.isin(table["event"], rows)]
            table["event"] -= np.searchsorted(rows, table["event"])
            tables[name] = table
    tables["away"] = without(events.away, rows)
    return replace(events, **tables), total - len(rows)


def requests_of(
    events: RankEvents, files: Sequence[RankFile], count: int
) -> RankRequests:
    """Describe what the first `count` events do with requests."""
    return RankRequests(
        variant=events.columns.variant[:count],
        action=events.action,
        reference=events.columns.reference[:count],
        stream=None if events.stream is None else events.stream[:count],
        lists=[file.definitions.lists for file in files],
        persistent=[file.facts.persistent for file in files],
        foreign=events.foreign,
        statuses=statuses_of(events.statuses),
    )


def end_without_finalize(file: RankFile, scale: TimeScale, last_ns: int) -> int:
    """Return when a rank ended that did not call MPI_Finalize [ns].

    Parameters
    ----------
    file : RankFile
    scale : TimeScale
    last_ns : int
        End of its last event [ns].
    """
    stop = file.definitions.end
    if stop is None or stop.reason not in _ENDED:
        return last_ns
    unit_ns = scale.ns_per_unit / 2**file.header.unit_shift
    since = (stop.ticks - file.header.start_ticks) * unit_ns
    return max(last_ns, scale.origin_ns + min(int(since), 1 << 61))


def foreign_of(table: NDArray[np.void], index: Mapping[int, int]) -> NDArray[np.void]:
    """Return what the kernel of requests wants to know of those of other threads.

    Parameters
    ----------
    table : structured array
        As decoded.
    index : mapping of int to int
        From threads to their files.
    """
    result = np.zeros(len(table), dtype("foreign_request"))
    result["event"], result["number"] = table["event"], table["number"]
    result["stream"] = [index.get(thread, -1) for thread in table["thread"].tolist()]
    return result


def statuses_of(table: NDArray[np.void]) -> NDArray[np.void]:
    """Return statuses as the kernel of requests fills them."""
    result = np.zeros(len(table), dtype("request_status"))
    for name in ("event", "position"):
        result[name] = table[name]
    result["creator"] = -1
    return result
