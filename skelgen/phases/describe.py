"""Say what the phases of a run are: how often, how long, and which calls."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.types import FAILED_POLL
from skelgen.keys import label, rows_by
from skelgen.phases.ends import Occurrences
from skelgen.phases.string import LogicalTrace
from skelgen.phases.thresholds import PARTS_OF_DRIFT
from skelgen.phases.types import BODY, EPILOGUE, PROLOGUE, Phase


def describe(
    found: Occurrences,
    strata: Sequence[str],
    trace: LogicalTrace,
    calls: Calls,
    whole_ns: int,
) -> tuple[tuple[Phase, ...], NDArray[np.int32]]:
    """Describe phases, by the order of their first occurrences.

    Parameters
    ----------
    found : Occurrences
    strata : sequence of str
        Of each phase in `found`; prologue and epilogue have none.
    trace : LogicalTrace
    calls : Calls
    whole_ns : int
        Time of the application [ns].

    Returns
    -------
    tuple of Phase
    (o,) int32 array
        Index of each occurrence's.
    """
    number, first = label(found.phase.astype(np.uint64))
    parts, known = _parts(found), dict(enumerate(strata))
    phases = tuple(
        _phase(
            index,
            rows,
            (parts[one], known.get(int(found.phase[one]), "")),
            found,
            trace,
            calls,
            whole_ns,
        )
        for index, (rows, one) in enumerate(
            zip(rows_by(number), first.tolist(), strict=True)
        )
    )
    return phases, number


def _parts(found: Occurrences) -> list[str]:
    parts = [BODY] * len(found.phase)
    if found.inside.any():
        parts[0], parts[-1] = PROLOGUE, EPILOGUE
    return parts


def _phase(
    index: int,
    rows: NDArray[np.int64],
    kind: tuple[str, str],
    found: Occurrences,
    trace: LogicalTrace,
    calls: Calls,
    whole_ns: int,
) -> Phase:
    (part, stratum), first = kind, int(rows[0])
    times = found.time_ns[:, rows].mean(axis=0)
    middle = float(times.mean())
    inside = np.unique(trace.string[found.bound[first] : found.bound[first + 1]])
    return Phase(
        number=index + 1,
        key=_key(trace.kind[inside], part),
        site_key=_key(trace.identity[inside], part),
        calls=_calls(calls, found.cut, rows, part),
        events=int(found.bound[first + 1] - found.bound[first]),
        weight=len(rows),
        time_s=middle / 1e9,
        spread=float(times.std()) / middle if middle else 0.0,
        drift=_drift(times) / middle if middle else 0.0,
        share=float(times.sum()) / whole_ns,
        part=part,
        stratum=stratum,
    )


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


def _key(kinds: NDArray[np.uint64], part: str) -> str:
    """Hash the kinds of events of an occurrence: neither their order nor number.

    How often inner loops run and where a loop was cut do not count.
    """
    data = np.unique(kinds).astype("<u8").tobytes()
    if part != BODY:
        data += part.encode()
    return blake2b(data, digest_size=8).hexdigest()


def _calls(
    calls: Calls, cut: NDArray[np.int64], rows: NDArray[np.int64], part: str
) -> tuple[str, ...]:
    """Name the functions of an occurrence, as its first rank calls them.

    Polls that found nothing are left out: how many there are is chance. Of a prologue
    as the first rank calls them that takes part in the next occurrence: with the end of
    that it is measured.
    """
    # The run begins where it does: later occurrences may begin at another call.
    one = int(rows[1] if rows[0] <= 1 and len(rows) > 1 else rows[0])
    begin, end = cut[:, one], cut[:, one + 1]
    measured = cut[:, 2] if part == PROLOGUE else end
    rank = int(np.argmax(measured > begin))
    first = int(calls.first[rank])
    shape = calls.shape[first + int(begin[rank]) : first + int(end[rank])]
    found = (calls.shapes["flags"] & FAILED_POLL)[shape] == 0
    names = calls.shapes["function"][shape[found]]
    return tuple(calls.functions[one] for one, _ in groupby(names.tolist()))
