"""Types of the export stage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind

#: Bytes to and from each rank of a communicator; None where a side has no vector.
Sides = tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]


class ExportRole(IntEnum):
    """What a request or a blocking call does."""

    SEND = 0
    RECEIVE = 1
    COLLECTIVE = 2
    OTHER = 3


class CallPart(NamedTuple):
    """One thing that a call does, the same for all its events.

    Attributes
    ----------
    role : ExportRole
    peer, partner : int
        Rank of the communicator, and the world rank it stands for; -1: unknown.
    tag : int
    """

    role: ExportRole
    peer: int
    partner: int
    tag: int


@dataclass(frozen=True, slots=True, eq=False)
class ExportedCall:
    """What is constant about some events.

    Attributes
    ----------
    function : str
        MPI name, such as ``MPI_Ibcast``.
    name : str
        Its blocking form without ``MPI_``, in lower case.
    kind : CallKind
    flags : int
        Bits of `skelgen.events.types`.
    request_flags : int
        ``SHAPE_`` bits of the trace: what the call does with requests.
    communicator : int
        Row of `TraceStreams.communicators`; -1: none.
    root : int
        As a rank of the communicator, for rooted collectives; else -1.
    peer, tag : int
        As in the trace, -1: none.
    site : int
    parts : tuple of CallPart
        What the call does now, or its request later. Nothing for a partner that is
        MPI_PROC_NULL.
    """

    function: str
    name: str
    kind: CallKind
    flags: int
    request_flags: int
    communicator: int
    root: int
    peer: int
    tag: int
    site: int
    parts: tuple[CallPart, ...]


class Half(NamedTuple):
    """Half a message, or a nonblocking collective, from its begin to its end.

    Attributes
    ----------
    stream : int
        Whose it is.
    ordinal : int
        Which of the stream's half messages it is, from 0; -1: no message.
    role : ExportRole
    call : ExportedCall
        That made the request, or the blocking call.
    peer, partner, tag : int
        As in `CallPart`; a wildcard that was received is resolved.
    size_bytes : int
        What is sent, or the capacity of a receive [bytes].
    sides : Sides or None
    begin_ns : int
        When the call began that posted it [ns].
    request : int
        Number of its request in the stream, from 1; 0: the call blocks.
    """

    stream: int
    ordinal: int
    role: ExportRole
    call: ExportedCall
    peer: int
    partner: int
    tag: int
    size_bytes: int
    sides: Sides | None
    begin_ns: int
    request: int


class Event(NamedTuple):
    """One recorded event.

    Attributes
    ----------
    enter_ns, leave_ns : int
        Since the clock origin [ns].
    compute_ns : int
        Computation before it, without the recorder's own cost [ns].
    stream : int
    call : ExportedCall
    size_bytes : int
        As in `skelgen.events.Calls` [bytes]; of a failed poll the number of polls.
    sides : Sides or None
    posts, ends : tuple of Half
        What begins and what ends in it; both for a blocking call.
    """

    enter_ns: int
    leave_ns: int
    compute_ns: int
    stream: int
    call: ExportedCall
    size_bytes: int
    sides: Sides | None
    posts: tuple[Half, ...]
    ends: tuple[Half, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote.

    Attributes
    ----------
    paths : tuple of Path
        Files or folders, the one to open first.
    records : dict of str to int
        How many of each kind of thing they hold.
    notes : tuple of str
        One line for each thing that is left out or not as it was.
    """

    paths: tuple[Path, ...]
    records: dict[str, int]
    notes: tuple[str, ...]
