"""Calls that the recorder counted and passed on without an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.trace import RankFile
from skelgen.units import seconds

#: Recorder kinds of functions that communicate although they become no event.
_COMMUNICATES = "other"


@dataclass(frozen=True, slots=True)
class PassedOn:
    """The calls of one function that became no event, all ranks.

    Attributes
    ----------
    name : str
    calls : int
    time_s : float
        Time inside those that communicate; 0 for others and in older traces [s].
    communicates : bool
    """

    name: str
    calls: int
    time_s: float
    communicates: bool


def passed_on(files: Sequence[RankFile]) -> tuple[PassedOn, ...]:
    """Return the functions that were passed on, those of most calls first."""
    calls: Counter[tuple[str, bool]] = Counter()
    time_ns: Counter[tuple[str, bool]] = Counter()
    for file in files:
        known = file.definitions
        for number, count in known.passed.items():
            function = known.functions.get(number)
            if function is not None:
                key = (function.name, function.kind == _COMMUNICATES)
                calls[key] += count
                units = known.passed_units.get(number, 0)
                time_ns[key] += round(units * file.header.unit_ns)
    return tuple(
        PassedOn(name, count, seconds(time_ns[name, communicates]), communicates)
        for (name, communicates), count in calls.most_common()
    )
