"""Divide the string of a run into occurrences: which loops' iterations are phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import label, mixed
from skelgen.loops import Nest, children, positions
from skelgen.loops.unfold import Spans, spans
from skelgen.phases.thresholds import (
    FEWEST_TRIPS,
    LEAST_FEW_TRIPS_SHARE,
    LEAST_INNER_LOOP_SHARE,
    LONGEST_ITERATION_SHARE,
)

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
    trips : (o,) int64 array
        Of the execution of the loop of which it is an iteration; 0 for what lies
        between such loops.
    places : tuple of (o,) int64 arrays
        For each level of loops around the chosen ones, the outermost first: how many
        occurrences of its structure come before it in the same iteration there.
    inside : (o,) bool array
        Whether it belongs to a loop, and not to what stands before, between and
        behind the outermost ones.
    """

    bound: NDArray[np.int64]
    structure: NDArray[np.int32]
    trips: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]
    inside: NDArray[np.bool_]

    def only(self, kept: NDArray[np.bool_]) -> Segments:
        """Join occurrences with the next ones, of which they take the place."""
        return Segments(
            self.bound[np.insert(kept, 0, True)],
            self.structure[kept],
            self.trips[kept],
            tuple(place[kept] for place in self.places),
            self.inside[kept],
        )


@dataclass(frozen=True, slots=True)
class Divisible:
    """A folded string that can be cut at the iterations of its loops.

    Attributes
    ----------
    nest : Nest
    time_share : (n,) float64 array
        Time at each position of the string as a share of the application's [1].
    relevance : float
        Loops that take less of the time are parts of what stands around them [0 to 1].
    """

    nest: Nest
    time_share: NDArray[np.float64]
    relevance: float
    _leaf: NDArray[np.int32] = field(init=False)
    _executions: Spans = field(init=False)
    _share: NDArray[np.float64] = field(init=False)
    _iterations: NDArray[np.int64] = field(init=False)
    _times: NDArray[np.int64] = field(init=False)
    _sums: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        """Sum time, iterations and executions of each item of the nest."""
        nest, leaf = self.nest, positions(self.nest)
        leaves = np.flatnonzero(nest.body_items == 0)
        own = np.zeros(len(nest) + 1)
        own[leaves + 1] = np.bincount(leaf, self.time_share, len(leaves))
        above = np.cumsum(own)
        end = np.arange(len(nest)) + 1 + nest.body_items
        for name, value in (
            ("_leaf", leaf),
            ("_executions", spans(nest)),
            ("_share", above[end] - above[:-1]),
            ("_iterations", _summed(nest, nest.trips.prod(axis=1))),
            ("_times", _summed(nest, nest.trips[:, 1])),
            ("_sums", _sums(nest.symbol[nest.body_items == 0][leaf])),
        ):
            object.__setattr__(self, name, value)

    def levels(self) -> list[tuple[float, tuple[int, ...]]]:
        """Return the levels of the nest, the coarsest first, no two of the same loops.

        Returns
        -------
        list of (float, tuple of int)
            The longest that an iteration may take there [0 to 1], and the loops whose
            iterations are occurrences.
        """
        loops = np.flatnonzero(
            (self.nest.body_items > 0) & (self._share >= self.relevance)
        )
        # Iterations within a factor of two are of one level.
        each = self._share[loops] / self._iterations[loops]
        below = np.unique(np.exp2(np.ceil(np.log2(each)) - 1))[::-1]
        found: list[tuple[float, tuple[int, ...]]] = []
        for longest in (LONGEST_ITERATION_SHARE, *below.tolist()):
            chosen = self.chosen(longest)
            if not found or found[-1][1] != chosen:
                found.append((longest, chosen))
        return found

    def chosen(self, longest: float) -> tuple[int, ...]:
        """Choose the loops whose iterations are occurrences.

        From outside in: a loop's iteration is an occurrence, unless it takes too long
        and loops inside it make up most of it.

        Parameters
        ----------
        longest : float
            As in `Parameters`.
        """
        return tuple(self._chosen(longest, -1))

    def _chosen(self, longest: float, loop: int) -> Iterator[int]:
        around = 1.0 if loop < 0 else float(self._share[loop])
        for item in children(self.nest, loop):
            share, iterations = float(self._share[item]), int(self._iterations[item])
            if not self.nest.body_items[item] or share < self.relevance:
                continue
            inner: list[int] = []
            if share / iterations > longest:
                inner = list(self._chosen(longest, item))
            if sum(self._share[one] for one in inner) >= LEAST_INNER_LOOP_SHARE * share:
                yield from inner
            elif (
                iterations / int(self._times[item]) >= FEWEST_TRIPS
                or share >= LEAST_FEW_TRIPS_SHARE * around
            ):
                yield item

    def divide(self, chosen: tuple[int, ...]) -> Segments:
        """Cut the string at the iterations of loops, and of those around them.

        What lies between is an occurrence as well, of a phase of its own for each
        place.
        """
        length, executions = len(self._leaf), self._executions
        around = self._around(chosen)
        loops = np.array([*chosen, *(one for level in around for one in level)])
        bound = self._bounds(loops)
        bound = np.concatenate([[0], bound[(bound > 0) & (bound < length)], [length]])
        bound = bound[: len(bound) - (length == 0)]
        structure = self._structures(chosen, bound)
        begins = bound[:-1]
        trips = np.zeros(len(begins), np.int64)
        of_bound = np.repeat(
            np.where(np.isin(executions.item, chosen), executions.trips, 0),
            np.diff(executions.first),
        )
        of_bound[executions.first[1:] - 1] = 0  # where the last iteration ends
        at = np.flatnonzero(of_bound)
        trips[np.searchsorted(begins, executions.bound[at])] = of_bound[at]
        outer = np.array(around[0] if around else [], np.int64)
        return Segments(
            bound,
            structure,
            trips,
            tuple(
                _ordinals(
                    structure, np.searchsorted(self._bounds(one), begins, "right")
                )
                for one in map(np.array, around)
            ),
            self._inside(begins, np.append(outer, chosen).astype(np.int64)),
        )

    def _around(self, chosen: tuple[int, ...]) -> list[list[int]]:
        """Return the loops around chosen ones by depth, the outermost first."""
        found: list[list[int]] = []
        loops = np.flatnonzero(self.nest.body_items > 0)
        ends = loops + self.nest.body_items[loops]
        for item in chosen:
            above = loops[(loops < item) & (ends >= item)].tolist()
            for depth, one in enumerate(above):
                if depth == len(found):
                    found.append([])
                if one not in found[depth]:
                    found[depth].append(one)
        return found

    def _bounds(self, loops: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where iterations of loops begin and end in the string, ascending."""
        executions = self._executions
        wanted = np.repeat(np.isin(executions.item, loops), np.diff(executions.first))
        marked = np.zeros(len(self._leaf) + 1, np.bool_)
        marked[executions.bound[wanted]] = True
        return np.flatnonzero(marked)

    def _inside(
        self, begins: NDArray[np.int64], loops: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Say which occurrences are in executions of loops."""
        executions = self._executions
        rows = np.flatnonzero(np.isin(executions.item, loops))
        starts = np.sort(executions.bound[executions.first[rows]])
        ends = np.sort(executions.bound[executions.first[rows + 1] - 1])
        found: NDArray[np.bool_] = np.searchsorted(
            starts, begins, "right"
        ) > np.searchsorted(ends, begins, "right")
        return found

    def _structures(
        self, chosen: tuple[int, ...], bound: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Give occurrences the number of what they run."""
        nest, executions = self.nest, self._executions
        # The same symbols have the same hash wherever they stand.
        found = (self._sums[bound[1:]] - self._sums[bound[:-1]]) * _powers(
            _INVERSE, bound[:-1]
        )
        of_bound = np.repeat(
            np.isin(executions.item, chosen), np.diff(executions.first)
        )
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


def _summed(nest: Nest, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum what belongs to the rows of trips of each item."""
    before = np.concatenate([[0], np.cumsum(values)])
    sums: NDArray[np.int64] = (
        before[nest.trips_first[1:]] - before[nest.trips_first[:-1]]
    )
    return sums


def _ordinals(
    structure: NDArray[np.int32], iteration: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count occurrences of each structure within each iteration, from 0."""
    order = np.lexsort((iteration, structure))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(structure[order]) != 0) | (np.diff(iteration[order]) != 0)
    rows = np.arange(len(order))
    found = np.empty(len(order), np.int64)
    found[order] = rows - np.maximum.accumulate(np.where(begins, rows, 0))
    return found


def _sums(symbol: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Sum the hashes of a string's symbols up to each place, each shifted by that."""
    powers = np.cumprod(np.full(len(symbol), _BASE, np.uint64))
    return np.concatenate([[np.uint64(0)], np.cumsum(mixed(symbol) * powers)])


def _powers(base: np.uint64, exponents: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Raise a number to ascending powers, in the arithmetic of 64 bits."""
    found = np.ones(len(exponents), np.uint64)
    square, left = base, exponents.astype(np.uint64)
    with np.errstate(over="ignore"):
        while left.any():
            found = np.where(left & np.uint64(1), found * square, found)
            square, left = square * square, left >> np.uint64(1)
    return found
