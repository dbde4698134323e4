"""Damaged rank files whose checksums fit: what stands behind them is reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skelgen.errors import InputError
from skelgen.trace import stream
from skelgen.trace.format import trace_format
from skelgen.trace.payload import Payload, PayloadError
from skelgen.trace.rank_file import read_header


def seal_again(path: Path) -> None:
    """Let each checksum of a rank file be that of its bytes as they are now."""
    data = bytearray(path.read_bytes())
    header = trace_format().header.itemsize
    if len(data) >= header + trace_format()["CHECK_BYTES"]:
        begin = _seal(data, 0, header + 2, trace_format()["CRC_BYTES"] + 1)
        path.write_bytes(data)  # or a header that is not sealed is none
        for first, length in _checks(path, bytes(data)):
            if first > begin:
                begin = _seal(data, begin, first, length)
    path.write_bytes(data)


def _checks(path: Path, data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where payloads of CHECK records begin, and their lengths [bytes]."""
    try:
        header = read_header(path)
    except InputError:
        return
    if header is None:
        return
    found = stream.scan(data, header, len(data)).definitions
    for row in found[found["tag"] == trace_format()["REC_CHECK"]]:
        yield int(row["payload"]), int(row["length"])


def _seal(data: bytearray, begin: int, first: int, length: int) -> int:
    """Write a checksum of what it covers; return where that ends [bytes]."""
    stated_at, behind = first + length - trace_format()["CRC_BYTES"], first + length
    try:
        following = Payload(bytes(data[first:stated_at])).varint()
    except PayloadError:
        return begin
    if stated_at < first or behind + following > len(data):
        return begin
    crc = stream.checksum(data, begin, stated_at)
    crc = stream.checksum(data, behind, behind + following, crc)
    data[stated_at:behind] = crc.to_bytes(4, "little")
    return behind + following
