"""The checksums of a rank file: which of its bytes are as the recorder wrote them.

A CHECK record holds the CRC32C of all bytes since the one before it. The first
stands behind the header, the last in front of the END record, which it covers too.
"""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.trace import stream
from skelgen.trace.format import trace_format
from skelgen.trace.payload import Payload, PayloadError
from skelgen.trace.stream import FileBytes, Scan

#: What a file is allocated in; killed ranks leave whole blocks.
_BLOCK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What the checksums of a file say.

    Attributes
    ----------
    known : bool
        Whether the file has any: older ones have none.
    end : int
        The bytes before it are as they were written [bytes].
    problem : (str, str) or None
        What was read behind it that is damaged, and what was expected.
    """

    known: bool
    end: int
    problem: tuple[str, str] | None = None


def check(data: FileBytes, scan: Scan) -> CheckedFile:
    """Compare the checksums that a walk through a file found with its bytes.

    Parameters
    ----------
    data : bytes or mmap
        The file.
    scan : Scan
    """
    wanted = trace_format()["REC_CHECK"]
    rows = [row for row in scan.records if row[-1] == wanted]
    begin = 0
    for _, first, length, _ in rows:
        end, problem = _window(data, begin, first, length)
        stream.let_go(data)
        if problem is not None:
            return CheckedFile(known=True, end=begin, problem=problem)
        if end == begin:
            break
        begin = end
    problem = None
    if rows and scan.stop == stream.END_STOP and scan.position > begin:
        problem = (f"an END record before byte {scan.position}", "its checksum")
    return CheckedFile(known=len(rows) > 0, end=begin, problem=problem)


def _window(
    data: FileBytes, begin: int, first: int, length: int
) -> tuple[int, tuple[str, str] | None]:
    """Check the bytes from `begin` on by the record with this payload.

    Return where what it covers ends, and what is wrong with it.
    """
    size = trace_format()["CRC_BYTES"]
    stated_at, behind = first + length - size, first + length
    try:
        following = Payload(data[first:stated_at]).varint()
    except PayloadError:
        return begin, ("a checksum that is none", "one of a varint and four bytes")
    if following > len(data) - behind:
        return begin, None  # the file was cut behind the record
    crc = stream.checksum(data, begin, stated_at)
    crc = stream.checksum(data, behind, behind + following, crc)
    stated = int.from_bytes(data[stated_at:behind], "little")
    if crc == stated:
        return behind + following, None
    read = f"bytes {begin} to {behind + following} with the CRC32C {crc:08x}"
    return begin, (read, f"{stated:08x}")


def is_cut(data: FileBytes) -> bool:
    """Return whether a file without END was cut: a killed rank's ends in zeros."""
    return len(data) % _BLOCK_BYTES != 0 or data[-1:] != b"\0"


def header_problem(start: bytes) -> str | None:
    """Say what is wrong with a header, where it has a checksum and that differs.

    Parameters
    ----------
    start : bytes
        The file as far as the CHECK record behind the header.
    """
    constants = trace_format()
    header_bytes, size = constants.header.itemsize, constants["CRC_BYTES"]
    end = header_bytes + constants["CHECK_BYTES"]
    head = bytes([constants["REC_CHECK"], 1 + size, 0])
    if start[header_bytes : end - size] != head or len(start) < end:
        return None
    crc = stream.checksum(start, 0, end - size)
    stated = int.from_bytes(start[end - size : end], "little")
    if crc == stated:
        return None
    return f"its header has the CRC32C {crc:08x}, expected {stated:08x}"
