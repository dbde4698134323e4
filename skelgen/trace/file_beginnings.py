"""The first bytes of files, with as few questions to the system as it takes."""

from __future__ import annotations

import os
from pathlib import Path


def beginning(path: Path, most: int) -> bytes:
    """Return the first bytes of a file, at most so many, or all that it has."""
    return beginning_and_size(path, most)[0]


def beginning_and_size(path: Path, most: int) -> tuple[bytes, int]:
    """Return the first bytes of a file and its size [bytes]."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        found = os.read(descriptor, most)
        while len(found) < min(most, size):
            more = os.read(descriptor, most - len(found))
            if not more:
                break
            found += more
        return found, size
    finally:
        os.close(descriptor)
