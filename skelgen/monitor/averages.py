"""One number for several nodes over a time.

A synchronous program waits for its slowest node at each step, so what counts is the
average over time of the minimum over nodes (``avg-min``). The 2006 paper took the
minimum of each node's average (``min-avg``), which is never less.
"""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from skelgen.monitor.thresholds import LONGEST_AVERAGED_SPAN


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity of one node: each value is the average since the time before it.

    Attributes
    ----------
    times : sequence of float
        Rising [s].
    values : sequence of float
    """

    times: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Average:
    """An average over the time that is known.

    Attributes
    ----------
    value : float
        nan where nothing is known.
    covered : float
        Part of the time for which there are samples [0 to 1].
    """

    value: float
    covered: float


def avg_min(curves: Sequence[Curve], begin: float, end: float) -> Average:
    """Return the average over time of the minimum over nodes.

    Parameters
    ----------
    curves : sequence of Curve
        One for each node.
    begin, end : float
        The time [s].

    Returns
    -------
    Average
        Over the time for which all nodes have samples.

    Examples
    --------
    Two nodes that are busy in turn are never both free:

    >>> one, two = Curve((10, 20), (1.0, 0.5)), Curve((10, 20), (0.5, 1.0))
    >>> avg_min([one, two], 0, 20).value, min_avg([one, two], 0, 20).value
    (0.5, 0.75)
    """
    steps = [_Steps(curve) for curve in curves]
    edges = sorted({begin, end, *(t for one in steps for t in one.edges(begin, end))})
    pieces = []
    for left, right in pairwise(edges):
        values = [one.at(right) for one in steps]
        if values and not any(math.isnan(value) for value in values):
            pieces.append((min(values), right - left))
    return _average(pieces, end - begin)


def min_avg(curves: Sequence[Curve], begin: float, end: float) -> Average:
    """Return the minimum over nodes of the average over time.

    Parameters and result as those of `avg_min`; it covers as much as the node that is
    known for the shortest time.

    References
    ----------
    The 2006 paper (rational polynomials), *min_avg_avail_cpu*, section 3.
    """
    averages = [avg_min([curve], begin, end) for curve in curves]
    if not averages:
        return Average(math.nan, 0.0)
    if any(math.isnan(one.value) for one in averages):
        return Average(math.nan, 0.0)
    return Average(
        min(one.value for one in averages), min(one.covered for one in averages)
    )


def _average(pieces: Sequence[tuple[float, float]], length: float) -> Average:
    known = math.fsum(span for _, span in pieces)
    if not known > 0 or not length > 0:
        return Average(math.nan, 0.0)
    total = math.fsum(value * span for value, span in pieces)
    return Average(total / known, min(1.0, known / length))


class _Steps:
    """A curve as a function of time that is constant between its samples."""

    def __init__(self, curve: Curve) -> None:
        self._times, self._values = list(curve.times), list(curve.values)
        spans = [right - left for left, right in pairwise(self._times)]
        self._reach = (
            LONGEST_AVERAGED_SPAN * statistics.median(spans) if spans else math.inf
        )

    def edges(self, begin: float, end: float) -> list[float]:
        """Return the times between two others at which the value changes."""
        first = bisect.bisect_right(self._times, begin)
        inside = self._times[first : bisect.bisect_right(self._times, end) + 1]
        starts = [time - self._reach for time in inside]
        return [time for time in (*inside, *starts) if begin < time < end]

    def at(self, time: float) -> float:
        """Return the value just before a time, nan where nobody knows it."""
        place = bisect.bisect_left(self._times, time)
        if place == len(self._times) or time <= self._times[place] - self._reach:
            return math.nan
        return self._values[place]
