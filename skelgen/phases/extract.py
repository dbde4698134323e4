"""Extract the phases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.keys import rows_by
from skelgen.loops import fold
from skelgen.matching import Matching
from skelgen.phases.cuts import cuts
from skelgen.phases.duration_groups import alike
from skelgen.phases.segments import Segments, divide
from skelgen.phases.string import LogicalTrace, logical_trace
from skelgen.phases.thresholds import PARTS_OF_DRIFT
from skelgen.phases.types import Parameters, Phase, Phases
from skelgen.symbols import Symbols


def extract(
    events: Events,
    matching: Matching,
    ticks: NDArray[np.int64],
    symbols: Symbols,
    parameters: Parameters | None = None,
) -> Phases:
    """Extract the phases of a run.

    The logical trace is folded into loops, whose iterations are the occurrences of
    phases; they cut the run of every rank at the same events, and nothing is left
    between them.

    Parameters
    ----------
    events : Events
    matching : Matching
    ticks : (n,) int64 array
        From `skelgen.ticks.place`.
    symbols : Symbols
    parameters : Parameters, optional

    References
    ----------
    Martinez Canillas 2011, chapter 4: phases and weights. There the logical trace is
    searched for stretches that resemble an earlier one; folding finds the nesting as
    well, in linear time.
    """
    (found,) = extract_each(
        events, matching, ticks, symbols, [parameters or Parameters()]
    )
    return found


def extract_each(
    events: Events,
    matching: Matching,
    ticks: NDArray[np.int64],
    symbols: Symbols,
    ways: Iterable[Parameters],
) -> Iterator[Phases]:
    """Extract the phases of a run in each of several ways; it is folded once."""
    calls, whole_ns = events.calls, max(events.application_ns, 1)
    trace = logical_trace(calls, matching, ticks, symbols, events.sites)
    share = _position_ns(events, trace) / (calls.ranks * whole_ns)
    nest = fold(trace.string)
    for parameters in ways:
        segments = divide(nest, share, parameters)
        segments, cut = _occupied(
            segments, cuts(calls, matching, trace.position, segments.bound)
        )
        time_ns = _times(events, cut)
        mean_ns, similarity = time_ns.mean(axis=0), parameters.time_similarity
        number = alike(segments.structure, mean_ns, similarity)
        yield Phases(
            phases=_phases(
                number, segments.bound, trace, cut, time_ns, calls, whole_ns
            ),
            phase=number,
            cut=cut,
            time_ns=time_ns,
            application_s=events.application_ns / 1e9,
            parameters=parameters,
        )


def _position_ns(events: Events, trace: LogicalTrace) -> NDArray[np.float64]:
    """Return the time of all ranks at each position of the string [ns]."""
    spent = np.empty(len(events.calls), np.int64)
    for rank, (begin, end) in enumerate(pairwise(events.calls.first)):
        spent[begin:end] = np.diff(
            events.leave_ns[begin:end], prepend=events.begin_ns[rank]
        )
    # Calls before a rank's first event count to the first event of all.
    where = np.maximum(trace.position, 0)
    return np.bincount(where, spent, len(trace.string)).astype(np.float64)


def _occupied(
    segments: Segments, cut: NDArray[np.int64]
) -> tuple[Segments, NDArray[np.int64]]:
    """Join occurrences of which all calls moved behind their end with the next."""
    occupied = np.diff(cut, axis=1).any(axis=0)
    kept = np.insert(occupied, 0, True)
    return Segments(segments.bound[kept], segments.structure[occupied]), cut[:, kept]


def _times(events: Events, cut: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the time of each rank in each occurrence [ns]."""
    time_ns = np.empty((len(cut), cut.shape[1] - 1), np.int64)
    for rank, (begin, end) in enumerate(pairwise(events.calls.first)):
        left = np.insert(events.leave_ns[begin:end], 0, events.begin_ns[rank])
        time_ns[rank] = np.diff(left[cut[rank]])
    return time_ns


def _phases(
    number: NDArray[np.int32],
    bound: NDArray[np.int64],
    trace: LogicalTrace,
    cut: NDArray[np.int64],
    time_ns: NDArray[np.int64],
    calls: Calls,
    whole_ns: int,
) -> tuple[Phase, ...]:
    mean_ns = time_ns.mean(axis=0)
    found = []
    for index, rows in enumerate(rows_by(number)):
        first, times = int(rows[0]), mean_ns[rows]
        middle = float(times.mean())
        inside = np.unique(trace.string[bound[first] : bound[first + 1]])
        # The run begins where it does: later occurrences may begin at another call.
        typical = int(rows[1]) if first == 0 and len(rows) > 1 else first
        found.append(
            Phase(
                number=index + 1,
                key=_key(trace.kind[inside]),
                site_key=_key(trace.identity[inside]),
                calls=_calls(calls, cut[:, typical], cut[:, typical + 1]),
                events=int(bound[first + 1] - bound[first]),
                weight=len(rows),
                time_s=middle / 1e9,
                spread=float(times.std()) / middle if middle else 0.0,
                drift=_drift(times) / middle if middle else 0.0,
                share=float(times.sum()) / whole_ns,
            )
        )
    return tuple(found)


def _drift(times: NDArray[np.float64]) -> float:
    """Return how much parts of a run differ, in the unit of the times.

    A machine that is slow for a second slows many occurrences in a row, whose mean is
    no better known than one of them. The first part is left out, for it is compared
    with the others; what changes steadily is the program's; and by what its occurrences
    differ among themselves a part's mean varies anyway.
    """
    if len(times) < 2 * PARTS_OF_DRIFT:
        return 0.0
    parts = np.array_split(times, PARTS_OF_DRIFT)[1:]
    means = np.array([part.mean() for part in parts])
    at = np.arange(len(parts))
    left = means - np.polyval(np.polyfit(at, means, 1), at)
    noise = np.mean([part.var(ddof=1) / len(part) for part in parts])
    return float(np.sqrt(max(0.0, left @ left / (len(parts) - 2) - noise)))


def _key(kinds: NDArray[np.uint64]) -> str:
    """Hash the kinds of events of an occurrence: neither their order nor number.

    How often inner loops run and where a loop was cut do not count.
    """
    data = np.unique(kinds).astype("<u8").tobytes()
    return blake2b(data, digest_size=8).hexdigest()


def _calls(
    calls: Calls, begin: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[str, ...]:
    """Name the functions of an occurrence, as its first rank calls them."""
    rank = int(np.argmax(end > begin))
    first = int(calls.first[rank])
    rows = slice(first + int(begin[rank]), first + int(end[rank]))
    functions = calls.shapes["function"][calls.shape[rows]].tolist()
    return tuple(calls.functions[one] for one, _ in groupby(functions))
