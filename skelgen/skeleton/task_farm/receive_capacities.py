"""Let partners receive the longest message that may now be for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.skeleton.proof.script import Script
from skelgen.skeleton.types import Program


def make_room(
    found: list[Program],
    owners: Sequence[tuple[int, int, int]],
    script: Script,
    mate: NDArray[np.int64],
    own: NDArray[np.int64],
) -> None:
    """Let all who receive some messages have room for the longest of them.

    Parameters
    ----------
    found : list of Program
        Changed in place.
    owners : sequence of (int, int, int)
        Their `owners_of`.
    script : Script
        Of these programs.
    mate : (steps,) int64 array
        Its `mates`.
    own : (n,) int64 array
        Steps of one rank that may change places.
    """
    most = max(_sent_bytes(script, row) for row in np.unique(script.row[own]).tolist())
    other = mate[own][mate[own] >= 0]
    for row in np.unique(script.row[other]).tolist() if most else ():
        _give_room(found, owners[row], most)


def owners_of(programs: Sequence[Program]) -> list[tuple[int, int, int]]:
    """Return for each row of a script the program, its rank's place, the operation."""
    places = sorted(
        (rank, number, position)
        for number, program in enumerate(programs)
        for position, rank in enumerate(program.ranks)
    )
    return [
        (number, position, at)
        for _, number, position in places
        for at in range(len(programs[number].operations))
    ]


def _sent_bytes(script: Script, row: int) -> int:
    """Return the longest message that a call sends, 0 for receives [bytes]."""
    first, last = script.size_first[row : row + 2].tolist()
    sends = script.kind[row] == CallKind.SEND and last > first
    return int(script.size_bytes[first:last].max()) if sends else 0


def _give_room(found: list[Program], owner: tuple[int, int, int], least: int) -> None:
    number, position, at = owner
    operations = list(found[number].operations)
    room = operations[at].receive_bytes.copy()
    room[position] = max(int(room[position]), least)
    operations[at] = replace(operations[at], receive_bytes=room)
    found[number] = replace(found[number], operations=tuple(operations))
