"""Whether the ranks of a run had to share cores: then they wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from skelgen.trace import RankFile
from skelgen.units import number_of


@dataclass(frozen=True, slots=True)
class SharedCores:
    """A host with more ranks than cores for them.

    Attributes
    ----------
    ranks : int
    cores : int
        Those that any of its ranks could use.
    """

    ranks: int
    cores: int

    def __str__(self) -> str:
        """Say it for people."""
        return f"{self.ranks} ranks of a host shared {number_of(self.cores, 'core')}"


def shared_cores(files: Sequence[RankFile]) -> SharedCores | None:
    """Find the host with the most ranks for each core.

    Parameters
    ----------
    files : sequence of RankFile

    Returns
    -------
    SharedCores or None
        None where each rank had a core of its own, or a rank did not say which it
        could use.
    """
    hosts: dict[tuple[str, str], list[int]] = {}
    for file in files:
        if not file.header.thread:
            load = file.definitions.load
            masks = hosts.setdefault((file.header.boot_id, file.header.host), [])
            masks.append(0 if load is None else load.cores)
    found = [
        SharedCores(len(masks), reduce(or_, masks).bit_count())
        for masks in hosts.values()
        if all(masks)
    ]
    crowded = [one for one in found if one.ranks > one.cores]
    return max(crowded, key=lambda one: one.ranks / one.cores, default=None)
