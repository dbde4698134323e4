"""Write how the communicators of a skeleton are built, before its timed region."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.rendering.c_text import c_name
from skelgen.signature import Signature
from skelgen.signature.types import Neighbours
from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.emit.fragments import Fragment, Uses, helpers

_WORLD, _SELF = 0, 1


@dataclass(frozen=True)
class NamedFamily:
    """The communicators of one family, one name for all of them.

    Attributes
    ----------
    name : str
        C variable that holds the communicator of a rank.
    instances : tuple of tuple of int
        World ranks of the members of each.
    sources, destinations : tuple of Neighbours
        Of each instance, where a call needs the topology; else empty.
    """

    name: str
    instances: tuple[tuple[int, ...], ...]
    sources: tuple[Neighbours, ...] = ()
    destinations: tuple[Neighbours, ...] = ()

    @property
    def size(self) -> int:
        """Return the size of the largest instance."""
        return max(len(members) for members in self.instances)

    @property
    def one_size(self) -> bool:
        """Return whether all instances have the same size."""
        return len({len(members) for members in self.instances}) == 1

    def places(self, world_ranks: Sequence[int]) -> list[tuple[int, int]]:
        """Return the place of ranks in their communicators, and the sizes of these.

        Ranks that only share the text of a call, and do not execute it, may be no
        members: (0, 1).
        """
        if self._places.keys().isdisjoint(world_ranks):
            raise InputError(
                f"rank {world_ranks[0]} takes part in a call on communicator "
                f"{self.name}, of which it is no member; the signature contradicts "
                "itself"
            )
        return [self._places.get(rank, (0, 1)) for rank in world_ranks]

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        return {
            rank: (own, len(members))
            for members in reversed(self.instances)
            for own, rank in enumerate(members)
        }


@dataclass(frozen=True, slots=True)
class Partners:
    """A group of ranks that Win_post or Win_start names.

    Attributes
    ----------
    name, group : str
        C variables of the group and of the communicator it belongs to.
    shifts : tuple of int
        Relative ranks.
    """

    name: str
    group: str
    shifts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """How one family is made from ``MPI_COMM_WORLD``.

    Attributes
    ----------
    name : str
    about : str
        What it is, for people.
    color, key : str
        Expressions in ``world.rank``.
    sources, destinations : str
        The neighbours of a rank, up to -1; "" without topology.
    uses : frozenset of Use
    """

    name: str
    about: str
    color: str
    key: str
    sources: str
    destinations: str
    uses: Uses


def groups(
    signature: Signature, used: Collection[int], topologies: Collection[int] = ()
) -> tuple[NamedFamily | None, ...]:
    """Name the families that a skeleton uses; None for others.

    Parameters
    ----------
    signature : Signature
    used : collection of int
        Families that calls name.
    topologies : collection of int
        Those whose neighbours matter.
    """
    return tuple(
        _group(signature, family, family in topologies) if family in used else None
        for family in range(len(signature.families))
    )


def _group(signature: Signature, family: int, topology: bool) -> NamedFamily:
    found = signature.families[family]
    if found.kind == "world":
        return NamedFamily("world", found.instances)
    if found.kind == "self":
        every = tuple((rank,) for rank in range(signature.ranks))
        return NamedFamily("self", every)
    kind = c_name(found.kind, "comm")
    if not topology:
        return NamedFamily(f"{kind}_{family}", found.instances)
    none = tuple(((),) * len(members) for members in found.instances)
    return NamedFamily(
        f"{kind}_{family}",
        found.instances,
        found.sources or none,
        found.destinations or none,
    )


def splits(
    families: tuple[NamedFamily | None, ...], ranks: int, tables: ProgramTables
) -> tuple[Split, ...]:
    """Write colours and keys of the families, in order of creation.

    Every family is split from ``MPI_COMM_WORLD``: all ranks take part in every
    split, in the same order, so that building them cannot block.
    """
    made = [group for group in families[2:] if group is not None]
    return tuple(_split(group, ranks, tables) for group in made)


def _split(group: NamedFamily, ranks: int, tables: ProgramTables) -> Split:
    colors, keys = np.full(ranks, -1), np.zeros(ranks, int)
    instances = sorted(group.instances, key=min)
    for number, members in enumerate(instances):
        colors[list(members)] = number
        keys[list(members)] = range(len(members))
    in_order = all(list(members) == sorted(members) for members in instances)
    count = len(instances)
    about = f"{count} of {group.size} rank" if count > 1 else f"{group.size} rank"
    formula = _formula(colors)
    color = Fragment(formula) if formula else _by_rank(tables, "color", colors)
    key = Fragment("world.rank") if in_order else _by_rank(tables, "key", keys)
    sources, destinations = (
        _neighbours(group.instances, around, stem, ranks, tables)
        for around, stem in (
            (group.sources, "sources"),
            (group.destinations, "destinations"),
        )
    )
    return Split(
        group.name,
        about + ("s" if group.size > 1 else ""),
        color.text,
        key.text,
        sources.text,
        destinations.text,
        helpers("split") | color.uses | key.uses | sources.uses | destinations.uses,
    )


def _neighbours(
    instances: tuple[tuple[int, ...], ...],
    around: tuple[Neighbours, ...],
    stem: str,
    ranks: int,
    tables: ProgramTables,
) -> Fragment:
    """Return the row of a rank in a table of neighbours; "" when there are none."""
    if not around:
        return Fragment("")
    width = max(len(others) for known in around for others in known)
    table = np.full((ranks, width + 1), -1)
    for members, known in zip(instances, around, strict=True):
        for rank, others in zip(members, known, strict=True):
            table[rank, : len(others)] = others
    row = _by_rank(tables, stem, table)
    return Fragment(row.text, row.uses | helpers("with_neighbours"))


def _by_rank(tables: ProgramTables, stem: str, values: NDArray[np.int64]) -> Fragment:
    table = tables.constant("int", stem, values.astype(float))
    return Fragment(f"{table.text}[world.rank]", table.uses)


def _formula(color: NDArray[np.int64]) -> str:
    """Return a formula for colours that follow one; "" for others.

    Examples
    --------
    >>> _formula(np.array([0, 0, 1, 1])), _formula(np.array([0, 1, 0, 1]))
    ('world.rank / 2', 'world.rank % 2')
    """
    ranks = np.arange(len(color))
    if (color == 0).all():
        return "0"
    if (color == ranks).all():
        return "world.rank"
    for divisor in range(2, len(color)):
        if (color == ranks // divisor).all():
            return f"world.rank / {divisor}"
        if (color == ranks % divisor).all():
            return f"world.rank % {divisor}"
    return ""
