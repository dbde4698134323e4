"""Single bits flipped in rank files: is each noticed, or without effect?

`count` flips one bit of one file of a run, reads the run and compares all that is
decoded with what the sound run gives.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.trace import open_trace
from tests.trace_samples import anything

NOTICED, HARMLESS, SILENT = "noticed", "harmless", "silent"


def _parts(thing: Any) -> Iterator[bytes]:
    """Yield the bytes of everything that a decoded run holds."""
    if isinstance(thing, np.ndarray) and thing.dtype.hasobject:
        yield from _parts(thing.tolist())
    elif isinstance(thing, np.ndarray):
        yield thing.tobytes()
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from _parts(getattr(thing, field.name))
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from _parts((key, value))
    elif isinstance(thing, tuple | list):
        for one in thing:
            yield from _parts(one)
    elif not isinstance(thing, Path):
        yield repr(thing).encode() + b"\0"


def decoded(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return a digest of all that is read from a run, and the reader's warnings."""
    trace = open_trace(folder)
    digest = hashlib.sha256()
    for part in _parts((trace.files, collect(trace))):
        digest.update(part)
    return digest.hexdigest(), trace.warnings


def count(folder: Path, flips: int, rng: random.Random) -> Counter[str]:
    """Flip bits one after the other and say what came of it.

    Parameters
    ----------
    folder : Path
        A run; its files are as before afterwards.
    flips : int
    rng : random.Random
    """
    paths = sorted(folder.glob("rank-*.skt"))
    sound = decoded(folder)
    weights = [path.stat().st_size for path in paths]
    found: Counter[str] = Counter()
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        for _ in range(flips):
            (path,) = rng.choices(paths, weights)
            data = path.read_bytes()
            path.write_bytes(_flipped(data, rng.randrange(8 * len(data))))
            found[_outcome(folder, sound)] += 1
            path.write_bytes(data)
    finally:
        logging.disable(disabled)
    return found


def _flipped(data: bytes, bit: int) -> bytes:
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


def _outcome(folder: Path, sound: tuple[str, tuple[str, ...]]) -> str:
    try:
        digest, warnings = decoded(folder)
    except InputError:
        return NOTICED
    if warnings != sound[1]:
        return NOTICED
    return HARMLESS if digest == sound[0] else SILENT


def written_run(folder: Path, calls: int, rng: random.Random, **options: bool) -> Path:
    """Write a run of two ranks, one with two threads, with every kind of record."""
    for rank, thread in ((0, 0), (1, 0), (1, 1)):
        anything(rng, rank, 2, calls, thread, **options).save(folder)
    return folder
