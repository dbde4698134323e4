"""Wait states: time in calls that passed before the partner had even begun.

Only what is certain is counted. A receive cannot end before its message is sent, nor a
collective in which everyone depends on everyone before the last rank has come. What
calls take beyond that, and polls that found nothing, are not wait states.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events, function_info
from skelgen.matching.types import Matching
from skelgen.units import seconds

#: Collectives that no rank can leave before all have come.
_ALL_TO_ALL = frozenset(
    "Barrier Allgather Allgatherv Alltoall Alltoallv Alltoallw Allreduce "
    "Reduce_scatter Reduce_scatter_block".split()
)

_Integers = NDArray[np.int64]


class WaitKind(IntEnum):
    """What a rank waits for."""

    LATE_SENDER = 0
    LATE_RECEIVER = 1
    AT_COLLECTIVE = 2


#: How these are written.
WAIT_WORDS = {
    WaitKind.LATE_SENDER: "late sender",
    WaitKind.LATE_RECEIVER: "late receiver",
    WaitKind.AT_COLLECTIVE: "wait at collective",
}


@dataclass(frozen=True, slots=True)
class WaitState:
    """The wait states of one kind in one function, all ranks.

    Attributes
    ----------
    kind : WaitKind
    function : str
        In which ranks wait.
    calls : int
        Calls of it in which one does.
    time_s : float
        For how long [s].
    behind : int
        World rank that is waited for most.
    behind_s : float
        For how long [s].
    """

    kind: WaitKind
    function: str
    calls: int
    time_s: float
    behind: int
    behind_s: float


@dataclass(slots=True)
class CallWaits:
    """The longest wait of each call, what it is for, and the call of that rank.

    Attributes
    ----------
    events : Events
    time_ns : (n,) int64 array
        From the begin of each call; 0 where none is certain [ns].
    kind : (n,) int64 array
        A `WaitKind`.
    behind : (n,) int64 array
        Call of the rank that is waited for.
    """

    events: Events
    time_ns: _Integers
    kind: _Integers
    behind: _Integers

    def add(
        self, kind: WaitKind, call: _Integers, until_ns: _Integers, behind: _Integers
    ) -> None:
        """Take up waits in calls until others had begun theirs."""
        enter, leave = self.events.enter_ns[call], self.events.leave_ns[call]
        wait = np.minimum(until_ns, leave) - enter
        some = np.flatnonzero(wait > self.time_ns[call])
        # Of several of one call the longest comes last, and stays.
        some = some[np.argsort(wait[some], kind="stable")]
        self.time_ns[call[some]] = wait[some]
        self.kind[call[some]] = kind
        self.behind[call[some]] = behind[some]


def wait_states(events: Events, matching: Matching) -> tuple[WaitState, ...]:
    """Find how long ranks wait for others that come later, longest time first.

    Parameters
    ----------
    events : Events
        With times on one clock.
    matching : Matching
        Of the same calls, with completions.

    References
    ----------
    The names are those of Scalasca's patterns; a call is counted for one of them.
    """
    return states_of(waits_of_calls(events, matching))


def waits_of_calls(events: Events, matching: Matching) -> CallWaits:
    """Find how long each call waits for others; see `wait_states`."""
    count = len(events.enter_ns)
    zeros = np.zeros(count, np.int64)
    found = CallWaits(events, zeros, zeros.copy(), zeros.copy())
    _messages(found, matching)
    _collectives(found, matching)
    return found


def _messages(found: CallWaits, matching: Matching) -> None:
    enter, leave = found.events.enter_ns, found.events.leave_ns
    send, receive = matching.send_call, matching.receive_call
    sent, received = matching.send_done, matching.receive_done
    ended = np.flatnonzero(received >= 0)
    call = received[ended]
    found.add(WaitKind.LATE_SENDER, call, enter[send[ended]], send[ended])
    # A call that receives too may have stayed for that: then nothing is certain.
    receives = np.zeros(len(enter), bool)
    receives[call] = True
    until = enter[receive]
    late = (sent >= 0) & ~receives[np.maximum(sent, 0)]
    # A message that was sent at once leaves the call before its receive begins.
    late &= leave[np.maximum(sent, 0)] >= until
    rows = np.flatnonzero(late)
    found.add(WaitKind.LATE_RECEIVER, sent[rows], until[rows], receive[rows])


def _collectives(found: CallWaits, matching: Matching) -> None:
    calls, enter = found.events.calls, found.events.enter_ns
    meets = [function_info(name).collective in _ALL_TO_ALL for name in calls.functions]
    of_shape = np.array([*meets, False])[calls.shapes["function"]]
    begins = of_shape[calls.shape] & (matching.whole_event >= 0)
    begins &= matching.collective_done >= 0
    call = np.flatnonzero(begins)
    if not len(call):
        return
    event = matching.whole_event[call]
    order = np.lexsort((enter[call], event))
    ends = np.flatnonzero(np.diff(event[order], append=-1))
    last = np.zeros(matching.whole_events, np.int64)
    last[event[order][ends]] = call[order][ends]
    behind = last[event]
    done = matching.collective_done[call]
    found.add(WaitKind.AT_COLLECTIVE, done, enter[behind], behind)


def states_of(found: CallWaits) -> tuple[WaitState, ...]:
    """Sum the waits of all calls by kind and function, longest time first."""
    calls = found.events.calls
    waiting = np.flatnonzero(found.time_ns)
    function = calls.shapes["function"][calls.shape[waiting]].astype(np.int64)
    kinds = len(WaitKind)
    key = function * kinds + found.kind[waiting]
    rank = np.searchsorted(calls.first, found.behind[waiting], side="right") - 1
    states = []
    for one in np.unique(key).tolist():
        rows = key == one
        time_ns = found.time_ns[waiting[rows]]
        each = np.bincount(rank[rows], weights=time_ns)
        worst = int(np.argmax(each))
        states.append(
            WaitState(
                kind=WaitKind(one % kinds),
                function=calls.functions[one // kinds],
                calls=int(rows.sum()),
                time_s=seconds(float(time_ns.sum())),
                behind=worst,
                behind_s=seconds(float(each[worst])),
            )
        )
    return tuple(sorted(states, key=lambda state: (-state.time_s, state.function)))
