"""Call the C kernel that raises calls behind cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._cuts import ffi, lib
from skelgen.events.parts import rank_slices

#: Calls that need others, and those others.
Needs = tuple[NDArray[np.int64], NDArray[np.int64]]


def close(
    side: NDArray[np.int32],
    first: NDArray[np.int64],
    joint: NDArray[np.int64],
    together: NDArray[np.bool_],
    needs: Sequence[Needs],
) -> None:
    """Raise sides until each call is behind the cuts that what it needs is behind.

    The sides of calls that are one event become equal, and those of a rank ascend. No
    side is higher than that takes.

    Parameters
    ----------
    side : (n,) int32 array
        How many cuts each call is behind. Changed in place.
    first : (ranks + 1,) int64 array
        First call of each rank, and the end.
    joint : (n,) int64 array
        Event of each call.
    together : (n,) bool array
        Whether a call is on one side with the others of its event.
    needs : sequence of up to four pairs of (m,) int64 arrays
        Calls that are before a cut only if others are, and those others.

    Raises
    ------
    MemoryError
    """
    for own in rank_slices(first):
        np.maximum.accumulate(side[own], out=side[own])
    event = np.zeros(len(joint), np.uint32)
    np.add(joint, 1, out=event, where=together, casting="unsafe")
    lists = [
        tuple(np.ascontiguousarray(one, np.uint32) for one in pair) for pair in needs
    ]
    first = np.ascontiguousarray(first, np.int64)
    given = ffi.new("struct skelgen_cuts_input *")
    given.ranks, given.events = len(first) - 1, int(event.max(initial=0))
    given.first, given.event = _pointer(first), _pointer(event)
    for number, (needing, needed) in enumerate(lists):
        given.needs[number] = len(needing)
        given.needing[number] = _pointer(needing)
        given.needed[number] = _pointer(needed)
    if lib.skelgen_cuts_close(given, ffi.cast("int32_t *", side.ctypes.data)):
        raise MemoryError(f"no memory for cutting {len(side)} calls")


def _pointer(array: NDArray[Any]) -> Any:
    name = {"i8": "int64_t *", "u4": "uint32_t *"}[array.dtype.str[1:]]
    return ffi.cast(name, array.ctypes.data)
