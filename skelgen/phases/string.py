"""The logical trace of a run as one string of symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.keys import label, mixed
from skelgen.matching import Matching
from skelgen.symbols import Symbols
from skelgen.ticks.order import linear_extension

#: What makes two calls of a rank similar: sizes do not, they drift from step to step.
_SIMILAR = ("function", "family", "peer", "peer2", "tag", "op", "site")


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
    """

    string: NDArray[np.int32]
    position: NDArray[np.int64]


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
    string, _ = label(_hashes(calls, matching, symbols, members)[order])
    return LogicalTrace(string, position)


def _hashes(
    calls: Calls, matching: Matching, symbols: Symbols, members: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Hash each event: the sum over its calls of what they and their ranks are."""
    table = symbols.table
    columns = np.stack([table[name].astype(np.int64) for name in _SIMILAR], axis=1)
    kind = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    inside = members[symbols.symbol[members] >= 0]
    rank = np.repeat(np.arange(calls.ranks), np.diff(calls.first))[inside]
    of_call = kind[symbols.symbol[inside]] * calls.ranks + rank
    hashes = np.zeros(matching.groups, np.uint64)
    np.add.at(hashes, matching.group[inside], mixed(of_call))
    return hashes
