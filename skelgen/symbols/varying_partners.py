"""Find call sites whose partners follow no pattern, such as a master's receives.

With a partner from any source in every symbol nothing would fold. There the symbol
says VARYING, and the partner of each call is kept aside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls
from skelgen.events.functions import TWO_SIDED
from skelgen.loops import fold, fold_with_skips
from skelgen.symbols.key_numbers import combine, factorise
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.strings import Decided, strings_of
from skelgen.symbols.thresholds import (
    ENOUGH_CALLS_OF_RANK,
    ENOUGH_RANKS_OF_SITE,
    FEWEST_VARYING_PARTNERS,
    FREE_ITEMS,
    LEAST_NEST_SHRINKAGE,
    MOST_ITEMS_PER_PARTNER,
)

_KINDS = (
    CallKind.SEND,
    CallKind.RECEIVE,
    CallKind.ISEND,
    CallKind.IRECEIVE,
    *TWO_SIDED,
    CallKind.RMA,
)


def candidate_sites(pairs: Pairs, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Find the sites at which some rank has three partners or more.

    Parameters
    ----------
    pairs : Pairs
    inside : (n,) bool array
        Which calls have a symbol.

    Returns
    -------
    (p,) int64 array
        Number of each pair's site (function, call site and family), -1 for sites
        and ranks that have fewer partners.
    """
    used = pairs.having(inside)
    rows = np.flatnonzero(used & pairs.is_kind(*_KINDS) & (pairs.peer >= 0))
    site = combine(
        pairs.function[rows], pairs.shape["site"][rows].astype(np.int64),
        pairs.family[rows],
    )  # fmt: skip
    place = combine(site, pairs.rank[rows])
    partners = np.bincount(place[factorise(combine(place, pairs.peer[rows]))[1]])
    crowd = partners[place] >= FEWEST_VARYING_PARTNERS
    both = pairs.is_kind(*TWO_SIDED)[rows]
    sources = np.bincount(place[factorise(combine(place, pairs.peer2[rows]))[1]])
    apart = both & (pairs.peer2 != pairs.peer)[rows] & (sources[place] > 1)
    crowd &= np.bincount(place, apart)[place] == 0
    number = np.full(len(pairs), -1, np.int64)
    number[rows[crowd]] = site[crowd]
    return number


def varying_pairs(
    calls: Calls,
    decided: Decided,
    sites: NDArray[np.int64],
    similarity_threshold: float | None,
) -> NDArray[np.bool_] | None:
    """Choose the pairs whose partner is kept for each call.

    Parameters
    ----------
    calls : Calls
    decided : Decided
    sites : (p,) int64 array
        From `candidate_sites`.
    similarity_threshold : float or None
        As in `cluster`.

    Returns
    -------
    (p,) bool array or None
        None when there are none: what is decided by folding is that partners
        follow no pattern, and that the nests shrink at least four times.
    """
    patternless, ranks = _patternless(decided, sites)
    if not patternless.any():
        return None
    lengths = [
        [
            len(folding(_string(calls, strings.symbol, rank)))
            for rank in ranks[:ENOUGH_RANKS_OF_SITE]
        ]
        for folding, strings in (
            (fold, strings_of(decided, None, similarity_threshold)),
            (fold_with_skips, strings_of(decided, patternless, similarity_threshold)),
        )
    ]
    longest = max(range(len(lengths[0])), key=lengths[0].__getitem__)
    if lengths[0][longest] < LEAST_NEST_SHRINKAGE * lengths[1][longest]:
        return None
    return patternless


def _patternless(
    decided: Decided, sites: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], list[int]]:
    """Return pairs of sites without a pattern, and their busiest ranks first."""
    pairs = decided.pairs
    chosen = np.zeros(len(pairs), bool)
    candidates = np.flatnonzero(sites >= 0)
    if not len(candidates):
        return chosen, []
    place = np.full(len(pairs), -1, np.int64)
    place[candidates] = combine(sites[candidates], pairs.rank[candidates])
    call = np.flatnonzero((place >= 0)[pairs.of_call] & decided.inside)
    of_pair = pairs.of_call[call]
    count = np.bincount(place[of_pair])
    busy: dict[int, int] = {}
    for site in np.unique(sites[candidates]).tolist():
        own = candidates[sites[candidates] == site]
        places = np.unique(place[own])
        for one in places[np.argsort(-count[places], kind="stable")][
            :ENOUGH_RANKS_OF_SITE
        ].tolist():
            peers = pairs.peer[of_pair[place[of_pair] == one][:ENOUGH_CALLS_OF_RANK]]
            if not _has_pattern(peers):
                chosen[own] = True
                rank = int(pairs.rank[own[place[own] == one][0]])
                busy[rank] = busy.get(rank, 0) + int(count[one])
    return chosen, sorted(busy, key=lambda rank: (-busy[rank], rank))


def _has_pattern(peers: NDArray[np.int64]) -> bool:
    number, first = factorise(peers)
    allowed = MOST_ITEMS_PER_PARTNER * len(first) + FREE_ITEMS
    return len(peers) <= allowed or len(fold(number)) <= allowed


def _string(calls: Calls, symbol: NDArray[np.int32], rank: int) -> NDArray[np.int32]:
    own = symbol[calls.first[rank] : calls.first[rank + 1]]
    return own[own >= 0]
