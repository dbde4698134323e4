"""Give receives with wildcards the source and tag that their message had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import PERSISTENT, TWO_SIDED, function_info
from skelgen.events.rows import RowTable
from skelgen.events.shapes import checked_peers
from skelgen.events.types import (
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
    Communicator,
)
from skelgen.trace.format import trace_format


def resolve(
    shape: NDArray[np.uint32],
    table: RowTable,
    functions: tuple[str, ...],
    communicators: tuple[Communicator, ...],
    creator: NDArray[np.int64],
    source: NDArray[np.int32],
    tag: NDArray[np.int32],
) -> int:
    """Change the shapes of the calls whose messages are known now.

    A cancelled receive gets the partner PROC_NULL, for it took part in nothing. A
    persistent request whose messages differed in source or tag stays unresolved.

    Parameters
    ----------
    shape : (n,) uint32 array
        Row of `table` of each call of a rank; changed here.
    table : RowTable
    functions : tuple of str
    communicators : tuple of Communicator
    creator : (m,) int64 array
        Call that created the request of each status, -1: none.
    source, tag : (m,) int32 arrays
        What its message had.

    Returns
    -------
    int
        Sources that are no rank of their communicator.
    """
    known = creator >= 0
    creator, source, tag = creator[known], source[known], tag[known]
    if not len(creator):
        return 0
    rows = table.at(shape[creator])
    cancelled = source == trace_format()["CANCELLED"]
    kinds = [function_info(name).kind for name in functions]
    kind = np.array(kinds, np.uint8)[rows["function"]]
    persistent = np.isin(kind, PERSISTENT)
    two_sided = np.isin(kind, TWO_SIDED)
    sizes = np.array(
        [len(c.remote or c.members) for c in communicators] + [0], np.int32
    )
    peers, wrong = checked_peers(source, sizes[rows["communicator"]])
    peers[cancelled] = PROC_NULL
    wrong &= ~cancelled
    from_any = (rows["flags"] & WILDCARD_SOURCE) != 0
    any_tag = (rows["flags"] & WILDCARD_TAG) != 0
    for end, own in (("", ~two_sided), ("2", two_sided)):
        source_known, tag_known = (
            own & (from_any | cancelled),
            own & any_tag & ~cancelled,
        )
        rows[f"peer{end}"][source_known] = peers[source_known]
        rows[f"tag{end}"][tag_known] = np.maximum(tag, NO_TAG)[tag_known]
    use = ~(persistent & cancelled)
    use &= ~_differing(creator, rows, persistent)
    shape[creator[use]] = table.number(rows[use])
    return int(wrong.sum())


def _differing(
    creator: NDArray[np.int64], rows: NDArray[np.void], persistent: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Say which persistent requests did not get the same each time."""
    result = np.zeros(len(creator), bool)
    if not persistent.any():
        return result
    order = np.argsort(creator, kind="stable")
    by_creator = creator[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(by_creator) != 0]))
    group = np.cumsum(np.concatenate([[0], np.diff(by_creator) != 0]))
    differs = rows[order] != rows[order][first][group]
    some = np.bincount(group, weights=differs, minlength=len(first)) > 0
    result[order] = some[group]
    return result & persistent
