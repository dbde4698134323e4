"""Twin of `skelgen.loops.single_trips`, in NumPy."""

from __future__ import annotations

import numpy as np

from skelgen.loops.types import Nest


def without_single_trips_plain(nest: Nest) -> Nest:
    """Put the body in the place of each loop that always ran once."""
    first, last = nest.trips_first[:-1], nest.trips_first[1:]
    loops = np.flatnonzero(last - first == 1)
    single = np.zeros(len(nest), bool)
    single[loops] = nest.trips[first[loops], 0] == 1
    if not single.any():
        return nest
    before = np.concatenate([[0], np.cumsum(single)])
    ends = np.arange(len(nest)) + 1 + nest.body_items
    inside = (before[ends] - before[:-1] - single).astype(np.int32)
    rows = (last - first)[~single]
    kept = np.ones(len(nest.trips), bool)
    kept[first[single]] = False
    return Nest(
        (nest.body_items - inside)[~single],
        nest.symbol[~single],
        np.concatenate([[0], np.cumsum(rows)]).astype(np.int64),
        nest.trips[kept],
    )
