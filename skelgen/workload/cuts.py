"""Cut all runs of a study into phases alike.

Which loops are divided into phases depends on what they take of the time, so on the
workload: a step of a small one may be divided, that of a large one a phase.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from skelgen.workload.parts import share_known
from skelgen.workload.thresholds import ENOUGH_ALIKE, OTHER_EVENTS_WEIGHT
from skelgen.workload.types import Point, same_by


def aligned(points: Sequence[Point]) -> tuple[Point, ...]:
    """Choose the cut of each run so that all have as much of their time in common.

    Every cut of every run is tried as the model of the others, the usual ones first.
    """
    each = [[_cut(point, i) for i in range(len(point.cuts))] for point in points]
    best, chosen = -1.0, tuple(points)
    for models in zip_longest(*each):
        for model in models:
            if model is None:
                continue
            found = [max(cuts, key=lambda cut: likeness(model, cut)) for cuts in each]
            alike = math.fsum(likeness(model, cut) for cut in found) / len(found)
            score = round(min(alike, ENOUGH_ALIKE), 2)
            if score > best:
                best, chosen = score, tuple(found)
    return chosen


def likeness(one: Point, other: Point) -> float:
    """Return how much of the time of two runs is in phases that both have [0 to 1].

    Of both: where a loop that is one phase of this run is divided in the other, its
    short remainder there may have the same structure.
    """
    if one is other:
        return 1.0
    by = same_by(one, other)
    return math.prod(
        share_known(known.phases, point, other_events=OTHER_EVENTS_WEIGHT, by=by)
        for known, point in ((one, other), (other, one))
    )


def _cut(point: Point, i: int) -> Point:
    """Return a run as it is cut in its i-th way."""
    cuts = point.cuts
    return replace(point, phases=cuts[i], others=(*cuts[:i], *cuts[i + 1 :]))
