"""Put one call in place of those that turns have at the same place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import occurrence_of
from skelgen.loops import expand
from skelgen.skeleton.quantities.series import MOST_COLUMNS, part, summed
from skelgen.skeleton.types import (
    TOLD,
    OccurrenceSeries,
    Operation,
    Program,
    Serving,
    Turn,
)


def merged(
    program: Program,
    step: NDArray[np.int64],
    turns: Sequence[Turn],
    serving: Serving | None = None,
    room_bytes: int = 0,
) -> tuple[NDArray[np.int32], tuple[Operation, ...]]:
    """Let a program have one operation for each call of its turns.

    Parameters
    ----------
    program : Program
    step : (n, calls) int64 array
        Calls of each turn, as places in the program's string.
    turns : sequence of Turn
        What each call does.
    serving : Serving, optional
        Of the rank that serves.
    room_bytes : int
        Least size of the call that tells whether to come again, or hears it [bytes].

    Returns
    -------
    string : (n,) int32 array
        Over the operations: those of the turns first.
    operations : tuple of Operation
    """
    string = expand(program.nest)
    often = occurrence_of(string)
    number = np.full(len(string), -1, np.int32)
    operations = []
    for place, turn in enumerate(turns):
        number[step[:, place]] = place
        joined = _joined(program.operations, string, often, step[:, place], turn)
        if room_bytes and turn in (Turn.ANSWERS, Turn.HEARS):
            joined = _with_room(joined, room_bytes)
        operations.append(replace(joined, serving=serving))
    for old, operation in enumerate(program.operations):
        rest = np.flatnonzero((string == old) & (number < 0))
        if len(rest):
            number[rest] = len(operations)
            operations.append(part(operation, often[rest]))
    return number, tuple(operations)


def _joined(
    operations: Sequence[Operation],
    string: NDArray[np.int32],
    often: NDArray[np.int64],
    step: NDArray[np.int64],
    turn: Turn,
) -> Operation:
    """Return one operation for some calls, with the partner of the first of them."""
    numbers = np.unique(string[step]).tolist()
    parts = [operations[number] for number in numbers]
    first = step[string[step] == numbers[0]][:1]

    def at(series: Sequence[OccurrenceSeries]) -> NDArray[np.float64]:
        """Return the values at these calls."""
        found = np.zeros((len(series[0].values), len(step)))
        for number in numbers:
            own = string[step] == number
            values, count = series[number].values, operations[number].occurrences
            column = often[step[own]] * values.shape[1] // count
            found[:, own] = values[:, column]
        return found

    joined: Operation = replace(
        parts[0],
        occurrences=len(step),
        compute_ns=_few(at([one.compute_ns for one in operations]), turn, _averages),
        idle_ns=_mean(at([one.idle_ns for one in operations])),
        size_bytes=_few(at([one.size_bytes for one in operations]), turn, _picked),
        receive_bytes=np.max([one.receive_bytes for one in parts], axis=0),
        peers=part(parts[0], often[first]).peers,
        turn=turn,
    )
    return joined


def _with_room(operation: Operation, least: int) -> Operation:
    """Return an operation with messages of some length at least [bytes]."""
    size = OccurrenceSeries(np.maximum(operation.size_bytes.values, least))
    if operation.turn is Turn.ANSWERS:
        return replace(operation, size_bytes=size)
    room = np.maximum(operation.receive_bytes, least)
    return replace(operation, size_bytes=size, receive_bytes=room)


def _few(
    values: NDArray[np.float64],
    turn: Turn,
    spread: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> OccurrenceSeries:
    """Return values in a few columns; sums remain.

    Partners that are told make more turns or fewer than in the recording, and may
    share a text: theirs have one column or all.
    """
    if (values == values[:, :1]).all():
        return OccurrenceSeries(values[:, :1])
    if turn in TOLD and values.shape[1] < MOST_COLUMNS:
        return OccurrenceSeries(spread(values))
    return OccurrenceSeries(summed(values, MOST_COLUMNS))


def _mean(values: NDArray[np.float64]) -> OccurrenceSeries:
    return OccurrenceSeries(values.mean(axis=1, keepdims=True))


def _averages(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the averages of equal parts of the values' time."""
    count = values.shape[1]
    ends = np.linspace(0, count, MOST_COLUMNS + 1)
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    until = [np.interp(ends, np.arange(count + 1), row) for row in sums]
    return np.asarray(np.diff(until, axis=1) * MOST_COLUMNS / count)


def _picked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the value at the beginning of each part: sizes stay what they were."""
    return values[:, np.arange(MOST_COLUMNS) * values.shape[1] // MOST_COLUMNS]
