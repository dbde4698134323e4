"""The logical trace of a run as one string of symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.parts import members_in, parts_of, rank_of
from skelgen.keys import label, scattered
from skelgen.matching import Matching
from skelgen.symbols.types import Clusters, Symbols
from skelgen.ticks.order import linear_extension

#: What makes two calls of a rank similar: sizes do not, they drift from step to step.
_SIMILAR = ("function", "family", "peer", "peer2", "tag", "op", "site")
#: What makes them the same in a program that was compiled again: sites are addresses.
_SAME = _SIMILAR[:-1]


@dataclass(frozen=True, slots=True)
class LogicalTrace:
    """The whole matched events of a run in the order of the logical clock.

    Attributes
    ----------
    string : (events,) int32 array
        Symbol of each event: equal for events of the same ranks with similar calls.
    position : (n,) int64 array
        Place in the string up to which a rank has come with each of its calls, never
        less than with the call before; -1 before its first event. Calls that belong
        to no event, completions among them, are where the call before them is.
    identity : (symbols,) uint64 array
        Hash of what each symbol stands for, the same in other runs of the program.
    kind : (symbols,) uint64 array
        Such a hash without call sites: the same also when it was compiled again.
    """

    string: NDArray[np.int32]
    position: NDArray[np.int64]
    identity: NDArray[np.uint64]
    kind: NDArray[np.uint64]


def logical_trace(
    calls: Calls,
    matching: Matching,
    ticks: NDArray[np.int64],
    symbols: Clusters | Symbols,
    sites: tuple[str, ...],
) -> LogicalTrace:
    """Write the events of all ranks as one string.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    ticks : (n,) int64 array
    symbols : Clusters or Symbols
    sites : tuple of str
        Names of call sites.
    """
    order = linear_extension(calls, matching, ticks)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    position = np.full(len(calls), -1, np.int64)
    for part in parts_of(calls.first):
        members, event = members_in(matching.whole_event, part)
        position[members] = place[event]
    for begin, end in zip(calls.first[:-1], calls.first[1:], strict=True):
        np.maximum.accumulate(position[begin:end], out=position[begin:end])
    identity, kind = (
        found[order] for found in _hashes(calls, matching, symbols, sites)
    )
    string, first = label(identity)
    return LogicalTrace(string, position, identity[first], kind[first])


def _names(
    symbols: Clusters | Symbols, columns: tuple[str, ...], sites: tuple[str, ...]
) -> NDArray[np.uint64]:
    """Hash what symbols are, in words that do not depend on the run."""
    found = np.zeros(len(symbols.table), np.uint64)
    for number, row in enumerate(symbols.table[list(columns)].tolist()):
        words = dict(zip(columns, row, strict=True))
        words["function"] = symbols.functions[words["function"]]
        if 0 <= words.get("site", -1) < len(sites):
            words["site"] = sites[words["site"]]
        digest = blake2b(repr(words).encode(), digest_size=8).digest()
        found[number] = int.from_bytes(digest)
    return found


def _hashes(
    calls: Calls,
    matching: Matching,
    symbols: Clusters | Symbols,
    sites: tuple[str, ...],
) -> Iterator[NDArray[np.uint64]]:
    """Hash each event with call sites, and without.

    It is the sum over its calls of what they and their ranks are.
    """
    for columns in (_SIMILAR, _SAME):
        hashes = np.zeros(matching.whole_events, np.uint64)
        names = _names(symbols, columns, sites)
        for part in parts_of(calls.first):
            members, event = members_in(matching.whole_event, part)
            known = symbols.symbol[members] >= 0
            members, event = members[known], event[known]
            rank = np.uint64(rank_of(calls.first, part))
            words = names[symbols.symbol[members]] + rank
            np.add.at(hashes, event, scattered(words))
        yield hashes
