"""A stretch of the logical trace: what each rank does at each tick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, function_info
from skelgen.events.functions import RECEIVING, SENDING, TWO_SIDED
from skelgen.events.types import FAILED_POLL
from skelgen.matching import Matching


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call on the logical clock.

    Attributes
    ----------
    tick, rank : int
    function : str
    to, source : int
        World ranks of the partners of a message, -1 for none.
    """

    tick: int
    rank: int
    function: str
    to: int
    source: int


@dataclass(frozen=True, slots=True)
class TickTable:
    """The calls of all ranks between two ticks, and the messages among them.

    Attributes
    ----------
    ranks : int
    last : int
        Last tick of the run.
    calls : tuple of PlacedCall
        By tick, then rank, then program order; polls that found nothing left out.
    messages : tuple of (int, int)
        Indices of the calls that begin and that complete a message.
    """

    ranks: int
    last: int
    calls: tuple[PlacedCall, ...]
    messages: tuple[tuple[int, int], ...]


def tick_table(
    calls: Calls,
    matching: Matching,
    ticks: NDArray[np.int64],
    first: int,
    count: int,
) -> TickTable:
    """Take a stretch out of the logical trace.

    Parameters
    ----------
    calls : Calls
    matching : Matching
        With completions.
    ticks : (n,) int64 array
        From `skelgen.ticks.place`.
    first, count : int
        First tick, and number of ticks.
    """
    polls = calls.shapes["flags"][calls.shape] & FAILED_POLL > 0
    inside = np.flatnonzero((ticks >= first) & (ticks < first + count) & ~polls)
    rows = inside[np.argsort(ticks[inside], kind="stable")]
    place = {row: number for number, row in enumerate(rows.tolist())}
    both = np.isin(matching.send_call, rows) & np.isin(matching.receive_done, rows)
    pairs = zip(
        matching.send_call[both].tolist(),
        matching.receive_done[both].tolist(),
        strict=True,
    )
    return TickTable(
        calls.ranks,
        int(ticks.max(initial=0)),
        tuple(_placed(calls, row, int(ticks[row])) for row in rows.tolist()),
        tuple((place[send], place[done]) for send, done in pairs),
    )


def _placed(calls: Calls, row: int, tick: int) -> PlacedCall:
    shape = calls.shapes[calls.shape[row]]
    function = calls.functions[shape["function"]]
    kind = function_info(function).kind
    source = "peer2" if kind in TWO_SIDED else "peer"
    return PlacedCall(
        tick,
        int(np.searchsorted(calls.first, row, "right")) - 1,
        function,
        _partner(calls, shape, "peer") if kind in SENDING else -1,
        _partner(calls, shape, source) if kind in RECEIVING else -1,
    )


def _partner(calls: Calls, shape: np.void, column: str) -> int:
    peer, number = int(shape[column]), int(shape["communicator"])
    if peer < 0 or number < 0:
        return -1
    communicator = calls.communicators[number]
    members = communicator.remote or communicator.members
    return members[peer] if peer < len(members) else -1
