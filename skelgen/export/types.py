"""Types of the export stage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.export.columns import Columns

#: Bytes to and from each rank of a communicator; None where a side has no vector.
Sides = tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]


class ExportRole(IntEnum):
    """What a request or a blocking call does, as the kernel numbers it."""

    SEND = 0
    RECEIVE = 1
    COLLECTIVE = 2
    OTHER = 3


@dataclass(frozen=True, slots=True)
class ExportedCall:
    """What is the same for all events of a shape.

    Attributes
    ----------
    function : str
        MPI name, such as ``MPI_Ibcast``.
    name : str
        Its blocking form without ``MPI_``, in lower case.
    kind : CallKind
    flags : int
        Bits of `skelgen.events.types`.
    action, parts : int
        What it does with requests, and with whom: ``enum skelgen_half_action`` and
        ``skelgen_half_part``.
    communicator : int
        Row of `TraceStreams.communicators`; -1: none.
    rooted : bool
        The peer of its events is the root.
    site : int
    """

    function: str
    name: str
    kind: CallKind
    flags: int
    action: int
    parts: int
    communicator: int
    rooted: bool
    site: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some events of a rank or a stream in order; the next batch overwrites them.

    Attributes
    ----------
    events : Columns
        ``struct skelgen_half_events``; as in `skelgen.events.Calls`.
    posts, ends : Columns
        ``struct skelgen_half_columns``: what begins and what ends, in the order of the
        events; the parts of a blocking call are in both.
    given : struct skelgen_follow
        The same for the kernel.
    """

    events: Columns
    posts: Columns
    ends: Columns
    given: Any


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
