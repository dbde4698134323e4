"""The building blocks of definition records: varints, strings, groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T")
_LONG = 64
#: Records up to here are remembered [bytes].
_SHORT = 256
# Processes that were spawned and belong to another MPI_COMM_WORLD, at most.
_OUTSIDE = 1 << 16


class PayloadError(Exception):
    """A definition does not read as one; the message says what was read."""


class Payload:
    """Reads the fields of one record from its begin to its end."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def more(self) -> bool:
        """Return whether fields are left: those of later versions come last."""
        return self._at < len(self._data)

    def whole(self, read: Callable[[Payload], _T]) -> _T:
        """Return what a function reads of a record from its begin.

        Short records are read once: those of most files of a run are equal. What the
        function returns is shared, so nobody changes it.
        """
        if len(self._data) > _SHORT:
            return read(self)
        found: _T = _read_before(self._data, read)
        return found

    def next(self, read: Callable[[Payload], _T]) -> _T:
        """Return what a function reads from here on; short rests are read once.

        As for `whole`, what it returns is shared.
        """
        rest = self._data[self._at :]
        if len(rest) > _SHORT:
            return read(self)
        found: _T
        found, length = _read_next(rest, read)
        self._at += length
        return found

    def varint(self, limit: int = 2**64 - 1) -> int:
        """Read an unsigned number of at most `limit`."""
        data, at = self._data, self._at
        if at < len(data) and data[at] < 0x80 and data[at] <= limit:
            self._at = at + 1
            return data[at]
        value = shift = 0
        while at < len(data) and shift < 70:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > limit:
                    raise PayloadError(f"the number {value}")
                self._at = at
                return value
            shift += 7
        raise PayloadError("a number without its end")

    def zigzag(self, limit: int = 2**63) -> int:
        """Read a signed number of at most `limit` in size."""
        value = self.varint()
        number = (value >> 1) ^ -(value & 1)
        if abs(number) > limit:
            raise PayloadError(f"the number {number}")
        return number

    def string(self) -> str:
        """Read a text."""
        return self.bytes().decode(errors="replace")

    def bytes(self) -> bytes:
        """Read bytes, whose number stands before them."""
        length = self.varint()
        if length > len(self._data) - self._at:
            raise PayloadError(f"a text of {length} bytes")
        found = self._data[self._at : self._at + length]
        self._at += length
        return found

    def varints(self, count: int) -> NDArray[np.int64]:
        """Read `count` unsigned numbers below 2^62."""
        rest = self._data[self._at :]
        if count > len(rest):
            raise PayloadError(f"{count} numbers in {len(rest)} bytes")
        if count < _LONG:
            return np.array([self.varint(2**62) for _ in range(count)], np.int64)
        array = np.frombuffer(rest, np.uint8)
        ends = np.flatnonzero(array < 0x80)[:count]
        if len(ends) < count:
            raise PayloadError(f"{len(ends)} numbers where there should be {count}")
        starts = np.concatenate([[0], ends[:-1] + 1])
        lengths = ends - starts + 1
        if lengths.max() > 9 or (array[ends[lengths == 9]] > 0x3F).any():
            raise PayloadError("a number of more than 62 bits")
        values = np.zeros(count, np.int64)
        for place in range(int(lengths.max())):
            has = lengths > place
            part = array[starts[has] + place].astype(np.int64) & 0x7F
            values[has] |= part << (7 * place)
        self._at += int(ends[-1]) + 1
        return values

    def zigzags(self, count: int) -> NDArray[np.int64]:
        """Read `count` signed numbers."""
        values = self.varints(count)
        return (values >> 1) ^ -(values & 1)

    def group(self, world_size: int) -> tuple[int, ...]:
        """Read the world ranks of a group, stored as runs; -1 is outside the world.

        Equal groups are one object: all files of a run define its communicators.
        """
        size, known = self.varint(), 0
        if size > world_size + _OUTSIDE:
            raise PayloadError(f"a group of {size} processes")
        runs: list[tuple[int, int, int]] = []
        while known < size:
            first, stride = self.zigzag(2**31), self.zigzag(2**31)
            length = self.varint()
            if not 0 < length <= size - known:
                raise PayloadError(f"a run of {length} in a group of {size}")
            runs.append((first, stride, length))
            known += length
        return _members(tuple(runs), world_size)


@lru_cache(maxsize=4096)
def _read_before(data: bytes, read: Callable[[Payload], _T]) -> _T:
    return read(Payload(data))


@lru_cache(maxsize=4096)
def _read_next(data: bytes, read: Callable[[Payload], _T]) -> tuple[_T, int]:
    payload = Payload(data)
    return read(payload), payload._at


@lru_cache(maxsize=1024)
def _members(
    runs: tuple[tuple[int, int, int], ...], world_size: int
) -> tuple[int, ...]:
    ranks = [
        first + i * stride for first, stride, length in runs for i in range(length)
    ]
    if any(not -1 <= rank < world_size for rank in ranks):
        raise PayloadError("a group with a rank outside of the world")
    return tuple(ranks)


def once(known: dict[int, _T], number: int, what: _T) -> None:
    """Note what a number stands for; a second definition of it is damage."""
    if number in known:
        raise PayloadError(f"a second definition of number {number}")
    known[number] = what
