"""Columns of all calls of a run; long ones lie in files, not in memory.

A build of 1e8 calls has ten columns of 0.1 to 0.8 GB, and goes through most of them
from begin to end. Those are mapped from files without a name in the folder for
temporary files (``TMPDIR``): the system writes to the disk what memory has no room for.
Where the disk has no room, or the folder cannot be written, they are in memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: Columns of so many bytes lie in files.
LEAST_BYTES = 1 << 26


def empty_column(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a column whose values do not matter.

    Parameters
    ----------
    size : int
        Number of elements.
    dtype : dtype
    """
    return _column(size, np.dtype(dtype), np.empty)


def zero_column(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a column of zeros; the parameters are those of `empty_column`.

    Examples
    --------
    >>> zero_column(2, np.int64).tolist()
    [0, 0]
    """
    return _column(size, np.dtype(dtype), np.zeros)


def copied_column(column: NDArray[Any]) -> NDArray[Any]:
    """Return another column with the same values."""
    found = empty_column(len(column), column.dtype)
    found[:] = column
    return found


def joined_columns(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns of one type, one behind the other: the same one if it is alone."""
    if len(parts) == 1:
        return parts[0]
    found = empty_column(sum(map(len, parts)), parts[0].dtype)
    begin = 0
    for part in parts:
        found[begin : begin + len(part)] = part
        begin += len(part)
    return found


def _column(size: int, dtype: np.dtype[Any], in_memory: Any) -> NDArray[Any]:
    needed = size * dtype.itemsize
    if needed < max(LEAST_BYTES, 1):
        return np.asarray(in_memory(size, dtype))
    try:
        with tempfile.TemporaryFile() as file:
            # Reserved: to write to a file without room would end the process.
            os.posix_fallocate(file.fileno(), 0, needed)
            return np.frombuffer(mmap.mmap(file.fileno(), needed), dtype)
    except OSError:
        return np.asarray(in_memory(size, dtype))
