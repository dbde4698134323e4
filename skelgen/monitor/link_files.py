"""What a monitor keeps of links: a folder for each in that of the host that calls."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import InputError, SkelgenError
from skelgen.monitor.day_files import DayFile, day_of
from skelgen.monitor.folders import host_folder, make_private
from skelgen.monitor.folders import hosts as names_in
from skelgen.monitor.records import LINK_QUANTITIES, SampleMark, SampleRow
from skelgen.monitor.series import HostHistory, read_folder

if TYPE_CHECKING:
    from skelgen.monitor.probing import LinkProbe

_LINKS = "links"
#: Files of all links of a host may hold so much for each day, each at least [bytes].
_ALL_BYTES, _LEAST_BYTES = 200_000, 5_000
#: The largest rate is looked for in so much of the past [s].
_PAST_S = 15 * 86_400.0


def link_name(one: str, other: str) -> str:
    """Return the name of the link between two hosts.

    Examples
    --------
    >>> link_name("n2", "n1")
    'n1-n2'
    """
    return "-".join(sorted((one, other)))


class LinkRate:
    """The rate of a link itself: the largest that was seen, but for a single one.

    One odd probe does not count; the second largest does.
    """

    def __init__(self, seen: Sequence[float] = ()) -> None:
        self._largest = sorted(seen, reverse=True)[:2]

    def share(self, rate: float) -> float:
        """Take a rate into account; return which part of the link's it is [0 to 1]."""
        self._largest = sorted((*self._largest, rate), reverse=True)[:2]
        return min(1.0, rate / self._largest[-1])


class LinkFile:
    """Keeps the probes of one link.

    Parameters
    ----------
    folder : Path
        Of the host that calls.
    peer : str
        The other one.
    every_s : float
        Time between probes [s].
    links : int
        Of this host, which share its room.
    wall : callable
        Returns seconds since 1970 in UTC [s].
    """

    def __init__(
        self,
        folder: Path,
        peer: str,
        every_s: float,
        links: int,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._wall = wall
        own = make_private(host_folder(peer, make_private(folder / _LINKS)))
        room = max(_ALL_BYTES // links, _LEAST_BYTES)
        self._file = DayFile(own, every_s, room)
        self._rate = LinkRate(_rates(own))
        self._refused: set[tuple[str, str]] = set()

    def keep(self, probe: LinkProbe) -> None:
        """Keep what a probe found.

        Raises
        ------
        MachineError
        """
        rate = probe.bandwidth_bytes_per_s
        values = (self._rate.share(rate), rate, probe.latency_s)
        row = SampleRow(self._wall(), values)
        self._file.add(row, [name for name, _ in LINK_QUANTITIES])

    def refuse(self, reason: str) -> None:
        """Keep why a probe failed, each reason once a day.

        Raises
        ------
        MachineError
        """
        now = self._wall()
        if (said := (day_of(now), reason)) not in self._refused:
            self._refused = {one for one in self._refused if one[0] == said[0]} | {said}
            self._file.mark(SampleMark("refused", now, reason=f"probe: {reason}"))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _rates(folder: Path) -> Sequence[float]:
    """Return the rates that were seen."""
    try:
        found = read_folder("", folder, time.time() - _PAST_S, math.inf)
    except SkelgenError:
        return ()
    curve = found.curves.get("bandwidth_bytes_per_s") if found else None
    return [rate for rate in curve.values if rate > 0] if curve else ()


def read_links(
    host: str,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    within: Path | None = None,
) -> list[HostHistory]:
    """Read the series of the links that a host probed; they are named ``n1-n2``.

    Parameters as those of `series.read_history`.

    Raises
    ------
    InputError
        When they cannot be read.
    """
    folder = host_folder(host, within) / _LINKS
    try:
        peers = names_in(folder)
    except SkelgenError as error:
        raise InputError(str(error)) from error
    found = [
        read_folder(link_name(host, peer), folder / peer, begin, end) for peer in peers
    ]
    return [one for one in found if one is not None]
