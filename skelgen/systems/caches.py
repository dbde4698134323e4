"""Find the sizes of caches in the time of dependent accesses over working sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.systems.cuts import best_cuts

#: Levels at most, memory among them.
_MOST_LEVELS = 6
#: Times within a level differ by about this factor, as a logarithm [1].
_ROUGH = 0.15
_FAR = 3.0
_PRICE = 12.0
#: Working sets of a level, at least: an octave.
_FEWEST_POINTS = 3
#: From level to level the time grows by this factor at least [1].
_LEAST_STEP = 1.6


@dataclass(frozen=True, slots=True)
class CacheSize:
    """A cache that was found.

    Attributes
    ----------
    size_bytes : int
        Largest working set that was measured and is served by it [bytes].
    next_bytes : int
        The next one that was measured, which is not [bytes].
    latency_s : float
        Time of an access to it [s].
    """

    size_bytes: int
    next_bytes: int
    latency_s: float


def cache_sizes(
    sizes_bytes: Sequence[int], latencies_s: Sequence[float]
) -> tuple[CacheSize, ...]:
    """Find the caches, the smallest first.

    A level is a plateau of the latency. A cache ends where the latency is nearer to
    the next plateau than to its own, in logarithms.

    Parameters
    ----------
    sizes_bytes : sequence of int
        Working sets, rising, several for each octave [bytes].
    latencies_s : sequence of float
        Time of an access, the smallest of the repeats: nothing makes a cache faster
        than it is [s].

    Examples
    --------
    >>> sizes = [1024 << n for n in range(16)]
    >>> found = cache_sizes(sizes, [1e-9 if s <= 32768 else 9e-9 for s in sizes])
    >>> [one.size_bytes for one in found]
    [32768]
    """
    if len(sizes_bytes) < 2 * _FEWEST_POINTS:
        return ()
    logs = np.log(_smoothed(np.asarray(latencies_s, float)))
    plateaus = _plateaus(logs)
    found = []
    for (level, _, last), (above, first, _) in itertools.pairwise(plateaus):
        middle = (level + above) / 2
        end = next((n for n in range(last + 1, first + 1) if logs[n] > middle), first)
        found.append(CacheSize(sizes_bytes[end - 1], sizes_bytes[end], math.exp(level)))
    return tuple(found)


def _smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out what a single disturbance did: larger sets are never faster."""
    return np.minimum.accumulate(values[::-1])[::-1]


def _plateaus(logs: NDArray[np.float64]) -> list[tuple[float, int, int]]:
    """Return level, first and last point of each plateau, in the order of sizes."""
    cuts = best_cuts(_costs(logs), _PRICE, most=_MOST_LEVELS)
    ends = [*cuts[1:], len(logs)]
    found: list[tuple[float, int, int]] = []
    for begin, end in zip(cuts, ends, strict=True):
        level = float(np.median(logs[begin:end]))
        if begin > 0 and end < len(logs) and _is_slope(logs[begin:end]):
            continue  # on the way from one level to the next
        if found and level - found[-1][0] < math.log(_LEAST_STEP):
            found[-1] = (found[-1][0], found[-1][1], end - 1)
        else:
            found.append((level, begin, end - 1))
    return found


def _is_slope(logs: NDArray[np.float64]) -> bool:
    """Say whether the inner half of some points rises as from level to level."""
    quarter = (len(logs) - 1) // 4
    return bool(logs[-1 - quarter] - logs[quarter] > math.log(_LEAST_STEP))


def _costs(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what one level leaves unexplained of points from a first to a last one."""
    count = len(logs)
    costs = np.full((count, count), np.inf)
    for first in range(count):
        for last in range(first + _FEWEST_POINTS - 1, count):
            part = logs[first : last + 1]
            off = np.abs(part - np.median(part)) / _ROUGH
            costs[first, last] = float(np.sum(np.minimum(off, _FAR) ** 2))
    return costs
