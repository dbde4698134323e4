"""Communicators as families: what one collective call created."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Communicator
from skelgen.signature.types import CommunicatorFamily

#: MPI_COMM_WORLD and MPI_COMM_SELF, always there.
_BUILT_IN = (0, 1)


def families_of(
    communicators: tuple[Communicator, ...], table: NDArray[np.void]
) -> tuple[CommunicatorFamily, ...]:
    """Collect the families that symbols use, with their ancestors.

    Parameters
    ----------
    communicators : tuple of Communicator
    table : (s,) SYMBOL_DTYPE array
        Its column ``family`` is numbered anew.

    Returns
    -------
    tuple of CommunicatorFamily
        In the order of their creation.
    """
    instances: dict[int, dict[tuple[int, ...], Communicator]] = {}
    kind: dict[int, str] = {}
    parent: dict[int, int] = {}
    for one in communicators:
        # An intercommunicator has a row for each side.
        instances.setdefault(one.family, {}).setdefault(one.everyone, one)
        kind.setdefault(one.family, one.kind)
        above = communicators[one.parent].family if one.parent >= 0 else -1
        parent.setdefault(one.family, above)
    wanted = set(_BUILT_IN) & set(instances)
    for family in np.unique(table["family"]).tolist():
        while family >= 0 and family not in wanted:
            wanted.add(family)
            family = parent[family]  # noqa: PLW2901
    number = {family: i for i, family in enumerate(sorted(wanted))} | {-1: -1}
    table["family"] = [number[family] for family in table["family"].tolist()]
    return tuple(
        _family(kind[family], number[parent[family]], list(instances[family].values()))
        for family in sorted(wanted)
    )


def _family(
    kind: str, parent: int, instances: list[Communicator]
) -> CommunicatorFamily:
    members = tuple(
        tuple(rank for rank in one.everyone if rank >= 0)  # others were spawned
        for one in instances
    )
    if not any(one.sources or one.destinations for one in instances):
        return CommunicatorFamily(kind, parent, members)
    none = [((),) * len(one.members) for one in instances]
    return CommunicatorFamily(
        kind,
        parent,
        members,
        tuple(one.sources or n for one, n in zip(instances, none, strict=True)),
        tuple(one.destinations or n for one, n in zip(instances, none, strict=True)),
    )
