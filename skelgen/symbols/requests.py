"""Which call created the requests that a call completes or starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.creations import Creations, rows_of
from skelgen.symbols.key_numbers import factorise_rows
from skelgen.symbols.pairs import ON_REQUESTS, Pairs


@dataclass(frozen=True, slots=True)
class RequestUses:
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


def uses_of(calls: Calls, pairs: Pairs, ranks: NDArray[np.bool_]) -> RequestUses:
    """Find the creators of the requests that calls of some ranks use.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
    ranks : (ranks,) bool array
        Ranks to look at.
    """
    if not ranks.any():
        return RequestUses(np.empty(0, np.int64), np.empty(0, np.int64))
    wanted = pairs.is_kind(*ON_REQUESTS) & ranks[pairs.rank]
    call = np.flatnonzero(wanted[pairs.of_call] & (calls.ages > 0))
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[call])
    call = call[index]
    creator = Creations.of(calls).named(call, age)
    rank = np.searchsorted(calls.first, call, side="right") - 1
    creator[creator < calls.first[rank]] = -1
    return RequestUses(call, creator)


def rebased_ages(calls: Calls, inside: NDArray[np.bool_], uses: RequestUses) -> Ages:
    """Count ages among the requests that calls with a symbol create.

    Parameters
    ----------
    calls : Calls
    inside : (n,) bool array
        Which calls have a symbol.
    uses : RequestUses
        Uses of all ranks that have requests of calls outside; other ranks keep
        the ages that they have.

    Returns
    -------
    Ages
        A completion of nothing but requests from outside has an empty row.
    """
    kept = uses.creator >= 0
    kept[kept] = inside[uses.creator[kept]]
    using, creator = uses.call[kept], uses.creator[kept]
    values = np.empty(0, np.int64)
    if len(using):
        values = Creations.of(calls).only(inside).ages(using, creator)
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
    value = np.array([row[0] if row else 0 for row in ages.rows])[ages.of_call[rows]]
    number = ages.of_call.copy()
    number[rows] = number[rows][np.lexsort((-abs(value), value > 0, run))]
    return Ages(number, ages.rows)
