"""Types of the matching stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Matching:
    """Which calls of different ranks belong together.

    A *whole matched event* is a message with both its ends, or a collective with
    all its participants; a call in two messages (Sendrecv, a Startall of several
    requests) joins them. Completions (Wait and its like) belong to no event: they
    follow the requests they complete. Numbers of calls and of events are int32 where
    `match` was asked to be narrow.

    Attributes
    ----------
    whole_event : (n,) int64 array
        Whole matched event of each call, numbered from 0 by first call; -1 for
        calls that take part in none (local calls, completions, unmatched calls).
        Of a persistent request the Start belongs to the event, the Send_init or
        Recv_init does not. Functions that make or free a communicator are events
        too, except where their participants are not its members
        (Comm_create_group, Intercomm_create).
    whole_events : int
        Number of whole matched events.
    send_call, receive_call : (m,) int64 arrays
        Calls that begin each message: Send, Isend, Sendrecv, Start and so on.
        Messages stand in ascending order of `send_call`. A Startall stands in it
        once for each message that it starts.
    send_done, receive_done : (m,) int64 arrays
        Calls that complete each end; the same call when it blocks, -1 when nothing
        completed it (freed request).
    message_bytes : (m,) int64 array
        Bytes that the sender sent [bytes].
    collective_done : (n,) int64 array
        For a call of a nonblocking collective the call that completes it, for a
        blocking one the call itself, else -1.
        This one, `send_done` and `receive_done` are empty when `match` was called
        without `completions`.
    problems : tuple of str
        One line for each kind of call that found no partner, with its count.
    unmatched : (u,) int64 array
        Those calls, and calls that share an event with one of them: an event is
        whole or does not exist. Their messages are not listed either.
    """

    whole_event: NDArray[np.int64]
    whole_events: int
    send_call: NDArray[np.int64]
    receive_call: NDArray[np.int64]
    send_done: NDArray[np.int64]
    receive_done: NDArray[np.int64]
    message_bytes: NDArray[np.int64]
    collective_done: NDArray[np.int64]
    problems: tuple[str, ...]
    unmatched: NDArray[np.int64]
