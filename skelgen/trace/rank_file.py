"""One rank file: its header, and everything in it except the events themselves."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.system import reading
from skelgen.errors import InputError
from skelgen.trace import stream
from skelgen.trace.checks import CheckedFile, check, header_problem, is_cut
from skelgen.trace.definition_types import Definitions
from skelgen.trace.definitions import read_definitions
from skelgen.trace.format import trace_format
from skelgen.trace.shared_definitions import SharedDefinitions
from skelgen.trace.stream import Decoded, EventColumns, FileBytes, Scan, TimeScale
from skelgen.trace.types import Damage, Header, RankFile
from skelgen.trace.workspace import Workspace

_MOST_RANKS = 1 << 20
_MOST_HEADER_BYTES = 1 << 16
#: Why a file has no header.
EMPTY = (
    "it is empty: another process cut it, or the rank was killed while its file was "
    "in the folder that SKELGEN_TMPDIR names on its node"
)
NO_HEADER = "it ends before its header does"
_LARGEST_SHIFT = 32
#: A file that is larger is mapped if it can be [bytes].
_MOST_READ_BYTES = 1 << 26
#: A beginning of a file up to here is read instead of mapped [bytes].
_SMALL_BYTES = 1 << 16


@contextmanager
def contents(path: Path) -> Iterator[FileBytes]:
    """Give the bytes of a file that may still be written.

    Small ones are not mapped: the recorder cuts a file to its length when it ends, and
    to touch a page that is gone would end us. It keeps each page with anything in it,
    so a large file is mapped if its last one is such a page.
    """
    with reading(path), path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MOST_READ_BYTES:
            file.seek(max(size - mmap.PAGESIZE, 0))
        if size <= _MOST_READ_BYTES or not file.read().strip(b"\0"):
            file.seek(0)
            yield file.readall()
            return
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
            yield data


@contextmanager
def mapped(path: Path, size: int) -> Iterator[FileBytes]:
    """Give the beginning of a file, of which the recorder takes nothing away.

    Parameters
    ----------
    path : Path
    size : int
        Up to the end of a complete record [bytes]; mapped if that is large.
    """
    with reading(path), path.open("rb", buffering=0) as file:
        if size <= _SMALL_BYTES:
            start = file.read(size)
            if len(start) != size:
                raise changed(path)
            yield start
            return
        try:
            data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        except ValueError as error:  # it is shorter now
            raise changed(path) from error
    with data:
        yield data


def changed(path: Path) -> InputError:
    """Return the error that says that a file is not what it was."""
    return InputError(f"{path} changed while it was read; try again")


def read_header(path: Path) -> Header | None:
    """Read a file's header; None when there is none to be used.

    The recorder did not get to write all of it, or it is damaged: `why_no_header`
    says which.

    Raises
    ------
    InputError
        When the file is no trace, or one of another version.
    """
    with reading(path), path.open("rb", buffering=0) as file:
        start = file.read(_start_bytes())
        size = os.fstat(file.fileno()).st_size
    return _header_in(path, start, size)


def check_unchanged(file: RankFile, data: FileBytes) -> None:
    """Refuse a file that does not begin with the header that it had.

    Parameters
    ----------
    file : RankFile
        As it was.
    data : bytes or mmap
        Its bytes now.
    """
    start = data[: _start_bytes()]
    if _header_in(file.path, start, len(data)) != file.header:
        raise changed(file.path)


def _header_in(path: Path, start: bytes, size: int) -> Header | None:
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
    header = _header(np.frombuffer(start[: layout.itemsize], layout)[0].item())
    _check_header(path, header, size)
    return header


def _start_bytes() -> int:
    """Return the size of a header with its checksum [bytes]."""
    return trace_format().header.itemsize + trace_format()["CHECK_BYTES"]


def why_no_header(path: Path) -> str:
    """Say why `read_header` returned None for a file."""
    with path.open("rb") as file:
        start = file.read(_start_bytes())
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


def _header(values: tuple[Any, ...]) -> Header:
    """Return the header with the values of its columns."""
    known = dict(zip(trace_format().header.names or (), values, strict=True))
    for name in ("mpi_library", "host", "program", "boot_id"):
        known[name] = known[name].split(b"\0")[0].decode(errors="replace")
    known["mpi_family"] = trace_format().name("mpi_family", known["mpi_family"])
    return Header(*(known[name] for name in Header.__slots__))


def _check_header(path: Path, header: Header, size: int) -> None:
    constants = trace_format()
    clocks = (constants["CLOCK_TSC"], constants["CLOCK_MONOTONIC"])
    smallest = constants.header.itemsize
    wrong = {
        f"header of {header.header_bytes} bytes": not smallest
        <= header.header_bytes
        <= _MOST_HEADER_BYTES,
        f"world size {header.world_size}": not 0 < header.world_size <= _MOST_RANKS,
        f"rank {header.world_rank} of {header.world_size}": not 0
        <= header.world_rank
        < header.world_size,
        f"thread {header.thread}": not 0 <= header.thread < 1 << 16,
        f"clock {header.clock_kind}": header.clock_kind not in clocks,
        f"time unit 2^{header.unit_shift} ticks": header.unit_shift > _LARGEST_SHIFT,
        f"clock frequency {header.ticks_per_s}": not 0 < header.ticks_per_s < 1 << 40,
        f"start at {header.start_ticks} ticks": header.start_ticks >= 1 << 63,
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            raise InputError(
                f"{path} has a damaged header: it states {what}; record the run again"
            )
    if header.header_bytes > size:
        raise InputError(
            f"{path} ends at byte {size} within its header of {header.header_bytes} "
            "bytes; record the run again"
        )


@dataclass(frozen=True, slots=True)
class RankReader:
    """Reads one file after the other: all but their events, which are only checked.

    Attributes
    ----------
    workspace : Workspace
    shared : SharedDefinitions
        What the files define alike.
    """

    workspace: Workspace = field(default_factory=Workspace)
    shared: SharedDefinitions = field(default_factory=SharedDefinitions)

    def read(self, path: Path, header: Header) -> RankFile:
        """Read a file with this header."""
        with contents(path) as data:
            return _read(path, header, data, self)


def read_rank_file(path: Path, header: Header) -> RankFile:
    """Read everything of a file except its events, which are only checked."""
    return RankReader().read(path, header)


def _read(path: Path, header: Header, data: FileBytes, reader: RankReader) -> RankFile:
    size = end = len(data)
    if size < header.header_bytes:
        raise changed(path)
    problem: tuple[int, str, str] | None = None
    while True:
        scan = stream.scan(data, header, end, reader.workspace)
        checked = check(data, scan)
        definitions, bad = _definitions(header, data, scan, checked, reader.shared)
        if bad is None:
            break
        end, problem = max(bad[0], header.header_bytes), bad
    if problem is None:
        problem = _odd_end(data, scan, checked, definitions)
    return RankFile(
        path=path,
        header=header,
        size_bytes=size,
        used_bytes=scan.position,
        checked_bytes=min(checked.end, scan.position),
        definitions=definitions,
        shapes=scan.shapes,
        facts=scan.facts,
        damage=_damage(path, header, *problem) if problem is not None else None,
    )


def _definitions(
    header: Header,
    data: FileBytes,
    scan: Scan,
    checked: CheckedFile,
    shared: SharedDefinitions,
) -> tuple[Definitions, tuple[int, str, str] | None]:
    """Read definitions and find what must not be used: its offset, read, expected.

    Where a record makes no sense that no checksum covers, its neighbours may be
    damaged too: nothing behind the last checksum is used.
    """
    found, wrong = read_definitions(data, scan.records, header.world_size, shared)
    if checked.problem is not None:
        return found, (checked.end, *checked.problem)
    bad = None if wrong is None else (*wrong, "a definition that makes sense")
    if bad is None:
        bad = _undefined(scan, found)
    odd_stops = (*stream.GOOD_STOPS, stream.SHORT_STOP)
    if bad is None and checked.known and scan.stop not in odd_stops:
        bad = (scan.position, *stream.DAMAGE[scan.stop])
    if bad is None or not checked.known or bad[0] < checked.end:
        return found, bad
    return found, (checked.end, f"{bad[1]} at byte {bad[0]}", bad[2])


def _odd_end(
    data: FileBytes, scan: Scan, checked: CheckedFile, definitions: Definitions
) -> tuple[int, str, str] | None:
    """Find what is wrong with the end of a file."""
    if scan.stop not in stream.GOOD_STOPS:
        return scan.position, *stream.DAMAGE[scan.stop]
    if definitions.end is not None:
        if data[scan.position :].strip(b"\0"):
            read, expected = "bytes behind the END record", "the end of the file"
            return scan.position, read, expected
        return None
    if checked.known and is_cut(data):
        read = f"no END record up to the end of the file at byte {len(data)}"
        return scan.position, read, "one: the file was cut, or is damaged there"
    return None


def _damage(
    path: Path, header: Header, offset: int, read: str, expected: str
) -> Damage:
    rank, thread = header.world_rank, header.thread
    return Damage(path.name, rank, thread, offset, read, expected)


def _undefined(scan: Scan, definitions: Definitions) -> tuple[int, str, str] | None:
    """Find the first shape that refers to what is not defined."""
    shapes = scan.shapes
    bad: list[NDArray[np.bool_]] = []
    for columns, known, none in (
        (("function",), definitions.functions, None),
        (("site",), definitions.sites, 0),
        (("type_a", "type_b"), definitions.types, 0),
        (("comm",), definitions.communicators, -1),
    ):
        for column in columns:
            wrong = set(shapes[column].tolist()).difference(known) - {none}
            if wrong:
                bad.append(np.isin(shapes[column], list(wrong)))
    if not bad:
        return None
    shape = shapes[np.flatnonzero(np.any(bad, axis=0))[0]]
    read = "a call shape of an undefined function, type, communicator or site"
    return int(shape["offset"]), read, "defined ones"


def decode(
    file: RankFile,
    shapes: NDArray[np.void],
    columns: EventColumns,
    scale: TimeScale,
    workspace: Workspace | None = None,
) -> Decoded:
    """Decode the events of a file into columns.

    Parameters
    ----------
    file : RankFile
    shapes : structured array
        A copy of ``file.shapes`` whose columns ``rule``, ``own``, ``bytes_a`` and
        ``bytes_b`` say how counts become bytes.
    columns : EventColumns
        Of ``file.facts.events`` events; filled here.
    scale : TimeScale
    workspace : Workspace, optional
        Used again for many files.

    Raises
    ------
    InputError
        When the file is not the one any more that was opened.
    """
    header, facts = file.header, file.facts
    with mapped(file.path, file.used_bytes) as data:
        check_unchanged(file, data)
        end = file.used_bytes
        decoded = stream.decode(
            data, header, end, facts, shapes, columns, scale, workspace
        )
    if decoded.events != facts.events:
        raise changed(file.path)
    return decoded
