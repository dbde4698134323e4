"""The logical trace of a run as one string of symbols."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.keys import label, scattered
from skelgen.matching import Matching
from skelgen.symbols import Symbols
from skelgen.ticks.order import linear_extension

#: What makes two calls of a rank similar: sizes do not, they drift from step to step.
_SIMILAR = ("function", "family", "peer", "peer2", "tag", "op", "site")
#: What makes them the same in another run: a program that was compiled again, or that
#: does more work, has other addresses.
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
    """

    string: NDArray[np.int32]
    position: NDArray[np.int64]
    identity: NDArray[np.uint64]


def logical_trace(
    calls: Calls, matching: Matching, ticks: NDArray[np.int64], symbols: Symbols
) -> LogicalTrace:
    """Write the events of all ranks as one string.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    ticks : (n,) int64 array
    symbols : Symbols
    """
    order = linear_extension(calls, matching, ticks)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    members = np.flatnonzero(matching.group >= 0)
    position = np.full(len(calls), -1, np.int64)
    position[members] = place[matching.group[members]]
    for begin, end in zip(calls.first[:-1], calls.first[1:], strict=True):
        np.maximum.accumulate(position[begin:end], out=position[begin:end])
    string, first = label(_hashes(calls, matching, symbols, members, _SIMILAR)[order])
    identity = _hashes(calls, matching, symbols, members, _SAME)[order[first]]
    return LogicalTrace(string, position, identity)


def _hashes(
    calls: Calls,
    matching: Matching,
    symbols: Symbols,
    members: NDArray[np.int64],
    columns: tuple[str, ...],
) -> NDArray[np.uint64]:
    """Hash each event: the sum over its calls of what they and their ranks are."""
    of_symbol = np.array([_identity(symbols, row, columns) for row in symbols.table])
    inside = members[symbols.symbol[members] >= 0]
    rank = np.repeat(np.arange(calls.ranks), np.diff(calls.first))[inside]
    with np.errstate(over="ignore"):
        of_call = of_symbol.astype(np.uint64)[symbols.symbol[inside]] + rank.astype(
            np.uint64
        )
    hashes = np.zeros(matching.groups, np.uint64)
    np.add.at(hashes, matching.group[inside], scattered(of_call))
    return hashes


def _identity(symbols: Symbols, row: np.void, columns: tuple[str, ...]) -> int:
    function = symbols.functions[int(row["function"])]
    text = f"{function} {[int(row[name]) for name in columns[1:]]}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
