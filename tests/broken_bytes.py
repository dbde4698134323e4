"""Damaged copies of a file's bytes: what disks, networks and cut runs make of them."""

from __future__ import annotations

import random

_HUGE = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"


def broken(rng: random.Random, data: bytes) -> bytes:
    """Return the bytes with one to three kinds of damage."""
    for _ in range(rng.randint(1, 3)):
        if data:
            data = rng.choice(_KINDS)(rng, data)
    return data


def _flip_bits(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 20))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _chunk(rng: random.Random, data: bytes) -> tuple[int, int]:
    begin = rng.randrange(len(data))
    return begin, min(len(data), begin + rng.choice((1, 4, 30, 200)))


def _delete(rng: random.Random, data: bytes) -> bytes:
    begin, end = _chunk(rng, data)
    return data[:begin] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    begin, end = _chunk(rng, data)
    at = rng.choice((end, rng.randrange(len(data))))
    return data[:at] + data[begin:end] * rng.choice((1, 1, 5)) + data[at:]


def _noise(rng: random.Random, data: bytes) -> bytes:
    begin, end = _chunk(rng, data)
    return data[:begin] + rng.randbytes(end - begin) + data[end:]


def _blank(rng: random.Random, data: bytes) -> bytes:
    begin, end = _chunk(rng, data)
    return data[:begin] + bytes([rng.choice((0, 0xFF))]) * (end - begin) + data[end:]


def _huge_varint(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    huge = rng.choice((_HUGE, _HUGE[:-1] + b"\xff" * 9, b"\xff\xff\xff\xff\x0f"))
    return data[:at] + huge + data[at + rng.randint(0, 3) :]


def _append(rng: random.Random, data: bytes) -> bytes:
    return data + rng.choice((bytes(100), rng.randbytes(100), data[-100:]))


_KINDS = (
    _flip_bits,
    _flip_bits,
    _cut,
    _delete,
    _repeat,
    _noise,
    _blank,
    _huge_varint,
    _append,
)
