"""From joined calls to whole matched events.

Which receive takes which message: MPI matches the messages of one channel
(communicator, source, destination, tag) in the order in which they were sent, and a
message goes to the first posted of the receives that fit. A wildcard receive is
filed under the channel whose message it took, as the trace recorded it. Among the
receives that took messages of one channel the order of posting is then the order of
the messages: had an earlier receive taken a later message, it would have been
waiting, and fitting, when the earlier message was given to another receive.
Two cases are outside of that rule: threads of one rank that receive from one channel
at the same time, several messages probed with Mprobe and then received in
another order, and partitioned messages between ordinary ones of the same channel.

Calls that create persistent collectives are collectives themselves: MPI matches them
in their order. What one of them created is started as often on all its ranks, and
the k-th starts meet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.matching import kernel
from skelgen.matching.epochs import join_epochs
from skelgen.matching.joined import JoinedEvents
from skelgen.matching.problems import describe
from skelgen.matching.roles import ShapeTable, shape_table
from skelgen.matching.types import Matching


def match(calls: Calls, *, completions: bool = True, narrow: bool = False) -> Matching:
    """Find the whole matched events of a run.

    Messages match by (communicator, source, destination, tag) in posting order;
    the module says why that holds for wildcards too. Messages to
    ``MPI_PROC_NULL``, probes and receives that were cancelled match nothing.
    Collectives match by communicator and sequence number, blocking and nonblocking
    ones in one sequence; functions that make or free communicators have sequences
    of their own.

    A run that was cut short leaves calls without partners. These, and the calls
    that share an event with one of them, are in no event; `Matching.problems` says
    what they are.

    Parameters
    ----------
    calls : Calls
        Of all ranks.
    completions : bool
        Find out which call completes what. Where nobody asks for it, its columns
        need not take a quarter of the memory: they are empty.
    narrow : bool
        Number calls and events with 32 bits where these are enough: half the memory.

    Returns
    -------
    Matching

    Raises
    ------
    InputError
        When the calls name communicators or functions that do not exist.

    References
    ----------
    Sodhi and Subhlok 2005, section III-B; MPI 4.1, sections 3.5 and 6.14.
    """
    table = shape_table(calls)
    joined = kernel.join(calls, table, completions=completions, narrow=narrow)
    return finish(calls, table, join_epochs(calls, joined))


def finish(calls: Calls, table: ShapeTable, joined: JoinedEvents) -> Matching:
    """Drop the events that are not whole and say which calls that leaves."""
    unmatched = np.flatnonzero(joined.lonely)
    if not len(unmatched):
        return _matching(joined, joined.whole_event, joined.whole_events, (), unmatched)
    whole_event, whole_events = _without_incomplete(joined, unmatched)
    dropped = np.flatnonzero(
        (whole_event < 0) & ((joined.whole_event >= 0) | joined.lonely)
    )
    problems = describe(calls, table, unmatched, len(dropped) - len(unmatched))
    return _matching(joined, whole_event, whole_events, problems, dropped)


def _matching(
    joined: JoinedEvents,
    whole_event: NDArray[np.int64],
    whole_events: int,
    problems: tuple[str, ...],
    unmatched: NDArray[np.int64],
) -> Matching:
    messages: dict[str, NDArray[np.int64]] = {
        "send_call": joined.send_call,
        "receive_call": joined.receive_call,
        "send_done": joined.send_done,
        "receive_done": joined.receive_done,
        "message_bytes": joined.message_bytes,
    }
    if len(unmatched):
        kept = whole_event[joined.send_call] >= 0
        messages = {
            name: array[kept] if len(array) else array
            for name, array in messages.items()
        }
    return Matching(
        whole_event=whole_event,
        whole_events=whole_events,
        collective_done=joined.collective_done,
        problems=problems,
        unmatched=unmatched,
        **messages,
    )


def _without_incomplete(
    joined: JoinedEvents, unmatched: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Remove the events that hold a call without partner and number the others."""
    whole = np.ones(joined.whole_events + 1, np.bool_)
    whole[joined.whole_event[unmatched]] = False
    whole[-1] = False  # where -1 points
    number = np.where(whole, np.cumsum(whole) - 1, -1)
    return number[joined.whole_event], int(whole.sum())
