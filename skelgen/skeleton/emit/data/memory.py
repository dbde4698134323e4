"""Place every message of a routine in memory, so that no two that are active overlap.

There are two areas, allocated and touched before the timed region. Nothing ever
writes into the area of sends, so its messages may overlap, but each call sends from
a place of its own as long as the area stays small: an application does not send
from the same few cache lines either. In the area of receives, each nonblocking call
has a place that no call can use while its request is outstanding; blocking calls
take theirs in front of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from skelgen.errors import InputError
from skelgen.events.functions import TWO_SIDED, CallKind
from skelgen.skeleton.emit.data.reduction import Reduction, reduction
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.request_places import Places, places
from skelgen.skeleton.share.routines import Routine
from skelgen.skeleton.types import Turn

#: Messages begin on a cache line.
LINE_BYTES = 64
#: Up to here every call has a place of its own [bytes].
SPREAD_BYTES = 16 << 20
#: The largest count that MPI-3 takes.
_MOST_BYTES = 2**31 - 1
#: Largest buffer that is attached for buffered sends [bytes].
_MOST_ATTACHED_BYTES = 256 << 20

_REPEATED_SEND = {"Scatter", "Alltoall", "Reduce_scatter_block"}
_REPEATED_RECEIVE = {"Gather", "Allgather", "Alltoall"}
_NO_SEND_BUFFER = {"Bcast", "Barrier"}
_FETCHING = ("Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap")
#: An operation on integers, which Compare_and_swap needs.
_LOGICAL_AND = 5
#: Neighbourhood collectives that send the same to all neighbours.
SENT_TO_ALL = ("Neighbor_allgather", "Neighbor_allgatherv")


@dataclass(frozen=True, slots=True)
class CallMemory:
    """Memory that one call needs [bytes]."""

    send: int
    receive: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the calls of a routine find their messages and requests.

    Attributes
    ----------
    send_at, receive_at : dict of int to int
        Offset of each step's message in its area [bytes].
    stride : dict of int to int
        Distance between the places of one step's requests [bytes].
    requests : Places
        Places of requests.
    send_bytes, receive_bytes : int
        Size of the areas [bytes].
    attached_bytes : int
        Buffer for buffered sends [bytes], 0 for none.
    """

    send_at: dict[int, int]
    receive_at: dict[int, int]
    stride: dict[int, int]
    requests: Places
    send_bytes: int
    receive_bytes: int
    attached_bytes: int


def extent(step: CallStep, group_size: int) -> CallMemory:
    """Return the memory that a step needs, at least a byte, for its text names it.

    Parameters
    ----------
    step : CallStep
    group_size : int
        Ranks of the largest communicator of its family.
    """
    size = max(1, *(int(place.size_bytes.max()) for place in step.everywhere))
    capacity = max(1, *(place.capacity_bytes for place in step.everywhere))
    if step.kind in TWO_SIDED:
        found = CallMemory(size, capacity)
    elif step.sends:
        found = CallMemory(size, 0)
    elif step.receives:
        found = CallMemory(0, max(size, capacity))
    elif step.kind is CallKind.RMA:
        found = _operation_extent(step, size)
    elif name := step.info.collective:
        found = _collective_extent(step, name, size, group_size)
    else:
        found = CallMemory(0, 0)
    if max(size, found.send, found.receive) > _MOST_BYTES:
        raise InputError(
            f"{step.function} moves {max(found.send, found.receive)} bytes in a "
            f"call; a skeleton can move {_MOST_BYTES}"
        )
    if step.holes:  # as wide as the blocks between them
        block = 2 * step.block_bytes
        found = CallMemory(
            *(-(-2 * needed // block) * block for needed in astuple(found))
        )
    return found


def operation_unit(step: CallStep) -> Reduction:
    """Return what the data of an operation on a window consists of."""
    name = step.function.removeprefix("MPI_")
    if name == "Compare_and_swap":
        return reduction(_LOGICAL_AND, step.datatype_bytes)
    if name == "Fetch_and_op" or name.lower().endswith("accumulate"):
        return reduction(step.op, step.datatype_bytes)
    return Reduction("MPI_BYTE", "", 1, 1)


def _operation_extent(step: CallStep, size: int) -> CallMemory:
    """Return the memory of an operation on a window."""
    name = step.function.removeprefix("MPI_")
    unit = operation_unit(step)
    size = -(-size // unit.size_bytes) * unit.extent_bytes
    if name == "Compare_and_swap":  # what is compared stands behind what is sent
        return CallMemory(2 * LINE_BYTES, size)
    fetches = name in _FETCHING
    gets = name in ("Get", "Rget")
    return CallMemory(0 if gets else size, size if gets or fetches else 0)


def _collective_extent(step: CallStep, name: str, size: int, ranks: int) -> CallMemory:
    if step.info.vector:
        to = int(step.to.sum(axis=1).max()) if step.to.size else 0
        of = int(step.of.sum(axis=1).max()) if step.of.size else 0
        if name in SENT_TO_ALL:
            return CallMemory(max(1, int(step.to.max(initial=0))), max(1, of))
        if name == "Reduce_scatter":
            return CallMemory(max(1, of), max(1, of))
        return CallMemory(max(size, to), max(size, of))
    unit = reduction(step.op, step.datatype_bytes)
    size = -(-size // unit.size_bytes) * unit.extent_bytes if step.op else size
    send = 0 if name in _NO_SEND_BUFFER else size
    receive = 0 if name == "Barrier" else size
    if name in _REPEATED_SEND:
        send *= ranks
    if name in _REPEATED_RECEIVE:
        receive *= ranks
    if any(step.in_place):
        receive = max(send, receive)
    return CallMemory(send, receive)


def lay_out(routine: Routine, extents: Sequence[CallMemory]) -> Memory:
    """Give the calls of a routine their places."""
    lives = routine.lifetimes
    send_at, send_bytes = _spread([e.send for e in extents])
    blocking = [
        0 if step.info.creates or step.turn is Turn.OPENS else e.receive
        for step, e in zip(routine.steps, extents, strict=True)
    ]
    receive_at, blocking_bytes = _spread(blocking)
    stride = {op: aligned(extents[op].receive) for op in lives.spans}
    needs = {op: span * stride[op] for op, span in lives.spans.items()}
    slots = places(needs, lives.conflicts, begin=blocking_bytes)
    return Memory(
        send_at,
        {**receive_at, **slots.first},
        stride,
        places(dict(lives.spans), lives.conflicts),
        send_bytes,
        slots.cells,
        _attached_bytes(routine),
    )


def aligned(size_bytes: int) -> int:
    """Return a size in whole cache lines [bytes]."""
    return -(-size_bytes // LINE_BYTES) * LINE_BYTES


def _spread(sizes: Sequence[int]) -> tuple[dict[int, int], int]:
    """Put messages behind each other, from the beginning again when there are many."""
    at: dict[int, int] = {}
    cursor = end = 0
    for step, size in enumerate(sizes):
        if cursor and cursor + size > SPREAD_BYTES:
            cursor = 0
        at[step] = cursor if size else 0
        cursor += aligned(size)
        end = max(end, cursor)
    return at, end


def _attached_bytes(routine: Routine) -> int:
    """Return a buffer that holds all buffered sends of a run, if that is possible."""
    total = sum(
        place.occurrences * (int(place.size_bytes.max()) + 256)
        for step in routine.steps
        for place in step.everywhere
        if step.info.mode == "buffered"
    )
    return min(total, _MOST_ATTACHED_BYTES)
