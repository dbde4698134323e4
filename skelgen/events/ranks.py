"""Decode some ranks, one after the other; threads of one are merged by time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import no_time_away, take_out, without
from skelgen.events.requests import RankRequests, dtype
from skelgen.events.rows import RowTable, joined_rows
from skelgen.events.shapes import FileShapes, joined, variant_rows
from skelgen.trace import EventColumns, RankFile, TimeScale
from skelgen.trace.rank_file import decode_all
from skelgen.trace.stream import Decoded
from skelgen.trace.workspace import Workspace

_PIECE = 1 << 16
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
    """The events of some ranks before they join those of the others.

    Of a rank with several threads, or with wildcards, the events stand alone.

    Attributes
    ----------
    columns : EventColumns
        Rank after rank.
    first : (ranks + 1,) int64 array
        Events of rank i are those from ``first[i]`` to ``first[i + 1]``.
    numbers : (variants,) uint32 array
        Rows in the table of shapes.
    action : (variants,) uint8 array
    begins, ends, pauses : (variants,) bool arrays
        MPI_Init, MPI_Finalize and MPI_Pcontrol(0).
    stream : (n,) uint16 array or None
        Thread of each event, as an index of the rank's files; None where each rank
        has one.
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
    first: NDArray[np.int64]
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


def decode_ranks(
    files: Sequence[RankFile],
    shapes: Sequence[FileShapes],
    scales: Sequence[TimeScale],
    columns: EventColumns,
    table: RowTable,
    workspace: Workspace,
) -> RankEvents:
    """Decode the files of some ranks into columns, each rank in order of time.

    Parameters
    ----------
    files, shapes, scales
        One for each rank, or one for each thread of one rank.
    columns : EventColumns
        Room for the events of all of them; filled here.
    table : RowTable
        Of shapes; extended here.
    workspace : Workspace
    """
    threads = len({file.header.world_rank for file in files}) < len(files)
    first = _firsts([file.facts.events for file in files])
    room = EventColumns.of(int(first[-1])) if threads else columns
    raw = [shape.raw for shape in shapes]
    decoded = decode_all(files, raw, room, scales, workspace)
    parts = [room.part(*edge) for edge in pairwise(first.tolist())]
    first_variant = _firsts([len(one.variants) for one in decoded])
    for part, begin in zip(parts, first_variant[:-1], strict=True):
        np.add(part.variant, np.uint32(begin), out=part.variant)
    order = _merge(parts, scales, columns) if threads else None
    known, variants = joined(shapes), _joined_variants(shapes, decoded)
    numbers, wrong = _numbered(known, variants, table)
    kind = variants["shape"]
    away = no_time_away()
    if not threads:
        away = take_out(
            columns.compute_ns, _in_order([one.away for one in decoded], first, None)
        )
    return RankEvents(
        columns=columns,
        first=first[[0, -1]] if threads else first,
        numbers=numbers,
        action=known.action[kind],
        begins=known.begins[kind],
        ends=known.ends[kind],
        pauses=known.controls[kind] & (variants["peer"] == 0),
        stream=_streams(parts, order),
        statuses=_in_order([one.statuses for one in decoded], first, order),
        foreign=_foreign(files, decoded, first, order),
        vectors=_vectors(decoded, parts, first_variant, first, order),
        away=away,
        wrong_peers=int(wrong[columns.variant].sum()) if wrong.any() else 0,
        implausible=sum(one.implausible for one in decoded),
    )


def _firsts(counts: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined_variants(
    shapes: Sequence[FileShapes], decoded: Sequence[Decoded]
) -> NDArray[np.void]:
    """Join the variants of files whose shapes are joined."""
    variants = joined_rows([one.variants for one in decoded])
    if len(decoded) == 1:
        return variants
    first_shape = _firsts([len(one.raw) for one in shapes])[:-1]
    counts = [len(one.variants) for one in decoded]
    variants["shape"] += np.repeat(first_shape, counts).astype(np.uint32)
    return variants


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
    first: NDArray[np.int64],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    """Join tables that name events, now by their place among those of all files."""
    filled = [number for number, table in enumerate(tables) if len(table)]
    for number in filled:
        tables[number]["event"] += first[number]
    joined = joined_rows([tables[number] for number in filled or (0,)])
    if order is None:
        return joined
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    joined["event"] = place[joined["event"]]
    return joined[np.argsort(joined["event"], kind="stable")]


def _foreign(
    files: Sequence[RankFile],
    decoded: Sequence[Decoded],
    first: NDArray[np.int64],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    index = {file.header.thread: i for i, file in enumerate(files)}
    joined = _in_order([one.foreign for one in decoded], first, order)
    return foreign_of(joined, index)


def _vectors(
    decoded: Sequence[Decoded],
    parts: Sequence[EventColumns],
    first_variant: NDArray[np.int64],
    first: NDArray[np.int64],
    order: NDArray[np.int64] | None,
) -> NDArray[np.void]:
    tables = []
    for i, (one, part) in enumerate(zip(decoded, parts, strict=True)):
        table = np.zeros(len(one.vectors), VECTOR_DTYPE)
        if len(table):
            for name in ("event", "vector_a", "vector_b"):
                table[name] = one.vectors[name]
            variant = part.variant[table["event"]].astype(np.int64) - first_variant[i]
            table["file"], table["shape"] = i, one.variants["shape"][variant]
        tables.append(table)
    return _in_order(tables, first, order)


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
    events: RankEvents, files: Sequence[RankFile], first: NDArray[np.int64]
) -> Iterator[RankRequests]:
    """Describe what the events of each rank do with requests.

    Parameters
    ----------
    events : RankEvents
    files : sequence of RankFile
    first : (ranks + 1,) int64 array
        Where the calls of each rank begin now.
    """
    statuses = statuses_of(events.statuses)
    alone, stream = len(first) == 2, events.stream
    for number, (begin, end) in enumerate(pairwise(first.tolist())):
        own = files if alone else files[number : number + 1]
        yield RankRequests(
            variant=events.columns.variant[begin:end],
            action=events.action,
            reference=events.columns.reference[begin:end],
            stream=None if stream is None else stream[begin:end],
            lists=[file.definitions.lists for file in own],
            persistent=[file.facts.persistent for file in own],
            foreign=events.foreign,
            statuses=statuses,
        )


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
