"""Types of the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, function_info
from skelgen.events.functions import COLLECTIVES


class RankWork(IntEnum):
    """What a rank does."""

    COMPUTATION = 0
    POINT_TO_POINT = 1  # messages, their requests, and one-sided communication
    COLLECTIVE = 2
    WAITING = 3  # the certain part: before the partner or the last rank had begun
    FILE = 4
    OTHER = 5  # any other MPI function
    ABSENT = 6  # before MPI_Init, after MPI_Finalize, or not known


#: How these are written.
WORK_WORDS = {
    RankWork.COMPUTATION: "computation",
    RankWork.POINT_TO_POINT: "point-to-point",
    RankWork.COLLECTIVE: "collective",
    RankWork.WAITING: "waiting",
    RankWork.FILE: "file",
    RankWork.OTHER: "other MPI",
    RankWork.ABSENT: "not running",
}

_NEITHER = {
    CallKind.LOCAL: RankWork.OTHER,
    CallKind.COMMUNICATOR: RankWork.OTHER,
    CallKind.UNSUPPORTED: RankWork.OTHER,
    CallKind.IO: RankWork.FILE,
    **dict.fromkeys(COLLECTIVES, RankWork.COLLECTIVE),
}

#: Things that are no calls, and bits of `Pieces.longest` that name a thing.
COMPUTATION, ABSENT, THING_BITS = 0, 1, 12
_MOST_FUNCTIONS = (1 << THING_BITS - 1) - 2
#: The longest name of a function that is kept.
_MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Thing:
    """What a rank can do: a call, the waiting in it, computation.

    Attributes
    ----------
    work : RankWork
    name : str
        Of the MPI function; empty where there is none.
    """

    work: RankWork
    name: str = ""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of the time of some ranks, one behind the other.

    Attributes
    ----------
    begin_ns, length_ns : (n,) int64 arrays
        From the begin of the run [ns].
    times_ns : (n, works) int64 array
        What the ranks do in it, all ranks [ns].
    longest : (n,) int64 array
        The longest call in it: its time [ns], and its thing in the lowest
        `THING_BITS` bits; 0 without one.
    whole : (n,) bool array
        Whether it is one call, or one time between calls.
    """

    begin_ns: NDArray[np.int64]
    length_ns: NDArray[np.int64]
    times_ns: NDArray[np.int64]
    longest: NDArray[np.int64]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.begin_ns)

    @classmethod
    def joined(cls, parts: list[Pieces]) -> Pieces:
        """Put pieces behind each other."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in _COLUMNS))


_COLUMNS = ("begin_ns", "length_ns", "times_ns", "longest", "whole")


@dataclass(frozen=True, slots=True)
class LaneTotal:
    """A row of the timeline: one rank, or neighbouring ones.

    Attributes
    ----------
    first, last : int
        Its ranks.
    pieces : int
    times_s : tuple of float
        For each kind of work, all its ranks [s].
    """

    first: int
    last: int
    pieces: int
    times_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """The timeline of a run, as pages have it.

    Attributes
    ----------
    span_ns : int
        Time of the run [ns].
    unit_ns : int
        Of the lengths in `data` [ns].
    width_ns : int
        Neighbours that are both shorter may be one piece [ns].
    is_complete : bool
        Whether every call is a piece of its own.
    knows_waiting : bool
        Whether waiting is a kind of its own.
    things : tuple of Thing
    lanes : tuple of LaneTotal
    data : bytes
        See `skelgen.timeline.encoding`.
    """

    span_ns: int
    unit_ns: int
    width_ns: int
    is_complete: bool
    knows_waiting: bool
    things: tuple[Thing, ...]
    lanes: tuple[LaneTotal, ...]
    data: bytes


def work_of(function: str) -> RankWork:
    """Say what a rank does inside an MPI function.

    Examples
    --------
    >>> work_of("MPI_Waitall").name, work_of("MPI_File_write").name
    ('POINT_TO_POINT', 'FILE')
    """
    return _NEITHER.get(function_info(function).kind, RankWork.POINT_TO_POINT)


def things_of(functions: tuple[str, ...]) -> tuple[Thing, ...]:
    """Return what ranks can do: a call of function f is number 2 + 2f, then waiting."""
    things = [Thing(RankWork.COMPUTATION), Thing(RankWork.ABSENT)]
    for name in functions[:_MOST_FUNCTIONS]:
        short = name[:_MOST_CHARACTERS]
        things += [Thing(work_of(name), short), Thing(RankWork.WAITING, short)]
    return tuple(things)


def call_things(functions: int) -> NDArray[np.int64]:
    """Return the number of the thing of each function; further ones share the last."""
    return 2 + 2 * np.minimum(np.arange(functions), _MOST_FUNCTIONS - 1)
