"""Cluster the calls of a run into symbols."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.parts import blocks_of
from skelgen.loops import fold
from skelgen.matching import Matching
from skelgen.symbols.left_out_calls import ages_of, fates_of
from skelgen.symbols.outstanding import all_outstanding
from skelgen.symbols.pairs import distinct_pairs
from skelgen.symbols.probes import with_sources_of_probes
from skelgen.symbols.requests import any_in_order
from skelgen.symbols.sizes import message_bytes
from skelgen.symbols.strings import Decided, SymbolStrings, decide, strings_of
from skelgen.symbols.tags import canonical_tags
from skelgen.symbols.thresholds import LARGEST_THRESHOLD, THRESHOLD_STEP
from skelgen.symbols.times import share_out
from skelgen.symbols.types import Clusters, Fate, Symbols
from skelgen.symbols.varying_partners import candidate_sites, varying_pairs


@dataclass(frozen=True, slots=True)
class ThresholdSearch:
    """What the search for a similarity threshold found.

    Attributes
    ----------
    similarity_threshold : float
        The smallest threshold that reaches the ratio, or the upper bound [0 to 1].
    compression_ratio : float
        Symbols of all ranks / items of all their nests [1].
    reached : bool
        Whether that is the ratio asked for.
    """

    similarity_threshold: float
    compression_ratio: float
    reached: bool


def cluster(
    events: Events, matching: Matching, *, similarity_threshold: float | None = None
) -> Symbols:
    """Give every call of a run a symbol.

    Parameters
    ----------
    events : Events
    matching : Matching
    similarity_threshold : float, optional
        Sizes of a symbol differ at most by this share of the larger one [0 to 1];
        0: identical only. By default a symbol's sizes have no gap of more than a
        factor of two, so that sizes that drift stay one symbol.

    Returns
    -------
    Symbols

    References
    ----------
    Sodhi and Subhlok 2005, section III-B, clustering similar execution events.
    """
    threshold = similarity_threshold
    found = clusters_of(events.calls, matching, similarity_threshold=threshold)
    return with_times(found, events)


def clusters_of(
    calls: Calls, matching: Matching, *, similarity_threshold: float | None = None
) -> Clusters:
    """Do the part of `cluster` that needs no times, but the calls of all ranks."""
    matched = [matching]
    del matching  # where the caller does not keep it either, its memory serves others
    decided, fate, sites = _prepare(calls, matched.pop())
    varying = varying_pairs(calls, decided, sites, similarity_threshold)
    strings = strings_of(decided, varying, similarity_threshold)
    threshold = similarity_threshold
    return Clusters(
        fate=fate,
        symbol=strings.symbol,
        table=strings.table,
        functions=decided.pairs.functions,
        age_first=strings.age_first,
        age_values=strings.age_values,
        varying_peer=strings.varying_peer,
        size_bytes=decided.size_bytes,
        similarity_threshold=float("nan") if threshold is None else threshold,
    )


def with_times(clusters: Clusters, events: Events) -> Symbols:
    """Do the part of `cluster` that each rank can do for itself.

    Parameters
    ----------
    clusters : Clusters
        Of the same calls as `events`.
    events : Events
        Of all ranks, or of some.
    """
    times = share_out(events, clusters.fate, clusters.size_bytes)
    return Symbols(
        symbol=clusters.symbol,
        table=clusters.table,
        functions=clusters.functions,
        age_first=clusters.age_first,
        age_values=clusters.age_values,
        varying_peer=clusters.varying_peer,
        size_bytes=clusters.size_bytes,
        compute_ns=times.compute_ns,
        tail_ns=times.tail_ns,
        waiting_call=times.waiting_call,
        waiting_ns=times.waiting_ns,
        polls=times.polls,
        nap_ns=times.nap_ns,
        idle_call=times.idle_call,
        idle_ns=times.idle_ns,
        tail_idle_ns=times.tail_idle_ns,
        lost=times.lost,
        similarity_threshold=clusters.similarity_threshold,
    )


def auto_threshold(
    calls: Calls,
    matching: Matching,
    *,
    compression_ratio: float,
    largest: float = LARGEST_THRESHOLD,
) -> ThresholdSearch:
    """Raise the similarity threshold from 0 until the nests are short enough.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    compression_ratio : float
        Q, length of the strings / length of the nests; K/2 in the paper [1].
    largest : float
        Upper bound of the threshold [0 to 1].

    Returns
    -------
    ThresholdSearch

    References
    ----------
    Sodhi and Subhlok 2005, section III-B.
    """
    decided, _, sites = _prepare(calls, matching)
    varying = varying_pairs(calls, decided, sites, 0.0)
    last: SymbolStrings | None = None
    ratio = 0.0
    for step in range(round(largest / THRESHOLD_STEP) + 1):
        threshold = min(step * THRESHOLD_STEP, largest)
        strings = strings_of(decided, varying, threshold)
        if last is None or not np.array_equal(strings.symbol, last.symbol):
            ratio = _compression(strings.symbol, calls.first)
        if ratio >= compression_ratio:
            return ThresholdSearch(threshold, ratio, True)
        last = strings
    return ThresholdSearch(largest, ratio, False)


def _prepare(
    calls: Calls, matching: Matching
) -> tuple[Decided, NDArray[np.uint8], NDArray[np.int64]]:
    calls = with_sources_of_probes(calls)
    pairs = distinct_pairs(calls)
    fate, polls = fates_of(calls, matching, pairs)
    matching = replace(matching, whole_event=matching.whole_event[:0].copy())
    ages = ages_of(calls, pairs, fate, polls)
    inside = fate == Fate.INSIDE
    ages = any_in_order(calls, pairs, inside, ages)
    fate, ages = all_outstanding(calls, pairs, fate, ages)
    inside = fate == Fate.INSIDE
    sites = candidate_sites(pairs, inside)
    tags = canonical_tags(matching, pairs, inside, sites)
    size_bytes = message_bytes(calls, matching, pairs)
    del matching
    decided = decide(pairs, blocks_of(calls.first), inside, ages, tags, size_bytes)
    return decided, fate, sites


def _compression(symbol: NDArray[np.int32], first: NDArray[np.int64]) -> float:
    """Return string length / nest items of all ranks; equal strings fold once."""
    length, items = 0, 0
    known: dict[bytes, int] = {}
    for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        string = symbol[begin:end]
        string = string[string >= 0]
        key = string.tobytes()
        if key not in known:
            known[key] = len(fold(string))
        length += len(string)
        items += known[key]
    return length / items if items else 0.0
