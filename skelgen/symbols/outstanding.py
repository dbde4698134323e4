"""Completions of everything that is outstanding, however much that is.

An application whose number of neighbours changes waits for 14 requests now and for 19
then, always at one place and always for all of them: at once, or for one after the
other. By the ages of the requests these are different calls; by what they do they are
one. A request that is freed counts as outstanding for ever: where there is one, nothing
is said of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls
from skelgen.events.functions import PERSISTENT
from skelgen.events.parts import blocks_of, rank_slices, ranks_in
from skelgen.symbols.key_numbers import combine, factorise
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.requests import Ages
from skelgen.symbols.thresholds import LEAST_OF_ALL
from skelgen.symbols.types import ALL_OUTSTANDING, Fate


def all_outstanding(
    calls: Calls, pairs: Pairs, fate: NDArray[np.uint8], ages: Ages
) -> tuple[NDArray[np.uint8], Ages]:
    """Give completions of all that is outstanding one row of ages, or one call.

    Those of a call site that are nearly always of everything, where that is not always
    as much on some rank; where one is not, it keeps its ages. Of waits in a row for one
    request each the last one is for all of them; the time inside the others is waiting.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
        Of the same calls.
    fate : (n,) uint8 array
        A `Fate` for each call.
    ages : Ages

    Returns
    -------
    fate : (n,) uint8 array
    ages : Ages
        With ALL_OUTSTANDING as a row of its own, where there are such calls.
    """
    look = _Look(calls, pairs, fate == Fate.INSIDE, ages)
    if not look.rows_vary():
        return fate, ages
    at_once, in_turn = look.sites_of_all()
    if not (at_once.any() or in_turn.any()):
        return fate, ages
    fate, of_call = fate.copy(), ages.of_call.copy()
    for found in look.ranks():
        of_all = look.of_all(found)
        once = of_all.calls & at_once[found.site]
        run = of_all.runs & in_turn[found.site]
        of_call[found.call[once | (run & found.ends_run)]] = len(ages.rows)
        fate[found.call[run & ~found.ends_run & ~once]] = Fate.WAITING
    return fate, Ages(of_call, [*ages.rows, (ALL_OUTSTANDING,)])


@dataclass(frozen=True, slots=True)
class _Completions:
    """The completions of one rank.

    Attributes
    ----------
    call, site : (c,) int64 arrays
        The call, and a number of its function and call site.
    row : (c,) int32 array
        Its row of ages.
    left : (c,) int32 array
        How many plain requests are outstanding behind it.
    single : (c,) bool array
        Whether it is of one plain request.
    begins_run, ends_run : (c,) bool arrays
        Of such calls of one site with no other call between them.
    """

    call: NDArray[np.int64]
    site: NDArray[np.int64]
    row: NDArray[np.int32]
    left: NDArray[np.int32]
    single: NDArray[np.bool_]
    begins_run: NDArray[np.bool_]
    ends_run: NDArray[np.bool_]


class _Look:
    """Looks at the completions of all ranks, one rank after the other."""

    def __init__(
        self, calls: Calls, pairs: Pairs, inside: NDArray[np.bool_], ages: Ages
    ) -> None:
        self.first, self.of_call = calls.first, pairs.of_call
        self.inside, self.ages = inside, ages
        self.completes = pairs.is_kind(CallKind.COMPLETE)
        self.creates = pairs.creates & ~pairs.is_kind(*PERSISTENT)
        columns = [pairs.shape[name].astype(np.int64) for name in ("flags", "site")]
        self.site = combine(pairs.function, *columns)
        self.sites = int(self.site.max(initial=-1)) + 1

    @cached_property
    def plain(self) -> NDArray[np.int32]:
        """Return how many plain requests each row of ages has."""
        counts = [sum(age > 0 for age in row) for row in self.ages.rows]
        return np.array(counts, np.int32)

    @cached_property
    def in_order(self) -> NDArray[np.bool_]:
        """Say for each row of ages whether it is of plain requests, oldest first."""
        return np.array([_is_in_order(row) for row in self.ages.rows], bool)

    def rows_vary(self) -> bool:
        """Say whether any site completes now one row of ages, now another."""
        known = _RowsOfSites(self.sites)
        for own in blocks_of(self.first) if self.completes.any() else ():
            pair = self.of_call[own]
            call = np.flatnonzero(self.completes[pair] & self.inside[own])
            rank = ranks_in(self.first, own)[call]
            if known.vary(rank, self.site[pair[call]], self.ages.of_call[own][call]):
                return True
        return False

    def ranks(self) -> Iterator[_Completions]:
        """Yield the completions of each rank."""
        for own in rank_slices(self.first):
            pair, row = self.of_call[own], self.ages.of_call[own]
            inside = self.inside[own]
            completes = self.completes[pair] & inside
            left = self.creates[pair] & inside
            left = left - np.where(completes, self.plain[row], np.int32(0))
            np.cumsum(left, out=left)
            call = np.flatnonzero(completes)
            site, row = self.site[pair[call]], row[call]
            single = self.in_order[row] & (self.plain[row] == 1)
            order = np.cumsum(inside, dtype=np.int32)[call]
            again = (np.diff(order) == 1) & (np.diff(site) == 0)
            again &= single[1:] & single[:-1]
            begins = np.concatenate([[True], ~again])[: len(call)]
            ends = np.concatenate([~again, [True]])[: len(call)]
            yield _Completions(
                own.start + call, site, row, left[call], single, begins, ends
            )

    def of_all(self, found: _Completions) -> _OfAll:
        """Say which completions of a rank are of everything."""
        empty = found.left == 0
        run = np.cumsum(found.begins_run) - 1
        ends = np.flatnonzero(found.ends_run)
        runs = empty[ends] & found.single[ends]
        return _OfAll(empty & self.in_order[found.row], runs[run])

    def sites_of_all(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the sites that complete everything: at once, and in turn."""
        at_once, in_turn = _SiteCounts(self.sites), _SiteCounts(self.sites)
        for found in self.ranks():
            of_all = self.of_all(found)
            at_once.add(found.site, found.row, of_all.calls)
            end = np.flatnonzero(found.ends_run)
            length = end - np.flatnonzero(found.begins_run)
            in_turn.add(found.site[end], length, of_all.runs[end])
        return at_once.mostly_vary, in_turn.mostly_vary


@dataclass(frozen=True, slots=True)
class _OfAll:
    """Which completions of a rank are of everything.

    Attributes
    ----------
    calls : (c,) bool array
        By themselves.
    runs : (c,) bool array
        Those in whose row of single waits the last one leaves nothing.
    """

    calls: NDArray[np.bool_]
    runs: NDArray[np.bool_]


class _SiteCounts:
    """How often sites complete everything, and how much that is."""

    def __init__(self, sites: int) -> None:
        self._vary = np.zeros(sites, bool)
        self._times, self._of_all = np.zeros((2, sites), np.int64)

    def add(
        self,
        site: NDArray[np.int64],
        number: NDArray[np.integer],
        of_all: NDArray[np.bool_],
    ) -> None:
        """Take how much sites of one rank complete, and whether that is everything."""
        numbers = _Numbers(len(self._vary))
        numbers.add(site[of_all], number[of_all])
        self._vary |= numbers.vary
        self._times += np.bincount(site, minlength=len(self._times))
        self._of_all += np.bincount(site[of_all], minlength=len(self._times))

    @property
    def mostly_vary(self) -> NDArray[np.bool_]:
        """Return sites that nearly always complete everything, on some rank now more.

        A row of waits that something came between is two, and the first leaves some.
        """
        found: NDArray[np.bool_] = self._of_all >= LEAST_OF_ALL * self._times
        return found & self._vary


class _RowsOfSites:
    """The first row of ages of each site of the rank whose calls go by."""

    def __init__(self, sites: int) -> None:
        self._rank, self._row = -1, np.full(sites, -1)

    def vary(
        self,
        rank: NDArray[np.int64],
        site: NDArray[np.int64],
        row: NDArray[np.integer],
    ) -> bool:
        """Take the completions of a block; say whether a rank's site has other rows."""
        if not len(rank):
            return False
        sites = len(self._row)
        code, first = factorise(rank * sites + site)
        known = row[first].astype(np.int64)
        before = self._row[site[first]]
        known = np.where((rank[first] == self._rank) & (before >= 0), before, known)
        if (row != known[code]).any():
            return True
        if rank[-1] != self._rank:
            self._rank = int(rank[-1])
            self._row[:] = -1
        last = rank[first] == self._rank
        self._row[site[first][last]] = known[last]
        return False


class _Numbers:
    """The distinct numbers that each site has."""

    def __init__(self, sites: int) -> None:
        self._sites = sites
        self._known: NDArray[np.int64] = np.empty(0, np.int64)

    def add(self, site: NDArray[np.int64], number: NDArray[np.integer]) -> None:
        """Take numbers of sites."""
        keys = np.concatenate([self._known, number * np.int64(self._sites) + site])
        self._known = keys[factorise(keys)[1]]

    @property
    def vary(self) -> NDArray[np.bool_]:
        """Return for each site whether it has several."""
        count = np.bincount(self._known % max(self._sites, 1), minlength=self._sites)
        found: NDArray[np.bool_] = count > 1
        return found


def _is_in_order(row: tuple[int, ...]) -> bool:
    return bool(row) and min(row) > 0 and list(row) == sorted(set(row), reverse=True)
