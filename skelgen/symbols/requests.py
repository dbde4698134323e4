"""Which call created the requests that a call completes or starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.creations import Creations, recent_creations, rows_of
from skelgen.events.parts import looked_up
from skelgen.symbols.key_numbers import factorise_rows
from skelgen.symbols.pairs import ON_REQUESTS, Pairs


@dataclass(frozen=True, slots=True)
class RequestUses:
    """The requests that calls of a block complete, start or free.

    Attributes
    ----------
    call : (u,) int64 array
        The using call, ascending, once for each request.
    creator : (u,) int64 array
        The call that created the request; -1 when there is none (a damaged age).
    creations : Creations
        All that calls of the block can name.
    """

    call: NDArray[np.int64]
    creator: NDArray[np.int64]
    creations: Creations


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


def uses_of(
    calls: Calls, pairs: Pairs, wanted: NDArray[np.bool_]
) -> Iterator[RequestUses]:
    """Find the creators of the requests that calls use, block by block.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
    wanted : (p,) bool array
        Pairs whose calls are looked at where they are about requests.
    """
    wanted = wanted & pairs.is_kind(*ON_REQUESTS)
    if not wanted.any():
        return
    for block, creations in recent_creations(calls):
        uses = wanted[pairs.of_call[block]] & (calls.ages[block] > 0)
        call = np.flatnonzero(uses) + block.start
        if not len(call):
            continue
        index, age = rows_of(calls.age_first, calls.age_values, calls.ages[call])
        call = call[index]
        creator = creations.named(call, age)
        rank = np.searchsorted(calls.first, call, side="right") - 1
        creator[creator < calls.first[rank]] = -1
        yield RequestUses(call, creator, creations)


class RebasedAges:
    """Counts ages among the requests that calls with a symbol create.

    Parameters
    ----------
    calls : Calls
        Those whose uses are not taken keep the ages that they have.
    inside : (n,) bool array
        Which calls have a symbol.
    """

    def __init__(self, calls: Calls, inside: NDArray[np.bool_]) -> None:
        self._calls, self._inside = calls, inside
        first, values = calls.age_first, calls.age_values
        self._number = factorise_rows(first[:-1], np.diff(first), values)
        self._rows = _distinct(self._number, first, values)
        self._known: dict[tuple[int, ...], int] = {}
        self._of_call: NDArray[np.int32] | None = None

    def take(self, uses: RequestUses) -> NDArray[np.bool_]:
        """Give the calls of a block new rows of ages; say for each use if it is empty.

        A completion of nothing but requests from outside has an empty row.
        """
        kept = uses.creator >= 0
        kept[kept] = self._inside[uses.creator[kept]]
        using, creator = uses.call[kept], uses.creator[kept]
        values = np.empty(0, np.int64)
        if len(using):
            values = uses.creations.only(self._inside).ages(using, creator)
        begins = np.diff(uses.call, prepend=-1) != 0
        call = uses.call[begins]
        edges = np.append(np.searchsorted(using, call), len(using))
        number = factorise_rows(edges[:-1], np.diff(edges), values)
        rows = _distinct(number, edges, values)
        joint = np.array([self._joint(row) for row in rows], np.int32)
        if self._of_call is None:
            self._of_call = looked_up(self._number, self._calls.ages)
        self._of_call[call] = joint[number]
        empty = np.diff(edges) == 0
        of_use: NDArray[np.bool_] = empty[np.cumsum(begins) - 1]
        return of_use

    def ages(self) -> Ages:
        """Return the rows of all calls."""
        if self._of_call is not None:
            return Ages(self._of_call, self._rows)
        if np.array_equal(self._number, np.arange(len(self._number))):
            return Ages(self._calls.ages.view(np.int32), self._rows)  # no copy
        return Ages(looked_up(self._number, self._calls.ages), self._rows)

    def _joint(self, row: tuple[int, ...]) -> int:
        """Return the number of a row among all."""
        if not self._known:
            self._known = {known: at for at, known in enumerate(self._rows)}
        if row not in self._known:
            self._known[row] = len(self._rows)
            self._rows.append(row)
        return self._known[row]


def _distinct(
    number: NDArray[np.int32], first: NDArray[np.int64], values: NDArray[np.int64]
) -> list[tuple[int, ...]]:
    """Return one of the equal ragged rows for each number."""
    places = np.unique(number, return_index=True)[1].tolist()
    return [tuple(values[first[row] : first[row + 1]].tolist()) for row in places]


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
