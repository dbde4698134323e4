"""One line for each kind of call that found no partner."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Communicator
from skelgen.matching.roles import MatchRole, ShapeTable
from skelgen.units import number_of

_SHOWN_RANKS = 4


def describe(
    calls: Calls, table: ShapeTable, unmatched: NDArray[np.int64], dragged: int
) -> tuple[str, ...]:
    """Say which calls have no partner.

    Parameters
    ----------
    calls : Calls
    table : ShapeTable
    unmatched : (u,) int64 array
        Calls with an end that found no partner, ascending.
    dragged : int
        Further calls that are left out because they share an event with those.

    Returns
    -------
    tuple of str
        One line for each function, those of most calls first, then the mismatches.
    """
    shape = calls.shape[unmatched]
    keys = calls.shapes["function"][shape].astype(np.int64)
    lines = []
    numbers, counts = np.unique(keys, return_counts=True)
    for at in np.argsort(-counts, kind="stable"):
        those = unmatched[keys == numbers[at]]
        lines.append(_line(calls, table, calls.functions[numbers[at]], those))
    if dragged:
        lines.append(f"{dragged} calls share an event with calls without partner")
    return (*lines, *_mismatches(calls, table, unmatched))


def _line(
    calls: Calls, table: ShapeTable, function: str, those: NDArray[np.int64]
) -> str:
    first = int(those[0])
    row = calls.shapes[calls.shape[first]]
    role = MatchRole(int(table.role[calls.shape[first]]))
    ranks = np.unique(np.searchsorted(calls.first, those, side="right") - 1)
    shown = ", ".join(map(str, ranks[:_SHOWN_RANKS]))
    more = ", ..." if len(ranks) > _SHOWN_RANKS else ""
    where = f"rank{'s' if len(ranks) > 1 else ''} {shown}{more}"
    communicator = int(row["communicator"])
    on = ""
    if communicator >= 0:
        on = f" on {_name(calls.communicators[communicator])}"
    if role & MatchRole.COLLECTIVE:
        what = f"without all participants{on}"
    elif role & MatchRole.STARTS:
        what = "of requests without a partner"
    else:
        what = f"without a partner (peer {row['peer']}, tag {row['tag']}{on})"
    count = number_of(len(those), "call")
    return f"{function}: {count} of {where}, first {_place(calls, first)}, {what}"


def _mismatches(
    calls: Calls, table: ShapeTable, unmatched: NDArray[np.int64]
) -> list[str]:
    """Find the first place in each sequence where the participants disagree."""
    streams = table.stream[calls.shape[unmatched]]
    lines = []
    for stream in np.unique(streams[streams >= 0]):
        sequences: defaultdict[int, list[int]] = defaultdict(list)
        for call in np.flatnonzero(table.stream[calls.shape] == stream):
            sequences[_rank_of(calls, int(call))].append(int(call))
        for position, row in enumerate(zip(*sequences.values(), strict=False)):
            kinds = table.kind[calls.shape[list(row)]]
            other = np.flatnonzero(kinds != kinds[0])
            if len(other):
                lines.append(_mismatch(calls, position, row[0], row[int(other[0])]))
                break
    return lines


def _mismatch(calls: Calls, position: int, one: int, other: int) -> str:
    shapes = [calls.shapes[calls.shape[call]] for call in (one, other)]
    names = [calls.functions[shape["function"]] for shape in shapes]
    if names[0] == names[1]:
        names = [f"{names[0]} with root {shape['peer']}" for shape in shapes]
    communicator = calls.communicators[shapes[0]["communicator"]]
    return (
        f"collective {position} on {_name(communicator)}: {names[0]} at "
        f"{_place(calls, one)} meets {names[1]} at {_place(calls, other)}"
    )


def _name(communicator: Communicator) -> str:
    shown = ",".join(map(str, communicator.members[:_SHOWN_RANKS]))
    more = ",..." if len(communicator.members) > _SHOWN_RANKS else ""
    return f"the {communicator.kind} communicator of ranks {shown}{more}"


def _rank_of(calls: Calls, call: int) -> int:
    return int(np.searchsorted(calls.first, call, side="right")) - 1


def _place(calls: Calls, call: int) -> str:
    rank = _rank_of(calls, call)
    return f"rank {rank} call {call - int(calls.first[rank])}"
