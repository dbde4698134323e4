"""Many small files through the C kernel in one call, as `stream` reads one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.stream import (
    Decoded,
    EventColumns,
    Scan,
    TimeScale,
    as_records,
    attach,
)
from skelgen.trace.types import Header, RankFile, TraceFacts
from skelgen.trace.workspace import dtype, kernel, pointer

#: Files are read together up to so many bytes.
BATCH_BYTES = 1 << 19
#: Rows of the tables of a batch: more than files of this size have, or they are read
#: one by one.
_DEFINITIONS, _SHAPES = 1 << 15, 1 << 13
#: The kernel begins with slots for so many bits of a hash.
_LEAST_SLOT_BITS = 6
#: Tables of what few events have, and the kernel's structs of their rows.
_TABLES = {
    "statuses": "status",
    "foreign": "foreign",
    "vectors": "vectors",
    "away": "away",
}
#: Columns of ``struct skelgen_found`` before those of `TraceFacts`.
_BEFORE_FACTS = 6


class SmallFiles:
    """Walks through batches of files, with tables that are used again."""

    def __init__(self) -> None:
        self._definitions = np.zeros(_DEFINITIONS, dtype("definition"))
        self._shapes = np.zeros(_SHAPES, dtype("call_shape"))

    def scan(
        self, data: Sequence[bytes], headers: Sequence[Header]
    ) -> list[Scan | None]:
        """Walk through files once, as `stream.scan` does.

        Parameters
        ----------
        data : sequence of bytes
            Each a file.
        headers : sequence of Header

        Returns
        -------
        list of Scan or None
            None: the file is to be read alone, for the tables are too small.
        """
        state = kernel().ffi.new("struct skelgen_files *")
        tables = state.tables
        tables.definitions = pointer(self._definitions, "struct skelgen_definition")
        tables.definition_capacity = len(self._definitions)
        tables.shapes = pointer(self._shapes, "struct skelgen_call_shape")
        tables.shape_capacity = len(self._shapes)
        rows = np.zeros(len(data), dtype("file"))
        rows["ns_per_unit"] = [one.unit_ns for one in headers]
        found = _run(state, data, [one.header_bytes for one in headers], rows)
        definitions = self._definitions[: tables.definition_count].copy()
        shapes = self._shapes[: tables.shape_count].copy()
        self._shapes[: tables.shape_count + 1].view(np.uint8)[:] = 0
        return _scans(found, definitions, shapes)


def decode_small(
    data: Sequence[bytes],
    files: Sequence[RankFile],
    shapes: Sequence[NDArray[np.void]],
    columns: EventColumns,
    scales: Sequence[TimeScale],
) -> list[Decoded]:
    """Decode the events of files, as `stream.decode` does.

    Parameters
    ----------
    data : sequence of bytes
        Each the used part of a file.
    files : sequence of RankFile
    shapes : sequence of structured arrays
        Of each file, as for `stream.decode`.
    columns : EventColumns
        Of the events of all these files; filled here.
    scales : sequence of TimeScale
    """
    rows = _rows(files, shapes, scales)
    tables = [np.zeros(rows[name].sum(), dtype(kind)) for name, kind in _TABLES.items()]
    state = kernel().ffi.new("struct skelgen_files *")
    attach(state.tables, columns, tables[:3], scales[0])
    state.tables.away = pointer(tables[3], "struct skelgen_away")
    given = np.concatenate([one.view(_bytes(one)) for one in shapes])
    state.tables.shapes = pointer(given, "struct skelgen_call_shape")
    most = int(rows["events"].max(initial=0))
    variants = np.empty(len(columns.variant), dtype("variant"))
    state.tables.variants = pointer(variants, "struct skelgen_variant")
    state.tables.variant_capacity = len(variants)
    state.tables.slot_bits = max((2 * most).bit_length(), _LEAST_SLOT_BITS)
    slots = np.empty(1 << state.tables.slot_bits, np.uint32)
    state.tables.slots = pointer(slots, "uint32_t")
    found = _run(state, data, [one.header.header_bytes for one in files], rows)
    variants = variants[: state.tables.variant_count].copy()
    return _decoded(found, rows, variants, tables)


def _bytes(array: NDArray[np.void]) -> str:
    """Return rows as bytes: NumPy would join column by column."""
    return f"V{array.dtype.itemsize}"


def _rows(
    files: Sequence[RankFile],
    shapes: Sequence[NDArray[np.void]],
    scales: Sequence[TimeScale],
) -> NDArray[np.void]:
    """Return what the kernel is told of each file but for its place."""
    rows = np.zeros(len(files), dtype("file"))
    rows["shapes"] = [len(one) for one in shapes]
    for name in ("events", *_TABLES):
        rows[name] = [getattr(one.facts, name) for one in files]
    for name in TimeScale.__slots__:
        rows[name] = [getattr(one, name) for one in scales]
    return rows


def _run(
    state: Any,
    data: Sequence[bytes],
    begins: Sequence[int],
    rows: NDArray[np.void],
) -> NDArray[np.int64]:
    """Run the kernel; return ``struct skelgen_found`` of each file as a row."""
    sizes = [len(one) for one in data]
    rows["data"] = list(accumulate(sizes, initial=0))[:-1]
    rows["begin"], rows["end"] = begins, sizes
    found = np.zeros(len(data), dtype("found"))
    with kernel().ffi.from_buffer("uint8_t[]", b"".join(data)) as view:
        state.data, state.count = view, len(data)
        state.files = pointer(rows, "struct skelgen_file")
        state.found = pointer(found, "struct skelgen_found")
        kernel().lib.skelgen_decode_files(state)
    return found.view(np.int64).reshape(len(data), -1)


def _scans(
    found: NDArray[np.int64], definitions: NDArray[np.void], shapes: NDArray[np.void]
) -> list[Scan | None]:
    """Return what was found in each file, of which all rows stand together."""
    records = as_records(definitions)
    scans: list[Scan | None] = []
    definition = shape = 0
    for stop, position, more, more_shapes, *rest in found.tolist():
        last, last_shape = definition + more, shape + more_shapes
        scan = Scan(
            stop=stop,
            position=position,
            definitions=definitions[definition:last],
            shapes=shapes[shape:last_shape],
            facts=TraceFacts(*rest[_BEFORE_FACTS - 4 :]),
            known_records=records[definition:last],
        )
        scans.append(None if stop in _grow_stops() else scan)
        definition, shape = last, last_shape
    return scans


def _grow_stops() -> tuple[int, int]:
    lib = kernel().lib
    return lib.SKELGEN_STOP_GROW_DEFINITIONS, lib.SKELGEN_STOP_GROW_SHAPES


def _decoded(
    found: NDArray[np.int64],
    rows: NDArray[np.void],
    variants: NDArray[np.void],
    tables: Sequence[NDArray[np.void]],
) -> list[Decoded]:
    """Return what was decoded of each file, of which all rows stand together."""
    names = dtype("found").names or ()
    place = {name: found[:, names.index(name)].tolist() for name in names}
    edges = accumulate(place["variants"], initial=0)
    parts = [[variants[slice(*edge)] for edge in pairwise(edges)]]
    for name, table in zip(_TABLES, tables, strict=True):
        firsts = accumulate(rows[name].tolist(), initial=0)
        had = zip(firsts, place[name], strict=False)
        parts.append([table[first : first + count] for first, count in had])
    rest = zip(place["events"], *parts, place["implausible"], strict=True)
    return [Decoded(*values) for values in rest]
