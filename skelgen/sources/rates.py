"""From counters at moments to what happened between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from skelgen.sources.types import (
    BOOT,
    BUSY,
    CORES,
    IDLE,
    INTERRUPTS,
    LOAD,
    MEMORY,
    QUEUED,
    RECEIVED,
    RUNNABLE,
    SENT,
    STEAL,
    WAITED,
    Key,
    Look,
    Notes,
    Usage,
)

#: The moment of the start moves by no more than this when the clock is set [s].
_RESTART_S = 60.0
#: Looks that are nearer to each other say nothing [s].
_LEAST_S = 1e-3


@dataclass(slots=True)
class _Before:
    """The newest counters of a host, each with its time."""

    counters: dict[Key, tuple[float, float]] = field(default_factory=dict)
    boot: float = math.nan


class Rates:
    """Compares each look at a host with the one before it.

    Counters that are in different files, as those of LDMS are, may come one file after
    the other: each is compared with its own last value.

    Parameters
    ----------
    notes : Notes
        Where it says what was left out.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._hosts: dict[str, _Before] = {}

    def usage(self, source: str, look: Look) -> Usage:
        """Return what happened since the last look; nan where that is not known."""
        before = self._hosts.setdefault(look.host, _Before())
        rates: dict[Key, float] = {}
        if self._goes_on(source, before, look):
            rates = self._rates(source, before, look)
        for key, value in look.counters.items():
            before.counters[key] = (look.time, value)
        before.boot = look.gauges.get(BOOT, before.boot)
        return _usage(look, rates)

    def _goes_on(self, source: str, before: _Before, look: Look) -> bool:
        """Say whether the counters are those of the look before, further on."""
        last = [before.counters[key] for key in look.counters if key in before.counters]
        if any(look.time < time for time, _ in last):
            self._notes.add(
                source, "times go back", f"at {look.time:.0f} s of {look.host}"
            )
            return False
        jumped = abs(look.gauges.get(BOOT, math.nan) - before.boot) > _RESTART_S
        if jumped or any(
            key[0] == BUSY
            and key in before.counters
            and value < before.counters[key][1]
            for key, value in look.counters.items()
        ):
            self._notes.add(
                source, "the node was restarted", f"{look.host}, before {look.time:.0f}"
            )
            return False
        return True

    def _rates(self, source: str, before: _Before, look: Look) -> dict[Key, float]:
        found = {}
        for key, value in look.counters.items():
            time, old = before.counters.get(key, (look.time, value))
            if look.time - time < _LEAST_S:
                continue
            if value >= old:
                found[key] = (value - old) / (look.time - time)
            elif key[0] in (IDLE, STEAL):
                found[key] = 0.0  # the kernel counts these only nearly
            else:
                name = ":".join(filter(None, key))
                self._notes.add(source, "a counter goes back", f"{name} of {look.host}")
        return found


def _usage(look: Look, rates: dict[Key, float]) -> Usage:
    busy, idle = _sum(rates, BUSY), _sum(rates, IDLE)
    interrupts, stolen = _sum(rates, INTERRUPTS), _sum(rates, STEAL)
    parts = [part for part in (busy, idle, stolen) if not math.isnan(part)]
    named = {of for name, of in rates if name == BUSY and of}
    # Idle cores that the kernel put to sleep may count no time.
    cores = float(len(named)) or look.gauges.get(CORES, math.nan)
    if math.isnan(cores) and not math.isnan(idle):
        cores = float(round(math.fsum(parts)))
    queue = _sum(rates, QUEUED)
    for name in (RUNNABLE, LOAD):
        if math.isnan(queue):
            queue = look.gauges.get(name, math.nan)
    return Usage(
        look.host,
        look.time,
        cores,
        busy,
        0.0 if math.isnan(interrupts) else interrupts,
        stolen,
        queue,
        min(_sum(rates, WAITED), 1.0) if (WAITED, "") in rates else math.nan,
        look.gauges.get(MEMORY, math.nan),
        *(
            {of: rate for (kind, of), rate in rates.items() if kind == name and of}
            for name in (RECEIVED, SENT)
        ),
    )


def _sum(rates: dict[Key, float], name: str) -> float:
    """Return the sum over cores; nan where there is none."""
    found = [rate for (kind, _), rate in rates.items() if kind == name]
    return math.fsum(found) if found else math.nan
