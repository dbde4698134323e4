"""Divide the string of a run into occurrences: which loops' iterations are phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import label, mixed
from skelgen.loops import Nest, children, positions
from skelgen.loops.unfold import Spans, spans
from skelgen.phases.thresholds import (
    FEWEST_TRIPS,
    LEAST_FEW_TRIPS_SHARE,
    LEAST_INNER_LOOP_SHARE,
)
from skelgen.phases.types import Parameters

# Odd, so that it has an inverse: positions in a hash can be shifted.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


@dataclass(frozen=True, slots=True)
class Segments:
    """The string cut into occurrences.

    Attributes
    ----------
    bound : (o + 1,) int64 array
        Occurrence i is ``string[bound[i]:bound[i + 1]]``.
    structure : (o,) int32 array
        Number of its structure: equal for iterations of equal loops, whatever the
        trips inside them, and for stretches of equal symbols.
    """

    bound: NDArray[np.int64]
    structure: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Cost:
    """Time of the items of a nest, all executions, as shares of the application's."""

    share: NDArray[np.float64]
    iterations: NDArray[np.int64]
    executions: NDArray[np.int64]

    def of_iteration(self, item: int) -> float:
        return float(self.share[item]) / int(self.iterations[item])

    def trips(self, item: int) -> float:
        return int(self.iterations[item]) / int(self.executions[item])


def divide(
    nest: Nest, time_share: NDArray[np.float64], parameters: Parameters
) -> Segments:
    """Cut a folded string at the iterations of its relevant loops.

    From outside in: a loop's iteration is an occurrence, unless it takes too long and
    loops inside it make up most of it. What lies between such loops is an occurrence
    as well, of a phase of its own for each place.

    Parameters
    ----------
    nest : Nest
    time_share : (n,) float64 array
        Time at each position of the string as a share of the application's [1].
    parameters : Parameters
    """
    leaf, executions = positions(nest), spans(nest)
    cost = _cost(nest, leaf, time_share)
    chosen = list(_chosen(nest, cost, parameters, -1))
    bound = _bounds(executions, chosen, len(leaf))
    return Segments(bound, _structures(nest, executions, chosen, leaf, bound))


def _cost(
    nest: Nest, leaf: NDArray[np.int32], time_share: NDArray[np.float64]
) -> _Cost:
    leaves = np.flatnonzero(nest.body_items == 0)
    own = np.zeros(len(nest) + 1)
    own[leaves + 1] = np.bincount(leaf, time_share, len(leaves))
    above = np.cumsum(own)
    end = np.arange(len(nest)) + 1 + nest.body_items
    return _Cost(
        above[end] - above[:-1],
        _summed(nest, nest.trips.prod(axis=1)),
        _summed(nest, nest.trips[:, 1]),
    )


def _summed(nest: Nest, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum what belongs to the rows of trips of each item."""
    before = np.concatenate([[0], np.cumsum(values)])
    sums: NDArray[np.int64] = (
        before[nest.trips_first[1:]] - before[nest.trips_first[:-1]]
    )
    return sums


def _chosen(
    nest: Nest, cost: _Cost, parameters: Parameters, loop: int
) -> Iterator[int]:
    """Yield the loops inside one whose iterations are occurrences."""
    around = 1.0 if loop < 0 else float(cost.share[loop])
    for item in children(nest, loop):
        if not nest.body_items[item] or cost.share[item] < parameters.relevance:
            continue
        inner: list[int] = []
        if cost.of_iteration(item) > parameters.longest:
            inner = list(_chosen(nest, cost, parameters, item))
        if (
            sum(cost.share[one] for one in inner)
            >= LEAST_INNER_LOOP_SHARE * cost.share[item]
        ):
            yield from inner
        elif (
            cost.trips(item) >= FEWEST_TRIPS
            or cost.share[item] >= LEAST_FEW_TRIPS_SHARE * around
        ):
            yield item


def _bounds(executions: Spans, chosen: list[int], length: int) -> NDArray[np.int64]:
    """Return where occurrences begin, and the end of the string."""
    wanted = np.repeat(np.isin(executions.item, chosen), np.diff(executions.first))
    ends = np.array([0, length], np.int64)
    return np.unique(np.concatenate([ends, executions.bound[wanted]]))


def _structures(
    nest: Nest,
    executions: Spans,
    chosen: list[int],
    leaf: NDArray[np.int32],
    bound: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Give occurrences the number of what they run."""
    symbol = nest.symbol[nest.body_items == 0][leaf]
    found = _hashes(symbol, bound)
    of_bound = np.repeat(np.isin(executions.item, chosen), np.diff(executions.first))
    of_bound[executions.first[1:] - 1] = False  # where the last iteration ends
    item = np.repeat(executions.item, np.diff(executions.first))[of_bound]
    begins = np.searchsorted(bound, executions.bound[of_bound])
    known: dict[bytes, np.uint64] = {}
    for loop in chosen:
        inside = slice(loop + 1, loop + 1 + int(nest.body_items[loop]))
        body = nest.body_items[inside].tobytes() + nest.symbol[inside].tobytes()
        rows = begins[item == loop]
        # All iterations, also of an equal loop elsewhere, count as the first one.
        found[rows] = known.setdefault(body, found[rows[0]])
    return label(found)[0]


def _hashes(symbol: NDArray[np.int32], bound: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hash the symbols between bounds, wherever they stand."""
    powers = np.cumprod(np.full(len(symbol), _BASE, np.uint64))
    sums = np.concatenate([[np.uint64(0)], np.cumsum(mixed(symbol) * powers)])
    shift = np.cumprod(np.full(len(symbol) + 1, _INVERSE, np.uint64))
    found: NDArray[np.uint64] = (sums[bound[1:]] - sums[bound[:-1]]) * shift[bound[:-1]]
    return found
