"""Completions of everything that is outstanding, however much that is.

An application whose number of neighbours changes waits for 14 requests now and for 19
then, always at one place and always for all of them. By the ages of the requests these
are different calls; by what they do they are one. A request that is freed counts as
outstanding for ever: where there is one, nothing is said of all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls
from skelgen.events.functions import PERSISTENT
from skelgen.events.parts import rank_slices
from skelgen.symbols.key_numbers import combine, factorise
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.requests import Ages
from skelgen.symbols.types import ALL_OUTSTANDING


def all_outstanding(
    calls: Calls, pairs: Pairs, inside: NDArray[np.bool_], ages: Ages
) -> Ages:
    """Give completions of different numbers of requests one row of ages.

    Those of a call site that are always of everything that is outstanding, where that
    is not always as much.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
        Of the same calls.
    inside : (n,) bool array
        Which calls have a symbol.
    ages : Ages

    Returns
    -------
    Ages
        With ALL_OUTSTANDING as a row of its own, where there are such calls.
    """
    site = _sites(pairs)
    wanted = _varying(calls, pairs, inside, ages, site)
    if not wanted.any():
        return ages
    in_order = np.array([_is_in_order(row) for row in ages.rows], bool)
    for call, left in _completions(calls, pairs, inside, ages):
        others = (left != 0) | ~in_order[ages.of_call[call]]
        wanted[site[pairs.of_call[call[others]]]] = False
    if not wanted.any():
        return ages
    of_call = ages.of_call.copy()
    for call, _ in _completions(calls, pairs, inside, ages):
        of_call[call[wanted[site[pairs.of_call[call]]]]] = len(ages.rows)
    return Ages(of_call, [*ages.rows, (ALL_OUTSTANDING,)])


def _sites(pairs: Pairs) -> NDArray[np.int64]:
    """Return a number of function and call site for each pair."""
    return combine(
        pairs.function, *(pairs.shape[name].astype(np.int64) for name in _OF_SITE)
    )


_OF_SITE = ("flags", "site")


def _is_in_order(row: tuple[int, ...]) -> bool:
    """Say whether a row is of plain requests, the oldest first."""
    return bool(row) and min(row) > 0 and list(row) == sorted(set(row), reverse=True)


def _varying(
    calls: Calls,
    pairs: Pairs,
    inside: NDArray[np.bool_],
    ages: Ages,
    site: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return for each site whether it completes now one row of ages, now another."""
    completes = pairs.is_kind(CallKind.COMPLETE)
    found: NDArray[np.int64] = np.empty(0, np.int64)
    for own in rank_slices(calls.first) if completes.any() else ():
        call = own.start + np.flatnonzero(completes[pairs.of_call[own]] & inside[own])
        key = site[pairs.of_call[call]] * len(ages.rows) + ages.of_call[call]
        key = np.concatenate([found, key])
        found = key[factorise(key)[1]]
    rows = np.bincount(found // len(ages.rows), minlength=int(site.max(initial=-1)) + 1)
    return np.asarray(rows > 1)


def _completions(
    calls: Calls, pairs: Pairs, inside: NDArray[np.bool_], ages: Ages
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the completions of each rank, and how many requests each leaves."""
    plain = np.array([sum(age > 0 for age in row) for row in ages.rows], np.int64)
    creates = pairs.creates & ~pairs.is_kind(*PERSISTENT)
    completes = pairs.is_kind(CallKind.COMPLETE)
    for own in rank_slices(calls.first):
        pair = pairs.of_call[own]
        ended = np.where(completes[pair], plain[ages.of_call[own]], 0)
        left = np.cumsum(np.where(inside[own], creates[pair] - ended, 0))
        call = np.flatnonzero(completes[pair] & inside[own])
        yield own.start + call, left[call]
