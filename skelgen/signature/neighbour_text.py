"""Neighbours of the ranks of a topology as text such as ``1,3*4``.

One word for each member: its neighbours relative to its own rank, ``-`` for none. In
a grid most members have the same word.
"""

from __future__ import annotations

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import NumberError, format_repeated, integer
from skelgen.signature.types import Neighbours

#: Neighbours of one rank.
_MOST = 1_000_000


def format_neighbours(around: Neighbours) -> str:
    """Write the neighbours of all members of a communicator.

    Examples
    --------
    >>> format_neighbours(((1, 3), (2, 0), (3, 1), ()))
    '1,3*3 -'
    """
    size = len(around)
    return format_repeated(
        [
            ",".join(str((other - own) % size) for other in others) or "-"
            for own, others in enumerate(around)
        ]
    )


def read_neighbours(field: Field, size: int) -> Neighbours:
    """Read the neighbours of all members of a communicator of some size."""
    found: list[tuple[int, ...]] = []
    try:
        for word in field.text().split():
            shifts, star, repeats = word.partition("*")
            times = integer(repeats, 1, size) if star else 1
            others = shifts.split(",") if shifts != "-" else []
            if len(others) > _MOST or len(found) + times > size:
                raise NumberError(f"read neighbours of more than {size} ranks")
            field.take(times * (64 + 40 * len(others)), "neighbours")
            known = [integer(shift, 0, size - 1) for shift in others]
            found += [
                tuple((own + shift) % size for shift in known)
                for own in range(len(found), len(found) + times)
            ]
    except NumberError as error:
        raise field.error(str(error)) from error
    if len(found) != size:
        raise field.error(f"read neighbours of {len(found)} ranks, expected {size}")
    return tuple(found)
