"""What readers of other tools' text hand on."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from skelgen.documents.numbers import NumberError, real
from skelgen.errors import InputError

#: A line of a source: its number and its text without the end.
Line = tuple[int, str]
#: What is counted or shown, and of which core or interface.
Key = tuple[str, str]

#: Times of cores, which only rise: at work, of that with interrupts, without work,
#: taken by a hypervisor [s]. An empty core means all of them together.
BUSY, INTERRUPTS, IDLE, STEAL = "busy", "interrupts", "idle", "steal"
#: Times of threads that ran or waited [s], time in which some thread waited [s].
QUEUED, WAITED = "queued", "waited"
#: Bytes of an interface.
RECEIVED, SENT = "received", "sent"
#: What is the case at a moment: threads that run or wait without the one who looks,
#: the load average, memory for new programs [bytes], cores, when the node was started
#: [s since 1970].
RUNNABLE, LOAD, MEMORY, CORES, BOOT = "runnable", "load", "memory", "cores", "boot"

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")
_ADDRESS = re.compile(r"[0-9.]+")
#: Bridges and devices of containers count the bytes of others once more.
_VIRTUAL = re.compile(
    r"lo|(veth|docker|br-|virbr|vnet|cali|cni|flannel|tunl|ifb|dummy).*"
)
_INTERFACE = re.compile(r"[!-~]{1,60}")


@dataclass(slots=True)
class Look:
    """Counters of a host at one moment.

    Attributes
    ----------
    host : str
        Empty where the source does not say it.
    time : float
        Seconds since 1970 in UTC [s].
    counters, gauges : dict
        Values by key.
    unusable : list of str
        What was no number or less than 0.
    """

    host: str
    time: float
    counters: dict[Key, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)

    def count(self, name: str, of: str, value: float) -> None:
        """Add to a counter."""
        if value >= 0:
            self.counters[name, of] = self.counters.get((name, of), 0.0) + value
        else:
            self.unusable.append(f"{name}:{of} = {value:g}")

    def show(self, name: str, value: float) -> None:
        """Set what is the case."""
        if value >= 0:
            self.gauges[name] = value
        else:
            self.unusable.append(f"{name} = {value:g}")


@dataclass(slots=True)
class Usage:
    """What a host was like until a moment, since the one before; nan: not known.

    Attributes
    ----------
    host : str
    time : float
        Its end, seconds since 1970 in UTC [s].
    cores : float
    busy, interrupts, stolen : float
        At work (interrupts among it), in interrupts, taken by a hypervisor [cores].
    run_queue : float
        Threads that ran or waited for a core.
    pressure : float
        Part of the time in which some thread waited for a core [0 to 1].
    memory_bytes : float
        Memory that new programs can have [bytes].
    received, sent : dict of str to float
        By interface [bytes/s].
    """

    host: str
    time: float
    cores: float = math.nan
    busy: float = math.nan
    interrupts: float = 0.0
    stolen: float = math.nan
    run_queue: float = math.nan
    pressure: float = math.nan
    memory_bytes: float = math.nan
    received: dict[str, float] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Notes:
    """What was left out of sources: how often, and where first.

    Attributes
    ----------
    found : dict
        By source and reason: how often, and the first case.
    """

    found: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def add(self, source: str, reason: str, case: str) -> None:
        """Count something that was left out."""
        count, first = self.found.get((source, reason), (0, case))
        self.found[source, reason] = (count + 1, first)

    def lines(self) -> list[str]:
        """Return one line for each source and reason."""
        return [
            f"{source}: {count} times {reason}, first {case}"
            if count > 1
            else f"{source}: {reason}: {case}"
            for (source, reason), (count, case) in self.found.items()
        ]


def number(text: str) -> float:
    """Read a value; nan where the text is one of those that mean no number.

    Raises
    ------
    NumberError
        When it is something else.
    """
    text = text.strip()
    try:
        return real(text)
    except NumberError:
        if text.lower().lstrip("+-") in ("nan", "inf", ""):
            return math.nan
        raise


def host_name(text: str) -> str:
    """Return the name of a node as the monitor has it, without domain and port.

    Raises
    ------
    InputError
        When that is no name of a host.

    Examples
    --------
    >>> host_name("n1.cluster.site:9100"), host_name("10.0.0.7:9100")
    ('n1', '10.0.0.7')
    """
    name, colon, port = text.strip().rpartition(":")
    name = name if colon and port.isdecimal() else text.strip()
    if not _ADDRESS.fullmatch(name):
        name = name.partition(".")[0]
    if not _HOST.fullmatch(name):
        raise InputError(f"read the host {text[:60]!r}, expected a name; give --host")
    return name


def is_counted(interface: str) -> bool:
    """Say whether bytes of an interface are kept."""
    return bool(_INTERFACE.fullmatch(interface)) and not _VIRTUAL.fullmatch(interface)
