"""From symbols and nests to the execution signature."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.narrow import Amounts, Rows
from skelgen.loops import Nest, positions
from skelgen.loops.parts import run_lengths
from skelgen.signature.families import families_of
from skelgen.signature.join import joined
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.long_occurrences import long_occurrences
from skelgen.signature.rank_values import PositionValues, RankValues
from skelgen.signature.spread import (
    blocks,
    occurrences,
    sampled_positions,
    samples_of_each,
    spread_of,
    steps_of,
    totals_of,
)
from skelgen.signature.trip_groups import may_be_told_apart, told_apart
from skelgen.signature.types import Provenance, RankGroup, Signature, Spread
from skelgen.signature.vector_means import VectorMean, vector_means
from skelgen.symbols.types import VARYING, Symbols
from skelgen.units import seconds


def summarise(
    events: Events,
    symbols: Symbols,
    nests: Sequence[Nest],
    provenance: Provenance,
) -> Signature:
    """Summarise a run by the statistics at the leaves of its loop nests.

    Parameters
    ----------
    events : Events
    symbols : Symbols
    nests : sequence of Nest
        Of each rank's string of symbols.
    provenance : Provenance

    Returns
    -------
    Signature

    References
    ----------
    Sodhi and Subhlok 2005, section III-B; frequency distributions instead of
    averages as its section IV suggests.
    """
    everyone = range(events.calls.ranks)
    groups = groups_of(events.calls, symbols, everyone)
    own = [nests[ranks[0]] for ranks in groups.values()]
    shapes = list(zip(groups.values(), own, strict=True))
    totals = [total_compute(events.calls, symbols, *shape) for shape in shapes]
    outlines, wanted = outlines_of(shapes, totals, symbols.table)
    parts = rank_groups(events, symbols, outlines, wanted, everyone)
    return signature_of(events, symbols, list(map(joined, parts)), provenance)


def signature_of(
    events: Events,
    symbols: Symbols,
    groups: Sequence[RankGroup],
    provenance: Provenance,
) -> Signature:
    """Put a signature together: names that it uses, families, and its groups.

    Parameters
    ----------
    events : Events
    symbols : Symbols
        Its columns for each call are not looked at.
    groups : sequence of RankGroup
    provenance : Provenance
    """
    calls = events.calls
    table = symbols.table.copy()
    functions = _used(table, "function", symbols.functions)
    sites = _used(table, "site", events.sites)
    families = families_of(calls.communicators, table)
    return Signature(
        provenance=provenance,
        ranks=calls.ranks,
        application_s=seconds(events.application_ns),
        functions=functions,
        symbols=table,
        age_first=symbols.age_first,
        age_values=symbols.age_values,
        families=families,
        sites=sites,
        groups=tuple(groups),
        events=int(calls.first[-1]),
        dropped=symbols.dropped,
    )


def _used(
    table: NDArray[np.void], column: str, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Keep the names that a column uses, in the order of their first use."""
    number: dict[int, int] = {}
    table[column] = [number.setdefault(i, len(number)) for i in table[column].tolist()]
    return tuple(names[i] for i in number)


def groups_of(
    calls: Calls, symbols: Symbols, ranks: range
) -> dict[bytes, tuple[int, ...]]:
    """Group some ranks by their strings and varying partners.

    Returns
    -------
    dict of bytes to tuple of int
        Ranks with one key do the same; in the order of the first of them.
    """
    groups: dict[bytes, list[int]] = {}
    varying = bool((symbols.table["peer"] == VARYING).any())
    for rank in ranks:
        own = slice(int(calls.first[rank]), int(calls.first[rank + 1]))
        string = symbols.symbol[own]
        inside = string >= 0
        key = hashlib.blake2b(string[inside].data, digest_size=32)
        if varying:
            key.update(symbols.varying_peer[own][inside].data)
        groups.setdefault(key.digest(), []).append(rank)
    return {key: tuple(group) for key, group in groups.items()}


def total_compute(
    calls: Calls, symbols: Symbols, ranks: Sequence[int], nest: Nest
) -> NDArray[np.int64] | None:
    """Add up what passed before each call of some ranks of a group [ns].

    None where there are no ranks, or the nest has no loop that could be written out.
    """
    if not ranks or not may_be_told_apart(nest):
        return None
    total = np.zeros(len(positions(nest)), np.int64)
    for rank in ranks:
        own = slice(int(calls.first[rank]), int(calls.first[rank + 1]))
        inside = symbols.symbol[own] >= 0
        of_rank = RankValues(symbols.compute_ns.__getitem__, own.start, inside)
        for part in blocks(len(total)):
            total[part] += of_rank[part]
        idle = _of_rank(symbols.idle_call, symbols.idle_ns, own)
        if idle is not None:
            total += idle[inside]
    return total


def _of_rank(
    calls: NDArray[np.int64], amounts: NDArray[np.int64], own: slice
) -> NDArray[np.int64] | None:
    """Return what each call of a rank has of amounts that few calls have.

    None where no call of the rank has any.
    """
    some = slice(*np.searchsorted(calls, (own.start, own.stop)).tolist())
    if some.start == some.stop:
        return None
    found = np.zeros(own.stop - own.start, np.int64)
    found[calls[some] - own.start] = amounts[some]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """What the ranks of a group have in common.

    Attributes
    ----------
    ranks : tuple of int
        All of them, ascending.
    nest : Nest
    count : (leaves,) int64 array
        Occurrences of each leaf in one rank.
    """

    ranks: tuple[int, ...]
    nest: Nest
    count: NDArray[np.int64]


def outlines_of(
    groups: Sequence[tuple[tuple[int, ...], Nest]],
    totals: Sequence[NDArray[np.int64] | None],
    table: NDArray[np.void],
) -> tuple[list[Outline], int]:
    """Write out the loops whose trips compute differently, and count.

    Parameters
    ----------
    groups : sequence of (tuple of int, Nest)
        Ranks of each group and the nest of their string.
    totals : sequence of int64 array or None
        From `total_compute`, of all its ranks.
    table : (s,) SYMBOL_DTYPE array
        The symbols.

    Returns
    -------
    outlines : list of Outline
    wanted : int
        Samples of each leaf.
    """
    outlines = []
    name = np.unique(table[["function", "site"]], return_inverse=True)[1]
    nests = told_apart([nest for _, nest in groups], totals, name)
    for (ranks, _), nest in zip(groups, nests, strict=True):
        leaves = int((nest.body_items == 0).sum())
        count = occurrences(positions(nest), leaves)
        outlines.append(Outline(ranks, nest, count))
    return outlines, samples_of_each((one.count, len(one.ranks)) for one in outlines)


def rank_groups(
    events: Events,
    symbols: Symbols,
    outlines: Sequence[Outline],
    wanted: int,
    ranks: range,
) -> list[list[RankGroup]]:
    """Summarise ranks with equal strings together.

    Parameters
    ----------
    events : Events
    symbols : Symbols
    outlines : sequence of Outline
    wanted : int
        Samples of each leaf.
    ranks : range
        Others are left out.

    Returns
    -------
    list of list of RankGroup
        For each outline the group of its ranks, none where it has none of them.
    """
    work = _Work(events, symbols, wanted)
    own = [tuple(rank for rank in one.ranks if rank in ranks) for one in outlines]
    return [
        [work.group(some, one)] if some else []
        for some, one in zip(own, outlines, strict=True)
    ]


class _Work:
    """What the groups of one signature share."""

    def __init__(
        self,
        events: Events,
        symbols: Symbols,
        wanted: int,
    ) -> None:
        self.events = events
        self.symbols = symbols
        self.wanted = wanted
        self.varying = symbols.table["peer"] == VARYING

    def group(self, ranks: tuple[int, ...], outline: Outline) -> RankGroup:
        nest, count = outline.nest, outline.count
        leaf, leaves = positions(nest), len(count)
        sampled = sampled_positions(leaf, count, self.wanted)

        def spread(values: Amounts) -> Spread:
            of_ranks = (self._of(values.__getitem__, rank) for rank in ranks)
            return spread_of(leaf, leaves, of_ranks, sampled)

        def sums(
            calls: NDArray[np.int64], amounts: NDArray[np.int64]
        ) -> NDArray[np.float64]:
            if not amounts.any():
                return np.zeros((leaves, len(ranks)))
            found = [self._sums(leaf, leaves, rank, calls, amounts) for rank in ranks]
            return np.stack(found, axis=1)

        known = self.symbols
        compute_ns = spread(known.compute_ns)
        computed = (self._of(known.compute_ns.__getitem__, rank) for rank in ranks)
        size_bytes = spread(known.size_bytes)
        vary = np.array((size_bytes.least < size_bytes.most).any(axis=1), ndmin=1)
        sizes = (self._of(known.size_bytes.__getitem__, rank) for rank in ranks)
        return RankGroup(
            ranks=ranks,
            nest=nest,
            count=count,
            compute_ns=compute_ns,
            mpi_ns=totals_of(leaf, leaves, (self._inner_ns(rank) for rank in ranks)),
            idle_ns=sums(known.idle_call, known.idle_ns),
            polls=sums(known.waiting_call, known.polls),
            nap_ns=sums(known.waiting_call, known.nap_ns),
            size_bytes=size_bytes,
            size_steps=steps_of(leaf, vary, sizes, len(ranks)),
            peers=self._peers(nest, leaf, ranks[0]),
            vectors=self._vectors(nest, leaf, ranks),
            tail_ns=self.symbols.tail_ns[list(ranks)].astype(np.float64),
            tail_idle_ns=self.symbols.tail_idle_ns[list(ranks)].astype(np.float64),
            long_occurrences=long_occurrences(
                leaf, count, compute_ns, computed, len(outline.ranks)
            ),
        )

    def _own(self, rank: int) -> slice:
        return slice(*self.events.calls.first[rank : rank + 2].tolist())

    def _rows(self, rank: int) -> NDArray[np.int64]:
        """Return the calls of a rank that have a symbol."""
        own = self._own(rank)
        rows = np.flatnonzero(self.symbols.symbol[own] >= 0)
        rows += own.start
        return rows

    def _of(
        self, of_calls: Callable[[Rows], NDArray[np.int64]], rank: int
    ) -> RankValues:
        """Return the values of the calls of a rank that have a symbol."""
        own = self._own(rank)
        return RankValues(of_calls, own.start, self.symbols.symbol[own] >= 0)

    def _inner_ns(self, rank: int) -> PositionValues:
        own = self._own(rank)
        inner = _of_rank(self.symbols.waiting_call, self.symbols.waiting_ns, own)
        if inner is None:
            return self._of(self.events.spent_ns, rank)
        inner += self.events.spent_ns(own)
        return RankValues(inner.__getitem__, 0, self.symbols.symbol[own] >= 0)

    def _sums(
        self,
        leaf: NDArray[np.int32],
        leaves: int,
        rank: int,
        calls: NDArray[np.int64],
        amounts: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Add up for each leaf of a rank what few calls have."""
        own = self._own(rank)
        found = _of_rank(calls, amounts, own)
        if found is None:
            return np.zeros(leaves)
        sums = np.bincount(leaf, found[self.symbols.symbol[own] >= 0], leaves)
        return np.asarray(sums, np.float64)

    def _peers(
        self, nest: Nest, leaf: NDArray[np.int32], rank: int
    ) -> tuple[NDArray[np.int32], ...]:
        none = np.empty((0, 2), np.int32)
        leaf_symbol = leaf_symbols(nest)
        peers = [none] * len(leaf_symbol)
        for at in np.flatnonzero(self.varying[leaf_symbol]).tolist():
            partner = self.symbols.varying_peer[self._rows(rank)[leaf == at]]
            peers[at] = run_lengths(partner).astype(np.int32)
        return tuple(peers)

    def _vectors(
        self, nest: Nest, leaf: NDArray[np.int32], ranks: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], ...]:
        calls = self.events.calls
        sums: dict[int, dict[int, VectorMean]] = {}
        for at_rank, rank in enumerate(ranks):
            own = self._own(rank)
            bounds = np.searchsorted(calls.vector_call, (own.start, own.stop))
            entries = np.arange(*bounds)
            entries = entries[self.symbols.symbol[calls.vector_call[entries]] >= 0]
            if not len(entries):
                continue
            place = np.searchsorted(self._rows(rank), calls.vector_call[entries])
            # Equal vectors are mostly one object: few are left to be added.
            sides = calls.vectors[entries]
            same = (map(id, side) for side in sides.T)
            keys = list(zip(leaf[place].tolist(), *same, strict=True))
            example = dict(zip(keys, range(len(keys)), strict=True))
            for key, often in Counter(keys).items():
                mean = sums.setdefault(key[0], {}).setdefault(at_rank, VectorMean())
                mean.add(sides[example[key]], often)
        none = np.empty((len(ranks), 2, 0))
        return tuple(
            vector_means(sums[at], len(ranks)) if at in sums else none
            for at in range(len(leaf_symbols(nest)))
        )
