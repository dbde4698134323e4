"""What a call waits for on the logical clock, by its function."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events import CallKind, Calls, function_info
from skelgen.events.types import FAILED_POLL


class ClockRole(IntEnum):
    """What a call does for the clock; the values are those of ``_kernels/ticks.h``."""

    LOCAL = 0
    MEETS = 1  # a collective that blocks
    BEGINS = 2  # a collective that is completed later
    ENDS = 3  # begins nothing: takes no tick of its own


# Libraries free communicators without waiting, and in any order.
_FREES = {"MPI_Comm_free", "MPI_Comm_disconnect"}
_MEETS = {CallKind.COLLECTIVE, CallKind.COLLECTIVE_INIT, CallKind.COMMUNICATOR}
_SHOWN = 4


def role(function: str) -> ClockRole:
    """Return what a call of an MPI function does for the clock.

    Examples
    --------
    >>> role("MPI_Ibarrier").name, role("MPI_Waitall").name
    ('BEGINS', 'ENDS')
    """
    info = function_info(function)
    if not info.begins:
        return ClockRole.ENDS
    if info.kind in _MEETS and function not in _FREES and not info.extra_request:
        return ClockRole.MEETS
    if info.kind is CallKind.ICOLLECTIVE or info.extra_request:
        return ClockRole.BEGINS
    return ClockRole.LOCAL


def shape_roles(calls: Calls) -> NDArray[np.uint8]:
    """Return the role of each shape."""
    roles = np.array([role(name) for name in calls.functions], np.uint8)
    of_shapes: NDArray[np.uint8] = roles[calls.shapes["function"]]
    of_shapes[calls.shapes["flags"] & FAILED_POLL > 0] = ClockRole.ENDS
    return of_shapes


def stall(calls: Calls, stuck: NDArray[np.int64]) -> InputError:
    """Make the error for calls that wait for each other.

    Parameters
    ----------
    calls : Calls
    stuck : (ranks,) int64 array
        Call that each rank waits in, -1 for ranks that came to their end.
    """
    waiting = np.flatnonzero(stuck >= 0)
    names = [
        f"{calls.functions[calls.shapes['function'][calls.shape[stuck[rank]]]]} "
        f"(rank {rank} call {stuck[rank] - calls.first[rank]})"
        for rank in waiting[:_SHOWN]
    ]
    more = f" and {len(waiting) - _SHOWN} others" if len(waiting) > _SHOWN else ""
    return InputError(
        f"the recorded calls wait for each other: {', '.join(names)}{more}; a run "
        "that finished cannot have done this unless it relies on a collective that "
        "returns before all have come: check that the rank files belong to one run"
    )
