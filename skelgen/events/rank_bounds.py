"""Where the calls of ranks begin and end, and which events are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.ranks import RankEvents
from skelgen.trace import RankFile, TimeScale

#: Ends that say when the program ended although it did not call MPI_Finalize.
_ENDED = ("exit", "abort")
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankBounds:
    """Begin and end of some ranks.

    Attributes
    ----------
    begin_ns, end_ns, tail_ns, tail_asleep_ns : (ranks,) int64 arrays
        As in `Events`.
    gone : int64 array
        Events that are no calls, ascending.
    """

    begin_ns: _Integers
    end_ns: _Integers
    tail_ns: _Integers
    tail_asleep_ns: _Integers
    gone: _Integers


def bounds_of(
    found: RankEvents, files: Sequence[RankFile], scales: Sequence[TimeScale]
) -> RankBounds:
    """Find begin and end of some ranks.

    What follows MPI_Finalize is damage, and what precedes MPI_Init too.

    Parameters
    ----------
    found : RankEvents
    files, scales
        The first of each rank.
    """
    columns, first = found.columns, found.first
    begins = _places(found.begins, columns.variant)
    ends = _places(found.ends, columns.variant)
    last_end = np.full(len(files), -1)
    last_end[_rank_of(ends, first)] = ends  # of several the last one stays
    begin_ns = np.array([scale.origin_ns for scale in scales], np.int64)
    beginning, places = np.unique(_rank_of(begins, first), return_index=True)
    begin_ns[beginning] = columns.leave_ns[begins[places]]
    end_ns, tail_ns = np.zeros((2, len(files)), np.int64)
    asleep_ns = np.zeros(len(files), np.int64)
    ended = np.flatnonzero(last_end >= 0)
    end_ns[ended] = columns.enter_ns[last_end[ended]]
    tail_ns[ended] = columns.compute_ns[last_end[ended]]
    if len(found.away):
        behind = found.away[np.isin(found.away["call"], last_end)]
        at = _rank_of(behind["call"], first)
        np.add.at(asleep_ns, at, behind["asleep_ns"])
    for rank in np.flatnonzero(last_end < 0).tolist():
        has = first[rank + 1] > first[rank]
        last_ns = int(columns.leave_ns[first[rank + 1] - 1] if has else begin_ns[rank])
        end_ns[rank] = end_without_finalize(files[rank], scales[rank], last_ns)
        tail_ns[rank] = end_ns[rank] - last_ns
    gone = _gone(begins, last_end, first)
    return RankBounds(begin_ns, np.maximum(begin_ns, end_ns), tail_ns, asleep_ns, gone)


def _places(has: NDArray[np.bool_], variant: NDArray[np.uint32]) -> _Integers:
    return np.flatnonzero(has[variant]) if has.any() else np.zeros(0, np.int64)


def _rank_of(events: _Integers, first: _Integers) -> _Integers:
    """Return the place of the rank that each event is of."""
    found: _Integers = np.searchsorted(first, events, side="right") - 1
    return found


def _gone(begins: _Integers, last_end: _Integers, first: _Integers) -> _Integers:
    """Return the begins, and of each rank that ended all from its last end on."""
    end = np.where(last_end >= 0, last_end, first[1:])
    begins = begins[begins < end[_rank_of(begins, first)]]
    length = first[1:] - end
    behind = np.repeat(end - np.cumsum(length) + length, length)
    behind += np.arange(len(behind))
    return np.sort(np.concatenate([begins, behind]))


def end_without_finalize(file: RankFile, scale: TimeScale, last_ns: int) -> int:
    """Return when a rank ended that did not call MPI_Finalize [ns].

    Parameters
    ----------
    file : RankFile
    scale : TimeScale
    last_ns : int
        End of its last event [ns].
    """
    stop = file.definitions.end
    if stop is None or stop.reason not in _ENDED:
        return last_ns
    unit_ns = scale.ns_per_unit / 2**file.header.unit_shift
    since = (stop.ticks - file.header.start_ticks) * unit_ns
    return max(last_ns, scale.origin_ns + min(int(since), 1 << 61))
