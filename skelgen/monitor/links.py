"""Which two hosts probe the link between them, and when: agreed on without a word.

Time is cut into slots. In each slot every host has at most one partner, and within one
round of slots every pair has its turn: the rounds of a tournament. All hosts compute
that from the same list and their own clocks. Turns begin a quarter of a slot after the
slot does and end before its last quarter, so clocks may differ by a quarter of a slot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.errors import UsageError
from skelgen.monitor.folders import host_folder
from skelgen.monitor.thresholds import (
    LEAST_PROBE_BYTES,
    SHORTEST_SLOT_S,
    SHORTEST_USUAL_SLOT_S,
)

#: Bytes per hour that a node may send and receive for probes, unless told otherwise.
BUDGET_BYTES = 200e6
#: Time between two probes of a link, where limit and number of hosts allow it [s].
EVERY_S = 120.0


@dataclass(frozen=True, slots=True)
class Links:
    """What the monitors of hosts agree on.

    Attributes
    ----------
    hosts : tuple of str
        Sorted, as they name themselves.
    budget_bytes : float
        That each of them may send and receive for probes in an hour.
    every_s : float
        Time between two probes of a link, at least [s]; nan: 2 minutes, or as long as
        a round of slots of 10 s takes.
    port : int
        Of TCP; 0: one that follows from the secret.
    """

    hosts: tuple[str, ...]
    budget_bytes: float = BUDGET_BYTES
    every_s: float = math.nan
    port: int = 0

    @property
    def slot_s(self) -> float:
        """Return the length of a slot [s]."""
        if math.isnan(self.every_s):
            return max(EVERY_S / rounds(len(self.hosts)), SHORTEST_USUAL_SLOT_S)
        return max(self.every_s / rounds(len(self.hosts)), SHORTEST_SLOT_S)

    @property
    def round_s(self) -> float:
        """Return the time from one turn of a pair to its next [s]."""
        return self.slot_s * rounds(len(self.hosts))

    @property
    def probe_bytes(self) -> int:
        """Return how much one probe may cost: each link of a node one in an hour."""
        return int(self.budget_bytes / (len(self.hosts) - 1))


def agreed(
    hosts: Sequence[str],
    budget_bytes: float = BUDGET_BYTES,
    every_s: float = math.nan,
    port: int = 0,
) -> Links:
    """Return what monitors of hosts agree on, checked.

    Raises
    ------
    UsageError
    """
    names = tuple(sorted(set(hosts)))
    if len(names) < 2:
        raise UsageError(
            f"--links: {len(names)} host(s), expected two or more; name them: --hosts "
            "n1,n2"
        )
    for name in names:
        host_folder(name)
    least = LEAST_PROBE_BYTES * (len(names) - 1)
    if not least <= budget_bytes <= 1e15:
        raise UsageError(
            f"--link-budget: {budget_bytes / 1e6:g} MB/h, expected {least / 1e6:g} MB/h"
            f" or more for {len(names)} hosts"
        )
    if not (math.isnan(every_s) or 1 <= every_s <= 86400):
        raise UsageError(
            f"--link-interval: {every_s:g} s, expected 1 s to 24 h between probes"
        )
    if not (port == 0 or 1024 <= port <= 65535):
        raise UsageError(f"--link-port: {port}, expected 1024 to 65535")
    return Links(names, budget_bytes, every_s, port)


def rounds(count: int) -> int:
    """Return how many slots it takes until each pair of hosts had its turn."""
    return max(1, count - 1 + count % 2)


def partner(host: int, slot: int, count: int) -> int | None:
    """Return with whom a host has a turn in a slot, None where it has none.

    Parameters
    ----------
    host : int
        Place in the sorted list of hosts.
    slot : int
    count : int
        Hosts.

    Notes
    -----
    The circle method: hosts whose places add up to the slot are partners (modulo the
    number of rounds); who would be his own partner has the last host, or nobody.

    Examples
    --------
    >>> [partner(0, slot, 3) for slot in range(3)]
    [None, 1, 2]
    """
    turns = rounds(count)
    last = turns if count % 2 == 0 else None
    if host == last:
        return slot * ((turns + 1) // 2) % turns
    other = (slot - host) % turns
    return last if other == host else other


@dataclass(frozen=True, slots=True)
class ProbeTurn:
    """A time at which this host calls another.

    Attributes
    ----------
    slot : int
        Slots since 1970.
    peer : str
    begin : float
        Seconds since 1970 in UTC [s].
    """

    slot: int
    peer: str
    begin: float


class Schedule:
    """The turns of one host; of a pair the first in the sorted list calls.

    Parameters
    ----------
    links : Links
    host : str
        One of their hosts.
    """

    def __init__(self, links: Links, host: str) -> None:
        self._links, self._host = links, links.hosts.index(host)

    def next(self, now: float, done: int | None) -> ProbeTurn | None:
        """Return the next turn in which this host calls; None when it never does.

        Parameters
        ----------
        now : float
            Seconds since 1970 in UTC [s].
        done : int or None
            The slot of the last turn, which does not come twice.
        """
        count, slot_s = len(self._links.hosts), self._links.slot_s
        first = math.floor(now / slot_s)
        for slot in range(first, first + rounds(count) + 2):
            peer = partner(self._host, slot, count)
            begin = (slot + 0.25) * slot_s
            late = now > begin + slot_s / 8
            if peer is not None and peer > self._host and slot != done and not late:
                return ProbeTurn(slot, self._links.hosts[peer], begin)
        return None
