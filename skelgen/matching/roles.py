"""What the calls of each shape do for matching, as columns over the shapes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events import CallKind, Calls, Communicator, function_info
from skelgen.events.communicators import one_number_each


class MatchRole(IntFlag):
    """What a call does; the values are those of ``_kernels/match.h``."""

    SENDS = 1
    RECEIVES = 2
    CREATES = 4
    SEND_INIT = 8
    RECEIVE_INIT = 16
    STARTS = 32
    COMPLETES = 64
    CANCELS = 128
    COLLECTIVE = 256
    TWO_SIDED = 512
    COLLECTIVE_INIT = 1024


#: Calls that create a persistent request.
PERSISTENT_ROLES = (
    MatchRole.SEND_INIT | MatchRole.RECEIVE_INIT | MatchRole.COLLECTIVE_INIT
)


_ROLES = {
    CallKind.SEND: MatchRole.SENDS,
    CallKind.RECEIVE: MatchRole.RECEIVES,
    CallKind.SENDRECV: MatchRole.SENDS | MatchRole.RECEIVES | MatchRole.TWO_SIDED,
    CallKind.ISEND: MatchRole.SENDS,
    CallKind.IRECEIVE: MatchRole.RECEIVES,
    CallKind.SEND_INIT: MatchRole.SEND_INIT,
    CallKind.RECEIVE_INIT: MatchRole.RECEIVE_INIT,
    CallKind.START: MatchRole.STARTS,
    CallKind.COMPLETE: MatchRole.COMPLETES,
    CallKind.COLLECTIVE: MatchRole.COLLECTIVE,
    CallKind.ICOLLECTIVE: MatchRole.COLLECTIVE,
    CallKind.COLLECTIVE_INIT: MatchRole.COLLECTIVE | MatchRole.COLLECTIVE_INIT,
    CallKind.ISENDRECV: MatchRole.SENDS | MatchRole.RECEIVES | MatchRole.TWO_SIDED,
    CallKind.COMMUNICATOR: MatchRole.COLLECTIVE,
}
# Their participants are not the members of one communicator.
PART_OF_MEMBERS = {"Comm_create_group", "Intercomm_create"}


def short_name(function: str) -> str:
    """Return the name of an MPI function without ``MPI_`` and ``_c``.

    Examples
    --------
    >>> short_name("MPI_Bcast_c")
    'Bcast'
    """
    return function.removeprefix("MPI_").removesuffix("_c")


def role(function: str) -> MatchRole:
    """Return what a call of an MPI function does for matching.

    Examples
    --------
    >>> role("MPI_Isend") == Role.SENDS | Role.CREATES
    True
    """
    name = short_name(function)
    info = function_info(function)
    result = _ROLES.get(info.kind, MatchRole(0))
    if name == "Cancel":
        result = MatchRole.CANCELS
    elif name in PART_OF_MEMBERS:
        result = MatchRole(0)
    return result | (MatchRole.CREATES if info.creates else MatchRole(0))


@dataclass(frozen=True, slots=True)
class ShapeTable:
    """What matching needs to know about shapes and communicators.

    Attributes
    ----------
    role : (s,) uint16 array
        Bits of `MatchRole`.
    communicator : (s,) int32 array
        Communicator; one number for the two views of an intercommunicator.
    stream : (s,) int32 array
        Sequence that a collective counts in, -1 for other calls. Calls that
        communicate share the sequence of their communicator; each function that
        makes or frees communicators has its own, so that one which a library
        leaves out on some ranks disturbs nothing.
    kind : (s,) int32 array
        Equal for collectives that fit each other: same function and root.
    stream_size : (streams,) int32 array
        Participants of each stream.
    setup : (streams,) bool array
        Streams of functions that make or free communicators.
    """

    role: NDArray[np.uint16]
    communicator: NDArray[np.int32]
    stream: NDArray[np.int32]
    kind: NDArray[np.int32]
    stream_size: NDArray[np.int32]
    setup: NDArray[np.bool_]


def shape_table(calls: Calls) -> ShapeTable:
    """Work out the columns over the shapes of some calls.

    Raises
    ------
    InputError
        When a shape names a communicator or function that does not exist, or a
        collective names no communicator.
    """
    shapes, communicators = calls.shapes, calls.communicators
    _check(calls)
    roles = np.array([role(name) for name in calls.functions], np.uint16)
    shape_role = roles[shapes["function"]]
    canonical = np.array([*one_number_each(communicators), -1], np.int32)
    communicator = canonical[shapes["communicator"]]
    stream, streams = _streams(calls, shape_role, communicator)
    return ShapeTable(
        role=np.ascontiguousarray(shape_role, np.uint16),
        communicator=np.ascontiguousarray(communicator, np.int32),
        stream=stream,
        kind=_kinds(calls),
        stream_size=np.array(
            [_size(communicators[index]) for index, _ in streams], np.int32
        ),
        setup=np.array([function != "" for _, function in streams], np.bool_),
    )


def _check(calls: Calls) -> None:
    shapes = calls.shapes
    limit = len(calls.communicators)
    bad = (shapes["communicator"] < -1) | (shapes["communicator"] >= limit)
    if bad.any():
        index = int(shapes["communicator"][np.flatnonzero(bad)[0]])
        raise InputError(
            f"a call names communicator {index}, but the trace defines only 0 to "
            f"{limit - 1}: a rank file is damaged, record again"
        )
    if len(shapes) and int(shapes["function"].max()) >= len(calls.functions):
        raise InputError(
            f"a call names function {int(shapes['function'].max())}, but the trace "
            f"defines {len(calls.functions)}: a rank file is damaged, record again"
        )


def _size(communicator: Communicator) -> int:
    return len(communicator.members) + len(communicator.remote)


def _streams(
    calls: Calls, roles: NDArray[np.uint16], communicator: NDArray[np.int32]
) -> tuple[NDArray[np.int32], list[tuple[int, str]]]:
    streams: dict[tuple[int, str], int] = {}
    stream = np.full(len(roles), -1, np.int32)
    kinds = [function_info(name).kind for name in calls.functions]
    for row in np.flatnonzero(roles & MatchRole.COLLECTIVE):
        if communicator[row] < 0:
            # MPI_Comm_free may be recorded without one: it takes part in nothing.
            roles[row] &= ~np.uint16(MatchRole.COLLECTIVE | MatchRole.COLLECTIVE_INIT)
            continue
        number = int(calls.shapes["function"][row])
        makes = kinds[number] is CallKind.COMMUNICATOR
        function = short_name(calls.functions[number]) if makes else ""
        key = (int(communicator[row]), function)
        stream[row] = streams.setdefault(key, len(streams))
    return stream, list(streams)


def _kinds(calls: Calls) -> NDArray[np.int32]:
    names = [short_name(name) for name in calls.functions]
    numbers = np.array([names.index(name) for name in names], np.int64)
    rooted = np.array([function_info(name).rooted for name in names], np.bool_)
    function = calls.shapes["function"]
    # The root's own group of an intercommunicator passes MPI_ROOT or none.
    inter = np.array([bool(c.remote) for c in calls.communicators] + [False])
    compared = rooted[function] & ~inter[calls.shapes["communicator"]]
    root = np.where(compared, calls.shapes["peer"].astype(np.int64), 0)
    pairs = numbers[function] << 32 | root & 0xFFFFFFFF
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)
