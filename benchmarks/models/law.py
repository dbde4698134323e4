"""The simulated program: a law that is in no family, on nodes that others use.

A run of size n on N nodes with k ranks each, p = N k, has 120 supersteps. A step waits
for the slowest node and the slowest link: it takes C/a + M/(b sqrt a), where a and b
are the smallest availability of a node and of a link at that time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 120
#: Work of the steps, relative to the mean.
_WORK = np.linspace(1.5, 0.5, STEPS)
_MIB = 2.0**20

#: How the weather is: shares that are left where others are busy, and for how long [s].
FREE = 0.5
CPU_LEFT, LINK_LEFT = (0.065, 0.72), (0.02, 0.80)
HELD_S = (180.0, 480.0)

#: Sensors: how often [s], how far off, and for how long they ran before [s].
SENSOR_S, SENSOR_NOISE, HISTORY_S = 120.0, 0.03, 3600.0


@dataclass(frozen=True, slots=True)
class Case:
    """What is run: size, nodes, ranks on each node."""

    n: float
    nodes: int
    ranks_per_node: int = 1

    @property
    def ranks(self) -> int:
        """All ranks."""
        return self.nodes * self.ranks_per_node


def parts(case: Case) -> tuple[float, float, float]:
    """Return computation, messages and serial time of a run on free nodes [s]."""
    n, p, k = case.n, float(case.ranks), float(case.ranks_per_node)
    working_set = 24 * n**2 / (64 * p)
    knee = 1 + 0.35 / (1 + math.exp(-(working_set - 2 * _MIB) / (0.3 * _MIB)))
    computation = (4 * n**3 / p + 60 * n**2 / math.sqrt(p)) / 1.2e9 * knee
    computation += 0.35 * 24 * n**2 * (n / 256) * k / (3e9 * p)
    computation *= 1 + 0.03 * math.sqrt(math.log(p))
    messages = 112 * n**2 * math.sqrt(k) * math.log2(p) / (1e8 * p)
    messages += 9e-5 * n * math.log2(p)
    return computation, messages, 3e-8 * n**2


@dataclass(frozen=True, slots=True)
class Weather:
    """What each of some nodes or links leaves, each setting held for a while.

    Attributes
    ----------
    until : (things, settings) float64 array
        When a setting ends [s].
    left : (things, settings) float64 array
        What is left meanwhile [0 to 1].
    """

    until: Floats
    left: Floats

    def at(self, time_s: float) -> Floats:
        """Return what each leaves at a time."""
        index = np.sum(self.until <= time_s, axis=1)
        return np.asarray(self.left[np.arange(len(self.left)), index])

    def average_of_smallest(self, begin: float, end: float) -> float:
        """Return the average over time of the smallest."""
        inside = self.until[(self.until > begin) & (self.until < end)]
        edges = np.concatenate([[begin], np.sort(inside), [end]])
        middles = (edges[1:] + edges[:-1]) / 2
        smallest = [self.at(time_s).min() for time_s in middles]
        return float(np.average(smallest, weights=np.diff(edges)))


def weather(
    random: np.random.Generator, things: int, left: tuple[float, float], time_s: float
) -> Weather:
    """Draw weather: half of the time free, else something in a range is left."""
    settings = int(time_s / HELD_S[0]) + 2
    held = random.uniform(*HELD_S, (things, settings))
    # The first setting began some time ago.
    held[:, 0] *= random.uniform(size=things)
    some = random.uniform(*left, (things, settings))
    free = random.uniform(size=(things, settings)) < FREE
    return Weather(np.cumsum(held, axis=1), np.where(free, 1.0, some))


@dataclass(frozen=True, slots=True)
class Measured:
    """A run and what sensors said about its nodes and links.

    Attributes
    ----------
    case : Case
    time_s : float
    truth : (float, float)
        Averages over the run of the smallest availability of nodes, and of links.
    average : (float, float)
        The same from sensors.
    start : (float, float)
        What sensors said last before the start.
    weather : (Weather, Weather) or None
        Of its nodes and of its links; None where nothing else ran there.
    """

    case: Case
    time_s: float
    truth: tuple[float, float] = (1.0, 1.0)
    average: tuple[float, float] = (1.0, 1.0)
    start: tuple[float, float] = (1.0, 1.0)
    weather: tuple[Weather, Weather] | None = None


def floor_s(case: Case, load: tuple[float, float]) -> float:
    """Return the time by the law's own coefficients with averages of a load."""
    computation, messages, serial = parts(case)
    cpu, bandwidth = load
    return computation / cpu + messages / (bandwidth * math.sqrt(cpu)) + serial


def run(random: np.random.Generator, case: Case, *, loaded: bool) -> Measured:
    """Simulate a run."""
    computation, messages, serial = parts(case)
    work = _WORK * computation / STEPS * random.normal(1.0, 0.02, STEPS)
    sent = messages / STEPS * random.normal(1.0, 0.04, STEPS)
    noise = random.normal(1.0, 0.01)
    if random.uniform() < 0.03:
        noise *= 1.0 + random.exponential(0.25)
    if not loaded:
        return Measured(case, float(work.sum() + sent.sum() + serial) * noise)
    longest = HISTORY_S + 60.0 * (computation + messages + serial) + 3600.0
    nodes = weather(random, case.nodes, CPU_LEFT, longest)
    links = weather(random, case.nodes, LINK_LEFT, longest)
    now = HISTORY_S
    for step in range(STEPS):
        cpu, bandwidth = nodes.at(now).min(), links.at(now).min()
        now += work[step] / cpu + sent[step] / (bandwidth * math.sqrt(cpu))
        now += serial / STEPS
    time_s = float(now - HISTORY_S) * noise
    sensed = [_sensed(random, one, HISTORY_S, now) for one in (nodes, links)]
    return Measured(
        case,
        time_s,
        truth=(
            nodes.average_of_smallest(HISTORY_S, now),
            links.average_of_smallest(HISTORY_S, now),
        ),
        average=(sensed[0][0], sensed[1][0]),
        start=(sensed[0][1], sensed[1][1]),
        weather=(nodes, links),
    )


def _sensed(
    random: np.random.Generator, what: Weather, begin: float, end: float
) -> tuple[float, float]:
    """Return the average and the start as sensors see them."""
    first = begin - random.uniform(0.0, SENSOR_S)
    seen = _seen(random, what, np.arange(first, end, SENSOR_S))
    smallest = seen.min(axis=1)
    return float(smallest.mean()), float(smallest[0])


def _seen(random: np.random.Generator, what: Weather, times: Floats) -> Floats:
    """Return what sensors see at times: (times, things)."""
    seen = np.stack([what.at(time_s) for time_s in times])
    return np.clip(seen + random.normal(0.0, SENSOR_NOISE, seen.shape), 0.01, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """What sensors said in the hour before a run.

    Attributes
    ----------
    times : (samples,) float64 array
        The run starts at `HISTORY_S` [s].
    nodes, links : (samples, things) float64 array
    """

    times: Floats
    nodes: Floats
    links: Floats


def before(random: np.random.Generator, run: Measured) -> Before | None:
    """Return what sensors said before a run; None where nothing else ran there."""
    if run.weather is None:
        return None
    first = random.uniform(0.0, SENSOR_S)
    times = np.arange(first, HISTORY_S, SENSOR_S)
    nodes, links = (_seen(random, one, times) for one in run.weather)
    return Before(times, nodes, links)
