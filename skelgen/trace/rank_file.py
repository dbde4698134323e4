"""Rank files: everything in them, the events decoded where that is asked for."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.system import reading
from skelgen.errors import InputError
from skelgen.trace import stream
from skelgen.trace.checks import CheckedFile, check, is_cut
from skelgen.trace.definition_types import Definitions
from skelgen.trace.definitions import read_definitions
from skelgen.trace.file_beginnings import beginning, beginning_and_size
from skelgen.trace.headers import header_in, read_header, start_bytes
from skelgen.trace.shared_definitions import SharedDefinitions
from skelgen.trace.small_files import BATCH_BYTES, SmallFiles, decode_small
from skelgen.trace.stream import Decoded, EventColumns, FileBytes, Scan, TimeScale
from skelgen.trace.types import Damage, Header, RankFile
from skelgen.trace.workspace import Workspace

__all__ = ["RankReader", "decode", "decode_all", "read_header", "read_rank_file"]

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
    if size <= _SMALL_BYTES:
        yield _beginning(path, size)
        return
    with reading(path), path.open("rb", buffering=0) as file:
        try:
            data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        except ValueError as error:  # it is shorter now
            raise changed(path) from error
    with data:
        yield data


def _beginning(path: Path, size: int) -> bytes:
    """Return so many bytes of a file, which has them."""
    with reading(path):
        start = beginning(path, size)
    if len(start) != size:
        raise changed(path)
    return start


def _small_contents(path: Path) -> bytes | None:
    """Return the bytes of a file that is small; None: it is not."""
    with reading(path):
        data, size = beginning_and_size(path, _SMALL_BYTES + 1)
    return data if max(size, len(data)) <= _SMALL_BYTES else None


def changed(path: Path) -> InputError:
    """Return the error that says that a file is not what it was."""
    return InputError(f"{path} changed while it was read; try again")


def check_unchanged(file: RankFile, data: FileBytes) -> None:
    """Refuse a file that does not begin with the header that it had.

    Parameters
    ----------
    file : RankFile
        As it was.
    data : bytes or mmap
        Its bytes now.
    """
    start = data[: start_bytes()]
    if hash(start) == file.header.seal:
        return
    if header_in(file.path, start, len(data)) != file.header:
        raise changed(file.path)


@dataclass(frozen=True, slots=True)
class RankReader:
    """Reads files: all but their events, which are only checked.

    Attributes
    ----------
    workspace : Workspace
    shared : SharedDefinitions
        What the files define alike.
    small : SmallFiles
    """

    workspace: Workspace = field(default_factory=Workspace)
    shared: SharedDefinitions = field(default_factory=SharedDefinitions)
    small: SmallFiles = field(default_factory=SmallFiles)

    def read(self, path: Path, header: Header) -> RankFile:
        """Read a file with this header."""
        with contents(path) as data:
            return _read(path, header, data, self)

    def read_all(self, files: Iterable[tuple[Path, Header]]) -> Iterator[RankFile]:
        """Read files with these headers, small ones together."""
        batch: list[tuple[Path, Header, bytes]] = []
        size = 0
        for path, header in files:
            data = _small_contents(path)
            if data is not None:
                batch.append((path, header, data))
                size += len(data)
            if data is None or size >= BATCH_BYTES:
                yield from self._together(batch)
                batch, size = [], 0
            if data is None:
                yield self.read(path, header)
        yield from self._together(batch)

    def _together(
        self, batch: Sequence[tuple[Path, Header, bytes]]
    ) -> Iterator[RankFile]:
        data, headers = [one[2] for one in batch], [one[1] for one in batch]
        scans = self.small.scan(data, headers) if batch else []
        for one, scan in zip(batch, scans, strict=True):
            yield _read(*one, self, scan)


def read_rank_file(path: Path, header: Header) -> RankFile:
    """Read everything of a file except its events, which are only checked."""
    return RankReader().read(path, header)


def _read(
    path: Path,
    header: Header,
    data: FileBytes,
    reader: RankReader,
    scan: Scan | None = None,
) -> RankFile:
    """Read the bytes of a file, which somebody may have walked through once."""
    size = end = len(data)
    if size < header.header_bytes:
        raise changed(path)
    problem: tuple[int, str, str] | None = None
    while True:
        scan = scan or stream.scan(data, header, end, reader.workspace)
        checked = check(data, scan)
        definitions, bad = _definitions(header, data, scan, checked, reader.shared)
        if bad is None:
            break
        end, problem = max(bad[0], header.header_bytes), bad
        scan = None
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


def decode_all(
    files: Sequence[RankFile],
    shapes: Sequence[NDArray[np.void]],
    columns: EventColumns,
    scales: Sequence[TimeScale],
    workspace: Workspace,
) -> list[Decoded]:
    """Decode the events of files into columns, one file behind the other.

    Parameters as for `decode`; small files are decoded together.
    """
    edges = np.cumsum([0, *(file.facts.events for file in files)]).tolist()
    decoded: list[Decoded] = []
    for first, last in _batches([file.used_bytes for file in files]):
        part = columns.part(edges[first], edges[last])
        own = files[first:last], shapes[first:last], scales[first:last]
        if last == first + 1:
            decoded.append(decode(files[first], own[1][0], part, own[2][0], workspace))
            continue
        data = [_beginning(file.path, file.used_bytes) for file in own[0]]
        for file, one in zip(own[0], data, strict=True):
            check_unchanged(file, one)
        found = decode_small(data, *own[:2], part, own[2])
        for file, of_file in zip(own[0], found, strict=True):
            if of_file.events != file.facts.events:
                raise changed(file.path)
        decoded += found
    return decoded


def _batches(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give ranges of files that are decoded together, by their sizes [bytes]."""
    first = total = 0
    for number, size in enumerate(sizes):
        if number > first and (
            max(size, sizes[first]) > _SMALL_BYTES or total >= BATCH_BYTES
        ):
            yield first, number
            first, total = number, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)
