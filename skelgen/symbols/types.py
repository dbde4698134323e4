"""Types of the symbol stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.events.narrow import Amounts
from skelgen.units import seconds

#: `Symbols.symbol` of calls that stay out of the structure.
OUTSIDE = -1

#: What all events of a symbol have in common. Ranks that do the same thing with
#: their own neighbours share symbols, for peers are relative.
SYMBOL_DTYPE = np.dtype(
    [
        ("function", np.uint16),  # index into Symbols.functions
        ("flags", np.uint16),  # those of the shape
        ("family", np.int32),  # family of the communicator, -1 for none
        ("peer", np.int32),  # (partner - own rank) mod size; root as it is; see below
        ("tag", np.int32),  # the tag that a skeleton uses, not the recorded one
        ("peer2", np.int32),  # Sendrecv: relative source
        ("tag2", np.int32),
        ("datatype_bytes", np.int32),
        ("piece_bytes", np.int32),  # that of its first call
        ("op", np.int32),
        ("site", np.int32),
        ("ages", np.int32),  # row of the ages of a completion or start
        ("size_class", np.int32),  # cluster of message sizes, -1 for none
    ]
)

#: Relative peers use these codes too (`SYMBOL_DTYPE` columns peer and peer2):
#: NO_PEER and PROC_NULL of the events stage, and VARYING when the partner changes
#: from call to call without a pattern and is kept for each occurrence instead. When
#: both ends of a Sendrecv say VARYING, they are the same partner.
VARYING = -3

#: The only age of a completion of all plain requests that are outstanding, where that
#: is not always the same number.
ALL_OUTSTANDING = 0


class Fate(IntEnum):
    """What becomes of a call.

    Calls that fold into computation are those that communicate with nobody: local
    functions, partners MPI_PROC_NULL, communicators of one rank, completions of such
    requests; and the creation of communicators, which is set-up in a skeleton.
    """

    INSIDE = 0  # has a symbol
    COMPUTATION = 1  # its time folds into the computation before the next symbol
    WAITING = 2  # polls and probes: their time belongs to the next symbol's call
    UNSUPPORTED = 3  # this and the following are dropped with their time
    REMOTE = 4
    UNMATCHED = 5
    PARTNER = 6
    IO = 7


REASONS = {
    Fate.UNSUPPORTED: "function that skeletons do not reproduce",
    Fate.REMOTE: "intercommunicator",
    Fate.UNMATCHED: "no partner in the trace",
    Fate.PARTNER: "partner is left out",
    Fate.IO: "file input and output",
}


@dataclass(frozen=True, slots=True)
class Lost:
    """Calls of one function that nothing stands for, for one reason.

    Attributes
    ----------
    reason : int
        A key of `REASONS`; WAITING: ranks that polled to their end.
    function : int
        Index into the functions of `Symbols`, -1 for WAITING.
    calls : int
    time_ns : int
        Inside them [ns].
    """

    reason: int
    function: int
    calls: int
    time_ns: int

    def words(self, functions: tuple[str, ...]) -> str:
        """Say what it is."""
        if self.reason == Fate.WAITING:
            return "polling after the last communication"
        return f"{functions[self.function]}: {REASONS[Fate(self.reason)]}"


def lost_together(parts: Iterable[Lost]) -> tuple[Lost, ...]:
    """Add up what several ranks have lost; time without a reason comes last."""
    sums: dict[tuple[bool, int, int], list[int]] = {}
    for one in parts:
        key = (one.reason == Fate.WAITING, one.reason, one.function)
        known = sums.setdefault(key, [0, 0])
        known[0] += one.calls
        known[1] += one.time_ns
    return tuple(Lost(*key[1:], *sums[key]) for key in sorted(sums))


@dataclass(frozen=True, slots=True)
class Clusters:
    """What the structure of a run says about its calls, before times are shared out.

    Attributes
    ----------
    fate : (n,) uint8 array
        A `Fate` for each call: whether it has a symbol, and what becomes of its time.

    Others as in `Symbols`.
    """

    fate: NDArray[np.uint8]
    symbol: NDArray[np.int32]
    table: NDArray[np.void]
    functions: tuple[str, ...]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    varying_peer: NDArray[np.int32]
    size_bytes: NDArray[np.int64]
    similarity_threshold: float


@dataclass(frozen=True, slots=True)
class Symbols:
    """Every call of every rank as a symbol.

    Attributes
    ----------
    symbol : (n,) int32 array
        Row of `table`, or OUTSIDE.
    table : (s,) SYMBOL_DTYPE array
        In the order of their first appearance, rank 0 first.
    functions : tuple of str
        Those of the calls and, behind them, the names that stand for several:
        ``MPI_Wait`` for a successful ``MPI_Test`` and so on.
    age_first, age_values : int64 arrays
        Rows of request ages, as in `Calls`, but counted among the requests of
        calls that have a symbol, so that a string of symbols stands by itself.
    varying_peer : (n,) int32 array
        Relative partner of the calls whose symbol says VARYING, else 0.
    size_bytes : (n,) int64 array
        What each call sends or, for receives, what arrived [bytes].
    compute_ns : (n,) int64 array or NarrowColumn
        Computation before each call that has a symbol, with what the calls outside
        between it and the previous symbol took [ns]; 0 for calls outside.
    tail_ns : (ranks,) int64 array
        The same after the last symbol of each rank [ns].
    waiting_call, waiting_ns : (w,) int64 arrays
        Calls that have a symbol and before which the rank polled (failed Test,
        probes), and how long [ns]: it belongs to the time inside the call. With them
        polls that found at once what they asked for.
    polls, nap_ns : (w,) int64 arrays
        Polls and probes before these calls, themselves among them, and how long the
        rank slept between them, in all [ns].
    idle_call, idle_ns : (i,) int64 arrays
        Calls that have a symbol and before which the rank slept, and how long [ns].
    tail_idle_ns : (ranks,) int64 array
        The same after the last symbol of each rank [ns].
    lost : tuple of Lost
        Time that nothing stands for.
    similarity_threshold : float
        The threshold that was used [0 to 1]; NaN for the default, clusters of sizes
        without a gap of more than a factor of two.
    """

    symbol: NDArray[np.int32]
    table: NDArray[np.void]
    functions: tuple[str, ...]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    varying_peer: NDArray[np.int32]
    size_bytes: NDArray[np.int64]
    compute_ns: Amounts
    tail_ns: NDArray[np.int64]
    waiting_call: NDArray[np.int64]
    waiting_ns: NDArray[np.int64]
    polls: NDArray[np.int64]
    nap_ns: NDArray[np.int64]
    idle_call: NDArray[np.int64]
    idle_ns: NDArray[np.int64]
    tail_idle_ns: NDArray[np.int64]
    lost: tuple[Lost, ...]
    similarity_threshold: float

    @property
    def dropped(self) -> tuple[tuple[str, int, float], ...]:
        """Return the lost time in words: reason, calls, time [s]."""
        return tuple(
            (one.words(self.functions), one.calls, seconds(one.time_ns))
            for one in self.lost
        )
