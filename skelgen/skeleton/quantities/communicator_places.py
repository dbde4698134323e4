"""Where ranks stand in their communicators."""

from __future__ import annotations

from collections.abc import Sequence

from skelgen.signature import CommunicatorFamily


def places_in(
    families: Sequence[CommunicatorFamily],
) -> list[dict[int, tuple[int, int]]]:
    """Return for each family and world rank its communicator and its rank there.

    Examples
    --------
    >>> rows = Family("split", 0, ((0, 1), (2, 3)))
    >>> places_in([rows])[0][3]
    (1, 1)
    """
    return [
        {
            rank: (number, own)
            for number, members in enumerate(family.instances)
            for own, rank in enumerate(members)
        }
        for family in families
    ]
