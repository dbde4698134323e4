"""Requests by their ages: which call created the request that another one names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import function_info
from skelgen.events.types import Calls

_ALL = slice(None)
#: Fewest calls of a block.
_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Creations:
    """The calls that create requests.

    Attributes
    ----------
    plain, persistent : int64 arrays
        Places of the calls that create requests of either sort, ascending.
    """

    plain: NDArray[np.int64]
    persistent: NDArray[np.int64]

    @classmethod
    def of(cls, calls: Calls, part: slice = _ALL) -> Creations:
        """Find them among calls, or among a part of them."""
        infos = [function_info(name) for name in calls.functions]
        creates = np.array([info.creates for info in infos], bool)
        persistent = np.array([info.persistent for info in infos], bool)
        function = calls.shapes["function"]
        shape = calls.shape[part]
        return cls.among(creates[function][shape], persistent[function][shape])

    @classmethod
    def among(
        cls, creates: NDArray[np.bool_], persistent: NDArray[np.bool_]
    ) -> Creations:
        """Find them.

        Parameters
        ----------
        creates, persistent : (n,) bool arrays
            Of the call at each place.
        """
        return cls(
            np.flatnonzero(creates & ~persistent), np.flatnonzero(creates & persistent)
        )

    def only(self, wanted: NDArray[np.bool_]) -> Creations:
        """Leave out those that are not wanted.

        Parameters
        ----------
        wanted : (n,) bool array
            For each place.
        """
        return Creations(
            self.plain[wanted[self.plain]], self.persistent[wanted[self.persistent]]
        )

    def named(
        self, place: NDArray[np.int64], age: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return where the requests of some ages were created, -1 for nowhere.

        Parameters
        ----------
        place : (m,) int64 array
            Places of the calls that name the requests.
        age : (m,) int64 array
            As in ``Calls.age_values``.
        """
        found = np.full(len(age), -1, np.int64)
        for creators, ages in ((self.plain, age), (self.persistent, -age)):
            own = np.flatnonzero(ages > 0)
            number = np.searchsorted(creators, place[own]) - ages[own]
            known = number >= 0
            found[own[known]] = creators[number[known]]
        return found

    def ages(
        self, place: NDArray[np.int64], creator: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the ages of requests: `named` the other way round."""
        age = _between(self.plain, creator, place)
        if len(self.persistent):
            lasting = np.isin(creator, self.persistent)
            age[lasting] = -_between(self.persistent, creator, place)[lasting]
        return age


def recent_creations(calls: Calls) -> Iterator[tuple[slice, Creations]]:
    """Give the calls in blocks, and the creations that calls of a block can name.

    Parameters
    ----------
    calls : Calls
        Of all ranks.

    Yields
    ------
    block : slice
        Calls of one rank or several.
    creations : Creations
        By the places of calls in the run.
    """
    ages = calls.age_values
    oldest = max(int(ages.max(initial=0)), -int(ages.min(initial=0)))
    size, count = min(max(_BLOCK, oldest), max(len(calls), 1)), len(calls)
    recent = Creations(np.zeros(0, np.int64), np.zeros(0, np.int64))
    for begin in range(0, count, size):
        block = slice(begin, min(begin + size, count))
        new = Creations.of(calls, block)
        kept = recent.plain[max(len(recent.plain) - oldest, 0) :]
        recent = Creations(
            np.concatenate([kept, new.plain + begin]),
            np.concatenate([recent.persistent, new.persistent + begin]),
        )
        yield block, recent


def _between(
    creators: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count creators from one place to another."""
    count = np.searchsorted(creators, end) - np.searchsorted(creators, begin)
    return count.astype(np.int64)


def rows_of(
    first: NDArray[np.int64], values: NDArray[np.int64], row: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate rows of a ragged array.

    Parameters
    ----------
    first, values
        Row i is ``values[first[i]:first[i + 1]]``.
    row : (n,) integer array

    Returns
    -------
    index, value : (m,) int64 arrays
        Place in `row` that each value belongs to, and the value.

    Examples
    --------
    >>> first, values = np.array([0, 2, 3]), np.array([7, 8, 9])
    >>> [found.tolist() for found in rows_of(first, values, np.array([1, 0]))]
    [[0, 1, 1], [9, 7, 8]]
    """
    begin = first[row]
    count = first[row + 1] - begin
    index = np.repeat(np.arange(len(row)), count)
    within = np.arange(len(index)) - (np.cumsum(count) - count)[index]
    return index, values[begin[index] + within]
