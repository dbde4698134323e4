"""The law of weather: how much of hosts and links is left, and for how long.

Each host and each link is drawn for itself: it is free for a time, or something is
left of it for a time, and then it is drawn again. Nothing here needs a cluster or
root; benchmarks draw simulated loads with it, and read what `weather` logged.

References
----------
Yagnik 2006, section 4: 6.5 to 72 % of a CPU, 2 to 80 % of a link, for 3 to 8 minutes.
"""

from __future__ import annotations

import bisect
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.testbed.control_groups import TestbedError

Floats = NDArray[np.float64]
#: What there is of a host: a core, and a link with this bandwidth.
Kind = Literal["cpu", "bandwidth"]


@dataclass(frozen=True, slots=True)
class Law:
    """How one host or link is drawn.

    Attributes
    ----------
    low, high : float
        What is left of one that is not free, drawn evenly between these [1].
    free : float
        Part of the draws that leave it free [1].
    shortest_s, longest_s : float
        How long each draw holds, evenly between these [s].
    """

    low: float
    high: float
    free: float = 0.5
    shortest_s: float = 180.0
    longest_s: float = 480.0

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.high <= 1 and 0 <= self.free <= 1):
            raise ValueError("shares are parts of a whole: 0 < low <= high <= 1")
        if not 0 < self.shortest_s <= self.longest_s < float("inf"):
            raise ValueError("a draw holds for a time: 0 < shortest <= longest")

    def draws(
        self, generator: np.random.Generator
    ) -> Iterator[tuple[float, float, float]]:
        """Yield one draw after the other, without end: share [1], time [s], lot [1]."""
        while True:
            free, level, held, lot = generator.random(4).tolist()
            share = self.low + (self.high - self.low) * level
            time_s = self.shortest_s + (self.longest_s - self.shortest_s) * held
            yield 1.0 if free < self.free else share, time_s, lot


HOSTS = Law(0.065, 0.72)
LINKS = Law(0.02, 0.80)
LAWS: Mapping[Kind, Law] = {"cpu": HOSTS, "bandwidth": LINKS}


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """From a time on, so much is left of a host or of its link.

    Attributes
    ----------
    time : float
        Since the weather began, or in a log since 1970 in UTC [s].
    host : str
    kind : str
        ``cpu`` or ``bandwidth``.
    share : float
        What a new process, or a new connection, gets of what it gets when free [1].
    lot : float
        Decides between several ways to make that, 0 to 1; in a log it has been [1].
    """

    time: float
    host: str
    kind: Kind
    share: float
    lot: float = 0.0


@dataclass(frozen=True, slots=True)
class Weather:
    """All settings from a begin to an end.

    Attributes
    ----------
    settings : tuple of Setting
        In order of time; the first of each host and kind is at the begin.
    end : float
        Of the last ones, on the same clock [s].
    """

    settings: tuple[Setting, ...]
    end: float = float("inf")
    _courses: Mapping[tuple[str, str], tuple[list[float], list[float]]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        courses: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        for one in self.settings:
            times, shares = courses.setdefault((one.host, one.kind), ([], []))
            times.append(one.time)
            shares.append(one.share)
        object.__setattr__(self, "_courses", courses)

    @property
    def hosts(self) -> list[str]:
        """Return the hosts, in the order of their names."""
        return sorted({one.host for one in self.settings})

    def share(self, host: str, time: float, kind: Kind = "cpu") -> float:
        """Return what is left of a host, or of its link, at a time [1].

        Raises
        ------
        TestbedError
            When the weather knows no such host, or not that time.
        """
        times, shares = self._course(host, kind, time, time)
        return shares[bisect.bisect_right(times, time) - 1]

    def shares(self, host: str, times: ArrayLike, kind: Kind = "cpu") -> Floats:
        """Return what is left at many times; see `share`.

        Parameters
        ----------
        host : str
        times : (times,) float array
            [s].
        kind : str
        """
        asked = np.asarray(times, np.float64)
        if not asked.size:
            return asked
        begins, shares = self._course(
            host, kind, float(asked.min()), float(asked.max())
        )
        places = np.searchsorted(np.asarray(begins), asked, side="right") - 1
        return np.asarray(shares, np.float64)[places]

    def mean(self, host: str, begin: float, end: float, kind: Kind = "cpu") -> float:
        """Return the average over a time of what is left; `begin` is before `end`."""
        times, shares = self._course(host, kind, begin, end)
        inside = times[
            bisect.bisect_right(times, begin) : bisect.bisect_left(times, end)
        ]
        edges = [begin, *inside, end]
        first = bisect.bisect_right(times, begin) - 1
        parts = zip(shares[first:], itertools.pairwise(edges), strict=False)
        return sum(share * (b - a) for share, (a, b) in parts) / (end - begin)

    def _course(
        self, host: str, kind: Kind, begin: float, end: float
    ) -> tuple[list[float], list[float]]:
        course = self._courses.get((host, kind))
        if course is None:
            known = ", ".join(self.hosts) or "none"
            raise TestbedError(f"no weather of {host}, {kind}; there is: {known}")
        if not course[0][0] <= begin <= end <= self.end:
            raise TestbedError(
                f"no weather at {begin:.3f} to {end:.3f}; there is some from "
                f"{course[0][0]:.3f} to {self.end:.3f}"
            )
        return course


def draw(
    seed: int,
    hosts: Sequence[str],
    length_s: float,
    laws: Mapping[Kind, Law] = LAWS,
) -> Weather:
    """Draw the weather of hosts and of their links.

    What is drawn of a host depends on the seed and on its name alone: not on the other
    hosts, and not on how long it lasts.

    Parameters
    ----------
    seed : int
        0 and more.
    hosts : sequence of str
    length_s : float
        [s].
    laws : mapping, optional
        Of ``cpu`` and ``bandwidth``; a kind that is left out has no weather.
    """
    found = []
    for host in dict.fromkeys(hosts):
        for kind, law in laws.items():
            own = zlib.crc32(f"{kind} {host}".encode())
            generator, time_s = np.random.default_rng([seed, own]), 0.0
            for share, held_s, lot in law.draws(generator):
                found.append(Setting(time_s, host, kind, share, lot))
                time_s += held_s
                if time_s >= length_s:
                    break
    return Weather(tuple(sorted(found)), length_s)


def read_log(path: Path) -> Weather:
    """Read what `weather` logged; of one that still blows, what it set so far.

    Raises
    ------
    TestbedError
        When the file is no such log.
    """
    settings, end = [], float("inf")
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        try:
            said: dict[str, Any] = json.loads(line)
            if "end" in said:
                end = float(said["end"])
            elif "share" in said:
                settings.append(_setting(said))
        except (ValueError, KeyError, TypeError) as error:
            raise TestbedError(
                f"{path} line {number}: not a line of a log of weather ({error})"
            ) from error
    if not settings:
        raise TestbedError(f"{path}: no log of weather; nothing was set")
    return Weather(tuple(settings), end)


def _setting(said: Mapping[str, Any]) -> Setting:
    kind: Kind = "cpu" if "host" in said else "bandwidth"
    host = said["host"] if kind == "cpu" else said["link"]
    return Setting(float(said["time"]), str(host), kind, float(said["share"]))
