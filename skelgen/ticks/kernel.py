"""Call the C kernel that places calls on the logical clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._ticks import ffi, lib
from skelgen.events import Calls
from skelgen.matching import Matching
from skelgen.ticks.rules import shape_roles, stall


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
    arrays: dict[str, NDArray[Any]] = {
        "first": calls.first,
        "shape": calls.shape,
        "role": shape_roles(calls),
        "whole_event": matching.whole_event,
        "send_call": matching.send_call,
        "receive_done": matching.receive_done,
        "collective_done": matching.collective_done,
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    given = ffi.new("struct skelgen_ticks_input *")
    given.ranks = calls.ranks
    given.whole_events = matching.whole_events
    given.messages = len(matching.send_call)
    for name, array in arrays.items():
        setattr(given, name, _pointer(array))
    ticks = np.empty(len(calls), np.int64)
    stuck = np.empty(calls.ranks, np.int64)
    status = lib.skelgen_ticks(given, _pointer(ticks), _pointer(stuck))
    if status < 0:
        raise MemoryError(f"no memory for placing {len(calls)} calls")
    if status:
        raise stall(calls, stuck)
    return ticks


def _pointer(array: NDArray[Any]) -> Any:
    name = {"i8": "int64_t *", "u4": "uint32_t *", "u1": "uint8_t *"}[
        array.dtype.str[1:]
    ]
    return ffi.cast(name, array.ctypes.data)
