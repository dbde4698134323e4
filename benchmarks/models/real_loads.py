"""Loads of real runs: what sensors would have seen of the weather that was made."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skelgen.forecasts import Samples, forecast
from tests.testbed.law import Kind, Weather, read_log

#: How often sensors look, how far they are off, and what they know of the past [s, 1].
SENSOR_S, SENSOR_NOISE, HISTORY_S = 2.0, 0.03, 300.0
_KINDS: tuple[Kind, Kind] = ("cpu", "bandwidth")


@dataclass(frozen=True, slots=True)
class Seen:
    """What sensors saw of a run and of the time before it.

    Attributes
    ----------
    before : dict of str to list of Samples
        By kind: of each host, or of its link. Times count from the start [s].
    during : dict of str to float
        Average over the run of the smallest [1].
    """

    before: dict[Kind, list[Samples]]
    during: dict[Kind, float]

    def forecast(self, horizon_s: float) -> dict[str, float]:
        """Forecast the averages over a time that begins with the run."""
        found = {}
        for kind, series in self.before.items():
            random = np.random.default_rng(0)
            one = forecast(series, horizon_s, generator=random)
            found[str(kind)] = min(max(one.interval.p50, 0.01), 1.0)
        return found


def seen(log: Path, begin: float, end: float, *, steady: bool) -> Seen:
    """Return what sensors saw, by the log of the weather.

    Parameters
    ----------
    log : Path
    begin, end : float
        Of the run, since 1970 in UTC [s].
    steady : bool
        The weather never changed, so the time before the log was the same.
    """
    weather = read_log(log)
    first = max(one.time for one in weather.settings[: 2 * len(weather.hosts)])
    past = begin - HISTORY_S if steady else max(begin - HISTORY_S, first)
    times = np.arange(past, end, SENSOR_S)
    before: dict[Kind, list[Samples]] = {}
    during: dict[Kind, float] = {}
    for kind in _KINDS:
        courses = [_course(weather, one, kind, times, first) for one in weather.hosts]
        old = times < begin
        before[kind] = [
            Samples(f"{kind} {host}", times[old] - begin, values[old])
            for host, values in zip(weather.hosts, courses, strict=True)
        ]
        # Of a run that no sensor saw the last look before it is known.
        inside = ~old if not old.all() else times == times[-1]
        during[kind] = float(np.min(courses, axis=0)[inside].mean())
    return Seen(before, during)


def _course(
    weather: Weather, host: str, kind: Kind, times: np.ndarray, first: float
) -> np.ndarray:
    """Return what a sensor of a host saw; other runs meet other noise."""
    truth = weather.shares(host, np.maximum(times, first), kind)
    own = zlib.crc32(f"{host} {kind} {times[0]:.3f}".encode())
    noise = np.random.default_rng(own).normal(0.0, SENSOR_NOISE, len(times))
    return np.asarray(np.clip(truth + noise, 0.01, 1.0))
