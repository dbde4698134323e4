"""Call the C kernel that places calls on the logical clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._ticks import ffi, lib
from skelgen.events import Calls
from skelgen.matching import Matching
from skelgen.ticks.rules import ClockRole, shape_roles, stall


def place(calls: Calls, matching: Matching) -> NDArray[np.int64]:
    """Place every call on a logical clock.

    The tick of a call is one more than the latest of

    - the tick of the previous call of its rank,
    - for a call that receives or that completes a receive: the tick at which the
      message's send began,
    - for a collective: the last ticks of all its participants, so that they all
      have the same tick; for the completion of a nonblocking one the ticks at which
      the participants began it. One of a neighbourhood counts as all others do, for
      every rank of the communicator calls it and any may wait for any. Starts of
      persistent collectives wait for nobody, nor do their completions: a Startall
      and the Starts that it meets need not be one event on each rank.

    A send never waits for its receive, whatever its mode: the order must not depend
    on which messages the library sent eagerly. A Sendrecv begins to send one tick
    after the previous call of its rank, so that ranks can exchange with each other;
    its own tick is that of its receive. Functions that free communicators wait for
    nobody.

    Completions, probes and other calls that begin no communication stay at the tick of
    the previous call, unless that of a send or participant is later: how many there
    are may depend on the speed of the machine. Times of the events play no part.

    Parameters
    ----------
    calls : Calls
    matching : Matching
        Of those calls.

    Returns
    -------
    (n,) int64 array
        Tick of each call, from 1; 0 of calls before the first that begins something.

    Raises
    ------
    InputError
        When calls wait for each other in a circle.

    References
    ----------
    Lamport 1978, "Time, clocks, and the ordering of events in a distributed system";
    PAS2P: Martinez Canillas 2011, chapter 4; here receives come after
    the *beginning* of their send as there, collectives count as one event.
    """
    ticks, stuck = _run(
        matching.whole_events,
        first=calls.first,
        shape=calls.shape,
        role=shape_roles(calls),
        whole_event=matching.whole_event,
        send_call=matching.send_call,
        receive_done=matching.receive_done,
        collective_done=matching.collective_done,
    )
    if (stuck >= 0).any():
        raise stall(calls, stuck)
    return ticks


def stuck_in_meetings(
    first: NDArray[np.int64], meeting: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the calls that ranks wait in for ever, because of their order.

    Parameters
    ----------
    first : (ranks + 1,) int64 array
        Calls of each rank, all of which wait for the other ranks.
    meeting : (n,) int64 array
        A number that the calls share which wait for each other.

    Returns
    -------
    (stuck,) int64 array
    """
    event = np.unique(meeting, return_inverse=True)[1].reshape(-1)
    nothing = np.zeros(0, np.int64)
    _, stuck = _run(
        int(event.max(initial=-1)) + 1,
        first=first,
        shape=np.zeros(len(event), np.uint32),
        role=np.array([ClockRole.MEETS], np.uint8),
        whole_event=event.astype(np.int64, copy=False),
        send_call=nothing,
        receive_done=nothing,
        collective_done=nothing,
    )
    return stuck[stuck >= 0]


def _run(
    whole_events: int, **given: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ticks, and the call that each rank waits in, -1 for none."""
    arrays = {name: np.ascontiguousarray(array) for name, array in given.items()}
    kernel = ffi.new("struct skelgen_ticks_input *")
    kernel.ranks = len(arrays["first"]) - 1
    kernel.whole_events = whole_events
    kernel.messages = len(arrays["send_call"])
    for name, array in arrays.items():
        setattr(kernel, name, _pointer(array))
    ticks = np.empty(len(arrays["shape"]), np.int64)
    stuck = np.empty(kernel.ranks, np.int64)
    if lib.skelgen_ticks(kernel, _pointer(ticks), _pointer(stuck)) < 0:
        raise MemoryError(f"no memory for placing {len(ticks)} calls")
    return ticks, stuck


def _pointer(array: NDArray[Any]) -> Any:
    name = {"i8": "int64_t *", "u4": "uint32_t *", "u1": "uint8_t *"}[
        array.dtype.str[1:]
    ]
    return ffi.cast(name, array.ctypes.data)
