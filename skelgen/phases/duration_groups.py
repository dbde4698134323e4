"""Divide occurrences of one structure by how long they take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import label, rows_by
from skelgen.phases.thresholds import LEAST_CLUSTER_SHARE


def alike(
    structure: NDArray[np.int32], time_ns: NDArray[np.float64], similarity: float
) -> NDArray[np.int32]:
    """Give occurrences numbers of phases: same structure, similar times.

    In the order of their times, occurrences of a structure fall apart where the
    shorter takes less than `similarity` of the longer. A few occurrences that fall
    out, such as those that the scheduler interrupted, stay with their neighbours.

    Parameters
    ----------
    structure : (o,) int32 array
    time_ns : (o,) float64 array
    similarity : float
        0 to 1.

    Returns
    -------
    (o,) int32 array
        Numbered by first occurrence.
    """
    found = np.empty(len(structure), np.uint64)
    phases = 0
    for rows in rows_by(structure):
        clusters = _clusters(time_ns[rows], similarity)
        found[rows] = phases + clusters
        phases += int(clusters.max()) + 1
    return label(found)[0]


def _clusters(time_ns: NDArray[np.float64], similarity: float) -> NDArray[np.int64]:
    """Give times the numbers of their clusters, the shortest first."""
    order = np.argsort(time_ns, kind="stable")
    times = np.maximum(time_ns[order], 1.0)
    gaps = np.flatnonzero(times[:-1] < similarity * times[1:]) + 1
    fewest = max(2, round(LEAST_CLUSTER_SHARE * len(times)))
    kept: list[int] = []
    for gap in gaps.tolist():
        if gap - (kept[-1] if kept else 0) >= fewest <= len(times) - gap:
            kept.append(gap)
    found = np.empty(len(times), np.int64)
    found[order] = np.searchsorted(kept, np.arange(len(times)), side="right")
    return found
