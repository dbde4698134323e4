"""Tell apart how the ranks of a window synchronise, from the order of a rank's calls.

A window is used in four ways, and a skeleton has a window of its own for each of them,
so that leaving calls of one way out never breaks another:

- *fence*: operations belong to the fence that ends their epoch;
- *pscw*: between Win_start and Win_complete, exposed by Win_post and Win_wait;
- *lock*: between locks and unlocks of one rank;
- *open*: the same, where the rank also meets others before it unlocks, or makes very
  many calls: an epoch that lasts as long as the work in it.

The calls get communicators that say so, Win_complete and Win_wait the partners of the
call that they end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    CallKind,
    function_info,
)
from skelgen.events.rows import RowTable
from skelgen.events.types import COMPLETED, EXPOSED, FAILED_POLL, WINDOW_KINDS

_FENCE, _PSCW, _LOCK, _OPEN = (
    WINDOW_KINDS.index(f"{name}_window") for name in ("fence", "pscw", "lock", "open")
)
#: An epoch with more calls than this is no unit.
_MOST_CALLS = 1000
#: Calls that wait for other ranks, or that others may wait for.
_MEETS = (
    *SENDING,
    *RECEIVING,
    *COLLECTIVES,
    CallKind.START,
    CallKind.PROBE,
    CallKind.COMMUNICATOR,
    CallKind.SIGNAL,
    CallKind.AWAIT,
    CallKind.UNSUPPORTED,
)
#: What a call does for epochs.
_OPERATES, _FENCES, _STARTS, _COMPLETES, _POSTS, _WAITS, _LOCKS, _UNLOCKS, _OTHER = (
    range(1, 10)
)
_PARTS = {
    "Win_fence": _FENCES,
    "Win_start": _STARTS,
    "Win_complete": _COMPLETES,
    "Win_post": _POSTS,
    "Win_wait": _WAITS,
    "Win_test": _WAITS,
    "Win_lock": _LOCKS,
    "Win_lock_all": _LOCKS,
    "Win_unlock": _UNLOCKS,
    "Win_unlock_all": _UNLOCKS,
    "Win_flush": _OTHER,
    "Win_flush_all": _OTHER,
    "Win_flush_local": _OTHER,
    "Win_flush_local_all": _OTHER,
    "Win_sync": _OTHER,
}
#: Functions that name a group, in lower case.
GROUPED = ("win_start", "win_post")
_PARTNERED = (_STARTS, _POSTS)
_ENDS = (_COMPLETES, _WAITS)


@dataclass(frozen=True, slots=True)
class _Sequence:
    """The calls of a rank on windows, window after window in program order.

    Attributes
    ----------
    call : (n,) int64 array
        Calls of the rank.
    part : (n,) int64 array
        What each does, ``_OPERATES`` and so on.
    begin : (n,) int64 array
        Position of the first call on the same window.
    """

    call: NDArray[np.int64]
    part: NDArray[np.int64]
    begin: NDArray[np.int64]

    def inside(self, opens: int, closes: int) -> NDArray[np.int64]:
        """Return how many calls of one part are not closed yet behind each call."""
        step = (self.part == opens).astype(np.int64) - (self.part == closes)
        total = np.concatenate([[0], np.cumsum(step)])
        inside: NDArray[np.int64] = np.maximum(total[1:] - total[self.begin], 0)
        return inside

    def latest(self, part: int) -> NDArray[np.int64]:
        """Return the position of the latest call of a part; -1 for none."""
        own = np.where(self.part == part, np.arange(len(self.call)), -1)
        found = np.maximum.accumulate(own)
        latest: NDArray[np.int64] = np.where(found >= self.begin, found, -1)
        return latest


def sort_out(
    shape: NDArray[np.uint32],
    ages: NDArray[np.uint32],
    table: RowTable,
    functions: tuple[str, ...],
) -> None:
    """Give a rank's calls on windows the communicators of their epochs.

    Parameters
    ----------
    shape : (n,) uint32 array
        Row of `table` of each call of a rank; changed here.
    ages : (n,) uint32 array
        Of Win_start and Win_post the row of their partners; those of Win_complete
        and Win_wait are set here.
    table : RowTable
    functions : tuple of str
    """
    sequence = _sequence(shape, table, functions)
    if sequence is None:
        return
    meets = _meetings(shape, table, functions)
    rows = table.at(shape[sequence.call])
    rows["communicator"] += _ways(sequence, meets).astype(np.int32)
    rows["tag"][np.isin(sequence.part, _PARTNERED)] = EXPOSED
    rows["tag"][np.isin(sequence.part, _ENDS)] = COMPLETED
    shape[sequence.call] = table.number(rows)
    for opens, closes in zip(_PARTNERED, _ENDS, strict=True):
        opened = sequence.latest(opens)
        closing = np.flatnonzero((sequence.part == closes) & (opened >= 0))
        ages[sequence.call[closing]] = ages[sequence.call[opened[closing]]]


def _sequence(
    shape: NDArray[np.uint32], table: RowTable, functions: tuple[str, ...]
) -> _Sequence | None:
    part_of = np.array([_part(name) for name in functions], np.int64)
    if not part_of.any():
        return None
    rows = table.rows
    part = part_of[rows["function"]]
    part[(rows["communicator"] < 0) | ((rows["flags"] & FAILED_POLL) != 0)] = 0
    call = np.flatnonzero(part[shape])
    if not len(call):
        return None
    window = rows["communicator"][shape[call]]
    order = np.argsort(window, kind="stable")
    call, window = call[order], window[order]
    first = np.concatenate([[True], window[1:] != window[:-1]])
    begin = np.maximum.accumulate(np.where(first, np.arange(len(call)), 0))
    return _Sequence(call, part[shape[call]], begin)


def on_window(function: str) -> bool:
    """Say whether a function is a call on a window, by its MPI name."""
    return _part(function) != 0


def _part(function: str) -> int:
    name = function.removeprefix("MPI_").removesuffix("_c")
    operates = function_info(function).kind is CallKind.RMA
    return _PARTS.get(name, _OPERATES if operates else 0)


def _meetings(
    shape: NDArray[np.uint32], table: RowTable, functions: tuple[str, ...]
) -> NDArray[np.int64]:
    """Return how many calls that meet others stand before each call."""
    infos = [function_info(name) for name in functions]
    meets = np.array([info.kind in _MEETS for info in infos])
    if not any(info.kind is CallKind.RMA and info.creates for info in infos):
        # Else a completion may be that of an operation.
        meets |= [info.kind is CallKind.COMPLETE for info in infos]
    return np.concatenate([[0], np.cumsum(meets[table.rows["function"]][shape])])


def _ways(sequence: _Sequence, meets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the way in which the rank synchronises at each call."""
    part = sequence.part
    held = sequence.inside(_LOCKS, _UNLOCKS)
    started = sequence.inside(_STARTS, _COMPLETES) > 0
    way = np.full(len(part), _OPEN)
    way[(part == _OPERATES) & ~started] = _FENCE
    way[(part == _OPERATES) & started] = _PSCW
    way[part == _FENCES] = _FENCE
    way[np.isin(part, _PARTNERED + _ENDS)] = _PSCW
    passive = (held > 0) | (part == _UNLOCKS)
    way[passive] = np.where(_is_short(sequence, held, meets), _LOCK, _OPEN)[passive]
    return way


def _is_short(
    sequence: _Sequence, held: NDArray[np.int64], meets: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Say which calls stand between locks and unlocks that are a unit."""
    part, place = sequence.part, np.arange(len(held))
    before = np.where(place == sequence.begin, 0, np.roll(held, 1))
    begins = np.flatnonzero((part == _LOCKS) & (before == 0))
    number = np.cumsum((part == _LOCKS) & (before == 0)) - 1
    ends = np.full(len(begins), -1)
    closing = np.flatnonzero((part == _UNLOCKS) & (held == 0) & (number >= 0))
    ends[number[closing]] = closing
    short = (ends >= begins) & (ends - begins < _MOST_CALLS)
    first, last = sequence.call[begins], sequence.call[ends]
    short &= meets[last] == meets[first]
    result = np.zeros(len(held), bool)
    known = number >= 0
    result[known] = short[number[known]]
    return result
