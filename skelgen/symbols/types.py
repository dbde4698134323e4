"""Types of the symbol stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    compute_ns : (n,) int64 array
        Computation before each call that has a symbol, with what the calls outside
        between it and the previous symbol took [ns]; 0 for calls outside.
    tail_ns : (ranks,) int64 array
        The same after the last symbol of each rank [ns].
    waiting_call, waiting_ns : (w,) int64 arrays
        Calls that have a symbol and before which the rank polled (failed Test,
        probes), and how long [ns]: it belongs to the time inside the call.
    dropped : tuple of (str, int, float)
        Time that nothing stands for: reason, calls, time [s].
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
    compute_ns: NDArray[np.int64]
    tail_ns: NDArray[np.int64]
    waiting_call: NDArray[np.int64]
    waiting_ns: NDArray[np.int64]
    dropped: tuple[tuple[str, int, float], ...]
    similarity_threshold: float
