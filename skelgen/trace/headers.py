"""The header of a rank file: what the beginning says, and whether it can be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np

from skelgen.documents.system import reading
from skelgen.errors import InputError
from skelgen.trace.checks import header_problem
from skelgen.trace.file_beginnings import beginning_and_size
from skelgen.trace.format import trace_format
from skelgen.trace.types import Header

_MOST_RANKS = 1 << 20
_MOST_HEADER_BYTES = 1 << 16
#: Why a file has no header.
EMPTY = (
    "it is empty: another process cut it, or the rank was killed while its file was "
    "in the folder that SKELGEN_TMPDIR names on its node"
)
NO_HEADER = "it ends before its header does"
_LARGEST_SHIFT = 32
#: What `struct` calls the types of the header's columns.
_CODES = {"u1": "B", "u4": "I", "i4": "i", "u8": "Q", "i8": "q"}
_TEXTS = ("mpi_library", "host", "program", "boot_id")


def read_header(path: Path) -> Header | None:
    """Read a file's header; None when there is none to be used.

    The recorder did not get to write all of it, or it is damaged: `why_no_header`
    says which.

    Raises
    ------
    InputError
        When the file is no trace, or one of another version.
    """
    return sized_header(path)[0]


def sized_header(path: Path) -> tuple[Header | None, int]:
    """Read a file's header as `read_header` does, and its size [bytes]."""
    with reading(path):
        start, size = beginning_and_size(path, start_bytes())
    return header_in(path, start, size), size


def header_in(path: Path, start: bytes, size: int) -> Header | None:
    """Read the header in the first bytes of a file, see `read_header`."""
    layout, magic = trace_format().header, trace_format().magic
    if not start.strip(b"\0") or (len(start) < len(magic) and magic.startswith(start)):
        return None
    if header_problem(start) is not None:
        return None
    if not start.startswith(magic):
        raise InputError(
            f"{path} is not a trace: it begins with {start[:8]!r}, expected {magic!r}; "
            "give the folder of a run that skelgen recorded"
        )
    _check_version(path, start)
    if len(start) < layout.itemsize:
        return None
    header = _header(start)
    _check_header(path, header, size)
    return header


@cache
def start_bytes() -> int:
    """Return the size of a header with its checksum [bytes]."""
    return trace_format().header.itemsize + trace_format()["CHECK_BYTES"]


def why_no_header(path: Path) -> str:
    """Say why `read_header` returned None for a file."""
    with path.open("rb") as file:
        start = file.read(start_bytes())
    if not start:
        return EMPTY
    if len(start) < trace_format().header.itemsize:
        return f"it was cut at byte {len(start)}, within its header"
    return header_problem(start) or NO_HEADER


def _check_version(path: Path, start: bytes) -> None:
    """Refuse what cannot be read; these numbers stand first in all versions."""
    words = np.frombuffer(start[8 : len(start) & ~3], "<u4")
    expected = trace_format()["FORMAT_VERSION"]
    if (
        len(words) > 1
        and words[1] == np.uint32(trace_format()["ENDIAN_CHECK"]).byteswap()
    ):
        raise InputError(
            f"{path} was written on a machine of the other byte order; "
            "build from it on such a machine"
        )
    if len(words) and words[0] != expected:
        raise InputError(
            f"{path} has trace format version {words[0]}, this skelgen reads version "
            f"{expected}; use the skelgen that recorded it, or record again"
        )


def _header(start: bytes) -> Header:
    """Return the header that a file begins with."""
    layout, columns = _layout()
    values = layout.unpack_from(start)
    said = [read(values[at]) if read else values[at] for at, read in columns]
    said.append(hash(start))
    return Header(*said)


@cache
def _layout() -> tuple[Struct, list[tuple[int, Callable[[Any], Any] | None]]]:
    """Return the layout of the format's header, where ours has its values, and how."""
    dtype = trace_format().header
    fields: Mapping[str, Any] = dtype.fields or {}
    words, size = "<", 0
    for name in dtype.names or ():
        column, offset = fields[name][:2]
        code = f"{column.itemsize}s" if column.kind == "S" else _CODES[column.str[1:]]
        words += f"{offset - size}x{code}"
        size = offset + column.itemsize
    read: dict[str, Callable[[Any], Any]] = dict.fromkeys(_TEXTS, _text)
    read["mpi_family"] = partial(trace_format().name, "mpi_family")
    place = {name: at for at, name in enumerate(dtype.names or ())}
    names = Header.__slots__[:-1]  # but the seal
    return Struct(words), [(place[name], read.get(name)) for name in names]


@lru_cache(maxsize=1024)
def _text(value: bytes) -> str:
    return value.split(b"\0")[0].decode(errors="replace")


def _check_header(path: Path, header: Header, size: int) -> None:
    constants = trace_format()
    clocks = (constants["CLOCK_TSC"], constants["CLOCK_MONOTONIC"])
    smallest, largest = constants.header.itemsize, _MOST_HEADER_BYTES
    ranks = header.world_size
    sound = (
        (
            "header of {0.header_bytes} bytes",
            smallest <= header.header_bytes <= largest,
        ),
        ("world size {0.world_size}", 0 < ranks <= _MOST_RANKS),
        ("rank {0.world_rank} of {0.world_size}", 0 <= header.world_rank < ranks),
        ("thread {0.thread}", 0 <= header.thread < 1 << 16),
        ("clock {0.clock_kind}", header.clock_kind in clocks),
        ("time unit 2^{0.unit_shift} ticks", header.unit_shift <= _LARGEST_SHIFT),
        ("clock frequency {0.ticks_per_s}", 0 < header.ticks_per_s < 1 << 40),
        ("start at {0.start_ticks} ticks", header.start_ticks < 1 << 63),
    )
    for what, is_sound in sound:
        if not is_sound:
            states = what.format(header)
            raise InputError(
                f"{path} has a damaged header: it states {states}; record the run again"
            )
    if header.header_bytes > size:
        raise InputError(
            f"{path} ends at byte {size} within its header of {header.header_bytes} "
            "bytes; record the run again"
        )
