"""Give messages whose sizes hardly differ one size, the mean.

Sizes that change a little from step to step and from rank to rank would fill pages
of tables and tell nothing: bytes are kept on average. Receives get more room where a
message may have become larger than the one they were meant for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import RECEIVING, SENDING, TWO_SIDED, function_info
from skelgen.skeleton.thresholds import LARGEST_SIZE_DIFFERENCE, LARGEST_SIZE_GROWTH
from skelgen.skeleton.types import OccurrenceSeries, Operation, Plan, Program


def even(size_bytes: NDArray[np.float64], unit_bytes: int) -> NDArray[np.float64]:
    """Return (ranks, s) sizes, in one column of equal ones if they hardly differ.

    Examples
    --------
    >>> even(np.array([[100.0, 104.0], [108.0, 104.0]]), 8)
    array([[104.],
           [104.]])
    """
    least, most, mean = size_bytes.min(), size_bytes.max(), size_bytes.mean()
    if least == most or most - least > LARGEST_SIZE_DIFFERENCE * mean:
        return size_bytes
    whole = min(max(np.rint(mean / unit_bytes) * unit_bytes, least), most)
    return np.full((len(size_bytes), 1), whole)


def evened(plan: Plan) -> list[Program]:
    """Return the programs of a plan with even sizes of messages."""
    sent = _sent(plan)

    def change(operation: Operation) -> Operation:
        symbol = plan.symbols[operation.symbol]
        kind = function_info(plan.functions[symbol["function"]]).kind
        family, unit = int(symbol["family"]), max(1, int(symbol["datatype_bytes"]))
        sizes = operation.size_bytes
        if kind in SENDING:
            sizes = OccurrenceSeries(even(sizes.values, unit))
        room = operation.receive_bytes
        if kind in RECEIVING:
            tag = int(symbol["tag2" if kind in TWO_SIDED else "tag"])
            values = sent.get((family, tag), np.zeros(0))
            room = np.array([_room(size, values) for size in room.tolist()])
            if kind not in TWO_SIDED:
                sizes = OccurrenceSeries(room[:, None].astype(np.float64))
        return replace(operation, size_bytes=sizes, receive_bytes=room)

    return [
        replace(program, operations=tuple(map(change, program.operations)))
        for program in plan.programs
    ]


def _sent(plan: Plan) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Return the sizes that are sent with each family and tag, ascending."""
    sizes: dict[tuple[int, int], list[NDArray[np.float64]]] = {}
    for program in plan.programs:
        for operation in program.operations:
            symbol = plan.symbols[operation.symbol]
            kind = function_info(plan.functions[symbol["function"]]).kind
            if kind in SENDING:
                key = int(symbol["family"]), int(symbol["tag"])
                sizes.setdefault(key, []).append(operation.size_bytes.values.ravel())
    return {key: np.unique(np.concatenate(found)) for key, found in sizes.items()}


def _room(size_bytes: int, sent: NDArray[np.float64]) -> int:
    """Return the capacity of a receive, more when a message may have grown.

    One can have grown only if another one had nearly its size.
    """
    near = sent[
        (sent >= size_bytes / LARGEST_SIZE_GROWTH)
        & (sent <= size_bytes * LARGEST_SIZE_GROWTH)
    ]
    if (near == size_bytes).all():
        return size_bytes
    return int(np.ceil(size_bytes * LARGEST_SIZE_GROWTH))
