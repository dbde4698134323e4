"""Put one call in place of those that turns have at the same place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import expand
from skelgen.skeleton.series import COLUMNS, part, summed
from skelgen.skeleton.serving import occurrence_of
from skelgen.skeleton.types import Operation, Program, Series, Serving, Turn


def merged(
    program: Program,
    step: NDArray[np.int64],
    turns: Sequence[Turn],
    serving: Serving | None = None,
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
        joined = _joined(program.operations, string, often, step[:, place])
        operations.append(replace(joined, serving=serving, turn=turn))
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
) -> Operation:
    """Return one operation for some calls: with the partner of one of them."""
    parts = [operations[number] for number in np.unique(string[step]).tolist()]

    def at(series: Sequence[Series]) -> Series:
        """Return the values at these calls in a few columns; sums remain."""
        found = np.zeros((len(series[0].values), len(step)))
        for number in np.unique(string[step]).tolist():
            own = string[step] == number
            values, count = series[number].values, operations[number].occurrences
            column = often[step[own]] * values.shape[1] // count
            found[:, own] = values[:, column]
        if (found == found[:, :1]).all():
            return Series(found[:, :1])
        return Series(summed(found, COLUMNS))

    joined: Operation = replace(
        parts[0],
        occurrences=len(step),
        compute_ns=at([one.compute_ns for one in operations]),
        size_bytes=at([one.size_bytes for one in operations]),
        receive_bytes=np.max([one.receive_bytes for one in parts], axis=0),
        peers=parts[0].peers[:1],
    )
    return joined
