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
        ("function", np.uint16),  # index into Calls.functions
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
#: from call to call without a pattern and is kept for each occurrence instead.
VARYING = -3


@dataclass(frozen=True, slots=True)
class Symbols:
    """Every call of every rank as a symbol.

    Attributes
    ----------
    symbol : (n,) int32 array
        Row of `table`, or OUTSIDE.
    table : (s,) SYMBOL_DTYPE array
    age_first, age_values : int64 arrays
        Rows of request ages, as in `Calls`, but counted among the requests of
        calls that have a symbol, so that a string of symbols stands by itself.
    varying_peer : (n,) int32 array
        Relative partner of the calls whose symbol says VARYING, else 0; of a
        Sendrecv the destination (its source never varies on its own).
    compute_ns : (n,) int64 array
        Computation before each call that has a symbol, with what the calls outside
        between it and the previous symbol took [ns].
    tail_ns : (ranks,) int64 array
        The same after the last symbol of each rank [ns].
    similarity_threshold : float
        The threshold that was used [0 to 1].
    """

    symbol: NDArray[np.int32]
    table: NDArray[np.void]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    varying_peer: NDArray[np.int32]
    compute_ns: NDArray[np.int64]
    tail_ns: NDArray[np.int64]
    similarity_threshold: float
