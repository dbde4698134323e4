"""Recognise the communicators of different rank files, and their families."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import WINDOW_KINDS, Communicator
from skelgen.trace import RankFile
from skelgen.trace.definition_types import CommunicatorDefinition

WORLD, SELF = 0, 1
_WINDOWS = ("win_create", "win_allocate", "win_shared", "win_dynamic")


def one_number_each(communicators: Sequence[Communicator]) -> tuple[int, ...]:
    """Give the two sides of an intercommunicator, seen from each group, one number.

    Returns
    -------
    tuple of int
        For each communicator the first that is the same one.
    """
    seen: dict[Hashable, int] = {}
    numbers = []
    for index, one in enumerate(communicators):
        key: Hashable = index
        if one.remote:
            key = (one.family, frozenset((one.members, one.remote)))
        numbers.append(seen.setdefault(key, index))
    return tuple(numbers)


@dataclass(slots=True)
class _Families:
    """Numbers families and knows whom their communicators hold."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    ranks: list[set[int]] = field(default_factory=list)

    def number(self, key: Hashable, members: Sequence[int]) -> int:
        """Return the family of a new communicator.

        Two communicators of one rank cannot have come from one call; then the second
        starts a family of its own.
        """
        for attempt in count():
            known = self.numbers.setdefault((key, attempt), len(self.numbers))
            if known == len(self.ranks):
                self.ranks.append(set())
            if self.ranks[known].isdisjoint(members):
                self.ranks[known].update(members)
                return known
        raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class Communicators:
    """The communicators of a run.

    Attributes
    ----------
    table : tuple of Communicator
        0 is ``MPI_COMM_WORLD``, 1 + r is ``MPI_COMM_SELF`` of rank r.
    index : tuple of dict of int to int
        For each file from its ids to rows of the table.
    peers : (communicators + 1,) int32 array
        How many ranks a partner can be; the last one stands for no communicator.
    """

    table: tuple[Communicator, ...]
    index: tuple[dict[int, int], ...]
    peers: NDArray[np.int32]


def unify(files: Sequence[RankFile], world_size: int) -> Communicators:
    """Join the definitions of all files.

    Two definitions are the same communicator when kind, groups and the number of
    earlier ones with these groups are equal: every member counts alike. An
    intercommunicator has one row for each of its sides.

    Parameters
    ----------
    files : sequence of RankFile
        By rank.
    world_size : int
    """
    world = tuple(range(world_size))
    table = [Communicator(0, -1, "world", world)]
    table += [Communicator(1, -1, "self", (rank,)) for rank in world]
    known: dict[Hashable, int] = {}
    families = _Families()
    families.number("world", world)
    families.number("self", world)
    around: dict[int, dict[int, CommunicatorDefinition]] = {}
    indices = []
    for file in files:
        rank = file.header.world_rank
        index = {WORLD: 0, SELF: 1 + rank}
        for number, definition in file.definitions.communicators.items():
            if number in index:
                continue
            parent = index.get(definition.parent, -1)
            key = (definition.kind, *_sides(definition), definition.twin)
            if key not in known:
                known[key] = len(table)
                table.append(_communicator(definition, parent, table, families))
                if definition.kind in _WINDOWS:
                    table[-1] = replace(table[-1], kind=WINDOW_KINDS[0])
                    table += _ways(table[-1], families)
            index[number] = known[key]
            if definition.sources or definition.destinations:
                around.setdefault(known[key], {})[definition.rank] = definition
        indices.append(index)
    for row, definitions in around.items():
        table[row] = _with_neighbours(table[row], definitions)
    _describe_objects(table, files, indices)
    counts = [len(one.remote or one.members) for one in table] + [0]
    return Communicators(tuple(table), tuple(indices), np.array(counts, np.int32))


def _describe_objects(
    table: list[Communicator],
    files: Sequence[RankFile],
    indices: Sequence[dict[int, int]],
) -> None:
    """Note the names of files, and the memory that each rank gave a window."""
    memory: dict[int, dict[int, int]] = {}
    for file, index in zip(files, indices, strict=True):
        for number, size in file.definitions.windows.items():
            memory.setdefault(index[number], {})[file.header.world_rank] = size
        for number, name in file.definitions.files.items():
            table[index[number]] = replace(table[index[number]], name=name)
    for row, sizes in memory.items():
        table[row] = replace(table[row], memory_bytes=sum(sizes.values()))


def _ways(window: Communicator, families: _Families) -> list[Communicator]:
    """Return the communicators of a window for its ways of synchronising."""
    inside = [rank for rank in window.members if rank >= 0]
    return [
        replace(
            window, family=families.number((window.family, kind), inside), kind=kind
        )
        for kind in WINDOW_KINDS[1:]
    ]


def _with_neighbours(
    one: Communicator, definitions: dict[int, CommunicatorDefinition]
) -> Communicator:
    """Note the neighbours that each member knows of itself."""
    known = [definitions.get(rank) for rank in range(len(one.members))]
    return replace(
        one,
        sources=tuple(own.sources if own else () for own in known),
        destinations=tuple(own.destinations if own else () for own in known),
    )


def _sides(definition: CommunicatorDefinition) -> Iterator[tuple[int, ...]]:
    yield definition.members
    yield definition.remote


def _communicator(
    definition: CommunicatorDefinition,
    parent: int,
    table: list[Communicator],
    families: _Families,
) -> Communicator:
    both = tuple(sorted((definition.members, definition.remote)))
    key: Hashable = (definition.kind, both, definition.twin)
    if parent >= 0:
        key = (table[parent].family, definition.sequence, definition.kind)
    inside = [rank for rank in definition.members if rank >= 0]
    return Communicator(
        family=families.number(key, inside),
        parent=parent,
        kind=definition.kind,
        members=definition.members,
        remote=definition.remote,
        dims=definition.dims,
        periods=definition.periods,
    )
