"""Which call created the requests that a call completes or starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.symbols.factor import factorise_rows
from skelgen.symbols.pairs import ON_REQUESTS, Pairs


@dataclass(frozen=True, slots=True)
class Uses:
    """The requests that calls complete, start or free.

    Attributes
    ----------
    call : (u,) int64 array
        The using call, ascending, once for each request.
    creator : (u,) int64 array
        The call that created the request; -1 when there is none (a damaged age).
    """

    call: NDArray[np.int64]
    creator: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ages:
    """Rows of ages that stand for all calls.

    Attributes
    ----------
    of_call : (n,) int32 array
        Number of each call's row.
    rows : tuple of tuple of int
        The rows; equal ones have one number.
    """

    of_call: NDArray[np.int32]
    rows: list[tuple[int, ...]]


def uses_of(calls: Calls, pairs: Pairs, ranks: NDArray[np.bool_]) -> Uses:
    """Find the creators of the requests that calls of some ranks use.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
    ranks : (ranks,) bool array
        Ranks to look at.
    """
    if not ranks.any():
        return Uses(np.empty(0, np.int64), np.empty(0, np.int64))
    length = np.diff(calls.age_first)
    wanted = pairs.is_kind(*ON_REQUESTS) & ranks[pairs.rank]
    call = np.flatnonzero(wanted[pairs.of_call] & (length > 0)[calls.ages])
    row = calls.ages[call].astype(np.int64)
    repeats = length[row]
    age = _gather(calls.age_values, calls.age_first[row], repeats)
    creators = np.flatnonzero(pairs.creates[pairs.of_call])
    before = np.searchsorted(creators, call)
    rank = np.searchsorted(calls.first, call, side="right") - 1
    begin = np.searchsorted(creators, calls.first[rank])
    number = np.repeat(before, repeats) - age
    sound = (number >= np.repeat(begin, repeats)) & (age > 0)
    creator = np.full(len(age), -1, np.int64)
    creator[sound] = creators[number[sound]]
    return Uses(np.repeat(call, repeats), creator)


def rebased_ages(
    calls: Calls, pairs: Pairs, inside: NDArray[np.bool_], uses: Uses
) -> Ages:
    """Count ages among the requests that calls with a symbol create.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
    inside : (n,) bool array
        Which calls have a symbol.
    uses : Uses
        Uses of all ranks that have requests of calls outside; other ranks keep
        the ages that they have.

    Returns
    -------
    Ages
        A completion of nothing but requests from outside has an empty row.
    """
    counted = np.empty(0, np.int64)
    if len(uses.call):
        counted = np.flatnonzero(pairs.creates[pairs.of_call] & inside)
    kept = uses.creator >= 0
    kept[kept] = inside[uses.creator[kept]]
    using, creator = uses.call[kept], uses.creator[kept]
    values = np.searchsorted(counted, using) - np.searchsorted(counted, creator)
    affected = uses.call[np.flatnonzero(np.diff(uses.call, prepend=-1))]
    begin = np.searchsorted(using, affected)
    length = np.searchsorted(using, affected, side="right") - begin
    first = np.concatenate([calls.age_first[:-1], begin + len(calls.age_values)])
    lengths = np.concatenate([np.diff(calls.age_first), length])
    everything = np.concatenate([calls.age_values, values])
    number = factorise_rows(first, lengths, everything)
    rows: list[tuple[int, ...]] = [()] * (int(number.max(initial=-1)) + 1)
    for row in np.unique(number, return_index=True)[1].tolist():
        span = slice(first[row], first[row] + lengths[row])
        rows[number[row]] = tuple(everything[span].tolist())
    known = len(calls.age_first) - 1
    if not len(affected) and np.array_equal(number, np.arange(known)):
        return Ages(calls.ages.view(np.int32), rows)  # nothing changes: no copy
    of_call = number[:known][calls.ages]
    of_call[affected] = number[known:]
    return Ages(of_call, rows)


def _gather(
    values: NDArray[np.int64], first: NDArray[np.int64], length: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Concatenate the rows ``values[first[i]:first[i] + length[i]]``."""
    ends = np.cumsum(length)
    offset = np.repeat(first - (ends - length), length)
    return values[offset + np.arange(len(offset))]


def any_in_order(
    calls: Calls, pairs: Pairs, inside: NDArray[np.bool_], ages: Ages
) -> Ages:
    """Let Waitanys in a row complete their requests in the order of creation.

    In which order they did complete is chance, and would make every iteration
    different. What follows the last of them waits for all of them either way.
    """
    names = ("MPI_Waitany", "MPI_Testany")
    any_name = np.array([name.startswith(names) for name in calls.functions], bool)
    if not any_name.any():
        return ages
    single = np.array([len(row) == 1 for row in ages.rows], bool)
    rows = np.flatnonzero(inside)
    waits = any_name[pairs.shape["function"]][pairs.of_call[rows]]
    waits &= single[ages.of_call[rows]]
    rank = pairs.rank[pairs.of_call[rows]]
    begins = np.concatenate([[True], ~(waits[1:] & waits[:-1])])[: len(rows)]
    begins[1:] |= rank[1:] != rank[:-1]
    run = np.cumsum(begins)[waits]
    rows = rows[waits]
    value = np.array([row[0] if row else 0 for row in ages.rows])
    number = ages.of_call.copy()
    number[rows] = number[rows][np.lexsort((-value[number[rows]], run))]
    return Ages(number, ages.rows)
