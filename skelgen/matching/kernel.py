"""Call the C kernel that joins messages and collectives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._match import ffi as wide_ffi
from skelgen._kernels._match import lib as wide_lib
from skelgen._kernels._match_narrow import ffi as narrow_ffi
from skelgen._kernels._match_narrow import lib as narrow_lib
from skelgen.columns import empty_column
from skelgen.events import Calls
from skelgen.matching.joined import JoinedEvents
from skelgen.matching.roles import ShapeTable


def join(
    calls: Calls,
    table: ShapeTable,
    *,
    completions: bool = True,
    narrow: bool = False,
) -> JoinedEvents:
    """Join the calls of all ranks; `match` has the rules.

    Without `completions` what completes what stays empty; with `narrow` calls have
    numbers of 32 bits where these are enough.
    """
    narrow = narrow and len(calls) <= _MOST_NARROW
    ffi, lib = (narrow_ffi, narrow_lib) if narrow else (wide_ffi, wide_lib)
    number = np.int32 if narrow else np.int64
    given, keep = _input(calls, table, ffi)
    counts = ffi.new("struct skelgen_match_counts *")
    if lib.skelgen_match_count(given, counts):
        raise MemoryError("no memory for matching")
    messages = min(counts.sends, counts.receives)
    out = ffi.new("struct skelgen_match_output *")
    lonely = empty_column(len(calls), np.uint8)
    wanted = [name for name in _COLUMNS if completions or name not in _COMPLETIONS]
    columns: dict[str, NDArray[Any]] = {name: np.empty(0, number) for name in _COLUMNS}
    for name in wanted:
        size = len(calls) if name in _PER_CALL else messages
        columns[name] = empty_column(size, np.int64 if name == _BYTES else number)
        setattr(out, name, _pointer(columns[name], ffi))
    out.lonely = _pointer(lonely, ffi)
    if lib.skelgen_match(given, counts, out):
        raise MemoryError(f"no memory for matching {len(calls)} calls")
    del keep
    return JoinedEvents(
        whole_events=out.whole_events,
        lonely=lonely.view(np.bool_),
        **{
            name: array if name in _PER_CALL else array[: out.messages]
            for name, array in columns.items()
        },
    )


#: Numbers of 32 bits are enough for so many calls: -2 - n is one of them, too.
_MOST_NARROW = (1 << 31) - 2
_PER_CALL = ("whole_event", "collective_done")
_COMPLETIONS = ("collective_done", "send_done", "receive_done")
_BYTES = "message_bytes"
_COLUMNS = (*_PER_CALL, "send_call", "receive_call", *_COMPLETIONS[1:], _BYTES)
_CTYPES = {
    np.dtype(np.int64): "int64_t *",
    np.dtype(np.int32): "int32_t *",
    np.dtype(np.uint32): "uint32_t *",
    np.dtype(np.uint16): "uint16_t *",
    np.dtype(np.uint8): "uint8_t *",
}


def _pointer(array: NDArray[Any], ffi: Any) -> Any:
    return ffi.cast(_CTYPES[array.dtype], array.ctypes.data)


def _ragged(rows: list[tuple[int, ...]]) -> tuple[NDArray[Any], NDArray[Any]]:
    first = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return first, np.array([value for row in rows for value in row], np.int32)


def _input(
    calls: Calls, table: ShapeTable, ffi: Any
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Fill the kernel's input; the second value keeps its arrays alive."""
    member_first, members = _ragged([c.members for c in calls.communicators])
    remote_first, remotes = _ragged([c.remote for c in calls.communicators])
    arrays: dict[str, NDArray[Any]] = {
        "first": calls.first,
        "shape": calls.shape,
        "size_bytes": calls.size_bytes,
        "ages": calls.ages,
        "age_first": calls.age_first,
        "age_values": calls.age_values,
        "role": table.role,
        "communicator": table.communicator,
        **{name: calls.shapes[name] for name in ("peer", "tag", "peer2", "tag2")},
        "stream": table.stream,
        "kind": table.kind,
        "stream_size": table.stream_size,
        "member_first": member_first,
        "members": members,
        "remote_first": remote_first,
        "remotes": remotes,
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    given = ffi.new("struct skelgen_match_input *")
    given.ranks = calls.ranks
    given.shapes = len(calls.shapes)
    given.streams = len(table.stream_size)
    given.communicators = len(calls.communicators)
    given.age_rows = len(calls.age_first) - 1
    for name, array in arrays.items():
        setattr(given, name, _pointer(array, ffi))
    return given, arrays
