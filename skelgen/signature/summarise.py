"""From symbols and nests to the execution signature."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events, function_info
from skelgen.loops import Nest, positions
from skelgen.matching import Matching
from skelgen.signature.apart import told_apart
from skelgen.signature.families import families_of
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.spread import (
    sampled_positions,
    samples_of_each,
    spread_of,
    statistics,
)
from skelgen.signature.types import Provenance, RankGroup, Signature, Spread
from skelgen.symbols import VARYING, Symbols
from skelgen.symbols.sizes import message_bytes
from skelgen.units import seconds


def summarise(
    events: Events,
    matching: Matching,
    symbols: Symbols,
    nests: Sequence[Nest],
    provenance: Provenance,
) -> Signature:
    """Summarise a run by the statistics at the leaves of its loop nests.

    Parameters
    ----------
    events : Events
    matching : Matching
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
    calls = events.calls
    table = symbols.table.copy()
    functions = _used(table, "function", symbols.functions)
    sites = _used(table, "site", events.sites)
    families = families_of(calls.communicators, table)
    infos = [function_info(name).kind for name in calls.functions]
    kind = np.array(infos, np.uint8)[calls.shapes["function"]][calls.shape]
    size_bytes = message_bytes(calls, matching, kind)
    del kind
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
        groups=_rank_groups(events, symbols, nests, size_bytes),
        events=len(calls),
        dropped=symbols.dropped,
    )


def _rank_groups(
    events: Events,
    symbols: Symbols,
    nests: Sequence[Nest],
    size_bytes: NDArray[np.int64],
) -> tuple[RankGroup, ...]:
    """Summarise the ranks with equal strings together."""
    calls = events.calls
    groups = _groups(calls, symbols)
    apart = [_apart(calls, symbols, nests[ranks[0]], ranks) for ranks in groups]
    strings = [positions(nest) for nest in apart]
    counts = [
        np.bincount(string, minlength=int((nest.body_items == 0).sum()))
        for string, nest in zip(strings, apart, strict=True)
    ]
    wanted = samples_of_each(zip(counts, map(len, groups), strict=True))
    work = _Work(events, symbols, size_bytes, wanted)
    return tuple(
        work.group(ranks, nest, string, count)
        for ranks, nest, string, count in zip(
            groups, apart, strings, counts, strict=True
        )
    )


def _used(
    table: NDArray[np.void], column: str, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Keep the names that a column uses, in the order of their first use."""
    number: dict[int, int] = {}
    table[column] = [number.setdefault(i, len(number)) for i in table[column].tolist()]
    return tuple(names[i] for i in number)


def _groups(calls: Calls, symbols: Symbols) -> list[tuple[int, ...]]:
    """Group the ranks whose strings and varying partners are the same."""
    groups: dict[bytes, list[int]] = {}
    varying = bool((symbols.table["peer"] == VARYING).any())
    for rank in range(calls.ranks):
        own = slice(int(calls.first[rank]), int(calls.first[rank + 1]))
        string = symbols.symbol[own]
        inside = string >= 0
        key = hashlib.blake2b(string[inside].data, digest_size=32)
        if varying:
            key.update(symbols.varying_peer[own][inside].data)
        groups.setdefault(key.digest(), []).append(rank)
    return [tuple(ranks) for ranks in groups.values()]


def _apart(calls: Calls, symbols: Symbols, nest: Nest, ranks: tuple[int, ...]) -> Nest:
    """Write out the loops of a group whose trips compute differently."""
    own = [slice(int(calls.first[r]), int(calls.first[r + 1])) for r in ranks]
    compute_ns = (symbols.compute_ns[o][symbols.symbol[o] >= 0] for o in own)
    return told_apart(nest, positions(nest), compute_ns)


class _Work:
    """What the groups of one signature share."""

    def __init__(
        self,
        events: Events,
        symbols: Symbols,
        size_bytes: NDArray[np.int64],
        wanted: int,
    ) -> None:
        self.events = events
        self.symbols = symbols
        self.size_bytes = size_bytes
        self.wanted = wanted
        self.varying = symbols.table["peer"] == VARYING

    def group(
        self,
        ranks: tuple[int, ...],
        nest: Nest,
        leaf: NDArray[np.int32],
        count: NDArray[np.int64],
    ) -> RankGroup:
        leaves = len(count)
        sampled = sampled_positions(leaf, count, self.wanted)

        def spread(values: NDArray[np.int64]) -> Spread:
            of_ranks = (self._inside(values, rank) for rank in ranks)
            return spread_of(leaf, leaves, of_ranks, sampled)

        mpi_ns = [statistics(leaf, leaves, self._inner_ns(rank))[0] for rank in ranks]
        return RankGroup(
            ranks=ranks,
            nest=nest,
            count=count.astype(np.int64),
            compute_ns=spread(self.symbols.compute_ns),
            mpi_ns=np.stack(mpi_ns, axis=1).astype(np.float64),
            size_bytes=spread(self.size_bytes),
            peers=self._peers(nest, leaf, ranks[0]),
            vectors=self._vectors(nest, leaf, ranks),
            tail_ns=self.symbols.tail_ns[list(ranks)].astype(np.float64),
        )

    def _own(self, rank: int) -> slice:
        return slice(*self.events.calls.first[rank : rank + 2].tolist())

    def _rows(self, rank: int) -> NDArray[np.int64]:
        """Return the calls of a rank that have a symbol."""
        own = self._own(rank)
        rows = np.flatnonzero(self.symbols.symbol[own] >= 0)
        rows += own.start
        return rows

    def _inside(self, values: NDArray[np.int64], rank: int) -> NDArray[np.int64]:
        """Return the values of the calls of a rank that have a symbol."""
        own = self._own(rank)
        return self._chosen(values[own], own)

    def _chosen(self, values: NDArray[np.int64], own: slice) -> NDArray[np.int64]:
        inside: NDArray[np.bool_] = self.symbols.symbol[own] >= 0
        return values if inside.all() else values[inside]

    def _inner_ns(self, rank: int) -> NDArray[np.int64]:
        own = self._own(rank)
        inner = self.events.leave_ns[own] - self.events.enter_ns[own]
        waiting = self.symbols.waiting_call
        waits = slice(*np.searchsorted(waiting, (own.start, own.stop)).tolist())
        inner[waiting[waits] - own.start] += self.symbols.waiting_ns[waits]
        return self._chosen(inner, own)

    def _peers(
        self, nest: Nest, leaf: NDArray[np.int32], rank: int
    ) -> tuple[NDArray[np.int32], ...]:
        none = np.empty((0, 2), np.int32)
        leaf_symbol = leaf_symbols(nest)
        peers = [none] * len(leaf_symbol)
        for at in np.flatnonzero(self.varying[leaf_symbol]).tolist():
            partner = self.symbols.varying_peer[self._rows(rank)[leaf == at]]
            begins = np.flatnonzero(np.diff(partner, prepend=partner[0] - 1))
            repeats = np.diff(begins, append=len(partner))
            peers[at] = np.stack([partner[begins], repeats], axis=1).astype(np.int32)
        return tuple(peers)

    def _vectors(
        self, nest: Nest, leaf: NDArray[np.int32], ranks: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], ...]:
        calls = self.events.calls
        sums: dict[int, dict[int, _VectorMean]] = {}
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
                mean = sums.setdefault(key[0], {}).setdefault(at_rank, _VectorMean())
                mean.add(sides[example[key]], often)
        none = np.empty((len(ranks), 2, 0))
        return tuple(
            _vector_means(sums[at], len(ranks)) if at in sums else none
            for at in range(len(leaf_symbols(nest)))
        )


class _VectorMean:
    """Running mean of the vectors of one leaf and rank."""

    def __init__(self) -> None:
        self.totals: list[NDArray[np.int64] | None] = [None, None]
        self.count = 0

    def add(self, sides: NDArray[np.object_], often: int) -> None:
        self.count += often
        for side, vector in enumerate(sides):
            total = self.totals[side]
            if vector is not None:
                more = vector * often
                self.totals[side] = more if total is None else total + more


def _vector_means(means: dict[int, _VectorMean], ranks: int) -> NDArray[np.float64]:
    """Return (ranks, 2, p) means, NaN where there is no vector."""
    length = max(
        (
            len(total)
            for mean in means.values()
            for total in mean.totals
            if total is not None
        ),
        default=0,
    )
    result = np.full((ranks, 2, length), np.nan)
    for rank, mean in means.items():
        for side, total in enumerate(mean.totals):
            if total is not None:
                result[rank, side, : len(total)] = total / mean.count
    return result
