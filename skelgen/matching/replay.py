"""Call the C kernel that acts a recorded run out again, with its threads."""

from __future__ import annotations

import numpy as np

from skelgen._kernels._replay import ffi, lib
from skelgen.matching.thread_order import Depend, Integers

_RAGGED = ("begins", "waits", "waiters", "after")
_COLUMNS = ("first", "lane", "lane_first", "enter_ns", "leave_ns")


def replay(given: Depend) -> Integers:
    """Return the calls of all ranks in the order in which they could return.

    `skelgen.matching.replay_plain` says how it is found.
    """
    arrays = {name: getattr(given, name) for name in _COLUMNS}
    for name in _RAGGED:
        arrays[name] = getattr(given, name).values
        arrays[f"{name}_first"] = getattr(given, name).first
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    flags = {name: getattr(given, name).view(np.uint8) for name in ("soft", "holds")}
    kernel = ffi.new("struct skelgen_replay_input *")
    kernel.ranks, kernel.ends = len(given.first) - 1, given.ends
    for name, array in arrays.items():
        setattr(kernel, name, ffi.cast("int64_t *", array.ctypes.data))
    for name, array in flags.items():
        setattr(kernel, name, ffi.cast("uint8_t *", array.ctypes.data))
    order = np.empty(len(given.lane), np.int64)
    if lib.skelgen_replay(kernel, ffi.cast("int64_t *", order.ctypes.data)):
        raise MemoryError(f"no memory for the threads of {len(order)} calls")
    return order
