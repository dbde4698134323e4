"""What a run did with its windows and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import CallKind, function_info
from skelgen.events.totals import RunTotals
from skelgen.events.types import WINDOW_KINDS, Communicator
from skelgen.units import seconds

#: What the communicator of a file is called.
FILE = "file"


@dataclass(frozen=True, slots=True)
class ObjectSummary:
    """Windows of one size of group, or a file.

    Attributes
    ----------
    kind : str
        ``window`` or ``file``.
    name : str
        As the program opened the file; empty for windows.
    ranks : int
        In each of them.
    count : int
        How many there were, or how often the file was opened.
    memory_bytes : int
        Memory of the windows, all ranks [bytes].
    calls : int
        Calls on them, all ranks.
    time_s : float
        Time inside these [s].
    moved_bytes : int
        What the operations put and get, or write and ask to read [bytes].
    """

    kind: str
    name: str
    ranks: int
    count: int
    memory_bytes: int
    calls: int
    time_s: float
    moved_bytes: int


def is_object(one: Communicator) -> bool:
    """Return whether this stands for a window or a file."""
    return one.kind == FILE or one.kind in WINDOW_KINDS


def summarise_objects(totals: RunTotals) -> tuple[ObjectSummary, ...]:
    """Sum up the calls on windows and files, longest time first."""
    calls = totals.run.calls
    table = calls.communicators
    if not any(map(is_object, table)):
        return ()
    whose = calls.shapes["communicator"] + 1
    moved = totals.size_bytes.copy()
    kinds = [function_info(name).kind for name in calls.functions]
    moves = np.isin(np.array([*kinds, CallKind.LOCAL]), (CallKind.RMA, CallKind.IO))
    moved[~moves[calls.shapes["function"]]] = 0
    sums: NDArray[np.float64] = np.stack(
        [
            np.bincount(whose, weights=weights, minlength=len(table) + 1)[1:]
            for weights in (totals.count, totals.time_ns, moved)
        ]
    )
    found: dict[tuple[str, str, int], list[int]] = {}
    for row, key in _keys(table):
        found.setdefault(key, []).append(row)
    rows = [_summary(table, key, rows, sums) for key, rows in found.items()]
    return tuple(sorted(rows, key=lambda one: (-one.time_s, one.kind, one.name)))


def _keys(table: Sequence[Communicator]) -> list[tuple[int, tuple[str, str, int]]]:
    """Return the rows that stand for windows and files, and what they belong to."""
    return [
        (
            row,
            (
                FILE if one.kind == FILE else WINDOW_KINDS[0],
                one.name,
                len(one.members),
            ),
        )
        for row, one in enumerate(table)
        if is_object(one)
    ]


def _summary(
    table: Sequence[Communicator],
    key: tuple[str, str, int],
    rows: list[int],
    sums: NDArray[np.float64],
) -> ObjectSummary:
    kind, name, ranks = key
    number, inside_ns, moved = sums[:, rows].sum(axis=1)
    return ObjectSummary(
        kind=kind,
        name=name,
        ranks=ranks,
        count=sum(table[row].kind == kind for row in rows),
        memory_bytes=sum(table[row].memory_bytes for row in rows),
        calls=int(number),
        time_s=seconds(float(inside_ns)),
        moved_bytes=int(moved),
    )
