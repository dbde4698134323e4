"""Call the C kernel that acts a recorded run out again, with its threads.

The recorded run is acted out again in the order of its times, with sends that wait for
their receives. A call takes its place among those of its rank when it could return:
all that it waits for has begun, and calls of ranks with several threads that it meets
can return with it. The rank can then execute its calls one by one in these places
without waiting for ever: to each call belongs one moment, the same for all that meet.

A call begins when those of other threads have their places that had returned before it
was entered. Where the run relied on a message that was buffered, or on a collective
that returned before all had come, nothing can go on at some time. Then what happened
first in the recording happens: a call whose messages were buffered returns, or a call
begins although another one has not returned yet. Only where none can, a call returns
before another that it meets could: the order may then be one that waits for ever.
"""

from __future__ import annotations

import numpy as np

from skelgen._kernels._replay import ffi, lib
from skelgen.matching.thread_order import Depend, Integers

_RAGGED = ("begins", "waits", "waiters", "after")
_COLUMNS = ("first", "lane", "lane_first", "enter_ns", "leave_ns")


def replay(given: Depend) -> Integers:
    """Return the calls of all ranks in the order in which they could return."""
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
